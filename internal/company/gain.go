package company

import (
	"fmt"
	"time"
)

// A plan's gain is the estimated speed-up from doing its tickets at the same time instead of by one engineer. A ticket
// takes the time of its effort, its checks, and a minute for its container, its brief and its review. The merged whole
// takes another run of the checks and a minute.
const (
	leastGain   = 1.3 // a plan below it goes back to the manager once
	ticketExtra = time.Minute
	wholeExtra  = time.Minute
	unknownGate = 30 * time.Second // assumed time of a run of the checks before the baseline is known
)

// effortTime is the estimated time that an engineer of this company needs for a ticket.
var effortTime = map[string]time.Duration{EffortSmall: time.Minute, EffortMedium: 5 * time.Minute,
	EffortLarge: 15 * time.Minute}

// Gain is the estimated duration of a task with and without a plan.
type Gain struct {
	Alone  time.Duration // with one engineer
	Split  time.Duration // with the plan
	Checks time.Duration // of one run of the checks; included in both
}

// Factor returns the speed-up of the plan.
func (g Gain) Factor() float64 { return g.Alone.Seconds() / g.Split.Seconds() }

// EstimateGain estimates the gain of a plan without a cycle. checks is the duration of a run of the checks; 0 means
// unknown.
func (p Plan) EstimateGain(checks time.Duration) Gain {
	if checks <= 0 {
		checks = unknownGate
	}
	order := planOrderOf(p, func(int, string, string) {})
	var efforts []time.Duration
	var sum time.Duration
	for _, w := range p.Waves {
		for _, subtask := range w.Subtasks {
			efforts = append(efforts, effortTime[subtask.Effort])
			sum += effortTime[subtask.Effort]
		}
	}
	ends := make([]time.Duration, len(efforts))
	var endOf func(i int) time.Duration
	endOf = func(i int) time.Duration {
		if ends[i] > 0 {
			return ends[i]
		}
		begin := time.Duration(0)
		for j, earlier := range order.listEarlier(i) {
			if earlier {
				begin = max(begin, endOf(j))
			}
		}
		ends[i] = begin + efforts[i] + ticketExtra + checks
		return ends[i]
	}
	last := time.Duration(0)
	for i := range efforts {
		last = max(last, endOf(i))
	}
	return Gain{Alone: sum + ticketExtra + checks, Split: last + wholeExtra + checks, Checks: checks}
}

// CheckTime returns how long the checks took on the base of a task. Zero means unknown.
func (t *Task) CheckTime() (sum time.Duration) {
	if t.Baseline == nil {
		return 0
	}
	for _, c := range t.Baseline.Checks {
		sum += c.RunTime()
	}
	return sum
}

// WarnOfSplit returns a warning if the parts of a ticket gain little. It only concerns a ticket that one worker began
// without changing a file. Other stuck tickets are split for other reasons.
func (t *Task) WarnOfSplit(sub *Subtask, parts []PlannedSubtask) []PlanProblem {
	if !sub.Planned.IsInstruction() || sub.Head != "" {
		return nil
	}
	problem, is := Plan{Waves: []Wave{{parts}}}.warnOfGain(t.CheckTime())
	if !is {
		return nil
	}
	problem.Fix = "send the ticket back with guide_worker, to be done by one engineer; keep the parts where efforts are " +
		"larger than they look"
	return []PlanProblem{problem}
}

// warnOfGain returns a warning if a plan of several subtasks gains little.
func (p Plan) warnOfGain(checks time.Duration) (PlanProblem, bool) {
	gain := p.EstimateGain(checks)
	if p.Subtasks() < 2 || gain.Factor() >= leastGain {
		return PlanProblem{}, false
	}
	what := fmt.Sprintf("gains little by its %d subtasks: about %s, where one engineer takes %s (efforts of %s, %s or "+
		"%s, a run of the checks of %s)",
		p.Subtasks(), gain.Split.Round(time.Second), gain.Alone.Round(time.Second), effortTime[EffortSmall],
		effortTime[EffortMedium], effortTime[EffortLarge], gain.Checks.Round(time.Second))
	return PlanProblem{"plan", what,
			"plan one subtask that does it all, or fuse the small ones; keep the plan where efforts are larger than they look"},
		true
}
