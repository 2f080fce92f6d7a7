package upkeep

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"company/internal/present/feed"
)

// A round comes again until it is ended; one that fails comes less and less
// often and says so once; none comes while the office is stopped.
func TestPeriodicJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var stopped, broken, hangs atomic.Bool
		var mu sync.Mutex // time that passes orders nothing for the race detector
		var told []string
		var at []time.Duration
		began := time.Now()
		r := Job{Name: "forge", Interval: time.Minute, Limit: 5 * time.Second, Run: func(ctx context.Context) error {
			mu.Lock()
			at = append(at, time.Since(began))
			mu.Unlock()
			if hangs.Load() {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			if broken.Load() {
				return errors.New("no answer")
			}
			return nil
		}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.RunLoop(ctx, stopped.Load, func(it feed.Item) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, string(it.Mark)+" "+it.Text)
			})
		}()
		count := func(d time.Duration) int {
			mu.Lock()
			before := len(at)
			mu.Unlock()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return len(at) - before
		}
		if n := count(10*time.Minute + time.Second); n < 9 || n > 10 {
			t.Errorf("%d rounds in ten minutes", n)
		}
		stopped.Store(true)
		if n := count(10 * time.Minute); n != 0 {
			t.Errorf("%d rounds of a stopped office", n)
		}
		stopped.Store(false)
		broken.Store(true)
		if n := count(time.Hour); n < 5 || n > 9 { // after 1, 2, 4, 8, 16, 16 minutes
			t.Errorf("%d rounds in an hour that fail", n)
		}
		if len(told) != 1 || told[0] != "failed no answer" {
			t.Errorf("told: %q", told)
		}
		broken.Store(false)
		if n := count(2 * time.Hour); n < 80 {
			t.Errorf("%d rounds in two hours after the trouble", n)
		}
		if len(told) != 2 || told[1] != "done works again" {
			t.Errorf("told: %q", told)
		}
		hangs.Store(true)
		if count(2*time.Minute) == 0 || len(told) != 3 {
			t.Errorf("a round that hangs is not cut off: %q", told)
		}
		cancel()
		<-ended
	})
}
