package company

import (
	"fmt"
	"slices"
	"strings"
)

// Planning is the manager's part of a task.
type Planning struct {
	Started  int           `json:"started"`           // manager runs so far
	Current  RunID         `json:"current,omitempty"` // the one under way
	Refused  int           `json:"refused,omitempty"`
	Problems []PlanProblem `json:"problems,omitempty"` // of the last refused plan
	Why      string        `json:"why,omitempty"`
	Title    string        `json:"title,omitempty"` // of the pull request, as the manager has it
	// Decisions are the manager's where the instruction is open.
	Decisions []string `json:"decisions,omitempty"`
	Waves     int      `json:"waves,omitempty"`
	Accepted  RunID    `json:"accepted,omitempty"` // the run whose plan stands
	Chosen    RunID    `json:"chosen,omitempty"`   // the run of a dry run whose plan the president chose
}

// ProposePlan is the manager's submit_plan. A plan that code refuses is
// recorded as refused and goes back with the reasons; one that would stand
// causes no event, and comes again with the end of the run.
type ProposePlan struct {
	Run   RunID
	Fence uint64
	Plan  Plan
	// Files are those of the subtasks' context entries that are paths of the
	// planned commit; nil: not looked up.
	Files []string
}

func (c ProposePlan) decide(s *State, m Meta) ([]Event, error) {
	t, r, err := s.claimedRun(c.Run, c.Fence)
	if err != nil {
		return nil, err
	}
	if r.Role != Manager || t.Status != StatusDecomposing {
		return nil, E(EConflict, string(t.ID)+" is not being planned")
	}
	if t.plansOnOldBase(r) {
		return nil, nil
	}
	rules := t.planRules()
	rules.Files = c.Files
	problems := c.Plan.Check(rules)
	if len(problems) == 0 {
		return nil, nil
	}
	evs := []Event{m.newEvent(t.ID, "", c.Run, &PlanRefused{Problems: problems})}
	if t.Plan.Refused+1 >= t.Settings.PlanRefusals {
		evs = append(evs, m.newEvent(t.ID, "", "", &TaskFailed{Code: EPlan,
			Reason: fmt.Sprintf("the manager's plan was refused %d times; last: %s", t.Plan.Refused+1, problems[0])}))
	}
	return evs, nil
}

// plansOnOldBase says whether the base has moved since a planning run began.
func (t *Task) plansOnOldBase(r *Run) bool {
	return r.From != "" && t.Prepared != nil && r.From != t.Prepared.Base.OID
}

func (t *Task) planRules() PlanRules {
	return PlanRules{Granularity: t.Settings.Granularity, Protected: t.Settings.Protected, Paths: t.Settings.Paths, Parts: len(t.Parts())}
}

// IsLastPlanningRun reports whether the manager's run under way is not followed by another one, without
// the president, where it fails.
func (t *Task) IsLastPlanningRun() bool {
	return t.Failures["plan"].Attempt >= t.Settings.EffectRetries
}

// managerSays turns what a manager's run ended with into events: a plan, a
// question, or a decision on a subtask.
func (c EndRun) managerSays(s *State, m Meta, t *Task, r *Run) ([]Event, error) {
	if (c.Plan != nil || c.Question != "") && t.plansOnOldBase(r) {
		return nil, nil // it is about files that may be others now: the next run plans on the new base
	}
	switch {
	case c.Plan != nil:
		if t.Status != StatusDecomposing {
			return nil, E(EConflict, string(t.ID)+" is not being planned")
		}
		if problems := c.Plan.Check(t.planRules()); len(problems) > 0 {
			return nil, E(EPlan, "the plan is refused: "+problems[0].String())
		}
		evs := []Event{m.newEvent(t.ID, "", r.ID, &PlanAccepted{Plan: c.Plan.withIDs(t.ID)})}
		if t.DryRun {
			evs = append(evs, m.newEvent(t.ID, "", "", &TaskCompleted{DryRun: true}))
		}
		return evs, nil
	case c.Question != "":
		q := strings.TrimSpace(c.Question)
		if q == "" || len(q) > 8<<10 {
			return nil, E(EInvalid, "a question is between one character and 8 KiB long")
		}
		return openApproval(s, m, PendingQuestion{Key: clarificationKey(r.ID), Kind: AskClarification, Task: t.ID, Question: q}), nil
	case c.Guide != nil:
		sub := t.Subtask(c.Guide.Subtask)
		if sub == nil || sub.Escalation == "" {
			return nil, E(EConflict, string(c.Guide.Subtask)+" was not handed to the manager")
		}
		if strings.TrimSpace(c.Guide.Text) == "" {
			return nil, E(EInvalid, "a decision needs its reason")
		}
		if err := t.CheckModel(sub, c.Guide.Model); err != nil {
			return nil, err
		}
		if n := c.Guide.MoreTurns; n < 0 || n > MaxMoreTurns {
			return nil, E(EInvalid, fmt.Sprintf("%d more turns cannot be given", n)).Fix(fmt.Sprintf("give 1 to %d, or none", MaxMoreTurns))
		}
		if len(c.Guide.Parts) > 0 {
			e, err := c.Guide.replan(m, t, r.ID)
			return []Event{e}, err
		}
		return []Event{m.newEvent(t.ID, sub.ID, r.ID, &SubtaskGuided{Text: c.Guide.Text, GiveUp: c.Guide.GiveUp, Model: c.Guide.Model, MoreTurns: c.Guide.MoreTurns, Decisions: boundDecisions(c.Guide.Decisions)})}, nil
	}
	return nil, E(EInvalid, "a manager's run ends with a plan, a question or a decision")
}

