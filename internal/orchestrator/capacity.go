package orchestrator

import (
	"math"
	"slices"

	"company/internal/company"
)

// class is a group of effects that share a limit. Each effect of one has a
// container of its own beside the workers'.
type class int

const (
	unlimited class = iota // no container, or one that is counted elsewhere
	checks                 // gates: they end by themselves
	heads                  // agents of the company that look at a tree: they may wait for money
)

// rank is the order in which effects of a class are started: what finishes a
// piece of work comes before what begins another.
var rank = map[company.EffectKind]int{
	company.EffectTestMerge: 1, company.EffectGate: 2, company.EffectBaseline: 3,
	company.EffectResolve: 1, company.EffectReview: 2,
}

// isReader says whether an effect is the run of an agent that looks and does not write.
func isReader(k company.EffectKind) bool {
	return k == company.EffectManage || k == company.EffectReview
}

func classOf(k company.EffectKind) class {
	switch k {
	case company.EffectTestMerge, company.EffectGate, company.EffectBaseline, company.EffectTestAhead:
		return checks
	case company.EffectResolve, company.EffectReview:
		return heads
	}
	return unlimited
}

// freeSlots is how many more of a class, and how many more readers, may be started. A test
// ahead that came true has left its slot to the test that goes on with it, which needs none
// where the verdict is there.
func (o *Orchestrator) freeSlots(l *look) (free map[class]int, readers int) {
	// Agents are as many as there are workers: each of them looks at what one
	// has done.
	team := max(1, l.state.Office.WorkerCount())
	free, readers = map[class]int{checks: o.cfg.Checks, heads: o.maxHeads(team)}, o.cfg.Readers
	if readers <= 0 {
		readers = math.MaxInt
	}
	if o.cfg.Checks <= 0 {
		free[checks] = team
	}
	for _, e := range l.waiting {
		if o.jobs[e.Key] == nil && l.findConfirming(e) != nil {
			free[checks]++
		}
	}
	for _, j := range o.jobs {
		if t := l.state.Tasks[j.effect.Task]; t != nil && t.Runs[j.effect.Run] != nil && t.Runs[j.effect.Run].Waiting {
			continue // for a person: others need not wait for that person
		}
		if j.resting || l.findConfirming(j.effect) != nil {
			continue // without a container, or in the slot of a test ahead, also where its task has lost its turn
		}
		free[classOf(j.effect.Kind)]--
		if isReader(j.effect.Kind) {
			readers--
		}
	}
	return free, readers
}

// maxHeads is how many agents may look at trees at once: as many as the team has workers,
// where memory holds their containers beside those of the workers at work.
func (o *Orchestrator) maxHeads(team int) int {
	if o.cfg.Containers <= 0 {
		return team
	}
	left := o.cfg.Containers
	for _, j := range o.jobs {
		if j.effect.Kind == company.EffectWork {
			left--
		}
	}
	return max(1, min(team, left))
}

// startableEffects are the due effects that are not under way and that there is room
// for, in the order in which they are to be started. The others stay due.
func (o *Orchestrator) startableEffects(l *look) []company.Effect {
	if len(l.waiting) == 0 {
		return nil
	}
	free, readers := o.freeSlots(l)
	waiting := slices.Clone(l.waiting)
	slices.SortStableFunc(waiting, func(a, b company.Effect) int { return rank[a.Kind] - rank[b.Kind] })
	var confirmed []company.Effect // of these the containers run already
	waiting = slices.DeleteFunc(waiting, func(e company.Effect) bool {
		ahead := l.findConfirming(e)
		if ahead != nil {
			e.Stack = ahead.Stack
			confirmed = append(confirmed, e)
		}
		return ahead != nil
	})
	waiting = slices.Concat(confirmed, waiting)
	return slices.DeleteFunc(waiting, func(e company.Effect) bool {
		c := classOf(e.Kind)
		if c != unlimited && free[c] <= 0 || isReader(e.Kind) && readers <= 0 {
			return true
		}
		free[c]--
		if isReader(e.Kind) {
			readers--
		}
		return false
	})
}
