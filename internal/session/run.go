// Package session carries one run of an agent from its claim to its end: the
// journal under the claim's fence, the allowance, the conversation, and at last
// the sealed journal, the transcript and result.json.
//
// It promises that a run which is cut off (cancelled, superseded, crashed)
// lets go of its claim without a verdict, and that a run which ends is
// recorded with what it spent, once. It does not know what an agent works on;
// the roles bring tools and prompts, and say what the outcome means.
package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/budget"
	"company/internal/company"
	"company/internal/evidence"
	"company/internal/folder"
	"company/internal/ledger"
	"company/internal/safetext"
	"company/internal/toolproto"
)

// Service is what sessions share.
type Service struct {
	Desk   company.Decider
	Ledger *ledger.Ledger
	// Model opens the model that a role uses; every request of it goes
	// through the wrapper.
	Model func(role company.Role, wrap func(adapters.Model) adapters.Model) (adapters.Model, error)
	// Turns is the most turns of a role; 0: the agent's default.
	Turns func(role company.Role) int
	// Persona is text of the operator that is added to what a role is told;
	// nil, or empty: none.
	Persona func(role company.Role) string
	Runs    *folder.Folder // of the runs' files
	// Unwritten is told of a file of a run that could not be written, and with
	// nil of one that was. It may be nil, and must be quick.
	Unwritten func(run company.RunID, file string, err error)
	// Now is the office's time, which stands in records; nil: the wall clock's.
	Now    func() time.Time
	Logger *slog.Logger
	// Activity is told what happens in a conversation, for the feed. It may
	// be nil, and must be quick.
	Activity func(run company.RunID, e agent.Event)
}

// Session is one run in somebody's hands.
type Session struct {
	office  *Service
	Run     company.RunID
	Role    company.Role
	Task    company.TaskID
	Subtask company.SubtaskID
	Fence   uint64
	// Worker is who holds the run.
	Worker string

	journal    *ledger.Journal
	past       agent.Past
	purse      *budget.Allowance
	watch      *stopwatch
	owed       company.Amount // given back to the company and still counted in the purse
	turns      int
	cut        string // what is said of a request that was cut before a byte came
	transcript company.Hash
}

// Claim takes one of the company's own runs (of the manager, a reviewer, the
// merger), under the fence that it gives.
func (o *Service) Claim(ctx context.Context, run company.RunID, from company.OID) (fence uint64, worker string, err error) {
	_, _, role, _, err := run.Split()
	if err != nil {
		return 0, "", err
	}
	s := o.Desk.View()
	worker = string(role)
	evs, err := o.Desk.Do(ctx, worker, company.Claim{Run: run, Epoch: s.Office.Epoch, Worker: worker, From: from})
	return company.ClaimedFence(evs), worker, err
}

// Execute does a claimed run: work has the conversation and says how it ended.
// An error of work is recorded as the end of the run, and so is an end that
// the company refuses: the same conversation would only come to it again. When
// ctx ends first, the claim is let go and nothing is recorded against the run;
// but the run of a task that has ended is settled with what it spent.
//
// The context of work ends, with ErrRunTimeout, when the run has been at it for
// the task's run_timeout. Waiting for a model or for money does not count.
func (o *Service) Execute(ctx context.Context, run company.RunID, fence uint64, worker string, work func(context.Context, *Session) (company.EndRun, error)) (err error) {
	taskID, sub, role, _, err := run.Split()
	if err != nil {
		return err
	}
	s := &Session{office: o, Run: run, Role: role, Task: taskID, Subtask: sub, Fence: fence, Worker: worker}
	ended := false
	defer func() {
		if !ended && (s.releaseClaim(ctx, err) || errors.Is(err, errPaused)) {
			err = nil // it is in the ledger, or there is nothing to say
		}
	}()
	if s.journal, err = o.Ledger.OpenJournal(ctx, run, fence); err != nil {
		return err
	}
	if err = s.openPurse(ctx); err != nil {
		return err
	}
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limit := s.runTimeout()
	s.watch = newStopwatch(limit, func() { stop(ErrRunTimeout) })
	defer s.watch.pauseTimer()
	end, werr := work(wctx, s)
	if ctx.Err() != nil {
		ended = s.settleRun(ctx)
		return context.Cause(ctx)
	}
	if werr != nil {
		switch {
		case errors.Is(context.Cause(wctx), ErrRunTimeout): // whatever it looked like from within
			werr = company.E(company.ETimeout, "the run took longer than "+limit.String()).Fix("raise workers.run_timeout, or split the task")
		case company.CodeOf(werr) == company.EStale, company.CodeOf(werr) == company.EStopped:
			return werr
		case errors.As(werr, new(*agent.NotKept)):
			return werr // the run goes on from its journal when that can be written again
		case errors.Is(werr, errPaused):
			return errPaused
		}
		end = company.EndRun{Outcome: failedOutcome(werr)}
	}
	if err = s.endRun(ctx, end); isOutcomeRefused(err) {
		err = s.endRun(ctx, company.EndRun{Outcome: failedOutcome(err)})
	}
	if err != nil {
		return err
	}
	ended = true
	return nil
}

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
	for _, text := range []*string{&end.Outcome.Summary, &end.Outcome.Error, &end.Outcome.Hint} {
		*text = safetext.Cut(*text, maxWords)
	}
	if err := s.sealJournal(ctx, &end.Outcome); err != nil {
		return err
	}
	if _, err := s.office.Desk.Do(ctx, string(s.Run), end); err != nil {
		return err
	}
	// The ledger names the sealed journal now; its records are of no more use.
	// A process that dies before this does it at its next start.
	if err := s.office.Ledger.PurgeJournal(context.WithoutCancel(ctx), s.Run); err != nil {
		s.office.Logger.WarnContext(ctx, "journal not purged", "run_id", s.Run, "err", err)
	}
	return nil
}

