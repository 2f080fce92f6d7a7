// Package retry repeats failed attempts. It has the loop that is the same for a model's server, a forge, a remote and
// the office's money: try, ask the policy whether and when to repeat, wait. The packages that know the errors define
// the policies.
//
// No wait outlives its context. If the context ends, its cause is returned. The package writes no logs and does not
// interpret errors.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d. If ctx ends first, it returns ctx's cause.
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

// Policy decides whether and when a failed attempt is repeated.
type Policy struct {
	// Next is called after each failed attempt. Attempts are counted from 0.
	Next func(attempt int, err error) (wait time.Duration, again bool)
	// Total limits the sum of the waits. A wait that would exceed it is not started. 0 means no limit.
	Total time.Duration
	// Sleep waits for d. A nil Sleep means the function Sleep of this package.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Do repeats try until it succeeds or the policy gives up. It returns nil, the last error, or ctx's cause if ctx ends.
func (p Policy) Do(ctx context.Context, try func(attempt int) error) error {
	sleep, left := p.Sleep, p.Total
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
		if !again || p.Total > 0 && wait > left {
			return err
		}
		left -= wait
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// Until calls look until it is done or returns an error. Between calls it waits as long as wait returns for the number
// of earlier calls. If ctx ends first, it returns ctx's cause.
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

// Every returns a constant wait.
func Every(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// Doubling returns waits that start at first and double each time, up to longest.
func Doubling(first, longest time.Duration) func(int) time.Duration {
	return func(n int) time.Duration {
		d := first
		for ; n > 0 && d < longest; n-- {
			d *= 2
		}
		return min(d, longest)
	}
}

// Jitter returns a random wait of at most most. It keeps callers that failed together from retrying together.
func Jitter(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return rand.N(most + 1)
}
