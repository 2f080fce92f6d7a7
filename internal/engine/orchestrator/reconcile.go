package orchestrator

import (
	"context"
	"errors"
	"runtime/pprof"
	"time"

	"company/internal/company"
	"company/internal/lib/killpoint"
)

// job is a running effect.
type job struct {
	effect company.Effect
	began  time.Time // by the office's clock
	cancel context.CancelCauseFunc
}

// staleWait is how long an effect waits before it ends if another holder seems to have it.
const staleWait = 250 * time.Millisecond

// Run reconciles until ctx ends or the ledger fails. It starts due effects that are not running and cancels running
// ones that are no longer due. It returns when everything it started has ended.
func (o *Orchestrator) Run(ctx context.Context) error {
	jctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(ErrShutdown)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var saving chan uint64 // a snapshot is being saved; nil if not
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
			o.leave() // taken requests are still answered, but outages are not waited for
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
		case o.snapSeq = <-saving:
			saving = nil
		}
		if saving == nil && o.snapshotDue() {
			saving = make(chan uint64, 1)
			go func(done chan<- uint64) { done <- o.saveSnapshot(jctx) }(saving)
		}
	}
}

// takeEnded removes all jobs that have ended, so that one pass serves them.
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

// look is one pass of the loop over the state. Values that several parts need are computed once. The list of
// waiting effects uses a buffer that the next pass reuses.
type look struct {
	state   *company.State
	now     time.Time        // by the office's clock
	due     []company.Effect // effects that must be running
	waiting []company.Effect // the due effects that were not running when the pass began
}

func (o *Orchestrator) newLook(s *company.State, now time.Time, due []company.Effect) *look {
	l := &look{state: s, now: now, due: due, waiting: o.waiting[:0]}
	for _, effect := range due {
		if o.jobs[effect.Key] == nil {
			l.waiting = append(l.waiting, effect)
		}
	}
	o.waiting = l.waiting
	return l
}

// reconcileEffects starts due effects, cancels those that are not due, and returns the time of the next pass.
func (o *Orchestrator) reconcileEffects(ctx context.Context) time.Time {
	now := o.cfg.Clock.Now()
	state, changed := o.takeChanges()
	o.agenda.Update(state, now, changed...)
	o.cfg.Crashes.ForgetTasks(func(id company.TaskID) bool {
		t := state.Tasks[id]
		return t == nil || t.Status.Ended()
	})
	look := o.newLook(state, now, o.agenda.Due(o.cfg.Active))
	o.reportHolds(look)
	for _, e := range o.startableEffects(look) {
		o.start(ctx, e)
	}
	o.cancelOthers(look.due)
	return o.agenda.Next()
}

// cancelOthers cancels jobs that are no longer due. The limits decide which effects start, not which ones end: an
// older task that wakes up must not end the gates of a newer one. An offer is cancelled even then, because it has
// started no work yet.
func (o *Orchestrator) cancelOthers(due []company.Effect) {
	called := o.called
	clear(called)
	for i := range due {
		called[due[i].Key] = true
	}
	for key, job := range o.jobs {
		if called[key] {
			continue
		}
		_, offers := job.effect.Command.(company.Offer)
		if offers || !o.agenda.Has(job.effect) {
			job.cancel(ErrNotDue)
		}
	}
}

func (o *Orchestrator) start(ctx context.Context, effect company.Effect) {
	ctx, ok := o.effectContext(ctx)
	if !ok {
		return
	}
	ectx, cancel := context.WithCancelCause(ctx)
	o.jobs[effect.Key] = &job{effect: effect, began: o.cfg.Clock.Now(), cancel: cancel}
	go func() {
		defer func() { o.done <- effect.Key }()
		defer cancel(nil)
		defer o.watchEnd(ectx, effect)()
		pprof.Do(ectx, pprof.Labels(effectLabel, effect.Key), func(ctx context.Context) {
			o.carryOut(ctx, effect)
		})
	}()
}

// carryOut runs one effect. Any failure is recorded for the effect, so that it is retried later and not in a busy
// loop.
func (o *Orchestrator) carryOut(ctx context.Context, effect company.Effect) {
	err := o.runHandler(ctx, effect)
	if ctx.Err() != nil {
		return // stopped, cancelled or superseded: this is not a failure
	}
	code := company.CodeOf(err)
	if code == company.EStale || code == company.EStopped || errors.Is(err, ErrNotDue) {
		// Another holder has it, or the office is stopped. This is not a failure. If it is still due, it starts again after
		// a wait, because repeated refusals would keep a processor busy.
		if o.stillDue(effect) {
			select {
			case <-ctx.Done():
			case <-time.After(staleWait):
			}
		}
		return
	}
	if err == nil && o.stillDue(effect) {
		err = company.E(company.EInternal, "the effect "+effect.Key+" ended without an outcome")
	}
	if err == nil {
		return
	}
	o.cfg.Logger.WarnContext(ctx, "effect failed", "key", effect.Key, "task_id", effect.Task, "run_id", effect.Run, "err",
		err, "details",
		company.DetailsOf(err))
	fail := company.ReportEffectFailure{Task: effect.Task, Key: effect.Fail,
		EffectFailed: company.EffectFailed{Code: company.CodeOf(err), Error: err.Error()}}
	var ce *company.Error
	if errors.As(err, &ce) {
		fail.Hint, fail.Human = ce.Hint, company.NeedsPerson(ce)
		if ce.Line != nil && o.cfg.Lines != nil {
			fail.Line = o.cfg.Lines.PlaceLine(ctx, effect.Task, *ce.Line)
		}
	}
	if _, err := o.Do(ctx, company.Company, fail); err != nil && ctx.Err() == nil {
		o.cfg.Logger.ErrorContext(ctx, "failure not recorded", "key", effect.Key, "task_id", effect.Task, "run_id",
			effect.Run, "err", err)
	}
}

func (o *Orchestrator) runHandler(ctx context.Context, effect company.Effect) error {
	killpoint.Hit("effect " + effect.Key)
	if effect.Kind == company.EffectCommand {
		_, err := o.Do(ctx, company.Company, effect.Command)
		return err
	}
	if effect.Run == "" { // a run counts its own deaths, and its claim is released then
		leave, err := o.cfg.Crashes.Enter(effect.Key, effect.Task)
		if err != nil {
			return err
		}
		defer leave()
	}
	handle := o.handlers[effect.Kind]
	if handle == nil {
		return company.E(company.EInternal, "no handler is registered for "+string(effect.Kind))
	}
	// One broken handler must not end the whole company. Its stack is in the log, and the effect is retried.
	return company.Guard(effect.Key, func() error { return handle(ctx, effect) })
}

func (o *Orchestrator) stillDue(e company.Effect) bool {
	return company.IsDue(o.View(), e, o.cfg.Clock.Now())
}
