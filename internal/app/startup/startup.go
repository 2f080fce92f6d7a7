// Package startup tunes Go's garbage collector for the start of a program. A read-only command runs for less
// than a tenth of a second and needs no garbage collection, which took a fifth of its time. A
// long-running program calls Settle to restore normal collection. The package owns this setting, and
// keeps the operator's GOGC.
package startup

import (
	"os"
	"runtime/debug"
)

const (
	usual   = 100 // Go's default
	relaxed = 400 // the heap may grow to five times its live part
)

// chosen reports whether the operator has set GOGC.
var chosen = os.Getenv("GOGC") != ""

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
}
