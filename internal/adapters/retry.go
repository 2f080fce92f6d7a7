package adapters

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"company/internal/lib/retry"
)

// Policy configures how often and how long Retry tries again.
type Policy struct {
	// Unreachable lists the waits before the second, third, ... attempt at an unreachable server.
	Unreachable []time.Duration
	// First and Longest limit the back-off from an overloaded server, and from one that is away. It starts at First,
	// doubles each time up to Longest, and is reduced by a random part.
	First, Longest time.Duration
	// MaxWait limits the time that one call continues after an overloaded server first refused it, or a known one was
	// first away (limits.model_wait). For a silent server it includes the silence. A silent server is always asked a
	// second time.
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
	// answered reports that the server has answered before. All models of a server share it.
	answered *atomic.Bool
	// isFallback means that replies in a conversation may be those of another model.
	isFallback bool
	// hasFallback means that another model takes over from a server that is away.
	hasFallback bool
}

// Retry wraps a model with the policy. An overloaded server is retried with back-off or after the time that it
// requested. A server that is away is retried in the same way if it has answered before. Otherwise its address may
// be wrong, so it is retried after the fixed waits only, and an unknown host not at all. After an unusable reply or
// a silence the request is repeated. Errors that a person or the caller must fix (Auth, Quota, BadRequest, TooLong)
// and endless replies are returned at once. Each wait is reported as an Event.
func Retry(m Model, policy Policy, clock Clock) Model {
	return &retrying{Model: m, policy: policy, clock: clock, answered: new(atomic.Bool)}
}

// Chat retries until there is a reply or the policy gives up. Then it returns the last attempt's error.
func (r *retrying) Chat(ctx context.Context, req Request, onEvent func(Event)) (resp Response, err error) {
	tell := func(event Event) {
		if onEvent != nil {
			onEvent(event)
		}
	}
	// The conversation may have begun in an earlier process.
	begun := !r.isFallback && slices.ContainsFunc(req.Messages, func(m Message) bool { return m.Role == Assistant })
	isKnown := func() bool { return begun || r.answered.Load() }
	again := retry.Policy{Next: r.afterFailure(tell, isKnown), Sleep: r.clock.Sleep}
	err = again.Do(ctx, func(attempt int) (err error) {
		resp, err = r.Model.Chat(ctx, req, func(event Event) {
			event.Attempt = attempt + 1
			tell(event)
		})
		fault := (*Error)(nil)
		if err == nil || errors.As(err, &fault) && fault.Status != 0 {
			r.answered.Store(true)
		} else if fault != nil && fault.Kind == UnknownHost && isKnown() {
			away := *fault // its name server is away, and nobody need correct its address
			away.Kind, err = Unreachable, &away
		}
		return err
	})
	if err != nil {
		return Response{}, err
	}
	return resp, nil
}

// afterFailure returns a function that applies the policy to the failures of one call. It reports each wait to
// tell. isKnown reports whether the server has answered before.
func (r *retrying) afterFailure(
	tell func(Event), isKnown func() bool,
) func(attempt int, err error) (time.Duration, bool) {
	var unreachable, broken, overloaded, resampled, silent int
	var refusedSince time.Time // by an overloaded server, or by one that is away
	began := r.clock.Now()
	return func(attempt int, err error) (wait time.Duration, again bool) {
		var failure *Error
		if !errors.As(err, &failure) {
			return 0, false
		}
		if refusedSince.IsZero() && (failure.Kind == Unreachable || failure.Kind == Overloaded) {
			refusedSince = r.clock.Now()
		}
		longest := r.policy.MaxWait
		switch {
		case failure.Kind == Unreachable:
			if failure.mayCost() {
				broken++ // each such attempt may be billed, so there are no more than before a first answer
			}
			isAwaited := !r.hasFallback && isKnown() && broken <= len(r.policy.Unreachable)
			var hasNext bool
			if wait, longest, hasNext = r.awayWait(unreachable, isAwaited); !hasNext ||
				unreachable >= len(r.policy.Unreachable) && r.clock.Now().Add(wait).Sub(refusedSince) > longest {
				return 0, false
			}
			unreachable++
		case failure.Kind == Overloaded:
			wait = r.backOff(overloaded, failure.RetryAfter)
			overloaded++
			// A wait beyond the limit would only delay the same failure.
			if r.clock.Now().Add(wait).Sub(refusedSince) > r.policy.MaxWait {
				return 0, false
			}
		case failure.Kind == MalformedReply:
			if resampled == r.policy.Resample {
				return 0, false
			}
			resampled++
		case failure.Kind == TimedOut:
			wait = r.backOff(silent, 0)
			// The silence itself counts, so a run takes at most its limit and this wait.
			if failure.Endless || silent >= 1 && r.clock.Now().Add(wait).Sub(began) > r.policy.MaxWait {
				return 0, false
			}
			silent++
		default:
			return 0, false
		}
		tell(Event{Waiting: wait, Asked: failure.RetryAfter > 0, Reason: failure.Error(), Attempt: attempt + 1,
			Longest: longest})
		return wait, true
	}
}

// awayWait returns the wait before the next attempt at a server that is away, and the limit of all waits. ok is false
// if there is no such attempt. earlier counts the attempts that failed before the newest one. isAwaited means that
// the server is known and nothing else can answer in its place.
func (r *retrying) awayWait(earlier int, isAwaited bool) (wait, longest time.Duration, ok bool) {
	fixed := r.policy.Unreachable
	if longest = r.policy.MaxWait; !isAwaited {
		longest = 0
		for _, w := range fixed {
			longest += w
		}
	}
	if earlier < len(fixed) {
		return fixed[earlier], longest, true
	}
	return r.backOff(earlier, 0), longest, isAwaited
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
