package retry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errBroken = errors.New("broken")

func TestDo(t *testing.T) {
	twice := func(attempt int, _ error) (time.Duration, bool) { return time.Second << attempt, attempt < 2 }
	for name, c := range map[string]struct {
		failures, attempts int
		err                error
		waited             time.Duration
	}{
		"works at once":      {0, 1, nil, 0},
		"works at the third": {2, 3, nil, 3 * time.Second},
		"gives up":           {9, 3, errBroken, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, attempts := time.Now(), 0
				err := Policy{Next: twice}.Do(t.Context(), func(int) error {
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

func TestEndOfContext(t *testing.T) {
	ended := errors.New("ended by a person")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(ended) })
		if err := Sleep(ctx, time.Hour); !errors.Is(err, ended) {
			t.Error(err)
		}
	})
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, looks := time.Now(), 0
		err := Until(t.Context(), Doubling(time.Second, 3*time.Second), func() (bool, error) { looks++; return looks == 5, nil })
		if err != nil || time.Since(began) != 9*time.Second { // 1, 2, 3, 3
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
