// Package manager plans. It owns the manager agent that breaks an instruction
// into subtasks and their order or decides what becomes of one that is stuck, its tools,
// and the backlog files that people read.
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
	"company/internal/repomap"
	"company/internal/safetext"
	"company/internal/sandbox"
	"company/internal/session"
)

// Manager carries out manage effects.
type Manager struct {
	Sessions *session.Service
	maps     *repomap.Cache
}

// New checks that a manager has what it needs.
func New(sessions *session.Service) (*Manager, error) {
	g := &Manager{sessions, &repomap.Cache{}}
	return g, company.CheckParts(g)
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
	return g.Sessions.Execute(ctx, e, management{g.Sessions.Coordinator, g.maps})
}

// management is the session.Role of a manager.
type management struct {
	coordinator company.Coordinator
	maps        *repomap.Cache
}

// Prepare asks for no sandbox: a manager looks at git objects and runs nothing.
func (management) Prepare(context.Context, *session.Session) (*sandbox.Spec, error) { return nil, nil }

func (g management) Brief(ctx context.Context, s *session.Session) (session.Brief, error) {
	look := &readTools{mirror: s.Mirror, at: s.Claimed.From}
	known, err := g.maps.Read(ctx, s.Mirror, look.at)
	if err != nil {
		return session.Brief{}, err
	}
	about := s.Task.Instruction
	var near []string // where the advice of the repository is looked for
	stuck := s.Task.Subtask(s.Claimed.About)
	if stuck != nil {
		near = stuck.Planned.WriteSet
		about = stuck.Planned.Title + "\n" + stuck.Planned.Description
	}
	repo := describeRepo(known, about)
	guide, err := session.ReadAdvice(ctx, s.Mirror, s.Task.Prepared.Base.OID, near)
	if err != nil {
		return session.Brief{}, err
	}
	b := session.Brief{System: planSystem, Title: company.TitleOf(s.Task.Instruction), Tools: look.list()}
	if stuck != nil {
		diff, err := loadStuckDiff(ctx, s.Mirror, stuck, look.at)
		if err != nil {
			return session.Brief{}, err
		}
		b.System, b.Text = decideSystem, decideBrief(s.Task, stuck, diff, repo)
		b.Tools = append(b.Tools, decideTools(s.Task, stuck)...)
	} else {
		b.Text = planBrief(s.Task, s.Clarifications, repo)
		b.Tools = append(b.Tools, submitPlanTool(g.coordinator, s.Run, s.Fence, look, s.Task), askPresident())
	}
	if guide != "" {
		b.Text += "\n## What the repository says to agents\n" + guide
	}
	return b, nil
}

func (management) Finish(_ context.Context, s *session.Session, out agent.Outcome, failed error) (company.EndRun, error) {
	if failed != nil && !agent.IsOwnFault(failed) {
		return company.EndRun{}, failed
	}
	if g := giveUpUndecided(s, out, failed); g != nil {
		return company.EndRun{Outcome: company.RunEnded{Status: company.RunSuccess, Summary: g.Text}, Guide: g}, nil
	}
	if failed != nil {
		return company.EndRun{}, failed
	}
	if out.End != agent.EndFinal {
		return company.EndRun{}, company.E(company.EModel, "the manager ended without a decision: "+string(out.End)).Fix(out.NoToolsHint())
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

// giveUpUndecided is the decision on a stuck ticket whose manager, run after run, comes to none: it
// is given up, so that the president is asked what its worker asks, and can answer that. Otherwise he
// would be asked about the manager's failure alone, and could only have it tried again or give
// up the whole task.
func giveUpUndecided(s *session.Session, out agent.Outcome, failed error) *company.Guide {
	if out.End == agent.EndFinal || s.Claimed.About == "" || !s.Task.IsLastPlanningRun() {
		return nil
	}
	how := string(out.End)
	if failed != nil {
		how = safetext.EscapeLine(failed.Error(), 300)
	}
	text := "none of its runs came to a decision, the last one ended as: " + how
	if hint := out.NoToolsHint(); hint != "" {
		text += "; " + hint
	}
	return &company.Guide{Subtask: s.Claimed.About, Text: text, GiveUp: true}
}
