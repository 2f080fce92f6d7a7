package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"company/internal/company"
)

// Tests ahead are guesses (company.ListTestsAhead). They are no effects that are due: they
// get the slots of checks that nothing due asks for, give them back when something does,
// and neither their outcome nor their failure is recorded.

// youngAhead is how long a test ahead is given up for a larger one that has its subtasks,
// too: it has hardly more than its containers by then. Subtasks often come to the queue
// within moments of each other.
const youngAhead = time.Second

// reconcileAhead starts the tests ahead that there is room for, and cancels those that
// are vain, or whose slot is needed.
func (o *Orchestrator) reconcileAhead(ctx context.Context, s *company.State, due []company.Effect) {
	if o.handlers[company.EffectTestAhead] == nil {
		return
	}
	underWay := o.mergeJobs()
	if len(underWay) == 0 {
		return
	}
	wanted := company.ListTestsAhead(s, o.cfg.Clock.Now(), underWay)
	waiting := 0 // due effects without a slot of the checks
	for _, e := range due {
		if classOf(e.Kind) == checks && o.jobs[e.Key] == nil {
			waiting++
		}
	}
	var guesses []company.Effect
	for _, e := range underWay {
		switch {
		case e.Kind != company.EffectTestAhead:
		case !slices.ContainsFunc(wanted, func(w company.Effect) bool { return w.Key == e.Key }):
			o.jobs[e.Key].cancel(ErrNotDue)
			waiting--
		case o.cfg.Clock.Now().Sub(o.jobs[e.Key].began) < youngAhead && s.HasMoreBehind(e, o.cfg.Clock.Now(), underWay):
			o.jobs[e.Key].cancel(ErrNotDue)
		case !o.cameTrue(s, e) || !o.goesOn(e, due, underWay):
			guesses = append(guesses, e)
		}
	}
	for _, e := range guesses[:max(0, min(len(guesses), waiting))] {
		o.jobs[e.Key].cancel(ErrNotDue)
	}
	if len(wanted) == 0 {
		return
	}
	free, _ := o.freeSlots(s, due)
	for _, e := range wanted {
		if o.jobs[e.Key] == nil && waiting <= 0 && free[checks] > 0 {
			free[checks]--
			o.start(ctx, e)
		}
	}
}

// testAhead does a test ahead, and holds what it found until that is of no use any more.
func (o *Orchestrator) testAhead(ctx context.Context, e company.Effect) {
	if err := o.runHandler(ctx, e); err != nil && ctx.Err() == nil {
		o.cfg.Logger.InfoContext(ctx, "test ahead of a merge given up", "key", e.Key, "task_id", e.Task, "err", err)
	}
	<-ctx.Done() // it is not begun anew while its key is wanted
}

// mergeJobs lists the merges and their tests that were started and have not ended, in the
// order of their keys: nothing else bears on a guess. It is asked for at each look.
func (o *Orchestrator) mergeJobs() (out []company.Effect) {
	for _, j := range o.jobs {
		switch j.effect.Kind {
		case company.EffectTestMerge, company.EffectTestAhead, company.EffectMerge:
			out = append(out, j.effect)
		}
	}
	slices.SortFunc(out, func(a, b company.Effect) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// cameTrue says whether what a test ahead assumes is decided on, or done.
func (o *Orchestrator) cameTrue(s *company.State, ahead company.Effect) bool {
	return s.JudgeAhead(ahead, o.cfg.Clock.Now(), nil) == company.AheadTrue
}

// goesOn says whether the merge that a test ahead assumes, or the test that confirms it, is
// due or under way: the limit on tasks may have that wait, and a guess that came true with it.
func (o *Orchestrator) goesOn(ahead company.Effect, due, underWay []company.Effect) bool {
	is := func(e company.Effect) bool {
		return e.Task == ahead.Task && (e.Kind == company.EffectMerge || ahead.Confirms(e))
	}
	return slices.ContainsFunc(due, is) || slices.ContainsFunc(underWay, is)
}

// findConfirming finds the test ahead under way that came true as this test, or nil. The
// test goes on with what it has found, and in its slot.
func (o *Orchestrator) findConfirming(s *company.State, test company.Effect) *company.Effect {
	if test.Kind != company.EffectTestMerge {
		return nil
	}
	for _, j := range o.jobs {
		if j.effect.Confirms(test) && o.cameTrue(s, j.effect) {
			return &j.effect
		}
	}
	return nil
}
