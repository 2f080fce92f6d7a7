// Package worker does subtasks. It owns what a worker is told and may do. The
// tools act in a container; the conversation is held here. Which run a worker
// does is decided in dispatch.
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
	"company/internal/depaccess"
	"company/internal/gitops"
	"company/internal/sandbox"
	"company/internal/session"
)

// Worker carries a claimed run from its container to its end.
type Worker struct {
	Sessions *session.Service
	Shop     *sandbox.Factory
	Mirrors  gitops.MirrorSource
	// Project is what the agent is told of the project besides its ticket:
	// commands, and the repository's own advice as quoted data.
	Project func(ctx context.Context, t *company.Task) (string, error)
	// Supply is what runs may fetch of package registries. Nil: nothing.
	Supply *depaccess.Service
	// Image is the image for a commit of a task, which may name other
	// dependencies than the base. Nil: the task's own.
	Image func(ctx context.Context, t *company.Task, m *gitops.Mirror, at company.OID) (string, error)
}

// Do does one claimed run.
func (w *Worker) Do(ctx context.Context, t *company.Task, r *company.Run) error {
	return w.Sessions.Execute(ctx, r.ID, r.Fence, r.Worker, func(ctx context.Context, s *session.Session) (company.EndRun, error) {
		return w.runWorker(ctx, s, t, r)
	})
}

func (w *Worker) runWorker(ctx context.Context, s *session.Session, t *company.Task, r *company.Run) (company.EndRun, error) {
	sub := t.Subtask(r.Subtask)
	log, err := sandbox.OpenLog(w.Sessions.Runs, r.ID, w.Sessions.Unwritten)
	if err != nil {
		return company.EndRun{}, err
	}
	defer log.Close()
	m, err := w.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return company.EndRun{}, err
	}
	goods, err := w.Supply.Open(ctx, depaccess.Order{Task: t, Run: r.ID, Fence: r.Fence, Mirror: m, Base: sandbox.Mirrors(), Waits: s.Waits, Record: s.Journal().Append})
	if err != nil {
		return company.EndRun{}, err
	}
	defer goods.Close(ctx)
	image := t.Prepared.Image
	if w.Image != nil {
		if image, err = w.Image(ctx, t, m, r.From); err != nil {
			return company.EndRun{}, err
		}
	}
	order := sandbox.Spec{
		Mirror: m, Run: r.ID, Role: company.Worker, Epoch: r.Offered, Fence: r.Fence, Image: image,
		Base: sub.Base, Start: r.From, Branch: sandbox.Branch(sub), Log: log, Supply: goods, Paths: t.Settings.Paths,
		Past: s.Past(),
	}
	if r.From != sub.Base {
		order.Extra = []company.OID{r.From}
	}
	if target := t.Prepared.Target; target != "" {
		order.Extra = append(order.Extra, target)
	}
	bench, err := w.Shop.Open(ctx, order)
	if err != nil {
		return company.EndRun{}, err
	}
	defer bench.Close(ctx)

	project, err := w.Project(ctx, t)
	if err != nil {
		return company.EndRun{}, err
	}
	changes := &progress{before: bench.Prepared.Dirty || company.OID(bench.Prepared.Head) != r.From}
	out, err := s.RunConversation(ctx, session.Conversation{
		System: system, Title: sub.Planned.Title, Brief: ticketBrief(t, sub, project, bench),
		Tools:     bench.Writing(string(sub.ID), r.From),
		Workspace: bench.Workspace(changes.noteSaved),
	})
	if late := errors.Is(context.Cause(ctx), session.ErrRunTimeout); late && out.End == "" {
		// Out of time is out of turns: what is there is kept.
		out.End = agent.EndTurns
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), takeFor)
		defer cancel()
	} else if err != nil && ctx.Err() == nil && bench.Lost() {
		return lostSandboxOutcome(ctx, bench, m, t.Head, err)
	} else if err != nil {
		return company.EndRun{}, err
	}
	return bench.Finish(ctx, out, m, t.Head, changes.isRecent(out.Turns))
}

// lostSandboxOutcome is the end of a run whose container ended under its agent: a command
// killed it, or memory or processes ran out. That is the work's doing as a rule, so the
// next run is told; what was pushed is kept.
func lostSandboxOutcome(ctx context.Context, b *sandbox.Sandbox, m *gitops.Mirror, onto company.OID, cause error) (company.EndRun, error) {
	end, err := b.Finish(ctx, agent.Outcome{}, m, onto, false)
	if err != nil {
		return company.EndRun{}, err
	}
	end.Outcome.Code = company.ELost
	end.Outcome.Error = "the container ended while you worked in it: a command ended it, or it ran out of memory or processes (" + cause.Error() + ")"
	return end, nil
}

// takeFor bounds taking the work of a run that is out of time.
const takeFor = time.Minute

// progress remembers in which turns the work tree changed.
type progress struct {
	last   int
	before bool // an earlier holder of the run had changed it
}

func (p *progress) noteSaved(turn int, changed bool) {
	if changed {
		p.last = turn
	}
}

// isRecent says whether the tree changed within the last 30 turns: a run that
// is out of turns goes on only then.
func (p *progress) isRecent(turns int) bool {
	return p.last > 0 && turns-p.last < 30 || p.last == 0 && p.before
}
