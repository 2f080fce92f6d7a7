package container

import (
	"os"
	"strconv"

	"company/internal/lazyregexp"
)

// HasMemoryFor tells whether this host has as many bytes of memory to spare. Where that
// is not known it has not.
func HasMemoryFor(bytes int64) bool {
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
