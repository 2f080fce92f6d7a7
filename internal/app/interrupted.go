package app

import (
	"context"
	"encoding/json"
	"sync"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/present/view"
)

// interruptedRuns stores what the journals of runs say, for as long as nobody continues them.
type interruptedRuns struct {
	mu    sync.Mutex
	byRun map[company.RunID]interruptedRun
}

// interruptedRun is what a run had done when it was held, or let go, under this fence.
type interruptedRun struct {
	fence    uint64
	held     bool
	activity view.Activity
}

// listInterrupted returns the turns and the cost of the runs that have begun, have not ended, and have no current
// activity. It reads their journals: the ledger learns of both when a run ends.
func (a *App) listInterrupted(state *company.State, activities []view.Activity) []view.Activity {
	active := map[company.RunID]bool{}
	for _, activity := range activities {
		active[activity.Run] = true
	}
	a.interrupted.mu.Lock()
	defer a.interrupted.mu.Unlock()
	known := map[company.RunID]interruptedRun{}
	var out []view.Activity
	for _, task := range state.Tasks {
		for id, run := range task.Runs {
			if run.Fence == 0 || run.Ended || active[id] {
				continue
			}
			stored, ok := a.interrupted.byRun[id]
			if !ok || stored.fence != run.Fence || stored.held != run.Held {
				stored = interruptedRun{run.Fence, run.Held, a.readPast(run)}
			}
			known[id] = stored
			out = append(out, stored.activity)
		}
	}
	a.interrupted.byRun = known
	return out
}

// readPast returns the turns and the cost of a run from its journal. A journal that cannot be read counts as the whole
// grant, as it does at the end of the run.
func (a *App) readPast(run *company.Run) view.Activity {
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
