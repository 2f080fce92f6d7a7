// Package startup sets the pace of Go's runtime while a program starts, and when it stays. A
// command that looks lives for less than a tenth of a second: what it allocates needs
// no collection, and collecting was a fifth of its time. A program that stays calls Settle: it
// is collected as usual then, and two goroutines more run at once than there are processors, as
// two wait for the disk. The package owns these two settings, and promises that a GOGC and a
// GOMAXPROCS of the operator's stay.
package startup

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	usual   = 100 // Go's own
	relaxed = 400 // the heap may grow to five times its live part
)

// syncing is how many goroutines of an office wait for its disk at once, at least: one that
// writes a log, and the one that writes blobs. The runtime counts such a goroutine as one that
// runs, mostly until its sync ends, so that with two processors nothing else ran (decision 0199).
const syncing = 2

// chosen and chosenProcessors say that the operator has set the pace, and how many goroutines run.
var chosen, chosenProcessors = os.Getenv("GOGC") != "", os.Getenv("GOMAXPROCS") != ""

// processors is how many goroutines run at once by Go's own rule.
var processors = runtime.GOMAXPROCS(0)

func init() { // before the packages whose start is to be quick
	if !chosen {
		debug.SetGCPercent(relaxed)
	}
}

// Settle ends the start of a program that stays. It may be called again.
func Settle() {
	if !chosen {
		debug.SetGCPercent(usual)
	}
	if !chosenProcessors {
		runtime.GOMAXPROCS(processors + syncing)
	}
}
