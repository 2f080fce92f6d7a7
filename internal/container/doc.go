// Package container runs the containers of agents and gates. It owns their
// description (Spec, Limits, Labels, work space) and the Runtime interface that
// starts, lists and removes them. Drivers are subpackages.
//
// It guarantees:
//
//   - Before the first instruction of a container runs, every field of its policy
//     has been compared with the daemon's description of the container.
//   - Only containers with all of our labels and the wanted values are removed.
//   - Removal is idempotent and continues after a cancellation.
//
// # Leftovers of a kill
//
// When this process dies by SIGKILL, its attached connections close. Every
// container reads end of file on stdin, and the toolbox in it exits. The dead
// container stays listed, since no process is left to remove it. The next start
// of the office calls Sweep once it holds the office's lock. A container whose
// stdin survives (a daemon restarted with live-restore) is ended by the
// toolbox's own heartbeat timer.
//
// The package does not build images and does not know which programs run in a
// container. It never trusts their output: only the exit code that the daemon
// reports is a verdict.
package container
