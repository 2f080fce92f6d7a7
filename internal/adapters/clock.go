package adapters

import (
	"context"
	"time"

	"company/internal/lib/retry"
)

// Clock provides the time to Retry. Tests replace it by one that does not wait.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or returns ctx's cause if ctx is done first.
	Sleep(ctx context.Context, d time.Duration) error
}

// WallClock is the system clock.
type WallClock struct{}

// Now returns time.Now.
func (WallClock) Now() time.Time { return time.Now() }

// Sleep waits for d under ctx.
func (WallClock) Sleep(ctx context.Context, d time.Duration) error { return retry.Sleep(ctx, d) }
