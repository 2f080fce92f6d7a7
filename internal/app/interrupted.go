package app

import (
	"context"
	"encoding/json"
	"sync"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/present/view"
)

// begunRuns stores what the journals of runs say, for as long as nobody continues them.
type begunRuns struct {
	mu    sync.Mutex
	byRun map[company.RunID]begunRun
}

// begunRun is what a run had done when it was held, or let go, under this fence.
type begunRun struct {
	fence uint64
	held  bool
	so    view.Activity
}

// listBegun returns the turns and the cost of the runs that have begun, have not ended, and have no current activity.
// It reads their journals: the ledger learns of both when a run ends.
func (a *App) listBegun(state *company.State, activities []view.Activity) []view.Activity {
	active := map[company.RunID]bool{}
	for _, activity := range activities {
		active[activity.Run] = true
	}
	a.begun.mu.Lock()
	defer a.begun.mu.Unlock()
	known := map[company.RunID]begunRun{}
	var out []view.Activity
	for _, task := range state.Tasks {
		for id, run := range task.Runs {
			if run.Fence == 0 || run.Ended || active[id] {
				continue
			}
			begun, ok := a.begun.byRun[id]
			if !ok || begun.fence != run.Fence || begun.held != run.Held {
				begun = begunRun{run.Fence, run.Held, a.lookBack(run)}
			}
			known[id] = begun
			out = append(out, begun.so)
		}
	}
	a.begun.byRun = known
	return out
}

// lookBack returns the turns and the cost of a run from its journal. A journal that cannot be read counts as the whole
// grant, as it does at the end of the run.
func (a *App) lookBack(run *company.Run) view.Activity {
	past, err := agent.LookBack(a.lifetime, journalOf{a, run.ID})
	if err != nil {
		a.log.Warn("journal of a run not read", "run_id", run.ID, "err", err)
		past = agent.Past{Spent: run.Reserved}
	}
	return view.Activity{Run: run.ID, Turn: past.Turns, Spent: past.Spent}
}

// journalOf reads the journal of a run.
type journalOf struct {
	app *App
	run company.RunID
}

func (j journalOf) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	n := 0
	return j.app.readJournal(ctx, j.run, false, func(kind string, data json.RawMessage) error {
		n++
		return fn(n, kind, data)
	})
}
