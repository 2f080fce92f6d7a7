package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"company/internal/office"
	"company/internal/view"
)

// MeasureDisk counts the bytes of an office's folders, all at once, for as long as
// patience lasts.
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
	var v view.Disk
	var wg sync.WaitGroup
	wg.Go(func() { v.Runs = count(p.Runs) })
	wg.Go(func() { v.Logs = count(p.Logs) })
	wg.Go(func() { v.Ledger = count(p.Bus) })
	wg.Go(func() { v.Mirrors = count(p.Git) })
	wg.Wait()
	return v
}
