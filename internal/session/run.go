package session

import (
	"context"
	"errors"
	"syscall"
	"time"

	"company/internal/agent"
	"company/internal/budget"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/safetext"
	"company/internal/sandbox"
	"company/internal/toolproto"
)

// Session is one holding of a run.
type Session struct {
	company.Assignment
	Run    company.RunID
	Role   company.Role
	Fence  uint64
	Worker string // the run's holder

	Mirror  *gitops.Mirror
	Sandbox *sandbox.Sandbox // nil before it stands, and for a role that needs none

	service    *Service
	journal    *ledger.Journal
	bindings   company.Bindings     // of the run
	agent      company.AgentBinding // the agent that does it
	past       agent.Past           // the run's records when this session began
	allowance  *budget.Allowance
	watch      *stopwatch
	owed       company.Amount // given back to the company and still counted in the allowance
	turns      int
	byModel    []company.ModelSpent
	heard      int              // messages of the president that the agent has read
	cut        string           // the note about a request that was cut before a byte came
	said       []byte           // the transcript; empty: there was no conversation
	transcript company.Hash     // of it, in the result
	briefing   company.Briefing // what the agent was begun with
}

// ExecuteClaimed does a run under the fence of its claim. An error of the work is
// recorded as the end of the run, and so is an end that the company refuses:
// the same conversation would only come to it again. When ctx ends first, the
// claim is let go and nothing is recorded against the run; but the run of a
// task that has ended is settled with what it spent.
//
// The context of the work ends, with ErrRunTimeout, when the run has been at it for
// the task's run_timeout. Waiting for a model or for money does not count, up to Settings.LongestRun.
func (svc *Service) ExecuteClaimed(ctx context.Context, a company.Assignment, r Role) (err error) {
	s := &Session{service: svc, Assignment: a, Run: a.Claimed.ID, Role: a.Claimed.Role, Fence: a.Claimed.Fence, Worker: a.Claimed.Worker}
	s.bindings = a.Task.BindingsOf(a.Claimed)
	ended := false
	defer func() {
		if ended {
			svc.Marks.Forget(string(s.Run))
			return
		}
		recorded := s.releaseClaim(ctx, err)
		if recorded && company.CodeOf(err) == company.ECrash {
			s.noteShown()
		}
		if recorded || errors.Is(err, errPaused) {
			err = nil // it is in the ledger, or there is nothing to say
		}
	}()
	if err = s.checkSetAside(); err != nil {
		return err
	}
	if s.journal, err = svc.Ledger.OpenJournal(ctx, s.Run, s.Fence); err != nil {
		return err
	}
	if err = s.openAllowance(ctx); err != nil {
		return err
	}
	if err = s.carryRun(ctx, r); err == nil {
		ended = true
	} else if ended = s.settleRun(ctx); ended && ctx.Err() == nil {
		err = nil
	}
	return err
}

// carryRun has the role's agent work, and brings the end of the run in. Its error is that of a run that did not
// end here.
func (s *Session) carryRun(ctx context.Context, r Role) error {
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limit := s.runTimeout()
	s.watch = newStopwatch(limit, func() { stop(ErrRunTimeout) })
	defer s.watch.pauseTimer()
	last := time.AfterFunc(s.Task.Settings.WithDefaults().LongestRun(), func() { stop(ErrRunTimeout) })
	defer last.Stop()
	end, werr := s.runRole(wctx, r)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if werr != nil {
		switch {
		case s.taskEnd(ctx) != "":
			return werr
		case errors.Is(context.Cause(wctx), ErrRunTimeout): // whatever it looked like from within
			werr = company.E(company.ETimeout, "the run took longer than "+limit.String()).Fix("raise workers.run_timeout, or split the task")
		case company.CodeOf(werr) == company.EStale, company.CodeOf(werr) == company.EStopped:
			return werr
		case errors.As(werr, new(*agent.NotKept)), errors.Is(werr, syscall.ENOSPC), errors.Is(werr, syscall.EDQUOT):
			// A full disk is no failure of the work (decision 0009).
			return werr // the run goes on from its journal when that can be written again
		case errors.Is(werr, errPaused):
			return errPaused
		}
		end = company.EndRun{Outcome: failedOutcome(werr)}
		// What lies in the work tree is as good as before the fault: the next run goes on from it.
		if err := salvageWork(ctx, s.service.Sandboxes.Salvager(), s.service.Logger, s.Task, s.Claimed, &end.Outcome); err != nil {
			return err
		}
		if end.Outcome.Head != "" {
			end.Outcome.Error += keptWork
		}
	}
	err := s.endRun(ctx, end)
	if isOutcomeRefused(err) {
		err = s.endRun(ctx, company.EndRun{Outcome: failedOutcome(err)})
	}
	return err
}

// keptWork tells people, and the next run in its brief, of what a run that broke off has left.
const keptWork = ". What it had changed is on its branch, what was not committed as the newest commit"

