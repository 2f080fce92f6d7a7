package agentrun

import (
	"context"
	"errors"
	"syscall"
	"time"

	"company/internal/agent"
	"company/internal/agent/budget"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// Session is the work of one holder on a run, from its claim to its end or release.
type Session struct {
	company.Assignment
	Run    company.RunID
	Role   company.Role
	Fence  uint64
	Worker string // the run's holder

	Mirror  *gitops.Mirror
	Sandbox *sandbox.Sandbox // nil before it is open, and for a role without one

	service    *Service
	journal    *ledger.Journal
	bindings   company.Bindings     // of the run
	agent      company.AgentBinding // the agent that does the run
	past       agent.Past           // the run's records when this session began
	allowance  *budget.Allowance
	watch      *stopwatch
	owed       company.Amount // returned to the company, but still counted in the allowance
	turns      int
	byModel    []company.ModelSpent
	heard      int              // messages of the president that the agent has read
	cut        string           // note about a request that was cut before a byte came
	said       []byte           // the transcript, empty without a conversation
	transcript company.Hash     // hash of the transcript, for the result
	briefing   company.Briefing // describes the start of the conversation
}

// ExecuteClaimed executes a run under the fence of its claim. An error of the work is recorded as the end of the
// run. An end that the company refuses is recorded as an error, too, because the same conversation would only
// repeat it. If ctx ends first, the claim is released without a verdict. But if the run's task has ended, the
// run is settled with its spending.
//
// The context of the work ends with ErrRunTimeout after the task's run_timeout. Waiting for a model or for an
// allowance does not count, up to Settings.LongestRun.
func (svc *Service) ExecuteClaimed(ctx context.Context, assignment company.Assignment, role Role) (err error) {
	session := &Session{service: svc, Assignment: assignment, Run: assignment.Claimed.ID, Role: assignment.Claimed.Role,
		Fence:  assignment.Claimed.Fence,
		Worker: assignment.Claimed.Worker}
	session.bindings = assignment.Task.BindingsOf(assignment.Claimed)
	ended := false
	defer func() {
		if ended {
			return
		}
		recorded := session.releaseClaim(ctx, err)
		if recorded || errors.Is(err, errPaused) {
			err = nil // it is in the ledger, or is only a pause
		}
	}()
	leave, err := svc.Crashes.Enter("the run "+string(session.Run), session.Task.ID)
	if err != nil {
		return err
	}
	defer leave()
	if session.journal, err = svc.Ledger.OpenJournal(ctx, session.Run, session.Fence); err == nil {
		err = session.openAllowance(ctx)
	}
	if err != nil {
		if company.CodeOf(err) == company.ELedger {
			err = session.endUnrecovered(ctx, err)
			ended = err == nil
		}
		return err
	}
	if err = session.carryRun(ctx, role); err == nil {
		ended = true
	} else if ended = session.settleRun(ctx); ended && ctx.Err() == nil {
		err = nil
	}
	return err
}

// endUnrecovered ends a run whose journal cannot be read, so that nobody can continue it (REC-4). Its work is taken,
// and a new run continues from that. Its spending counts as all that it was granted, so it is never less than real.
func (s *Session) endUnrecovered(ctx context.Context, damage error) error {
	out := company.RunEnded{Status: company.RunError, Code: company.ELedger, Spent: s.Claimed.Reserved,
		Error: safetext.Cut(restartUnrecovered+": "+damage.Error(), maxWords)}
	if err := salvageWork(ctx, s.service.Sandboxes.Salvager(), s.service.Logger, s.Task, s.Claimed, &out); err != nil {
		return err
	}
	if out.Head != "" {
		out.Error += keptWork
	}
	if _, err := s.service.Coordinator.Decide(ctx, company.EndRun{Run: s.Run, Fence: s.Fence,
		Outcome: out}); err != nil {
		return err
	}
	if err := SetJournalAside(ctx, s.service.Ledger, s.service.Runs, s.Run); err != nil {
		s.service.Logger.WarnContext(ctx, "damaged journal not set aside", "run_id", s.Run, "err", err)
	}
	return nil
}

// restartUnrecovered begins the error of a run that no restart can continue.
const restartUnrecovered = "process_restart_unrecovered"

// carryRun runs the role's agent and submits the end of the run. It returns an error if the run did not end
// here.
func (s *Session) carryRun(ctx context.Context, role Role) error {
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limit := s.runTimeout()
	s.watch = newStopwatch(limit, func() { stop(ErrRunTimeout) })
	defer s.watch.pauseTimer()
	last := time.AfterFunc(s.Task.Settings.WithDefaults().LongestRun(), func() { stop(ErrRunTimeout) })
	defer last.Stop()
	end, werr := s.runRole(wctx, role)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	timedOut := errors.Is(context.Cause(wctx), ErrRunTimeout)
	if werr == nil && timedOut && end.Outcome.Status == company.RunPartial {
		end.Outcome.BreakTimeLimit(limit) // the role has kept the work
		if end.Outcome.Head != "" {
			end.Outcome.Error += keptWork
		}
	}
	if werr != nil {
		switch {
		case s.taskEnd(ctx) != "":
			return werr
		case timedOut: // whatever the error was inside
		case company.CodeOf(werr) == company.EStale, company.CodeOf(werr) == company.EStopped:
			return werr
		case errors.As(werr, new(*agent.NotKept)), errors.Is(werr, syscall.ENOSPC), errors.Is(werr, syscall.EDQUOT):
			// A full disk is not a failure of the work (docs/decisions/the-loop.md).
			return werr // the run continues from its journal when that is writable again
		case errors.Is(werr, errPaused):
			return errPaused
		}
		end = company.EndRun{}
		if timedOut {
			end.Outcome.BreakTimeLimit(limit)
		} else {
			end.Outcome = failedOutcome(werr)
		}
		// The changes in the work tree are still good, so the next run continues from them.
		if err := salvageWork(ctx, s.service.Sandboxes.Salvager(), s.service.Logger, s.Task, s.Claimed,
			&end.Outcome); err != nil {
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

// keptWork tells people, and the next run in its brief, where the changes of a failed run are.
const keptWork = ". What it had changed is on its branch, what was not committed as the newest commit"

// isOutcomeRefused reports whether the company refused the end of a run because of its content.
func isOutcomeRefused(err error) bool {
	switch company.CodeOf(err) {
	case company.EInvalid, company.EPlan, company.EConflict, company.ENotFound, company.EProtected:
		return true
	}
	return false
}

// endRun seals the journal of the run and submits its end.
func (s *Session) endRun(ctx context.Context, end company.EndRun) error {
	end.Run, end.Fence = s.Run, s.Fence
	for _, text := range []*string{&end.Outcome.Problem, &end.Outcome.Summary, &end.Outcome.Risks, &end.Outcome.Error,
		&end.Outcome.Hint} {
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

// maxWords limits a text at the end of a run, in bytes. The text goes into the ledger and into the next run's
// prompt.
const maxWords = 16 << 10

// settleRun ends a run that was cut off because its task has ended. The run has no next holder, so its spending
// is counted and its work is saved.
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

// taskEnd returns the status of an ended task. It is empty if the task continues or the office does not answer.
func (s *Session) taskEnd(ctx context.Context) company.TaskStatus {
	now, err := s.service.Coordinator.Standing(ctx, s.Run, s.Fence)
	if err != nil {
		s.service.Logger.WarnContext(ctx, "standing of a run not known", "run_id", s.Run, "err", err)
		return ""
	}
	return now.Ended
}

// settleFor limits the steps after the context of a run has ended, including saving its work.
const settleFor = time.Minute

// errPaused ends a session between two turns without a verdict.
var errPaused = errors.New("the task or the subtask is paused")

// checkPaused returns errPaused if the run's task or subtask is paused. If the office does not answer, the run
// continues and asks again after the next turn.
func (s *Session) checkPaused(ctx context.Context) error {
	now, err := s.service.Coordinator.Standing(ctx, s.Run, s.Fence)
	if err != nil || !now.Paused {
		return nil
	}
	return errPaused
}

// readWords returns the president's messages to the run. If the office does not answer, it returns nil, and the
// next turn asks again.
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

// runTimeout returns the run_timeout that the task was submitted with.
func (s *Session) runTimeout() time.Duration {
	return s.Task.Settings.WithDefaults().RunTimeout
}

// releaseClaim releases the claim, even if ctx is done. An internal error that prevented the run is recorded
// with the release, and recorded is then true.
func (s *Session) releaseClaim(ctx context.Context, err error) (recorded bool) {
	rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	release := company.Release{Run: s.Run, Fence: s.Fence, Why: "the session ended without an outcome"}
	switch code := company.CodeOf(err); {
	case ctx.Err() != nil:
		release.Why = context.Cause(ctx).Error()
	case code == company.EStale || code == company.EStopped || errors.Is(err, errPaused):
		release.Why = err.Error()
	case err != nil:
		out := failedOutcome(err)
		release.Why, release.Failed = out.Error,
			&company.EffectFailed{Code: out.Code, Error: out.Error, Hint: out.Hint, Human: out.Human}
	}
	_, derr := s.service.Coordinator.Decide(rctx, release)
	if derr != nil && company.CodeOf(derr) != company.EStale {
		s.service.Logger.WarnContext(rctx, "claim not released", "run_id", s.Run, "err", derr)
	}
	return derr == nil && release.Failed != nil
}

// failedOutcome returns the end of a run that failed with err.
func failedOutcome(err error) company.RunEnded {
	out := company.RunEnded{Status: company.RunError, Error: err.Error(), Code: company.CodeOf(err)}
	var ce *company.Error
	var link *toolproto.Broken
	switch {
	case errors.As(err, &ce):
		out.Error = ce.Error()
		out.Hint = ce.Hint
		out.Human = company.NeedsPerson(ce)
	case errors.As(err, &link):
		out.Code, out.Hint = company.EDocker, "the work goes on in a new container from what was pushed"
	}
	return out
}
