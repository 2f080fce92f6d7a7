// Package container runs agents' and gates' containers. It owns their
// description (Spec, Limits, Labels, work space) and the Runtime interface that
// starts, lists and removes them. Drivers are subpackages.
//
// It promises that a started container had every field of its policy checked
// against what the daemon says it made, before the first instruction ran; that
// only containers which carry all of our labels, with the wanted values, are
// ever removed; and that removal is idempotent and outlives cancellation.
//
// # What a kill leaves behind
//
// When this process dies by SIGKILL its attached connections close, every
// container reads end of file on stdin, and the toolbox in it exits. The dead
// container stays listed, since no process is left to remove it: the next start
// of the office calls Sweep once it holds the office's lock. A container whose
// stdin survives (a daemon restarted with live-restore) ends by the toolbox's
// own heartbeat timer.
//
// The package does not make images, does not know what runs inside, and never
// believes what comes out: the only verdict is the exit code that the daemon
// reports.
package container
