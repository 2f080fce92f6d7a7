package adapters

import (
	"context"
	"errors"
	"math"
	"time"

	"company/internal/lib/retry"
)

// Policy configures how often and how long Retry tries again.
type Policy struct {
	// Unreachable lists the waits before the second, third, ... attempt at an unreachable server.
	Unreachable []time.Duration
	// First and Longest limit the back-off from an overloaded server. It starts at First, doubles each time up to
	// Longest, and is reduced by a random part.
	First, Longest time.Duration
	// MaxWait limits the time that one call continues after the first refusal of an overloaded server
	// (limits.model_wait). For a silent server it includes the silence. A silent server is always asked a second
	// time.
	MaxWait time.Duration
	// Resample is the number of retries after an unusable reply.
	Resample int
}

// DefaultPolicy returns the default policy.
func DefaultPolicy() Policy {
	return Policy{
		Unreachable: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
		First:       2 * time.Second,
		Longest:     30 * time.Second,
		MaxWait:     15 * time.Minute,
		Resample:    2,
	}
}

// retrying is the model that Retry returns.
type retrying struct {
	Model
	policy Policy
	clock  Clock
}

// Retry wraps a model with the policy. An unreachable server is retried after fixed waits. An overloaded one is
// retried with back-off or after the time that it requested. After an unusable reply or a silence the request is
// repeated. Errors that a person or the caller must fix (UnknownHost, Auth, Quota, BadRequest, TooLong) and
// endless replies are returned at once. Each wait is reported as an Event.
func Retry(m Model, policy Policy, clock Clock) Model {
	return &retrying{Model: m, policy: policy, clock: clock}
}

// Chat retries until there is a reply or the policy gives up. Then it returns the last attempt's error.
func (r *retrying) Chat(ctx context.Context, req Request, onEvent func(Event)) (resp Response, err error) {
	tell := func(event Event) {
		if onEvent != nil {
			onEvent(event)
		}
	}
	again := retry.Policy{Next: r.afterFailure(tell), Sleep: r.clock.Sleep}
	err = again.Do(ctx, func(attempt int) (err error) {
		resp, err = r.Model.Chat(ctx, req, func(event Event) {
			event.Attempt = attempt + 1
			tell(event)
		})
		return err
	})
	if err != nil {
		return Response{}, err
	}
	return resp, nil
}

// afterFailure returns a function that applies the policy to the failures of one call. It reports each wait to
// tell.
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
			// A wait beyond the limit would only delay the same failure.
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
			// The silence itself counts, so a run takes at most its limit and this wait.
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

// backOff returns the wait before attempt n+2 at an overloaded server. The server's requested wait is a lower
// bound. The jitter on top keeps workers that were refused together from returning together.
func (r *retrying) backOff(n int, retryAfter time.Duration) time.Duration {
	if retryAfter > 0 {
		jitter := retry.Jitter(min(retryAfter/10, time.Second))
		return min(retryAfter, math.MaxInt64-jitter) + jitter // an overflow would become a retry without any wait
	}
	wait := retry.Doubling(r.policy.First, r.policy.Longest)(n)
	return wait/2 + retry.Jitter(wait/2)
}

// Unwrap returns the wrapped model.
func (r *retrying) Unwrap() []Model { return []Model{r.Model} }

// Close closes the model.
func (r *retrying) Close() error { return Close(r.Model) }
