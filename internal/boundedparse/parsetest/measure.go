// Package parsetest measures the memory and the stack that parsers take, for tests of
// bounds: what a text costs does not depend on the machine's speed.
package parsetest

import (
	"runtime"
	"runtime/debug"
)

// MiB is a mebibyte.
const MiB = 1 << 20

// Measure returns the bytes of stack that a function takes, and the bytes that it allocates.
// The function runs on a stack of its own, which is small at first. Nothing else may run
// beside it.
func Measure(f func()) (stack, allocated uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector would shrink the stack again
	runtime.GC()
	var before, after runtime.MemStats
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
	}()
	<-done
	return after.StackInuse - min(before.StackInuse, after.StackInuse), after.TotalAlloc - before.TotalAlloc
}
