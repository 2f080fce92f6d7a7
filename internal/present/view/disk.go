package view

import "strings"

// Disk is the disk usage of an office in bytes. Parts that took too long to measure are null.
type Disk struct {
	Ledger  *int64 `json:"ledger_bytes"`  // events, journals and blobs
	Mirrors *int64 `json:"mirrors_bytes"` // includes the repositories of runs
	Runs    *int64 `json:"runs_bytes"`
	Logs    *int64 `json:"logs_bytes"`
	// Images is the size of the office's worker images in Docker, without layers that all projects share. It is measured
	// with status -v and for programs.
	Images *int64 `json:"images_bytes"`
	// CountsImages is set if images were to be measured. Images is null then if Docker did not answer.
	CountsImages bool `json:"-"`
}

// largeDiskBytes is the size from which disk usage is always shown.
const largeDiskBytes = 5 << 30

// folderCount is the number of measured folders.
const folderCount = 4

// countedParts returns the names and sizes of the measured folders.
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

// TotalBytes returns the sum of the measured parts, in bytes.
func (d Disk) TotalBytes() (sum int64) {
	if d.Images != nil {
		sum = *d.Images
	}
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
	if len(parts) < folderCount {
		parts = append(parts, "the rest takes too long to count")
	}
	switch {
	case d.Images != nil:
		parts = append(parts, "images "+FormatBytes(*d.Images)+" in Docker")
	case d.CountsImages:
		parts = append(parts, "images unknown (Docker does not answer)")
	}
	return strings.Join(parts, ", ")
}
