package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"company/internal/office"
	"company/internal/present/view"
)

// MeasureDisk measures the size of an office's folders concurrently. A folder that takes longer than patience has no
// size.
func MeasureDisk(ctx context.Context, paths office.Paths, patience time.Duration) view.Disk {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	count := func(dir string) *int64 {
		own, err := paths.Folder(dir)
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
	var disk view.Disk
	var wg sync.WaitGroup
	wg.Go(func() { disk.Runs = count(paths.Runs) })
	wg.Go(func() { disk.Logs = count(paths.Logs) })
	wg.Go(func() { disk.Ledger = count(paths.Bus) })
	wg.Go(func() { disk.Mirrors = count(paths.Git) })
	wg.Wait()
	return disk
}