// isOutcomeRefused says that an end of a run was not taken because of what it says.
func isOutcomeRefused(err error) bool {
	switch company.CodeOf(err) {
	case company.EInvalid, company.EPlan, company.EConflict, company.ENotFound, company.EProtected:
		return true
	}
	return false
}

// endRun closes the books of the run and brings its end in.
func (s *Session) endRun(ctx context.Context, end company.EndRun) error {
	end.Run, end.Fence = s.Run, s.Fence
	for _, text := range []*string{&end.Outcome.Problem, &end.Outcome.Summary, &end.Outcome.Risks, &end.Outcome.Error, &end.Outcome.Hint} {
		*text = safetext.Cut(*text, maxWords)
	}
	if err := s.sealJournal(ctx, &end.Outcome); err != nil {
		return err
	}
	if _, err := s.service.Coordinator.Decide(ctx, end); err != nil {
		return err
	}
	s.service.purgeBehind(context.WithoutCancel(ctx), s.journal, s.Run)
	return nil
}

// maxWords bounds the text at the end of a run, in bytes: it goes into the
// ledger, and into the next run's prompt.
const maxWords = 16 << 10

// settleRun ends a run that was cut off because its task has ended: it has no
// next holder, its spending counts, and its work is kept.
func (s *Session) settleRun(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	end := s.taskEnd(ctx)
	if end == "" {
		return false
	}
	out := company.RunEnded{Status: company.RunError, Error: "the task has ended: " + string(end) + s.cut}
	err := salvageWork(ctx, s.service.Sandboxes.Salvager(), s.service.Logger, s.Task, s.Claimed, &out)
	if err == nil {
		err = s.endRun(ctx, company.EndRun{Outcome: out})
	}
	if err != nil && company.CodeOf(err) != company.EStale {
		s.service.Logger.WarnContext(ctx, "run that was cut off not settled", "run_id", s.Run, "err", err)
	}
	return err == nil
}

// taskEnd returns the status of a task that has ended. It is empty where the task goes on, or the office
// gives no answer.
func (s *Session) taskEnd(ctx context.Context) company.TaskStatus {
	now, err := s.service.Coordinator.Standing(ctx, s.Run, s.Fence)
	if err != nil {
		s.service.Logger.WarnContext(ctx, "standing of a run not known", "run_id", s.Run, "err", err)
		return ""
	}
	return now.Ended
}

// settleFor bounds the steps for a run after its context has ended. Taking its work is one of them.
const settleFor = time.Minute

// errPaused ends a session between two turns, without a verdict.
var errPaused = errors.New("the task or the subtask is paused")

// checkPaused is errPaused when the run's task or subtask is paused. An office that gives no answer
// has paused nothing: it is asked again after the next turn.
func (s *Session) checkPaused(ctx context.Context) error {
	now, err := s.service.Coordinator.Standing(ctx, s.Run, s.Fence)
	if err != nil || !now.Paused {
		return nil
	}
	return errPaused
}

// readWords are the president's messages to the run. An office that gives no answer
// is asked again before the next turn.
func (s *Session) readWords(ctx context.Context) []string {
	now, err := s.service.Coordinator.Standing(ctx, s.Run, s.Fence)
	if err != nil {
		return nil
	}
	var out []string
	for _, w := range now.Words {
		out = append(out, w.Text)
	}
	return out
}

// runTimeout is the run_timeout that the task was submitted with.
func (s *Session) runTimeout() time.Duration {
	return s.Task.Settings.WithDefaults().RunTimeout
}

// releaseClaim lets go of the claim, whatever ctx says. An error of our own that
// kept us from carrying the run is counted with it: recorded is true then.
func (s *Session) releaseClaim(ctx context.Context, err error) (recorded bool) {
	rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	c := company.Release{Run: s.Run, Fence: s.Fence, Why: "the session ended without an outcome"}
	switch code := company.CodeOf(err); {
	case ctx.Err() != nil:
		c.Why = context.Cause(ctx).Error()
	case code == company.EStale || code == company.EStopped || errors.Is(err, errPaused):
		c.Why = err.Error()
	case err != nil:
		out := failedOutcome(err)
		c.Why, c.Failed = out.Error, &company.EffectFailed{Code: out.Code, Error: out.Error, Hint: out.Hint, Human: out.Human}
	}
	_, derr := s.service.Coordinator.Decide(rctx, c)
	if derr != nil && company.CodeOf(derr) != company.EStale {
		s.service.Logger.WarnContext(rctx, "claim not released", "run_id", s.Run, "err", derr)
	}
	return derr == nil && c.Failed != nil
}

// failedOutcome is the end of a run that could not be done.
func failedOutcome(err error) company.RunEnded {
	out := company.RunEnded{Status: company.RunError, Error: err.Error(), Code: company.CodeOf(err)}
	var ce *company.Error
	var link *toolproto.Broken
	switch {
	case errors.As(err, &ce):
		out.Error, out.Hint, out.Human = ce.Error(), ce.Hint, company.NeedsPerson(ce)
	case errors.As(err, &link):
		out.Code, out.Hint = company.EDocker, "the work goes on in a new container from what was pushed"
	}
	return out
}
