package adapters

import (
	"context"
	"errors"
	"math"
	"time"

	"company/internal/retry"
)

// Policy says how often and how long Retry tries again.
type Policy struct {
	// Unreachable are the waits before the second, third, ... attempt at a
	// server that cannot be reached.
	Unreachable []time.Duration
	// First and Longest bound the back-off from an overloaded server: First
	// doubled each time, never over Longest, a random part of it less.
	First, Longest time.Duration
	// MaxWait is how long one call may go on after its first refusal by an
	// overloaded server, or with a silent one, the silence included (limits.model_wait).
	// A silent server is asked again once in any case.
	MaxWait time.Duration
	// Resample is how many times a reply that is none is asked for again.
	Resample int
}

// DefaultPolicy is what the design asks for.
func DefaultPolicy() Policy {
	return Policy{
		Unreachable: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
		First:       2 * time.Second,
		Longest:     30 * time.Second,
		MaxWait:     15 * time.Minute,
		Resample:    2,
	}
}

// retrying is the wrapper that Retry makes.
type retrying struct {
	Model
	policy Policy
	clock  Clock
}

// Retry wraps a model with the policy: a server out of reach is tried again
// after fixed waits, an overloaded one with back-off or after the time that it
// asked for, an unusable reply is sampled again, a silent server is asked again.
// Errors that a person or the caller must mend (UnknownHost, Auth, Quota, BadRequest,
// TooLong) and a reply without an end come back at once. Each wait is reported as an Event.
func Retry(m Model, policy Policy, clock Clock) Model {
	return &retrying{Model: m, policy: policy, clock: clock}
}

// Chat tries until there is a reply, or a reason to give up: then it returns
// the last attempt's error.
func (r *retrying) Chat(ctx context.Context, req Request, onEvent func(Event)) (resp Response, err error) {
	tell := func(e Event) {
		if onEvent != nil {
			onEvent(e)
		}
	}
	again := retry.Policy{Next: r.afterFailure(tell), Sleep: r.clock.Sleep}
	err = again.Do(ctx, func(attempt int) (err error) {
		resp, err = r.Model.Chat(ctx, req, func(e Event) {
			e.Attempt = attempt + 1
			tell(e)
		})
		return err
	})
	if err != nil {
		return Response{}, err
	}
	return resp, nil
}

// afterFailure applies the policy to the failures of one call, and tells of
// each wait.
func (r *retrying) afterFailure(tell func(Event)) func(attempt int, err error) (time.Duration, bool) {
	var unreachable, overloaded, resampled, silent int
	var overloadedSince time.Time
	began := r.clock.Now()
	return func(attempt int, err error) (wait time.Duration, again bool) {
		var failure *Error
		if !errors.As(err, &failure) {
			return 0, false
		}
		switch failure.Kind {
		case Unreachable:
			if unreachable == len(r.policy.Unreachable) {
				return 0, false
			}
			wait = r.policy.Unreachable[unreachable]
			unreachable++
		case Overloaded:
			if overloaded == 0 {
				overloadedSince = r.clock.Now()
			}
			wait = r.backOff(overloaded, failure.RetryAfter)
			overloaded++
			// Waiting for a moment that lies behind the limit would only make
			// the same failure late.
			if r.clock.Now().Add(wait).Sub(overloadedSince) > r.policy.MaxWait {
				return 0, false
			}
		case MalformedReply:
			if resampled == r.policy.Resample {
				return 0, false
			}
			resampled++
		case TimedOut:
			wait = r.backOff(silent, 0)
			// The silence itself took time, which counts: a run has no more than its limit and this wait.
			if failure.Endless || silent >= 1 && r.clock.Now().Add(wait).Sub(began) > r.policy.MaxWait {
				return 0, false
			}
			silent++
		default:
			return 0, false
		}
		tell(Event{Waiting: wait, Asked: failure.RetryAfter > 0, Reason: failure.Error(), Attempt: attempt + 1})
		return wait, true
	}
}

// backOff is the wait before attempt n+2 at an overloaded server. The server's
// own wait is a lower bound; the jitter on top keeps workers that were refused
// together from coming back together.
func (r *retrying) backOff(n int, retryAfter time.Duration) time.Duration {
	if retryAfter > 0 {
		jitter := retry.Jitter(min(retryAfter/10, time.Second))
		return min(retryAfter, math.MaxInt64-jitter) + jitter // a sum that wraps is no wait at all, again and again
	}
	wait := retry.Doubling(r.policy.First, r.policy.Longest)(n)
	return wait/2 + retry.Jitter(wait/2)
}

// Unwrap is the model that is tried.
func (r *retrying) Unwrap() []Model { return []Model{r.Model} }

// Close closes the model.
func (r *retrying) Close() error { return Close(r.Model) }
