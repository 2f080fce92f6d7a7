// Package retry tries again. It owns the loop, which is the same for a model's
// server, a forge, a remote and the office's money: try, ask the policy whether
// and when to try again, wait. The policies stay in the rooms that know the
// errors.
//
// It promises that no wait outlives its context, and that an end of the context
// is reported as the context's cause. It logs nothing and knows no error.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d, or returns ctx's cause when that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Policy says whether and when a failed attempt is repeated.
type Policy struct {
	// Next is asked after each failed attempt, which are counted from 0.
	Next func(attempt int, err error) (wait time.Duration, again bool)
	// Total bounds the sum of the waits: a wait that would pass it is not begun.
	// 0 sets no bound.
	Total time.Duration
	// Sleep waits; nil means Sleep of this package.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Do tries until an attempt succeeds or the policy gives up. It returns nil,
// the last attempt's error, or ctx's cause when ctx ends.
func (p Policy) Do(ctx context.Context, try func(attempt int) error) error {
	sleep := p.Sleep
	if sleep == nil {
		sleep = Sleep
	}
	for attempt := 0; ; attempt++ {
		err := try(attempt)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait, again := p.Next(attempt, err)
		if !again || p.Total > 0 && wait > p.Total {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// Until looks until the awaited state is there, or an error. Between two looks
// it waits, for as long as wait says of the looks before. It returns ctx's
// cause when ctx ends first.
func Until(ctx context.Context, wait func(looks int) time.Duration, look func() (done bool, err error)) error {
	for n := 0; ; n++ {
		if done, err := look(); done || err != nil {
			return err
		}
		if err := Sleep(ctx, wait(n)); err != nil {
			return err
		}
	}
}

// Every waits equally long each time.
func Every(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// Doubling waits for first, then twice as long each time, never over longest.
func Doubling(first, longest time.Duration) func(int) time.Duration {
	return func(n int) time.Duration {
		return min(first<<n, longest)
	}
}

// Jitter is a random wait up to most. It keeps those that failed together from
// coming back together.
func Jitter(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return rand.N(most + 1)
}
