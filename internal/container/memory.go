package container

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"company/internal/lazyregexp"
)

// MemoryBook lends memory of this host to containers that could do without: a check beside
// another, a build whose files lie in memory. Those who ask at once would each see the same
// memory to spare; what was lent counts until it is given back.
type MemoryBook struct {
	// HasRoom says whether the host has as many bytes to spare.
	HasRoom func(bytes int64) bool
	lent    atomic.Int64
}

// HostMemory is the book of this host, for all of the process.
var HostMemory = &MemoryBook{HasRoom: hasMemoryFor}

// Lend lends bytes where the host has them beside all that was lent, and beside others that
// the caller needs in any case. giveBack may be called again; where ok is false it does
// nothing.
func (b *MemoryBook) Lend(bytes, others int64) (giveBack func(), ok bool) {
	if b.HasRoom(b.lent.Add(bytes) + others) {
		return sync.OnceFunc(func() { b.lent.Add(-bytes) }), true
	}
	b.lent.Add(-bytes)
	return func() {}, false
}

// Lent is how many bytes are lent.
func (b *MemoryBook) Lent() int64 { return b.lent.Load() }

// hasMemoryFor tells whether this host has as many bytes of memory to spare. Where that
// is not known it has not.
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
