// Package manager plans. It owns the map of the repository, the manager agent
// that breaks an instruction into waves of independent subtasks or decides what
// becomes of one that is stuck, and the backlog files that people read.
//
// It promises that the manager looks at git objects of the base commit on the
// host, never at a checkout, and runs nothing; and that a plan goes into the
// company only after code has checked it. It does not assign work: the queue
// does.
package manager

import (
	"context"
	"encoding/json"
	"fmt"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/session"
)

// Manager carries out manage effects.
type Manager struct {
	Desk     company.Decider
	Sessions *session.Service
	Mirrors  gitops.MirrorSource
}

// decision is what a manager's conversation ends with.
type decision struct {
	Plan     *company.Plan  `json:"plan,omitempty"`
	Question string         `json:"question,omitempty"`
	Guide    *company.Guide `json:"guide,omitempty"`
	// Over says that the company has ended the task meanwhile (too many
	// refused plans).
	Over bool `json:"over,omitempty"`
}

// Do plans the task, or decides on its first subtask that waits for it.
func (g *Manager) Do(ctx context.Context, e company.Effect) error {
	t, err := g.Desk.View().Task(e.Task)
	if err != nil {
		return err
	}
	at := t.Head
	fence, who, err := g.Sessions.Claim(ctx, e.Run, at)
	if err != nil {
		return err
	}
	return g.Sessions.Execute(ctx, e.Run, fence, who, func(ctx context.Context, s *session.Session) (company.EndRun, error) {
		return g.runManager(ctx, s, e.Run, e.Task)
	})
}

func (g *Manager) runManager(ctx context.Context, s *session.Session, run company.RunID, id company.TaskID) (company.EndRun, error) {
	state := g.Desk.View()
	t, err := state.Task(id)
	if err != nil {
		return company.EndRun{}, err
	}
	m, err := g.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return company.EndRun{}, err
	}
	look := &readTools{mirror: m, at: t.Runs[run].From}
	repo, err := Map(ctx, m, look.at)
	if err != nil {
		return company.EndRun{}, err
	}
	talk := session.Conversation{System: planSystem, Title: company.TitleOf(t.Instruction), Tools: look.list()}
	if stuck := t.Subtask(t.Runs[run].About); stuck != nil {
		talk.System, talk.Brief = decideSystem, decideBrief(t, stuck, repo)
		talk.Tools = append(talk.Tools, g.guideTool(stuck.ID), g.giveUp(stuck.ID))
	} else {
		talk.Brief = planBrief(state, t, repo)
		talk.Tools = append(talk.Tools, g.submitPlan(run, s.Fence, look), askPresident())
	}
	out, err := s.RunConversation(ctx, talk)
	if err != nil {
		return company.EndRun{}, err
	}
	if out.End != agent.EndFinal {
		return company.EndRun{}, company.E(company.EModel, "the manager ended without a decision: "+string(out.End))
	}
	var d decision
	if err := json.Unmarshal(out.Final, &d); err != nil {
		return company.EndRun{}, fmt.Errorf("read the manager's decision: %w", err)
	}
	end := company.EndRun{Outcome: company.RunEnded{Status: company.RunSuccess}, Plan: d.Plan, Question: d.Question, Guide: d.Guide}
	if d.Over {
		end.Outcome.Status, end.Outcome.Error, end.Outcome.Code = company.RunError, "its plans were refused", company.EPlan
	}
	return end, nil
}
