// Package parsetest measures the memory and the stack that parsers use, for tests of limits. Unlike time, these do not
// depend on the machine's speed.
package parsetest

import (
	"runtime"
	"runtime/debug"
)

// MiB is a mebibyte.
const MiB = 1 << 20

// Measure returns the bytes of stack that a function uses, and the bytes that it allocates. The function runs on a new
// stack, which is small at first. No other goroutine may run meanwhile.
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
