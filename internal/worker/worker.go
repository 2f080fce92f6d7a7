// Package worker executes subtasks. It owns the prompt of a worker and the end of its runs. The tools act in a
// container, while the conversation runs here. Package dispatch selects the runs.
//
// It promises that a run ends with a commit that the host took and checked, or without a claim of success. Gates
// and reviewers judge the work.
package worker

import (
	"context"
	"errors"
	"time"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// Config holds the dependencies of a worker.
type Config struct {
	Sessions *agentrun.Service
	Projects ProjectGuide
}

// ProjectGuide returns the part of a worker's brief about the project: commands, and the repository's own advice
// as quoted data. writes are the globs that the ticket may write. They select the nearest advice.
type ProjectGuide interface {
	Advise(ctx context.Context, m *gitops.Mirror, t *company.Task, writes []string) (string, error)
}

// Worker executes a claimed run from its container to its end.
type Worker struct{ cfg Config }

// New returns an error if a required part of the config is missing.
func New(c Config) (*Worker, error) { return &Worker{c}, company.CheckParts(c) }

// Do executes one claimed run.
func (w *Worker) Do(ctx context.Context, a company.Assignment) error {
	return w.cfg.Sessions.ExecuteClaimed(ctx, a, ticketWork{w.cfg.Projects})
}

// ticketWork is the agentrun.Role of a worker.
type ticketWork struct{ projects ProjectGuide }

// NewRole returns the role of a worker for a preview of its prompt.
func NewRole(projects ProjectGuide) agentrun.Role { return ticketWork{projects} }

func (ticketWork) Prepare(_ context.Context, s *agentrun.Session) (*sandbox.Spec, error) {
	spec := sandbox.WorkerSpec(s.Task, s.Subtask, s.Claimed)
	return &spec, nil
}

func (w ticketWork) Brief(ctx context.Context, session *agentrun.Session) (agentrun.Brief, error) {
	brief := agentrun.Brief{System: system, Title: session.Subtask.Planned.Title}
	if session.IsProgram() {
		brief.System = programSystem
	}
	if session.Begun() {
		return brief, nil // the journal has its first message
	}
	c := circumstances{Answers: session.Clarifications, Program: session.IsProgram(),
		Branch: toolproto.PrepareResult{Branch: sandbox.Branch(session.Subtask), Head: string(session.Claimed.From)}}
	read := readLater
	if session.Sandbox != nil {
		c.Branch, read = session.Sandbox.Prepared, session.Sandbox.Tools.ReadFile
	}
	var err error
	if c.Project, err = w.projects.Advise(
		ctx, session.Mirror, session.Task, session.Subtask.Planned.WriteSet); err != nil {
		return brief, err
	}
	if c.merged, err = listMergedBefore(ctx, session.Mirror, session.Task, session.Claimed.From); err != nil {
		return brief, err
	}
	if c.Brought, err = bringFiles(ctx, session.Subtask.Planned.Context, read); err != nil {
		return brief, err
	}
	if c.Earlier, err = loadEarlierWork(
		ctx, session.Mirror, session.Task, session.Subtask, session.Claimed.From); err != nil {
		return brief, err
	}
	brief.Text = ticketBrief(session.Task, session.Subtask, c)
	brief.Seen = c.Brought.seen
	brief.Shown = c.Brought.shown
	return brief, nil
}

// takeFor limits the time to save the work of a run that is out of time.
const takeFor = time.Minute

func (ticketWork) Finish(
	ctx context.Context, session *agentrun.Session, out agent.Outcome, failed error,
) (company.EndRun, error) {
	switch {
	case errors.Is(context.Cause(ctx), agentrun.ErrRunTimeout) && out.End == "":
		// The work is kept as that of a run that is out of turns. The session says what ended the run.
		out.End = agent.EndTurns
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), takeFor)
		defer cancel()
	case failed != nil && ctx.Err() == nil && session.Sandbox.Lost():
		return lostSandboxOutcome(ctx, session, failed)
	case failed != nil:
		return company.EndRun{}, failed
	}
	end, err := session.Sandbox.Finish(ctx, out, session.Task.Head)
	if ended := &end.Outcome; session.IsProgram() && out.End == agent.EndFinal && ended.Status == company.RunError &&
		ended.Code == "" {
		ended.Code, ended.Error = company.EAgent, "it changed nothing; its last words: "+ended.Summary
	}
	return end, err
}

// lostSandboxOutcome returns the end of a run whose container ended during the work: a command killed it, or
// memory or processes ran out. Usually the work caused it, so the next brief gets the reason. Pushed commits are
// kept.
func lostSandboxOutcome(ctx context.Context, session *agentrun.Session, cause error) (company.EndRun, error) {
	reason := session.Sandbox.ExplainLoss(ctx)
	end, err := session.Sandbox.Finish(ctx, agent.Outcome{}, session.Task.Head)
	if err != nil {
		return company.EndRun{}, err
	}
	end.Outcome.Code = company.ELost
	end.Outcome.Error = "the container ended while you worked in it: " + reason + " (" + cause.Error() + ")"
	return end, nil
}
