package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"company/internal/lib/retry"
)

var errBroken = errors.New("broken")

func TestDo(t *testing.T) {
	twice := func(attempt int, _ error) (time.Duration, bool) { return time.Second << attempt, attempt < 2 }
	for name, c := range map[string]struct {
		policy   retry.Policy
		failures int
		attempts int
		err      error
		waited   time.Duration
	}{
		"works at once":           {retry.Policy{Next: twice}, 0, 1, nil, 0},
		"works at the third":      {retry.Policy{Next: twice}, 2, 3, nil, 3 * time.Second},
		"gives up":                {retry.Policy{Next: twice}, 9, 3, errBroken, 3 * time.Second},
		"a wait beyond the total": {retry.Policy{Next: twice, Total: 2 * time.Second}, 9, 2, errBroken, time.Second},
		"the total to its end":    {retry.Policy{Next: twice, Total: 3 * time.Second}, 9, 3, errBroken, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, attempts := time.Now(), 0
				err := c.policy.Do(t.Context(), func(attempt int) error {
					if attempt != attempts {
						t.Errorf("attempt %d is counted as %d", attempts, attempt)
					}
					if attempts++; attempts > c.failures {
						return nil
					}
					return errBroken
				})
				if !errors.Is(err, c.err) || attempts != c.attempts || time.Since(began) != c.waited {
					t.Errorf("%v after %d attempts and %s", err, attempts, time.Since(began))
				}
			})
		})
	}
}

// TestEndOfContext: the cause comes back, whether ctx ends in an attempt or in
// a wait.
func TestEndOfContext(t *testing.T) {
	ended := errors.New("ended by a person")
	always := func(int, error) (time.Duration, bool) { return time.Hour, true }
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		if err := (retry.Policy{Next: always}).Do(ctx, func(int) error { cancel(ended); return errBroken }); !errors.Is(
			err, ended) {
			t.Error(err)
		}
		began := time.Now()
		ctx, cancel = context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(ended) })
		if err := (retry.Policy{Next: always}).Do(ctx, func(int) error { return errBroken }); !errors.Is(err, ended) ||
			time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, looks := time.Now(), 0
		err := retry.Until(t.Context(), retry.Doubling(time.Second, 3*time.Second),
			func() (bool, error) { looks++; return looks == 5, nil })
		if err != nil || time.Since(began) != 9*time.Second { // 1, 2, 3, 3
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := retry.Until(t.Context(), retry.Every(time.Second),
			func() (bool, error) { return false, errBroken }); !errors.Is(err, errBroken) {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := retry.Until(ctx, retry.Every(time.Hour), func() (bool, error) { return false, nil }); !errors.Is(
			err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestWaits(t *testing.T) {
	if d := retry.Doubling(time.Second, time.Minute)(1 << 20); d != time.Minute {
		t.Error(d)
	}
	if d := retry.Doubling(24*time.Hour, 16*24*time.Hour)(29); d != 16*24*time.Hour { // 24h<<29 is not a duration
		t.Error(d)
	}
	for range 100 {
		if d := retry.Jitter(time.Second); d < 0 || d > time.Second {
			t.Error(d)
		}
	}
	if d := retry.Jitter(-1); d != 0 {
		t.Error(d)
	}
}
