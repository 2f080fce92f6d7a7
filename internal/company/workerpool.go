package company

import "fmt"

// MaxWorkers limits the workers of one office.
const MaxWorkers = 64

// ScaleWorkers adds or removes workers while the company works (SUB-15). The change persists across restarts, in
// addition to the config's number.
type ScaleWorkers struct {
	By     int    // number of added workers; negative removes
	Worker string // the worker to remove, which returns its run
}

// WorkerCount returns the number of workers: the config's number plus the added ones, within 1 and MaxWorkers. It is 0
// if the office never had a worker.
func (o Office) WorkerCount() int {
	if o.Workers == 0 {
		return 0
	}
	return min(MaxWorkers, max(1, o.Workers+o.AddedWorkers))
}

func (c ScaleWorkers) decide(state *State, meta Meta) ([]Event, error) {
	team := state.Office.WorkerCount()
	if team == 0 {
		return nil, E(EConflict, "this office has no workers yet").Fix("company serve, or company submit")
	}
	if c.Worker != "" {
		c.By = -1
	}
	switch to := team + c.By; {
	case c.By == 0 || c.By > MaxWorkers:
		return nil, E(EInvalid, fmt.Sprintf("invalid number of workers: %d", c.By)).Fix("company hire 2")
	case c.By > 0 && to > MaxWorkers:
		return nil, E(EConflict, fmt.Sprintf("%d workers exceed the limit of %d", to, MaxWorkers)).
			Because(fmt.Sprintf("%d are there now", team)).Fix(fmt.Sprintf("hire at most %d", MaxWorkers-team))
	case to < 1:
		return nil, E(EConflict, "cannot fire the last worker").Because(fmt.Sprintf("%d are there now", team)).
			Fix("company pause stops all work")
	}
	d := &WorkersScaled{Hired: team + c.By - state.Office.Workers, Team: team + c.By, Worker: c.Worker}
	evs := []Event{meta.newEvent("", "", "", d)}
	if c.Worker == "" {
		return evs, nil
	}
	if !workerName(c.Worker, team) {
		return nil, E(ENotFound, "there is no worker "+c.Worker).Because(fmt.Sprintf("the team is w1 to w%d", team)).
			Fix("company agents")
	}
	for _, id := range state.Open {
		for _, run := range state.Tasks[id].sortedRuns() {
			if run.Held && run.Role == Worker && run.Worker == c.Worker {
				evs = append(evs, run.releaseClaim(meta, c.Worker+" was fired"))
			}
		}
	}
	return evs, nil
}

// workerName reports whether a name is one of a team's: w1, w2, …
func workerName(name string, team int) bool {
	for n := 1; n <= team; n++ {
		if name == "w"+itoa(n) {
			return true
		}
	}
	return false
}

// WorkersScaled records a new number of workers.
type WorkersScaled struct {
	Hired  int    `json:"hired"` // difference from the config; negative means removed
	Team   int    `json:"team"`
	Worker string `json:"worker,omitempty"` // the worker that was removed by name
}

var _ = registerKind[WorkersScaled]()

func (*WorkersScaled) Kind() string              { return "office.staffed" }
func (d *WorkersScaled) apply(s *State, _ Event) { s.Office.AddedWorkers = d.Hired }
