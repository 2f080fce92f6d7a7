package cli

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"company/internal/office"
)

// diskUsage is what an office holds on disk, in bytes. What took too long to count
// is null.
type diskUsage struct {
	Ledger  *int64 `json:"ledger_bytes"`  // events, journals and blobs
	Mirrors *int64 `json:"mirrors_bytes"` // and repositories of runs
	Runs    *int64 `json:"runs_bytes"`
	Logs    *int64 `json:"logs_bytes"`
}

const (
	// diskCountTimeout is how long status counts. A person waits for it.
	diskCountTimeout = 300 * time.Millisecond
	// longDiskCountTimeout is the same for a person who wants to know.
	longDiskCountTimeout = 10 * time.Second
	// largeDiskBytes, in bytes, is told without being asked for.
	largeDiskBytes = 5 << 30
)

func measureDisk(ctx context.Context, p office.Paths, patience time.Duration) diskUsage {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	count := func(dir string) *int64 {
		own, err := p.Folder(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			defer own.Close()
		}
		n, ok := own.Usage(ctx, ".")
		if !ok {
			return nil
		}
		return &n
	}
	return diskUsage{Runs: count(p.Runs), Logs: count(p.Logs), Ledger: count(p.Bus), Mirrors: count(p.Git)}
}

// countedParts are the counts that there are, each with its name.
func (d diskUsage) countedParts() (names []string, sizes []int64) {
	for _, p := range []struct {
		name string
		n    *int64
	}{{"ledger", d.Ledger}, {"mirrors", d.Mirrors}, {"runs", d.Runs}, {"logs", d.Logs}} {
		if p.n != nil {
			names, sizes = append(names, p.name), append(sizes, *p.n)
		}
	}
	return names, sizes
}

// totalBytes is the sum of what was counted, in bytes.
func (d diskUsage) totalBytes() (sum int64) {
	_, sizes := d.countedParts()
	for _, n := range sizes {
		sum += n
	}
	return sum
}

func (d diskUsage) renderText() string {
	names, sizes := d.countedParts()
	var parts []string
	for i, name := range names {
		parts = append(parts, name+" "+formatBytes(sizes[i]))
	}
	if len(parts) < 4 {
		parts = append(parts, "the rest takes too long to count")
	}
	return strings.Join(parts, ", ")
}
