package company

import (
	"fmt"
	"time"
)

// A plan's gain is how many times sooner its tickets are done at the same time than by one
// engineer. It is an estimate: a ticket takes as long as its effort says, its checks, and a minute
// for its container, its brief and its review; the merged whole takes the checks once more, and a
// minute.
const (
	leastGain   = 1.3 // below it a plan goes back once
	ticketExtra = time.Minute
	wholeExtra  = time.Minute
	unknownGate = 30 * time.Second // a run of the checks, before the base is judged
)

// effortTime is how long an engineer of this company is at a ticket.
var effortTime = map[string]time.Duration{EffortSmall: time.Minute, EffortMedium: 5 * time.Minute, EffortLarge: 15 * time.Minute}

// Gain is the estimate of a plan.
type Gain struct {
	Alone  time.Duration // by one engineer
	Split  time.Duration // by the plan
	Checks time.Duration // of one run of the checks, which is part of both
}

// Factor is how many times sooner the plan is done.
func (g Gain) Factor() float64 { return g.Alone.Seconds() / g.Split.Seconds() }

// EstimateGain estimates the gain of a plan without a cycle, where a run of the checks takes so
// long; 0: it is not known.
func (p Plan) EstimateGain(checks time.Duration) Gain {
	if checks <= 0 {
		checks = unknownGate
	}
	order := planOrderOf(p, func(int, string, string) {})
	var efforts []time.Duration
	var sum time.Duration
	for _, w := range p.Waves {
		for _, s := range w.Subtasks {
			efforts = append(efforts, effortTime[s.Effort])
			sum += effortTime[s.Effort]
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

// CheckTime is how long the checks took on the base of a task; 0: that is not known.
func (t *Task) CheckTime() (sum time.Duration) {
	if t.Baseline == nil {
		return 0
	}
	for _, c := range t.Baseline.Checks {
		sum += c.RunTime()
	}
	return sum
}

// WarnOfSplit says what the parts of a ticket gain that one worker began, and changed nothing
// for, where that is little. A ticket that is stuck otherwise is split for other reasons.
func (t *Task) WarnOfSplit(sub *Subtask, parts []PlannedSubtask) []PlanProblem {
	if !sub.Planned.IsInstruction() || sub.Head != "" {
		return nil
	}
	problem, is := Plan{Waves: []Wave{{parts}}}.warnOfGain(t.CheckTime())
	if !is {
		return nil
	}
	problem.Fix = "send the ticket back with guide_worker, to be done by one engineer; keep the parts where efforts are larger than they look"
	return []PlanProblem{problem}
}

// warnOfGain says of a plan of several subtasks what it gains, where that is little.
func (p Plan) warnOfGain(checks time.Duration) (PlanProblem, bool) {
	g := p.EstimateGain(checks)
	if p.Subtasks() < 2 || g.Factor() >= leastGain {
		return PlanProblem{}, false
	}
	what := fmt.Sprintf("gains little by its %d subtasks: about %s, where one engineer takes %s (efforts of %s, %s or %s, a run of the checks of %s)",
		p.Subtasks(), g.Split.Round(time.Second), g.Alone.Round(time.Second), effortTime[EffortSmall], effortTime[EffortMedium], effortTime[EffortLarge], g.Checks.Round(time.Second))
	return PlanProblem{"plan", what, "plan one subtask that does it all, or fuse the small ones; keep the plan where efforts are larger than they look"}, true
}
