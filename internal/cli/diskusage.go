package cli

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"company/internal/office"
	"company/internal/view"
)

const (
	// diskCountTimeout is how long status counts. A person waits for it.
	diskCountTimeout = 300 * time.Millisecond
	// longDiskCountTimeout is the same for a person that asks for it.
	longDiskCountTimeout = 10 * time.Second
)

func measureDisk(ctx context.Context, p office.Paths, patience time.Duration) view.Disk {
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
	return view.Disk{Runs: count(p.Runs), Logs: count(p.Logs), Ledger: count(p.Bus), Mirrors: count(p.Git)}
}
