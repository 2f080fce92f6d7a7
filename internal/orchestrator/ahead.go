package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"company/internal/company"
)

// Tests ahead are guesses (company.ListTestsAhead). They are no effects that are due: they
// get the slots of checks that nothing due asks for, give them back when something does or
// when their verdict is there, and neither their outcome nor their failure is recorded.

// youngAhead is how long a test ahead is given up for a larger one that has its subtasks,
// too: it has hardly more than its containers by then. Subtasks often come to the queue
// within moments of each other.
const youngAhead = time.Second

// reconcileAhead starts the tests ahead that there is room for, and cancels those that
// are vain, or whose slot is needed.
func (o *Orchestrator) reconcileAhead(ctx context.Context, l *look) {
	if o.handlers[company.EffectTestAhead] == nil {
		return
	}
	l.merging = o.mergeJobs() // with those that were just started
	if len(l.merging) == 0 {
		return
	}
	wanted := company.ListTestsAhead(l.state, l.now, l.merging)
	waiting := 0 // due effects without a slot of the checks
	for _, e := range l.waiting {
		if limits[e.Kind].class == checks && o.jobs[e.Key] == nil {
			waiting++
		}
	}
	var guesses []company.Effect
	for _, e := range l.merging {
		switch {
		case e.Kind != company.EffectTestAhead:
		case !slices.ContainsFunc(wanted, func(w company.Effect) bool { return w.Key == e.Key }):
			o.jobs[e.Key].cancel(ErrNotDue)
			if !o.jobs[e.Key].resting {
				waiting--
			}
		case o.jobs[e.Key].resting: // its verdict costs nothing to keep
		case l.now.Sub(o.jobs[e.Key].began) < youngAhead && l.state.HasMoreBehind(e, l.now, l.merging):
			o.jobs[e.Key].cancel(ErrNotDue)
		case waiting > 0 && (!l.cameTrue(e) || !l.goesOn(e)):
			guesses = append(guesses, e)
		}
	}
	for _, e := range guesses[:max(0, min(len(guesses), waiting))] {
		o.jobs[e.Key].cancel(ErrNotDue)
	}
	wanted = slices.DeleteFunc(wanted, func(w company.Effect) bool { return o.jobs[w.Key] != nil })
	if len(wanted) == 0 || waiting > 0 {
		return
	}
	free, _ := o.freeSlots(l)
	for _, e := range wanted[:max(0, min(len(wanted), free[checks]))] {
		o.start(ctx, e)
	}
}

// testAhead does a test ahead. Its handler keeps the verdict until ctx ends, without a
// container: the job rests, and leaves its slot. One without a verdict keeps the slot for
// the test that judges the tree itself.
func (o *Orchestrator) testAhead(ctx context.Context, e company.Effect) {
	err := o.runHandler(ctx, e)
	if err != nil && ctx.Err() == nil {
		o.cfg.Logger.InfoContext(ctx, "test ahead of a merge given up", "key", e.Key, "task_id", e.Task, "err", err)
	}
	if err == nil {
		select {
		case o.rested <- e.Key:
		case <-ctx.Done():
		}
	}
	<-ctx.Done() // it is not begun anew while its key is wanted
}

// mergeJobs lists the merges and their tests that were started and have not ended, in the
// order of their keys: nothing else bears on a guess. The list is valid until the next
// call.
func (o *Orchestrator) mergeJobs() []company.Effect {
	out := o.merging[:0]
	for _, j := range o.jobs {
		switch j.effect.Kind {
		case company.EffectTestMerge, company.EffectTestAhead, company.EffectMerge:
			out = append(out, j.effect)
		}
	}
	slices.SortFunc(out, func(a, b company.Effect) int { return cmp.Compare(a.Key, b.Key) })
	o.merging = out
	return out
}

// cameTrue says whether what a test ahead assumes is decided on, or done.
func (l *look) cameTrue(ahead company.Effect) bool {
	return l.state.JudgeAhead(ahead, l.now, nil) == company.AheadTrue
}

// goesOn says whether the merge that a test ahead assumes, or the test that confirms it, is
// due or under way: the limit on tasks may have that wait, and a guess that came true with it.
func (l *look) goesOn(ahead company.Effect) bool {
	is := func(e company.Effect) bool {
		return e.Task == ahead.Task && (e.Kind == company.EffectMerge || ahead.Confirms(e))
	}
	return slices.ContainsFunc(l.due, is) || slices.ContainsFunc(l.merging, is)
}

// findConfirming finds the test ahead under way that came true as this test, or nil. The
// test goes on with what it has found, and in its slot.
func (l *look) findConfirming(test company.Effect) *company.Effect {
	if test.Kind != company.EffectTestMerge {
		return nil
	}
	for i, e := range l.merging {
		if e.Confirms(test) && l.cameTrue(e) {
			return &l.merging[i]
		}
	}
	return nil
}
