package cli

import (
	"context"
	"log/slog"
	"time"

	"company/internal/company"
	"company/internal/container"
)

// A process that is killed while the daemon makes a container for it leaves one
// that appears after the next process has swept: so it is swept again, a minute
// later and when the company leaves. It holds the office's lock all the time.
const (
	sweepAgainAfter = time.Minute
	sweepFor        = time.Minute
	sweepAtLastFor  = 10 * time.Second // whoever leaves does not wait for a daemon that hangs
)

// sweepOlder removes, once after a while, the office's containers of earlier
// epochs. What this epoch's runs and gates work in stays.
func sweepOlder(ctx context.Context, rt container.Runtime, officeID string, epoch func() uint64, after time.Duration, log *slog.Logger) {
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
	}
	err := company.Guard("sweeping containers", func() error {
		return sweep(ctx, rt, officeID, func(i container.Info) bool { return i.Labels.Epoch >= epoch() }, log)
	})
	if err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "containers not swept", "err", err, "details", company.DetailsOf(err))
	}
}

// sweepAtLast removes all of the office's containers when the company leaves,
// also when ctx is over: nobody works in them any more.
func sweepAtLast(ctx context.Context, rt container.Runtime, officeID string, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepAtLastFor)
	defer cancel()
	return sweep(ctx, rt, officeID, keepNone, log)
}

// sweep removes the office's containers that are not to be kept.
func sweep(ctx context.Context, rt container.Runtime, officeID string, keep func(container.Info) bool, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, sweepFor)
	defer cancel()
	swept, err := rt.Sweep(ctx, officeID, keep)
	if len(swept) > 0 {
		log.InfoContext(ctx, "containers of an earlier process removed", "count", len(swept))
	}
	return err
}

// keepNone: nothing is kept.
func keepNone(container.Info) bool { return false }
