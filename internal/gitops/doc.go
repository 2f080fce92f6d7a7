// Package gitops runs git for the company: the host-side mirror of a project, the quarantine repository of each run,
// and every git process that is started outside a container.
//
// It defines git's hardened environment, the names of branches, the choke point that refuses main and master, and
// git.log. The environment is built from scratch, without foreign hooks or filters. The user's and the system's
// configuration is only listed, by git config: the remote's addresses are taken from it (addresses.go) and, with
// git.use_my_logins, the logins (gitlogin). git has network access only for a fetch from or push to the operator's
// remote. The package guarantees:
//
//   - no content of a repository (configuration, attributes, hooks, names)
//     makes the host run a command;
//   - a reference moves only by compare-and-set, and only if it is ours;
//   - exactly one object id leaves a quarantine, after its objects passed the
//     size, path and fsck checks.
//
// It does not decide on merges or pushes. It writes work trees only in the office's own clones of projects that are
// given by address (clone.go), and never in a person's checkout: there is no status and no add.
//
// # How a push is checked
//
// git receive-pack keeps pushed objects in a temporary object directory until its pre-receive hook agrees, so the
// checks belong there. Our hook is eight lines of sh, written to <root>/hooks when the store opens. It passes the
// name of that directory and the list of references to the process that serves the push, over two inherited file
// descriptors, and prints the answer. The checks themselves are Go in this process (check.go), which knows the run,
// its ticket and its base. This needs no second binary and no socket, and a hook without an answer refuses. A store
// with a hook that cannot be executed is not opened, because git skips such a hook silently. [Mirror.Take] repeats
// the checks, so the hook is not the only protection.
//
// # Beyond the list of safe commands
//
// Few git commands are used (docs/threats.md). Five of them only read:
//
//   - ls-files: is the checkout dirty? Unlike status, it neither refreshes the
//     index nor runs filters.
//   - config --list: of the checkout, to refuse partial clones and to find its
//     remote.
//   - ls-remote: the remote's default branch.
//   - for-each-ref: the branches of a run.
//   - cat-file --batch-command: the two-way form of --batch.
//
// Two more tidy the mirror: repack and prune (pack.go). ssh, ssh-keyscan, ssh-keygen and gpg are also started: ssh by
// git, for a remote; ssh-keyscan for the president, to accept a host's key; the others by git, to sign.
//
// # Credentials
//
// git requests a token through our credential helper (credential.go). Like the hook, it passes the question to this
// process over two inherited descriptors. A token is in no argument, environment, log or file.
package gitops