// maxWords bounds what is said at the end of a run, in bytes: it goes into the
// ledger, and into what the next run is told.
const maxWords = 16 << 10

// settleRun ends a run that was cut off because its task has ended: nobody will
// take it up again, and what it spent is spent.
func (s *Session) settleRun(ctx context.Context) bool {
	t := s.office.Desk.View().Tasks[s.Task]
	if t == nil || !t.Status.Ended() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	err := s.endRun(ctx, company.EndRun{Outcome: company.RunEnded{Status: company.RunError, Error: "the task has ended: " + string(t.Status) + s.cut}})
	if err != nil && company.CodeOf(err) != company.EStale {
		s.office.Logger.WarnContext(ctx, "run of an ended task not settled", "run_id", s.Run, "err", err)
	}
	return err == nil
}

// settleFor bounds what is done for a run after its context has ended.
const settleFor = 10 * time.Second

// errPaused ends a session between two turns, without a verdict.
var errPaused = errors.New("the task is paused")

// checkPaused is errPaused when the task is paused.
func (s *Session) checkPaused() error {
	if t := s.office.Desk.View().Tasks[s.Task]; t != nil && t.Paused {
		return errPaused
	}
	return nil
}

// runTimeout is the run_timeout that the task was submitted with.
func (s *Session) runTimeout() time.Duration {
	var set company.Settings
	if t := s.office.Desk.View().Tasks[s.Task]; t != nil {
		set = t.Settings
	}
	return set.WithDefaults().RunTimeout
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
	_, derr := s.office.Desk.Do(rctx, string(s.Run), c)
	if derr != nil && company.CodeOf(derr) != company.EStale {
		s.office.Logger.WarnContext(rctx, "claim not released", "run_id", s.Run, "err", derr)
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
		out.Error, out.Hint, out.Human = ce.Error(), ce.Hint, ce.Class == company.HumanRequired
	case errors.As(err, &link):
		out.Code, out.Hint = company.EDocker, "the work goes on in a new container from what was pushed"
	}
	return out
}

// Conversation is one conversation of the run.
type Conversation struct {
	System    string
	Brief     string // what the first message says below its header
	Title     string
	Tools     []agent.Tool
	Workspace agent.Workspace // nil: nothing of what the tools change is kept
}

