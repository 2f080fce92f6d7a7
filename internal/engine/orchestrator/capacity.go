package orchestrator

import (
	"fmt"
	"math"
	"slices"

	"company/internal/company"
)

// class is a group of effects that share a limit. Each effect in a limited class has its own container beside the
// workers'.
type class int

const (
	_         class = iota // an effect kind without a row in limits
	unlimited              // no container, or one that is counted elsewhere
	checks                 // gates: they always end by themselves
	heads                  // agents of the company that read a tree: they may wait for money
)

// limit describes how the effects of a kind are limited.
type limit struct {
	class class
	rank  int  // the order in which effects of a class are started
	reads bool // the run of an agent that reads and does not write
}

// limits has a row for each effect kind. There is no default, because an effect without a row would start uncounted
// containers. Within a class, effects that finish a piece of work rank before those that begin another.
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
	company.EffectResolve:   {class: heads, rank: 1},
	company.EffectMerge:     {class: unlimited},
	company.EffectDeliver:   {class: unlimited},
}

// checkLimits reports an effect kind without a row in limits.
func checkLimits(kinds ...company.EffectKind) error {
	for _, effectKind := range kinds {
		if limits[effectKind].class == 0 {
			return company.E(company.EInternal, fmt.Sprintf("effects of the kind %q have no limit", effectKind))
		}
	}
	return nil
}

// freeSlots returns how many more effects of each class, and how many more readers, may start.
func (o *Orchestrator) freeSlots(l *look) (free map[class]int, readers int) {
	// There may be as many agents as workers, since each agent reads the work of one worker.
	team := max(1, l.state.Office.WorkerCount())
	free, readers = map[class]int{checks: o.cfg.Checks, heads: o.maxHeads(team)}, o.cfg.Readers
	if readers <= 0 {
		readers = math.MaxInt
	}
	if o.cfg.Checks <= 0 {
		free[checks] = team
	}
	for _, job := range o.jobs {
		if t := l.state.Tasks[job.effect.Task]; t != nil && t.Runs[job.effect.Run] != nil && t.Runs[job.effect.Run].Waiting {
			continue // for a person: other effects need not wait for that
		}
		kind := limits[job.effect.Kind]
		free[kind.class]--
		if kind.reads {
			readers--
		}
	}
	return free, readers
}

// maxHeads limits how many agents may read trees at once. It returns the number of workers, reduced to the containers
// that fit into memory beside those of busy workers, and at least 1.
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

// startableEffects returns the due effects that are not running and that there is room for, in starting order. The
// others stay due. Effects that were running when an earlier process died are tried one at a time, so that one more
// death identifies the cause.
func (o *Orchestrator) startableEffects(l *look) []company.Effect {
	if len(l.waiting) == 0 {
		return nil
	}
	free, readers := o.freeSlots(l)
	waiting := slices.Clone(l.waiting)
	slices.SortStableFunc(waiting, func(a, b company.Effect) int { return limits[a.Kind].rank - limits[b.Kind].rank })
	return slices.DeleteFunc(waiting, func(effect company.Effect) bool {
		kind := limits[effect.Kind]
		if kind.class != unlimited && free[kind.class] <= 0 || kind.reads && readers <= 0 {
			return true
		}
		free[kind.class]--
		if kind.reads {
			readers--
		}
		return false
	})
}
