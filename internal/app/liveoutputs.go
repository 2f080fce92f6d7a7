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

// liveOutputs stores the newest output of each running call, for the followers of its run. It
// drops the output when the call ends.
type liveOutputs struct {
	mu    sync.Mutex
	byRun map[company.RunID]map[string]agent.LiveOutput // by the call's id
	// closed on the next change; created for the first waiting follower
	changed chan struct{}
}

// putOutput stores the newest output of a call. An output without lines ends the call.
func (l *liveOutputs) putOutput(run company.RunID, liveOutput agent.LiveOutput) {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := maps.Clone(l.byRun[run]) // followers may still read the old map
	switch {
	case len(liveOutput.Lines) == 0:
		delete(calls, liveOutput.ID)
	case calls == nil:
		calls = map[string]agent.LiveOutput{liveOutput.ID: liveOutput}
	default:
		calls[liveOutput.ID] = liveOutput
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

// listOutputs returns the outputs of a run's running calls, and a channel that is closed on the
// next change.
func (l *liveOutputs) listOutputs(run company.RunID) (map[string]agent.LiveOutput, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.byRun[run], l.changed
}

// followOutputs calls fn for new output of a run's calls and for their ends. It runs until ctx
// ends, and then returns the cause.
func (l *liveOutputs) followOutputs(ctx context.Context, run company.RunID, fn func(agent.LiveOutput) error) error {
	var shown map[string]agent.LiveOutput
	for {
		now, changed := l.listOutputs(run)
		for _, liveOutput := range sortByStart(now) {
			if !slices.Equal(liveOutput.Lines, shown[liveOutput.ID].Lines) || shown[liveOutput.ID].Since != liveOutput.Since {
				if err := fn(liveOutput); err != nil {
					return err
				}
			}
		}
		for _, liveOutput := range sortByStart(shown) {
			if _, goesOn := now[liveOutput.ID]; !goesOn {
				liveOutput.Lines = nil
				if err := fn(liveOutput); err != nil {
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

// sortByStart returns the outputs ordered by the start of their calls.
func sortByStart(calls map[string]agent.LiveOutput) []agent.LiveOutput {
	return slices.SortedFunc(maps.Values(calls), func(liveOutput, y agent.LiveOutput) int {
		if c := liveOutput.Since.Compare(y.Since); c != 0 {
			return c
		}
		return strings.Compare(liveOutput.ID, y.ID)
	})
}
