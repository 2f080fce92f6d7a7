// Package startup tunes Go's runtime for the start of a program. A read-only command runs for less
// than a tenth of a second and needs no garbage collection, which took a fifth of its time. A
// long-running program calls Settle to restore normal collection. Settle also runs two more
// goroutines than there are processors, since two wait for the disk. The package owns these two
// settings, and keeps the operator's GOGC and GOMAXPROCS.
package startup

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	usual   = 100 // Go's default
	relaxed = 400 // the heap may grow to five times its live part
)

// syncing is the minimum number of goroutines of an office that wait for its disk: the one that
// writes a log, and the one that writes blobs. The runtime mostly counts a waiting goroutine as
// running until its sync ends. With two processors no other goroutine ran (decision 0199).
const syncing = 2

// chosen and chosenProcessors report whether the operator has set GOGC and GOMAXPROCS.
var chosen, chosenProcessors = os.Getenv("GOGC") != "", os.Getenv("GOMAXPROCS") != ""

// processors is Go's default number of goroutines that run in parallel.
var processors = runtime.GOMAXPROCS(0)

func init() { // runs before the packages that must start quickly
	if !chosen {
		debug.SetGCPercent(relaxed)
	}
}

// Settle restores normal settings for a long-running program. It may be called repeatedly.
func Settle() {
	if !chosen {
		debug.SetGCPercent(usual)
	}
	if !chosenProcessors {
		runtime.GOMAXPROCS(processors + syncing)
	}
}
