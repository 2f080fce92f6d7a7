package company

import "fmt"

// MaxWorkers is the most workers that one office may have at a time.
const MaxWorkers = 64

// ScaleWorkers hires workers, or lets them go, while the company works
// (SUB-15). A hired worker stays hired over restarts, on top of the config's
// number.
type ScaleWorkers struct {
	By     int    // how many more; negative: fewer
	Worker string // of a dismissal: this one; it gives its run back
}

// WorkerCount is how many workers the office has: the config's number, and
// those hired or dismissed since. 0: there was never a worker.
func (o Office) WorkerCount() int {
	if o.Workers == 0 {
		return 0
	}
	return min(MaxWorkers, max(1, o.Workers+o.AddedWorkers))
}

func (c ScaleWorkers) decide(s *State, m Meta) ([]Event, error) {
	team := s.Office.WorkerCount()
	if team == 0 {
		return nil, E(EConflict, "nobody works in this office yet").Fix("company serve, or company submit")
	}
	if c.Worker != "" {
		c.By = -1
	}
	switch to := team + c.By; {
	case c.By == 0 || c.By > MaxWorkers:
		return nil, E(EInvalid, fmt.Sprintf("%d is no number of workers to hire", c.By)).Fix("company hire 2")
	case c.By > 0 && to > MaxWorkers:
		return nil, E(EConflict, fmt.Sprintf("%d workers are more than the %d that there may be", to, MaxWorkers)).
			Because(fmt.Sprintf("%d are there now", team)).Fix(fmt.Sprintf("hire at most %d", MaxWorkers-team))
	case to < 1:
		return nil, E(EConflict, "the last worker cannot be let go").Because(fmt.Sprintf("%d are there now", team)).
			Fix("company pause, which keeps everybody from working")
	}
	d := &WorkersScaled{Hired: team + c.By - s.Office.Workers, Team: team + c.By, Worker: c.Worker}
	evs := []Event{m.newEvent("", "", "", d)}
	if c.Worker == "" {
		return evs, nil
	}
	if !workerName(c.Worker, team) {
		return nil, E(ENotFound, "there is no worker "+c.Worker).Because(fmt.Sprintf("the team is w1 to w%d", team)).Fix("company agents")
	}
	for _, id := range s.Open {
		for _, r := range s.Tasks[id].sortedRuns() {
			if r.Held && r.Role == Worker && r.Worker == c.Worker {
				evs = append(evs, r.releaseClaim(m, c.Worker+" was let go"))
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

// WorkersScaled says how many workers there are from here on.
type WorkersScaled struct {
	Hired  int    `json:"hired"` // against the config; negative: dismissed
	Team   int    `json:"team"`
	Worker string `json:"worker,omitempty"` // the one dismissed by name
}

var _ = registerKind[WorkersScaled]()

func (*WorkersScaled) Kind() string              { return "office.staffed" }
func (d *WorkersScaled) apply(s *State, _ Event) { s.Office.AddedWorkers = d.Hired }
