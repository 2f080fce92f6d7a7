// Package startup sets the pace of the garbage collector while a program starts. A
// command that looks lives for less than a tenth of a second: what it allocates needs
// no collection, and collecting was a fifth of its time. It owns that one setting. It
// promises that a GOGC of the operator's stays, and that a program which stays calls
// Settle, and is collected as usual then.
package startup

import (
	"os"
	"runtime/debug"
)

const (
	usual   = 100 // Go's own
	relaxed = 400 // the heap may grow to five times its live part
)

// chosen says that the operator has set the pace.
var chosen = os.Getenv("GOGC") != ""

func init() { // before the packages whose start is to be quick
	if !chosen {
		debug.SetGCPercent(relaxed)
	}
}

// Settle ends the start of a program that stays.
func Settle() {
	if !chosen {
		debug.SetGCPercent(usual)
	}
}
