// Package manager implements the manager agent. It splits an instruction into ordered subtasks, or decides on a
// stuck one. The package owns the agent's tools and the backlog files that people read.
//
// It promises that the manager reads git objects of the base commit on the host, never a checkout, and runs no
// code. A plan is accepted only after code has checked it. The queue assigns the work, not this package.
package manager

import (
	"context"
	"encoding/json"
	"fmt"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/agenttools"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/manager/repomap"
)

// Manager executes manage effects.
type Manager struct {
	Sessions *agentrun.Service
}

// New returns an error if sessions is missing.
func New(sessions *agentrun.Service) (*Manager, error) {
	g := &Manager{sessions}
	return g, company.CheckParts(g)
}

// decision is the final result of a manager's conversation.
type decision struct {
	Plan     *company.Plan  `json:"plan,omitempty"`
	Question string         `json:"question,omitempty"`
	Guide    *company.Guide `json:"guide,omitempty"`
	// Over means that the company has ended the task meanwhile (too many refused plans).
	Over bool `json:"over,omitempty"`
}

// Do plans the task, or decides on its first stuck subtask.
func (g *Manager) Do(ctx context.Context, e company.Effect) error {
	return g.Sessions.Execute(ctx, e, management{g.Sessions.Coordinator})
}

// management is the agentrun.Role of a manager.
type management struct {
	coordinator company.Coordinator
}

// Prepare requests no sandbox, because a manager reads git objects and runs no code.
func (management) Prepare(context.Context, *agentrun.Session) (*sandbox.Spec, error) { return nil, nil }

func (g management) Brief(ctx context.Context, session *agentrun.Session) (agentrun.Brief, error) {
	look := &readTools{mirror: session.Mirror, at: session.Claimed.From}
	known, err := repomap.Read(ctx, session.Mirror, look.at)
	if err != nil {
		return agentrun.Brief{}, err
	}
	var near []string // globs near which to search for the repository's advice
	stuck := session.Task.Subtask(session.Claimed.About)
	if stuck != nil {
		near = stuck.Planned.WriteSet
	}
	repo := describeRepo(known)
	guide, err := agentrun.ReadAdvice(ctx, session.Mirror, session.Task.Prepared.Base.OID, near)
	if err != nil {
		return agentrun.Brief{}, err
	}
	brief := agentrun.Brief{System: planSystem, Title: company.TitleOf(session.Task.Instruction), Tools: look.list()}
	if stuck != nil {
		diff, err := loadStuckDiff(ctx, session.Mirror, stuck, look.at)
		if err != nil {
			return agentrun.Brief{}, err
		}
		brief.System = decideSystem
		brief.Text = prompts.Render("decide-first.md.tmpl", newStuckMessage(session.Task, stuck, diff, repo, guide))
		brief.Tools = append(brief.Tools, decideTools(session.Task, stuck)...)
	} else {
		brief.Text = prompts.Render("plan-first.md.tmpl",
			projectMessage{session.Task, session.Clarifications, repo, guide})
		brief.Tools = append(brief.Tools, submitPlanTool(g.coordinator, session.Run, session.Fence, look),
			agenttools.AskPresident())
	}
	return brief, nil
}

func (management) Finish(
	_ context.Context, session *agentrun.Session, out agent.Outcome, failed error,
) (company.EndRun, error) {
	if failed != nil && !agent.IsOwnFault(failed) {
		return company.EndRun{}, failed
	}
	if g := giveUpUndecided(session, out, failed); g != nil {
		return company.EndRun{Outcome: company.RunEnded{Status: company.RunSuccess, Summary: g.Text}, Guide: g}, nil
	}
	if failed != nil {
		return company.EndRun{}, failed
	}
	if out.End != agent.EndFinal {
		reason := "the manager ended without a decision: " + out.DescribeEnd(session.Run)
		return company.EndRun{}, company.E(company.EModel, reason).Fix(out.NoToolsHint())
	}
	var d decision
	if err := json.Unmarshal(out.Final, &d); err != nil {
		return company.EndRun{}, fmt.Errorf("read the manager's decision: %w", err)
	}
	end := company.EndRun{Outcome: company.RunEnded{Status: company.RunSuccess}, Plan: d.Plan, Question: d.Question,
		Guide: d.Guide}
	if d.Over {
		end.Outcome.Status = company.RunError
		end.Outcome.Error = "its plans were refused"
		end.Outcome.Code = company.EPlan
	}
	return end, nil
}

// giveUpUndecided returns a decision that gives up a stuck ticket, if the last allowed run of its manager ended
// without one. The president is then asked the worker's question and can answer it. Otherwise the president
// would only be asked about the manager's failure, and could only retry it or give up the whole task.
func giveUpUndecided(session *agentrun.Session, out agent.Outcome, failed error) *company.Guide {
	if out.End == agent.EndFinal || session.Claimed.About == "" || !session.Task.IsLastPlanningRun() {
		return nil
	}
	how := out.DescribeEnd(session.Run)
	if failed != nil {
		how = safetext.EscapeLine(failed.Error(), 300)
	}
	text := "none of its runs came to a decision, the last one: " + how
	if hint := out.NoToolsHint(); hint != "" {
		text += "; " + hint
	}
	return &company.Guide{Subtask: session.Claimed.About, Text: text, GiveUp: true}
}
