package app

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"company/internal/agent"
	"company/internal/company"
)

// liveOutputs has the newest output of each call under way, for the followers of its run.
// Nothing of it is kept when the call is over.
type liveOutputs struct {
	mu      sync.Mutex
	byRun   map[company.RunID]map[string]agent.LiveOutput // by the call's id
	changed chan struct{}                                 // closed with the next change; made for the first follower that waits
}

// putOutput takes the newest output of a call, or its end.
func (l *liveOutputs) putOutput(run company.RunID, o agent.LiveOutput) {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := maps.Clone(l.byRun[run]) // followers read the one before
	switch {
	case len(o.Lines) == 0:
		delete(calls, o.ID)
	case calls == nil:
		calls = map[string]agent.LiveOutput{o.ID: o}
	default:
		calls[o.ID] = o
	}
	if l.byRun == nil {
		l.byRun = map[company.RunID]map[string]agent.LiveOutput{}
	}
	if l.byRun[run] = calls; len(calls) == 0 {
		delete(l.byRun, run)
	}
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// listOutputs gives the outputs of a run's calls under way, and a channel that the next
// change closes.
func (l *liveOutputs) listOutputs(run company.RunID) (map[string]agent.LiveOutput, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.byRun[run], l.changed
}

// followOutputs gives what the calls of a run print, and their ends, until ctx ends; then its
// error is the cause.
func (l *liveOutputs) followOutputs(ctx context.Context, run company.RunID, fn func(agent.LiveOutput) error) error {
	var shown map[string]agent.LiveOutput
	for {
		now, changed := l.listOutputs(run)
		for _, o := range sortByStart(now) {
			if !slices.Equal(o.Lines, shown[o.ID].Lines) || shown[o.ID].Since != o.Since {
				if err := fn(o); err != nil {
					return err
				}
			}
		}
		for _, o := range sortByStart(shown) {
			if _, goesOn := now[o.ID]; !goesOn {
				o.Lines = nil
				if err := fn(o); err != nil {
					return err
				}
			}
		}
		shown = now
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// sortByStart orders outputs by the start of their calls.
func sortByStart(calls map[string]agent.LiveOutput) []agent.LiveOutput {
	return slices.SortedFunc(maps.Values(calls), func(x, y agent.LiveOutput) int {
		if c := x.Since.Compare(y.Since); c != 0 {
			return c
		}
		return strings.Compare(x.ID, y.ID)
	})
}
