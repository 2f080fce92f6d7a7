// Package gitops is the company's own hand on git: the host-side mirror of a
// project, the quarantine repository of each run, and every git process that
// is started outside a container.
//
// It owns the hardened environment of git (built from nothing, no
// configuration but ours, no hooks, no filters, no network unless the one
// call is a fetch or push of the operator's remote), the names of branches,
// the choke point that refuses main and master, and git.log. It promises that
//
//   - nothing a repository carries (configuration, attributes, hooks, names)
//     makes the host run a command;
//   - a reference moves only by compare-and-set, and never one that is not
//     ours;
//   - what leaves a quarantine is exactly one object id, after its objects
//     passed the size, path and fsck checks.
//
// It does not decide on merges or pushes, and it never touches a work tree:
// there is no checkout, no status, no add.
//
// # How a push is checked
//
// git receive-pack keeps pushed objects in a temporary object directory until
// its pre-receive hook agrees, so that is where the checks belong. Our hook is
// eight lines of sh, written to <root>/hooks when the store opens: it passes
// the name of that directory and the list of references to the process that
// serves the push, over two inherited file descriptors, and prints its
// answer. The checks themselves are Go in this process (check.go), which
// knows the run, its ticket and its base; no second binary and no socket is
// needed, and a hook that gets no answer refuses. A store whose hook could
// not be executed is not opened, because git skips such a hook silently.
// [Mirror.Take] runs the same checks again, so nothing rests on the hook
// alone.
//
// # Beyond the list of safe commands
//
// Few git commands are used (docs/threats.md). Five of them only read: ls-files
// (is the checkout dirty? it neither refreshes the index nor runs filters,
// unlike status), config --list (of the checkout, to refuse partial clones and
// to find its remote), ls-remote (the remote's default branch), for-each-ref
// (the branches of a run) and cat-file --batch-command, the two-way form of
// --batch. Two more tidy the mirror: repack and prune (pack.go). ssh,
// ssh-keyscan, ssh-keygen and gpg are started as well: the first by git, for a
// remote; the second for the president, when a host's key is to be accepted;
// the others by git, to sign.
//
// # Credentials
//
// git asks for a token by a credential helper of ours (credential.go), which
// passes the question to this process over two inherited descriptors, as the
// hook does. A token is in no argument, environment, log or file.
package gitops
