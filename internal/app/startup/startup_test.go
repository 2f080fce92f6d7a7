package startup

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestSettle: the start is relaxed, and a program that stays is collected as usual.
func TestSettle(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		Settle()
		return
	}
	now := func() int {
		percent := debug.SetGCPercent(usual)
		debug.SetGCPercent(percent)
		return percent
	}
	if now() != relaxed {
		t.Errorf("the start has %d", now())
	}
	Settle()
	if now() != usual {
		t.Errorf("a settled program has %d", now())
	}
}
