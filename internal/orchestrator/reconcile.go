package orchestrator

import (
	"context"
	"errors"
	"runtime/pprof"
	"time"

	"company/internal/company"
	"company/internal/marks"
)

// job is one effect under way.
type job struct {
	effect  company.Effect
	began   time.Time // by the office's clock
	cancel  context.CancelCauseFunc
	resting bool // a test ahead whose verdict is there: it holds no slot
	suspect bool // an earlier process died while it was under way
}

// staleWait is how long an effect that another holder seems to have is left
// alone.
const staleWait = 250 * time.Millisecond

// Run reconciles until ctx ends or the ledger fails: effects that are due and
// not under way are started, those under way and no longer called for are
// cancelled.
// It returns when everything it started has ended.
func (o *Orchestrator) Run(ctx context.Context) error {
	jctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(ErrShutdown)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var saving chan uint64 // a snapshot is being saved; nil: none is
	defer func() {
		if saving != nil {
			<-saving
		}
	}()
	for {
		next := o.reconcileEffects(jctx)
		if !next.IsZero() {
			timer.Reset(max(time.Millisecond, next.Sub(o.cfg.Clock.Now())))
		} else {
			timer.Reset(time.Hour)
		}
		if failed := o.failureCause(); failed != nil {
			stop(failed)
			o.waitJobs()
			return failed
		}
		select {
		case <-ctx.Done():
			o.leave() // requests that were taken up are still answered, but no outage is waited out
			stop(ErrShutdown)
			o.waitJobs()
			if saving != nil {
				o.snapSeq = <-saving
				saving = nil
			}
			if o.View().Seq > o.snapSeq {
				sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
				o.saveSnapshot(sctx)
				cancel()
			}
			return nil
		case <-o.wake:
		case <-timer.C:
		case key := <-o.done:
			delete(o.jobs, key)
			o.takeEnded()
		case key := <-o.rested:
			o.jobs[key].resting = true
		case o.snapSeq = <-saving:
			saving = nil
		}
		if saving == nil && o.snapshotDue() {
			saving = make(chan uint64, 1)
			go func(done chan<- uint64) { done <- o.saveSnapshot(jctx) }(saving)
		}
	}
}

// takeEnded takes in all jobs that have ended by now, so that one look serves them.
func (o *Orchestrator) takeEnded() {
	for {
		select {
		case key := <-o.done:
			delete(o.jobs, key)
		default:
			return
		}
	}
}

// waitJobs waits for every job.
func (o *Orchestrator) waitJobs() {
	for len(o.jobs) > 0 {
		delete(o.jobs, <-o.done)
	}
}

// look is one look of the loop at the state. What several parts of it need is found once.
// Its lists are in room that the next look uses again.
type look struct {
	state   *company.State
	now     time.Time        // by the office's clock
	due     []company.Effect // what must be under way
	waiting []company.Effect // of due, those not under way at the begin of the look
	merging []company.Effect // merges and their tests that are under way, by key
}

func (o *Orchestrator) newLook(s *company.State, now time.Time, due []company.Effect) *look {
	l := &look{state: s, now: now, due: due, waiting: o.waiting[:0], merging: o.mergeJobs()}
	for _, e := range due {
		if o.jobs[e.Key] == nil {
			l.waiting = append(l.waiting, e)
		}
	}
	o.waiting = l.waiting
	return l
}

// reconcileEffects starts the effects that are due, cancels those that are not,
// and returns the time of the next look.
func (o *Orchestrator) reconcileEffects(ctx context.Context) time.Time {
	now := o.cfg.Clock.Now()
	s, changed := o.takeChanges()
	o.agenda.Update(s, now, changed...)
	o.cfg.Marks.ForgetTasks(func(id string) bool {
		t := s.Tasks[company.TaskID(id)]
		return t == nil || t.Status.Ended()
	})
	l := o.newLook(s, now, o.agenda.Due(o.cfg.Active))
	for _, e := range o.startableEffects(l) {
		o.start(ctx, e)
	}
	o.reconcileAhead(ctx, l)
	o.cancelOthers(l.due)
	next := o.agenda.Next()
	if end := o.trialEnd(); now.Before(end) && (next.IsZero() || end.Before(next)) {
		return end
	}
	return next
}

