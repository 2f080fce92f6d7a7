// Package gitlogin finds the logins that the president's own git would use at a remote: the credential helpers and
// ~/.netrc, ssh with ~/.ssh and the agent, and the server settings in the president's git configuration. Package
// gitops uses it only for the remote and only if git.use_my_logins is on; the remote's address alone is always read
// (ReadPersonal).
//
// It guarantees:
//
//   - only the configuration keys of one list are used (isTaken), from the files
//     of the user and the system; hooks, aliases, filters and file watchers in
//     them never run;
//   - a repository's configuration is not used; the repository's path may decide
//     which includes of the user's own files apply, but it sets no values;
//   - helpers and ssh cannot prompt: they have no terminal and no window, and a
//     time limit;
//   - a secret is in a secret.Value, and in no error, log or argument. Other
//     output of a helper is not shown, since it may contain a secret.
//
// It stores and erases no login. A helper that renewed a login gets it back to store it (Approve), as after the
// president's own push. Otherwise a renewal that is valid for one use would be lost.
//
// It does not decide which host gets a login: gitops requests one for the remote's host.
package gitlogin
