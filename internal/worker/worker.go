// Package worker does subtasks. It owns the prompt of a worker and the end of its
// runs. The tools act in a container; the conversation is held here. Which run a worker does is
// decided in dispatch.
//
// It promises that a run ends with a commit that the host took and checked, or
// without a claim of success. It does not judge the work: gates and reviewers
// do.
package worker

import (
	"context"
	"errors"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/sandbox"
	"company/internal/session"
)

// Config is what a worker is made of.
type Config struct {
	Sessions *session.Service
	Projects ProjectGuide
}

// ProjectGuide gives the part of a worker's brief that is about the project:
// commands, and the repository's own advice as quoted data; writes are the globs that the
// ticket may write, which tell what advice is near.
type ProjectGuide interface {
	Advise(ctx context.Context, m *gitops.Mirror, t *company.Task, writes []string) (string, error)
}

// Worker carries a claimed run from its container to its end.
type Worker struct{ cfg Config }

// New checks that a worker has what it needs.
func New(c Config) (*Worker, error) { return &Worker{c}, company.CheckParts(c) }

// Do does one claimed run.
func (w *Worker) Do(ctx context.Context, a company.Assignment) error {
	return w.cfg.Sessions.ExecuteClaimed(ctx, a, ticketWork{w.cfg.Projects})
}

// ticketWork is the session.Role of a worker.
type ticketWork struct{ projects ProjectGuide }

func (ticketWork) Prepare(_ context.Context, s *session.Session) (*sandbox.Spec, error) {
	spec := sandbox.WorkerSpec(s.Task, s.Subtask, s.Claimed)
	return &spec, nil
}

func (w ticketWork) Brief(ctx context.Context, s *session.Session) (session.Brief, error) {
	brief := session.Brief{System: system, Title: s.Subtask.Planned.Title}
	if s.Begun() {
		return brief, nil // the journal has the message that it began with
	}
	c := circumstances{branch: s.Sandbox.Prepared, answers: s.Clarifications}
	var err error
	if c.project, err = w.projects.Advise(ctx, s.Mirror, s.Task, s.Subtask.Planned.WriteSet); err != nil {
		return brief, err
	}
	if c.merged, err = listMergedBefore(ctx, s.Mirror, s.Task, s.Claimed.From); err != nil {
		return brief, err
	}
	if c.brought, err = bringFiles(ctx, s.Subtask.Planned.Context, s.Sandbox.Tools.ReadFile); err != nil {
		return brief, err
	}
	if c.earlier, err = loadEarlierWork(ctx, s.Mirror, s.Task, s.Subtask, s.Claimed.From); err != nil {
		return brief, err
	}
	brief.Text, brief.Seen, brief.Shown = ticketBrief(s.Task, s.Subtask, c), c.brought.seen, c.brought.shown
	return brief, nil
}

// takeFor bounds taking the work of a run that is out of time.
const takeFor = time.Minute

func (ticketWork) Finish(ctx context.Context, s *session.Session, out agent.Outcome, failed error) (company.EndRun, error) {
	switch {
	case errors.Is(context.Cause(ctx), session.ErrRunTimeout) && out.End == "":
		// Out of time is out of turns: the work is kept.
		out.End = agent.EndTurns
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), takeFor)
		defer cancel()
	case failed != nil && ctx.Err() == nil && s.Sandbox.Lost():
		return lostSandboxOutcome(ctx, s, failed)
	case failed != nil:
		return company.EndRun{}, failed
	}
	return s.Sandbox.Finish(ctx, out, s.Task.Head)
}

// lostSandboxOutcome is the end of a run whose container ended under its agent:
// a command killed it, or memory or processes ran out. The work caused it as a
// rule, so the next brief gives the reason; pushed commits are kept.
func lostSandboxOutcome(ctx context.Context, s *session.Session, cause error) (company.EndRun, error) {
	why := s.Sandbox.ExplainLoss(ctx)
	end, err := s.Sandbox.Finish(ctx, agent.Outcome{}, s.Task.Head)
	if err != nil {
		return company.EndRun{}, err
	}
	end.Outcome.Code = company.ELost
	end.Outcome.Error = "the container ended while you worked in it: " + why + " (" + cause.Error() + ")"
	return end, nil
}
