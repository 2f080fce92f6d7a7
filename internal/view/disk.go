package view

import "strings"

// Disk is what an office holds on disk, in bytes. What took too long to count
// is null.
type Disk struct {
	Ledger  *int64 `json:"ledger_bytes"`  // events, journals and blobs
	Mirrors *int64 `json:"mirrors_bytes"` // and repositories of runs
	Runs    *int64 `json:"runs_bytes"`
	Logs    *int64 `json:"logs_bytes"`
	// Images is what Docker keeps for the office's worker images beyond the layers
	// that all projects share. It is counted with status -v and for programs.
	Images *int64 `json:"images_bytes"`
	// CountsImages says that they were to be counted: null means that Docker did not answer.
	CountsImages bool `json:"-"`
}

// largeDiskBytes, in bytes, is the size from which on it is shown unasked.
const largeDiskBytes = 5 << 30

// folderCount is how many folders are counted.
const folderCount = 4

// countedParts are the counts of folders that there are, each with its name.
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
