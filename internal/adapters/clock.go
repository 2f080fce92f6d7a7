package adapters

import (
	"context"
	"time"

	"company/internal/retry"
)

// Clock is the time that Retry lives in; tests bring one that does not wait.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or returns ctx's cause when that is done first.
	Sleep(ctx context.Context, d time.Duration) error
}

// WallClock is real time.
type WallClock struct{}

// Now is time.Now.
func (WallClock) Now() time.Time { return time.Now() }

// Sleep waits for d under ctx.
func (WallClock) Sleep(ctx context.Context, d time.Duration) error { return retry.Sleep(ctx, d) }
