package upkeep

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"company/internal/container"
)

// fakeRuntime is a daemon that has containers, and what was swept of them.
type fakeRuntime struct {
	container.Runtime
	all  []container.Info
	mu   sync.Mutex // time that passes orders nothing for the race detector
	gone []string
}

// removed is what has been removed so far.
func (l *fakeRuntime) removed() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.gone)
}

func (l *fakeRuntime) Sweep(_ context.Context, _ string, keep func(container.Info) bool) ([]container.Info, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var gone []container.Info
	l.all = slices.DeleteFunc(l.all, func(i container.Info) bool {
		if keep(i) {
			return false
		}
		l.gone = append(l.gone, i.Name)
		gone = append(gone, i)
		return true
	})
	return gone, nil
}

// A container of an earlier process that comes up after the sweep of the start
// is removed a minute later; those of this one stay.
func TestSweepEarlierEpochs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(name string, epoch uint64) container.Info {
			return container.Info{Name: name, Labels: container.Labels{Office: "abcd", Epoch: epoch}}
		}
		rt := &fakeRuntime{all: []container.Info{at("late", 1), at("ours", 2)}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			SweepEarlierEpochs(t.Context(), rt, "abcd", func() uint64 { return 2 }, SweepAgainAfter,
				slog.New(slog.DiscardHandler))
		}()
		time.Sleep(SweepAgainAfter - time.Second) // of the test's own clock
		synctest.Wait()
		if len(rt.removed()) > 0 {
			t.Errorf("too early: %q", rt.removed())
		}
		<-done
		if !slices.Equal(rt.removed(), []string{"late"}) {
			t.Errorf("swept %q", rt.removed())
		}
	})
}

// Who leaves before that does not wait for it.
func TestNoSweepAfterExit(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rt := &fakeRuntime{all: []container.Info{{Name: "late"}}}
	SweepEarlierEpochs(ctx, rt, "abcd", func() uint64 { return 2 }, time.Hour, slog.New(slog.DiscardHandler))
	if len(rt.removed()) > 0 {
		t.Errorf("swept %q", rt.removed())
	}
	if err := SweepOnExit(ctx, rt, "abcd", slog.New(slog.DiscardHandler)); err != nil || len(rt.removed()) != 1 {
		t.Errorf("at last: %v, %q", err, rt.removed())
	}
}
