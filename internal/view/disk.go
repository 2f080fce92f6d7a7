package view

import "strings"

// Disk is what an office holds on disk, in bytes. What took too long to count
// is null.
type Disk struct {
	Ledger  *int64 `json:"ledger_bytes"`  // events, journals and blobs
	Mirrors *int64 `json:"mirrors_bytes"` // and repositories of runs
	Runs    *int64 `json:"runs_bytes"`
	Logs    *int64 `json:"logs_bytes"`
}

// largeDiskBytes, in bytes, is the size from which on it is shown unasked.
const largeDiskBytes = 5 << 30

// countedParts are the counts that there are, each with its name.
func (d Disk) countedParts() (names []string, sizes []int64) {
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

// TotalBytes is the sum of the counted parts, in bytes.
func (d Disk) TotalBytes() (sum int64) {
	_, sizes := d.countedParts()
	for _, n := range sizes {
		sum += n
	}
	return sum
}

func (d Disk) RenderText() string {
	names, sizes := d.countedParts()
	var parts []string
	for i, name := range names {
		parts = append(parts, name+" "+FormatBytes(sizes[i]))
	}
	if len(parts) < 4 {
		parts = append(parts, "the rest takes too long to count")
	}
	return strings.Join(parts, ", ")
}