// PlanRefused is a plan that code would not have.
type PlanRefused struct {
	Problems []PlanProblem `json:"problems"`
}

var _ = registerKind[PlanRefused]()

func (*PlanRefused) Kind() string { return "plan.refused" }
func (d *PlanRefused) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Plan.Refused++
	t.Plan.Problems = d.Problems
}

// PlanAccepted is a plan that stands: its subtasks exist from here on. The president's
// replaces the one of the same run that waited for approval.
type PlanAccepted struct {
	Plan Plan `json:"plan"`
}

var _ = registerKind[PlanAccepted]()

func (*PlanAccepted) Kind() string { return "plan.accepted" }
func (d *PlanAccepted) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	if e.Actor == President {
		s.withdrawOpen(t.ID, AskPlan, "you changed the plan", e)
	}
	t.Plan.Accepted, t.Plan.Why, t.Plan.Waves, t.Plan.Problems = e.Run, d.Plan.Why, 0, nil
	t.Plan.Title, t.Plan.Decisions = d.Plan.Title, d.Plan.Decisions
	t.Plan.Refused = 0 // a plan that the president sends back is not one that code refused
	t.Subtasks = nil
	for _, w := range d.Plan.Waves {
		t.addWave(w.Subtasks)
	}
	t.Status = StatusExecuting
}

// addWave appends a wave of subtasks to the task.
func (t *Task) addWave(subs []PlannedSubtask) {
	t.Plan.Waves++
	for _, p := range subs {
		t.Subtasks = append(t.Subtasks, &Subtask{
			ID: NewSubtaskID(t.ID, len(t.Subtasks)+1), Wave: t.Plan.Waves, Planned: p, Status: SubtaskPending,
		})
	}
}

// blockForPresident parks the subtask until the president decides.
func (sub *Subtask) blockForPresident(why string) {
	sub.Status, sub.Reason, sub.Escalation, sub.Current = SubtaskBlocked, why, "", ""
	sub.Blocks++
}

// resetAndRequeue starts the subtask's counters anew and sends it back to a worker.
func (sub *Subtask) resetAndRequeue(input string) {
	sub.GateReds, sub.RunErrors, sub.Continued, sub.Conflicts = 0, 0, 0, 0
	sub.Review.Rounds = 0
	sub.Escalation, sub.Reason = "", ""
	sub.requeue(input)
}

// dueRun is the run of one of the company's own agents that may be claimed
// now; empty when none may. It is the one place that says when they work.
func (s *State) dueRun(t *Task, role Role, subID SubtaskID) RunID {
	id := s.nextRun(t, role, subID)
	if r := t.Runs[id]; t.isPaused(subID) && (r == nil || !r.Held) {
		return "" // only a run under way comes to the end of its turn
	}
	return id
}

func (s *State) nextRun(t *Task, role Role, subID SubtaskID) RunID {
	next := func(cur RunID, started int) RunID {
		if cur != "" {
			return cur
		}
		return NewRunID(t.ID, subID, role, started+1)
	}
	sub := t.Subtask(subID)
	switch {
	case t.Status.Ended():
	case role == Manager:
		plans := t.Status == StatusDecomposing && s.mayPlan(t) && !t.isAlone()
		if (plans || t.firstEscalated() != nil) && !s.awaitsClarification(t) {
			return next(t.Plan.Current, t.Plan.Started)
		}
	case role == Reviewer && subID == "":
		if t.Status == StatusReviewing && t.gatePassed() && !t.isWholeApproved() && !t.reviewExhausted() {
			return next(t.Review.Current, t.Review.Started)
		}
	case sub == nil:
	case role == Reviewer:
		if sub.Status == SubtaskReviewing {
			return next(sub.Review.Current, sub.Review.Started)
		}
	case role == Merger:
		if sub.Status == SubtaskMerging && sub.Conflict != nil {
			return next(sub.Merger, sub.Mergers)
		}
	}
	return ""
}

func clarificationKey(asker RunID) string { return "clarification " + string(asker) }

// awaitsClarification says whether a question of the task's manager is open.
func (s *State) awaitsClarification(t *Task) bool {
	for id, r := range t.Runs {
		if r.Role == Manager {
			if a := s.Approvals[s.ByKey[clarificationKey(id)]]; a != nil && a.Open() {
				return true
			}
		}
	}
	return false
}

// firstEscalated is the first subtask that waits for the manager, or nil.
func (t *Task) firstEscalated() *Subtask {
	if t.Status != StatusExecuting {
		return nil
	}
	for _, sub := range t.Subtasks {
		if sub.Escalation != "" && sub.Status == SubtaskPending {
			return sub
		}
	}
	return nil
}

func (t *Task) sortedRuns() []*Run {
	runs := make([]*Run, 0, len(t.Runs))
	for _, r := range t.Runs {
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b *Run) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return runs
}

// Stuck is the subtask that waits for the manager's decision, or nil.
func (t *Task) Stuck() *Subtask { return t.firstEscalated() }
