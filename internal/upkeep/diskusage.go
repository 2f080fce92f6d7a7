package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"company/internal/office"
	"company/internal/view"
)

// MeasureDisk counts the bytes of an office's folders, for as long as patience lasts.
func MeasureDisk(ctx context.Context, p office.Paths, patience time.Duration) view.Disk {
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
