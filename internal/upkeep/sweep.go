package upkeep

import (
	"context"
	"log/slog"
	"time"

	"company/internal/company"
	"company/internal/container"
)

// If a process is killed while the daemon creates a container for it, the container may appear after the next process
// has swept. So it sweeps again after a minute and on exit. It holds the office's lock all the time.
const (
	SweepAgainAfter  = time.Minute
	sweepTimeout     = time.Minute
	exitSweepTimeout = 10 * time.Second // do not delay an exit for a daemon that hangs
)

// SweepEarlierEpochs waits, and then removes the office's containers of earlier epochs once. It keeps containers of
// this epoch's runs and gates.
func SweepEarlierEpochs(
	ctx context.Context, rt container.Runtime, officeID string, epoch func() uint64, after time.Duration, log *slog.Logger,
) {
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

// SweepOnExit removes all of the office's containers when the company exits, even if ctx is done. No run uses them any
// more.
func SweepOnExit(ctx context.Context, rt container.Runtime, officeID string, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exitSweepTimeout)
	defer cancel()
	return SweepContainers(ctx, rt, officeID, KeepNone, log)
}

// SweepContainers removes the office's containers, except those that keep selects.
func SweepContainers(
	ctx context.Context, rt container.Runtime, officeID string, keep func(container.Info) bool, log *slog.Logger,
) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	swept, err := rt.Sweep(ctx, officeID, keep)
	if len(swept) > 0 {
		log.InfoContext(ctx, "containers of an earlier process removed", "count", len(swept))
	}
	return err
}

// KeepNone keeps no container.
func KeepNone(container.Info) bool { return false }
