package adapters

import (
	"context"
	"time"
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
func (WallClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