// RunConversation has the conversation. It may be called once per run.
func (s *Session) RunConversation(ctx context.Context, talk Conversation) (agent.Outcome, error) {
	var model adapters.Model
	turns := 0
	if s.office.Turns != nil {
		turns = s.office.Turns(s.Role)
	}
	if s.office.Persona != nil {
		if p := s.office.Persona(s.Role); p != "" {
			talk.System += "\n\n" + p
		}
	}
	header := adapters.Header{Role: s.Role, Task: s.Task, Subtask: s.Subtask, Run: s.Run, Title: talk.Title}
	out, err := agent.Run(ctx, agent.Config{
		Open: func(meter func(adapters.Model) adapters.Model) (m adapters.Model, err error) {
			model, err = s.office.Model(s.Role, meter)
			return model, err
		},
		Purse: s.purse, Tools: talk.Tools, System: talk.System, First: header.String() + "\n" + talk.Brief,
		MaxTurns: turns, Run: s.Run, Agent: s.Worker, Now: s.office.Now, Journal: journalAdapter{s.journal}, Blobs: blobs{s.office.Ledger},
		Logger: s.office.Logger, Workspace: talk.Workspace, Halt: s.checkPaused,
		OnEvent: func(e agent.Event) {
			s.watch.onEvent(e.Kind)
			if e.Kind == agent.CutOff {
				s.cut = "; " + e.Text
			}
			if s.office.Activity != nil {
				s.office.Activity(s.Run, e)
			}
		},
	})
	s.turns = out.Turns
	if len(out.Messages) > 0 {
		s.keepTranscript(context.WithoutCancel(ctx), out.Transcript.Encode())
	}
	if err != nil && ctx.Err() == nil && model != nil {
		err = adapters.Explain(err, model.Info())
	}
	return out, err
}

// keepTranscript keeps the conversation as a blob and as a file that people
// find. The journal holds all of it too, so a failure loses nothing: the result
// names no blob that is not there, and who misses the file is told why.
func (s *Session) keepTranscript(ctx context.Context, text []byte) {
	h, _, err := s.office.Ledger.PutBlob(ctx, bytes.NewReader(text))
	if err != nil {
		s.office.Logger.WarnContext(ctx, "the transcript is in the journal alone", "run_id", s.Run, "err", err)
	}
	s.transcript = h
	s.write("transcript.ndjson", text)
}

// write writes a file of the run that people read. Nothing is decided by it, so
// one that cannot be written is told and ends nothing.
func (s *Session) write(name string, text []byte) {
	err := evidence.WriteRunFile(s.office.Runs, s.Run, name, text)
	if err != nil {
		s.office.Logger.Warn("a file of a run is not written", "run_id", s.Run, "file", name, "err", err)
	}
	if s.office.Unwritten != nil {
		s.office.Unwritten(s.Run, name, err)
	}
}

// Past is what was there of the run when this session began.
func (s *Session) Past() agent.Past { return s.past }

// Journal is the run's journal, for what a role records beside the
// conversation.
func (s *Session) Journal() *ledger.Journal { return s.journal }

// sealJournal closes the books of the run: what it spent, its journal as a blob, and
// its result. The blobs are what the ledger names: without them the run does not
// end, and goes on later from its journal.
func (s *Session) sealJournal(ctx context.Context, out *company.RunEnded) error {
	out.Spent, out.Turns = s.purse.Balance().Spent, s.turns
	hash, _, err := s.office.Ledger.SealJournal(ctx, s.Run)
	if err != nil {
		return fmt.Errorf("seal the journal of %s: %w", s.Run, err)
	}
	out.Journal = hash
	res, err := s.buildResult(*out).Marshal()
	if err != nil {
		return err
	}
	if out.Result, _, err = s.office.Ledger.PutBlob(ctx, bytes.NewReader(res)); err != nil {
		return fmt.Errorf("keep the result of %s: %w", s.Run, err)
	}
	s.write("result.json", res)
	return nil
}

func (s *Session) buildResult(out company.RunEnded) evidence.ExecutionResult {
	now := time.Now
	if s.office.Now != nil {
		now = s.office.Now
	}
	res := evidence.ExecutionResult{
		RunID: s.Run, TicketID: string(s.Subtask), AgentID: s.Worker, Status: out.Status, EndTime: now().UTC(),
		GitBranch: out.Branch, Turns: s.turns, TokensUsed: out.Spent.Tokens, Summary: out.Summary,
		Journal: out.Journal, Transcript: s.transcript,
	}
	if res.TicketID == "" {
		res.TicketID = string(s.Task)
	}
	if t := s.office.Desk.View().Tasks[s.Task]; t != nil {
		if r := t.Runs[s.Run]; r != nil {
			res.StartTime = r.Claimed
		}
	}
	if out.Spent.MicroUSD > 0 {
		usd := out.Spent.MicroUSD
		res.CostMicroUSD = &usd
	}
	if out.Head != "" {
		res.Commits = []string{string(out.Head)}
	}
	if out.Error != "" {
		res.Errors = []string{out.Error}
	}
	for _, c := range out.Changes {
		res.Artifacts = append(res.Artifacts, evidence.Artifact{Path: c.Path, Action: c.Action})
	}
	return res
}
