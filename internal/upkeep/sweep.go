package upkeep

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
	SweepAgainAfter  = time.Minute
	sweepTimeout     = time.Minute
	exitSweepTimeout = 10 * time.Second // an exit does not wait for a daemon that hangs
)

// SweepEarlierEpochs removes, once after a while, the office's containers of earlier
// epochs. What this epoch's runs and gates work in stays.
func SweepEarlierEpochs(ctx context.Context, rt container.Runtime, officeID string, epoch func() uint64, after time.Duration, log *slog.Logger) {
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
	}
	err := company.Guard("sweeping containers", func() error {
		return SweepContainers(ctx, rt, officeID, func(i container.Info) bool { return i.Labels.Epoch >= epoch() }, log)
	})
	if err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "containers not swept", "err", err, "details", company.DetailsOf(err))
	}
}

// SweepOnExit removes all of the office's containers when the company leaves,
// also when ctx is over: no run works in them any more.
func SweepOnExit(ctx context.Context, rt container.Runtime, officeID string, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exitSweepTimeout)
	defer cancel()
	return SweepContainers(ctx, rt, officeID, KeepNone, log)
}

// SweepContainers removes the office's containers that are not to be kept.
func SweepContainers(ctx context.Context, rt container.Runtime, officeID string, keep func(container.Info) bool, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	swept, err := rt.Sweep(ctx, officeID, keep)
	if len(swept) > 0 {
		log.InfoContext(ctx, "containers of an earlier process removed", "count", len(swept))
	}
	return err
}

// KeepNone: nothing is kept.
func KeepNone(container.Info) bool { return false }
