package container

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"company/internal/lib/lazyregexp"
)

// MemoryBook lends memory of this host for optional uses: a check that runs beside another, or a build
// that keeps its files in memory. It counts the lent memory until it is returned, because concurrent
// callers would otherwise all count on the same free memory.
type MemoryBook struct {
	// HasRoom reports whether the host has this many bytes to spare.
	HasRoom func(bytes int64) bool
	lent    atomic.Int64
}

// HostMemory is the book of this host, shared by the whole process.
var HostMemory = &MemoryBook{HasRoom: hasMemoryFor}

// Lend lends bytes if the host has them in addition to all lent memory and to others, which the caller
// needs in any case. giveBack may be called repeatedly. If ok is false, it has no effect.
func (b *MemoryBook) Lend(bytes, others int64) (giveBack func(), ok bool) {
	if b.HasRoom(b.lent.Add(bytes) + others) {
		return sync.OnceFunc(func() { b.lent.Add(-bytes) }), true
	}
	b.lent.Add(-bytes)
	return func() {}, false
}

// Lent returns the number of lent bytes.
func (b *MemoryBook) Lent() int64 { return b.lent.Load() }

// hasMemoryFor reports whether this host has this much memory to spare, in bytes. If that is unknown,
// it returns false.
func hasMemoryFor(bytes int64) bool {
	text, err := os.ReadFile("/proc/meminfo")
	return err == nil && hasAvailable(text, bytes)
}

func hasAvailable(meminfo []byte, bytes int64) bool {
	m := memAvailable.FindSubmatch(meminfo)
	if m == nil {
		return false
	}
	kib, err := strconv.ParseInt(string(m[1]), 10, 64)
	return err == nil && kib<<10 >= bytes
}

var memAvailable = lazyregexp.New(`(?m)^MemAvailable:\s+(\d+) kB`)
