package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"company/internal/company"
)

// Tests ahead are speculative (company.ListTestsAhead). They are not due effects. They use the slots of checks that
// no due effect needs, and give them back on demand or when their verdict is available. Neither their outcome nor
// their failure is recorded.

// youngAhead is the age up to which a test ahead is cancelled in favor of a larger one that includes its subtasks.
// Until then it has started little more than its containers. Subtasks often reach the queue within moments of each
// other.
const youngAhead = time.Second

// msgAheadJudged is logged once a test ahead has its verdict and has given back its slot.
const msgAheadJudged = "the verdict of a test ahead is available"

// reconcileAhead starts tests ahead while there is room, and cancels those that are obsolete or whose slot is needed.
func (o *Orchestrator) reconcileAhead(ctx context.Context, l *look) {
	if o.handlers[company.EffectTestAhead] == nil {
		return
	}
	l.merging = o.mergeJobs() // including those that were just started
	if len(l.merging) == 0 {
		return
	}
	wanted := company.ListTestsAhead(l.state, l.now, l.merging)
	waiting := 0 // due effects that need a check slot and have none
	for _, e := range l.waiting {
		if limits[e.Kind].class == checks && o.jobs[e.Key] == nil {
			waiting++
		}
	}
	var guesses []company.Effect
	for _, effect := range l.merging {
		switch {
		case effect.Kind != company.EffectTestAhead:
		case !slices.ContainsFunc(wanted, func(w company.Effect) bool { return w.Key == effect.Key }):
			o.jobs[effect.Key].cancel(ErrNotDue)
			if !o.jobs[effect.Key].resting {
				waiting--
			}
		case o.jobs[effect.Key].resting: // its verdict costs no resources to keep
		case l.now.Sub(o.jobs[effect.Key].began) < youngAhead && l.state.HasMoreBehind(effect, l.now, l.merging):
			o.jobs[effect.Key].cancel(ErrNotDue)
		case waiting > 0 && (!l.cameTrue(effect) || !l.goesOn(effect)):
			guesses = append(guesses, effect)
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

// testAhead runs a test ahead. Its handler keeps the verdict until ctx ends, without a container, and the job gives
// back its slot. A job without a verdict keeps the slot for the test that judges the tree.
func (o *Orchestrator) testAhead(ctx context.Context, effect company.Effect) {
	err := o.runHandler(ctx, effect)
	if err != nil && ctx.Err() == nil {
		o.cfg.Logger.InfoContext(ctx, "test ahead of a merge given up", "key", effect.Key, "task_id", effect.Task, "err", err)
	}
	if err == nil {
		select {
		case o.rested <- effect.Key:
		case <-ctx.Done():
		}
	}
	<-ctx.Done() // it is not restarted while its key is wanted
}

// mergeJobs lists the merges and their tests that have started and not ended, sorted by key. Only these affect a test
// ahead. The list is valid until the next call.
func (o *Orchestrator) mergeJobs() []company.Effect {
	out := o.merging[:0]
	for _, job := range o.jobs {
		switch job.effect.Kind {
		case company.EffectTestMerge, company.EffectTestAhead, company.EffectMerge:
			out = append(out, job.effect)
		}
	}
	slices.SortFunc(out, func(a, b company.Effect) int { return cmp.Compare(a.Key, b.Key) })
	o.merging = out
	return out
}

// cameTrue reports whether the merges that a test ahead assumes are decided or done.
func (l *look) cameTrue(ahead company.Effect) bool {
	return l.state.JudgeAhead(ahead, l.now, nil) == company.AheadTrue
}

// goesOn reports whether the merge that a test ahead assumes, or the test that confirms it, is due or running. The
// limit on tasks may delay these, and with them a confirmed test ahead.
func (l *look) goesOn(ahead company.Effect) bool {
	is := func(e company.Effect) bool {
		return e.Task == ahead.Task && (e.Kind == company.EffectMerge || ahead.Confirms(e))
	}
	return slices.ContainsFunc(l.due, is) || slices.ContainsFunc(l.merging, is)
}

// findConfirming returns the running test ahead that is confirmed by this test, or nil. The test reuses its results
// and its slot.
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
