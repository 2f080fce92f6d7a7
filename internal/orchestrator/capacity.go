package orchestrator

import (
	"fmt"
	"math"
	"slices"

	"company/internal/company"
)

// class is a group of effects that share a limit. Each effect of one has a
// container of its own beside the workers'.
type class int

const (
	_         class = iota // an effect kind without a row in limits
	unlimited              // no container, or one that is counted elsewhere
	checks                 // gates: they end by themselves
	heads                  // agents of the company that look at a tree: they may wait for money
)

// limit says what bounds the effects of a kind.
type limit struct {
	class class
	rank  int  // the order in which effects of a class are started
	reads bool // the run of an agent that looks and does not write
}

// limits has a row for each effect kind. There is no default: an effect without a row would
// start containers that nothing counts. Within a class, effects that finish a piece of work
// rank before those that begin another.
var limits = map[company.EffectKind]limit{
	company.EffectCommand:   {class: unlimited},
	company.EffectPrepare:   {class: unlimited},
	company.EffectImage:     {class: unlimited},
	company.EffectBaseline:  {class: checks, rank: 3},
	company.EffectManage:    {class: unlimited, reads: true},
	company.EffectEnqueue:   {class: unlimited}, // the queue's workers are counted
	company.EffectWork:      {class: unlimited}, // as many as there are workers
	company.EffectGate:      {class: checks, rank: 2},
	company.EffectReview:    {class: heads, rank: 2, reads: true},
	company.EffectTestMerge: {class: checks, rank: 1},
	company.EffectTestAhead: {class: checks},
	company.EffectResolve:   {class: heads, rank: 1},
	company.EffectMerge:     {class: unlimited},
	company.EffectDeliver:   {class: unlimited},
}

// checkLimits reports an effect kind without a row in limits.
func checkLimits(kinds ...company.EffectKind) error {
	for _, k := range kinds {
		if limits[k].class == 0 {
			return company.E(company.EInternal, fmt.Sprintf("effects of the kind %q have no limit", k))
		}
	}
	return nil
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
		kind := limits[j.effect.Kind]
		free[kind.class]--
		if kind.reads {
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
// for, in the order in which they are to be started. The others stay due. Of those that were under way when an
// earlier process died one is tried at a time, so that one more death tells which it is.
func (o *Orchestrator) startableEffects(l *look) []company.Effect {
	if len(l.waiting) == 0 {
		return nil
	}
	free, readers := o.freeSlots(l)
	waiting := slices.Clone(l.waiting)
	slices.SortStableFunc(waiting, func(a, b company.Effect) int { return limits[a.Kind].rank - limits[b.Kind].rank })
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
	trying := l.now.Before(o.trialEnd())
	return slices.DeleteFunc(waiting, func(e company.Effect) bool {
		kind := limits[e.Kind]
		if kind.class != unlimited && free[kind.class] <= 0 || kind.reads && readers <= 0 {
			return true
		}
		if o.cfg.Marks.IsSuspect(e.Key) {
			if trying {
				return true
			}
			trying = true
		}
		free[kind.class]--
		if kind.reads {
			readers--
		}
		return false
	})
}