// cancelOthers cancels the jobs that are not due any more. The limits decide which effects
// start, not which ones end: an older task that wakes from a wait must not end the gates
// of a newer one. An offer that is not made yet has not begun anything.
func (o *Orchestrator) cancelOthers(due []company.Effect) {
	called := o.called
	clear(called)
	for i := range due {
		called[due[i].Key] = true
	}
	for key, j := range o.jobs {
		if j.effect.Kind == company.EffectTestAhead || called[key] {
			continue
		}
		_, offers := j.effect.Command.(company.Offer)
		if offers || !o.agenda.Has(j.effect) {
			j.cancel(ErrNotDue)
		}
	}
}

func (o *Orchestrator) start(ctx context.Context, e company.Effect) {
	ctx, ok := o.effectContext(ctx)
	if !ok {
		return
	}
	ectx, cancel := context.WithCancelCause(ctx)
	o.jobs[e.Key] = &job{effect: e, began: o.cfg.Clock.Now(), cancel: cancel, suspect: o.cfg.Marks.IsSuspect(e.Key)}
	go func() {
		defer func() { o.done <- e.Key }()
		defer cancel(nil)
		defer o.watchEnd(ectx, e)()
		pprof.Do(ectx, pprof.Labels(effectLabel, e.Key), func(ctx context.Context) {
			if e.Kind == company.EffectTestAhead {
				o.testAhead(ctx, e)
				return
			}
			o.carryOut(ctx, e)
		})
	}()
}

// carryOut does one effect. Whatever goes wrong is
// recorded against the effect, so that it is tried again later and nothing
// spins.
func (o *Orchestrator) carryOut(ctx context.Context, e company.Effect) {
	err := o.runHandler(ctx, e)
	if ctx.Err() != nil {
		return // stopped, cancelled or superseded: its end is no failure
	}
	code := company.CodeOf(err)
	if code == company.EStale || code == company.EStopped || errors.Is(err, ErrNotDue) {
		// Another holder has it, or the office stands still: no failure. If it
		// is still due it begins again, but not at once: repeated refusals
		// would keep a processor busy.
		if o.stillDue(e) {
			select {
			case <-ctx.Done():
			case <-time.After(staleWait):
			}
		}
		return
	}
	if err == nil && o.stillDue(e) {
		err = company.E(company.EInternal, "the effect "+e.Key+" ended without an outcome")
	}
	if err == nil {
		return
	}
	o.cfg.Logger.WarnContext(ctx, "effect failed", "key", e.Key, "task_id", e.Task, "run_id", e.Run, "err", err, "details", company.DetailsOf(err))
	fail := company.ReportEffectFailure{Task: e.Task, Key: e.Fail, EffectFailed: company.EffectFailed{Code: company.CodeOf(err), Error: err.Error()}}
	var ce *company.Error
	if errors.As(err, &ce) {
		fail.Hint, fail.Human = ce.Hint, company.NeedsPerson(ce)
		if ce.Line != nil && o.cfg.Lines != nil {
			fail.Line = o.cfg.Lines.PlaceLine(ctx, e.Task, *ce.Line)
		}
	}
	cause := err
	if _, err := o.Do(ctx, company.Company, fail); err != nil && ctx.Err() == nil {
		o.cfg.Logger.ErrorContext(ctx, "failure not recorded", "key", e.Key, "task_id", e.Task, "run_id", e.Run, "err", err)
	} else if err == nil && company.CodeOf(cause) == company.ECrash {
		o.noteShown(e)
	}
}

func (o *Orchestrator) runHandler(ctx context.Context, e company.Effect) error {
	if err := o.checkEffectSetAside(e); err != nil {
		return err
	}
	defer o.cfg.Marks.Enter(marks.Place{Owner: e.Key, Task: string(e.Task), Doing: marks.Effect}).Pass()
	if e.Kind == company.EffectCommand {
		_, err := o.Do(ctx, company.Company, e.Command)
		return err
	}
	handle := o.handlers[e.Kind]
	if handle == nil {
		return company.E(company.EInternal, "no handler is registered for "+string(e.Kind))
	}
	// One broken handler must not take the whole company down; its stack is in
	// the log, the effect is tried again.
	return company.Guard(e.Key, func() error { return handle(ctx, e) })
}

func (o *Orchestrator) stillDue(e company.Effect) bool {
	return company.IsDue(o.View(), e, o.cfg.Clock.Now())
}
