// Package gitlogin is what the president's own git would log in with at a remote:
// the credential helpers and ~/.netrc, ssh with ~/.ssh and the agent, and the
// settings of the president's git configuration that say how a server is reached.
// Package gitops uses it where git.use_my_logins is on, and for the remote alone.
//
// It promises that
//
//   - of the configuration of the user and the system only the keys of one list
//     are taken over (isTaken); hooks, aliases, filters and file watchers that
//     stand there never run;
//   - the configuration of a repository is no source: it may choose by its place
//     which includes of the user's own files count, and sets nothing;
//   - no helper and no ssh can ask a question: they have no terminal, no window
//     and a time to answer in;
//   - a secret is in a secret.Value, and in no error, log or argument. What a
//     helper writes beside its answer is not shown, since it may hold one.
//
// It stores and erases no login. A helper that renewed one gets it back to keep
// (Approve), as after a push of the president's own; else the renewal, which can be
// good for one use, would be lost to them.
//
// It does not decide where a login goes: gitops asks for the host of the remote.
package gitlogin
