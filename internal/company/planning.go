package company

import (
	"fmt"
	"slices"
	"strings"
)

// Planning is the state of a task's plan.
type Planning struct {
	Started  int           `json:"started"`           // manager runs so far
	Current  RunID         `json:"current,omitempty"` // the manager run in progress
	Refused  int           `json:"refused,omitempty"`
	Problems []PlanProblem `json:"problems,omitempty"` // of the last refused plan
	Why      string        `json:"why,omitempty"`
	Title    string        `json:"title,omitempty"` // of the pull request, as the manager proposed it
	// Decisions lists the manager's decisions where the instruction left a point open.
	Decisions []string `json:"decisions,omitempty"`
	Waves     int      `json:"waves,omitempty"`
	Accepted  RunID    `json:"accepted,omitempty"` // the run whose plan was accepted
	Chosen    RunID    `json:"chosen,omitempty"`   // the run of a dry run whose plan the president chose
}

// ProposePlan is the manager's submit_plan. A plan that fails Check is recorded as refused and returned with the
// reasons. A valid plan causes no event yet: it comes again with the end of the run.
type ProposePlan struct {
	Run   RunID
	Fence uint64
	Plan  Plan
	// Files lists the context entries of the subtasks that are paths of the planned commit. Nil means that they were not
	// looked up.
	Files []string
}

func (c ProposePlan) decide(s *State, meta Meta) ([]Event, error) {
	task, run, err := s.claimedRun(c.Run, c.Fence)
	if err != nil {
		return nil, err
	}
	if run.Role != Manager || task.Status != StatusDecomposing {
		return nil, E(EConflict, string(task.ID)+" is not being planned")
	}
	if task.plansOnOldBase(run) {
		return nil, nil
	}
	rules := task.planRules()
	rules.Files = c.Files
	problems := c.Plan.Check(rules)
	if len(problems) == 0 {
		return nil, nil
	}
	evs := []Event{meta.newEvent(task.ID, "", c.Run, &PlanRefused{Problems: problems})}
	if task.Plan.Refused+1 >= task.Settings.PlanRefusals {
		evs = append(evs, meta.newEvent(task.ID, "", "", &TaskFailed{Code: EPlan,
			Reason: fmt.Sprintf("the manager's plan was refused %d times; last: %s", task.Plan.Refused+1, problems[0])}))
	}
	return evs, nil
}

// plansOnOldBase reports whether the base has moved since a planning run began.
func (t *Task) plansOnOldBase(r *Run) bool {
	return r.From != "" && t.Prepared != nil && r.From != t.Prepared.Base.OID
}

func (t *Task) planRules() PlanRules {
	return PlanRules{Granularity: t.Settings.Granularity, Protected: t.Settings.Protected, Paths: t.Settings.Paths}
}

// IsLastPlanningRun reports whether a failure of the manager's current run is final unless the president decides
// otherwise.
func (t *Task) IsLastPlanningRun() bool {
	return t.Failures["plan"].Attempt >= t.Settings.EffectRetries
}

// managerSays turns the result of a manager's run into events: a plan, a question, or a decision on a subtask.
func (c EndRun) managerSays(state *State, meta Meta, task *Task, run *Run) ([]Event, error) {
	if (c.Plan != nil || c.Question != "") && task.plansOnOldBase(run) {
		return nil, nil // the files may have changed, so the next run plans on the new base
	}
	switch {
	case c.Plan != nil:
		if task.Status != StatusDecomposing {
			return nil, E(EConflict, string(task.ID)+" is not being planned")
		}
		if problems := c.Plan.Check(task.planRules()); len(problems) > 0 {
			return nil, E(EPlan, "the plan is refused: "+problems[0].String())
		}
		evs := []Event{meta.newEvent(task.ID, "", run.ID, &PlanAccepted{Plan: c.Plan.withIDs(task.ID)})}
		if task.DryRun {
			evs = append(evs, meta.newEvent(task.ID, "", "", &TaskCompleted{DryRun: true}))
		}
		return evs, nil
	case c.Question != "":
		return c.openClarification(state, meta, task, run)
	case c.Guide != nil:
		sub := task.Subtask(c.Guide.Subtask)
		if sub == nil || sub.Escalation == "" {
			return nil, E(EConflict, string(c.Guide.Subtask)+" was not handed to the manager")
		}
		if strings.TrimSpace(c.Guide.Text) == "" {
			return nil, E(EInvalid, "a decision needs a reason")
		}
		if err := task.CheckModel(sub, c.Guide.Model); err != nil {
			return nil, err
		}
		if n := c.Guide.MoreTurns; n < 0 || n > MaxMoreTurns {
			return nil, E(EInvalid, fmt.Sprintf("cannot give %d more turns", n)).
				Fix(fmt.Sprintf("give 1 to %d, or none", MaxMoreTurns))
		}
		if len(c.Guide.Parts) > 0 {
			e, err := c.Guide.replan(meta, task, run.ID)
			return []Event{e}, err
		}
		return []Event{meta.newEvent(task.ID, sub.ID, run.ID,
			&SubtaskGuided{Text: c.Guide.Text, GiveUp: c.Guide.GiveUp, Model: c.Guide.Model, MoreTurns: c.Guide.MoreTurns,
				Decisions: boundDecisions(c.Guide.Decisions)})}, nil
	}
	return nil, E(EInvalid, "a manager's run must end with a plan, a question or a decision")
}

// openClarification asks the president the question of a run about the instruction.
func (c EndRun) openClarification(state *State, meta Meta, task *Task, run *Run) ([]Event, error) {
	q := strings.TrimSpace(c.Question)
	if q == "" || len(q) > 8<<10 {
		return nil, E(EInvalid, "invalid question: must have 1 byte to 8 KiB")
	}
	return openApproval(
		state, meta, PendingQuestion{Key: clarificationKey(run.ID), Kind: AskClarification, Task: task.ID, Question: q}), nil
}

// PlanRefused records a plan that failed Check.
type PlanRefused struct {
	Problems []PlanProblem `json:"problems"`
}

var _ = registerKind[PlanRefused]()

func (*PlanRefused) Kind() string { return "plan.refused" }
func (d *PlanRefused) apply(s *State, e Event) {
	task := s.editTask(e.Task)
	task.Plan.Refused++
	task.Plan.Problems = d.Problems
}

// PlanAccepted records an accepted plan and creates its subtasks. The president's plan replaces the one of the same run
// that waited for approval.
type PlanAccepted struct {
	Plan Plan `json:"plan"`
}

var _ = registerKind[PlanAccepted]()

func (*PlanAccepted) Kind() string { return "plan.accepted" }
func (d *PlanAccepted) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	if event.Actor == President {
		state.withdrawOpen(task.ID, AskPlan, "you changed the plan", event)
	}
	task.Plan.Accepted = event.Run
	task.Plan.Why = d.Plan.Why
	task.Plan.Waves = 0
	task.Plan.Problems = nil
	task.Plan.Title, task.Plan.Decisions = d.Plan.Title, d.Plan.Decisions
	task.Plan.Refused = 0 // a plan that the president sends back does not count as refused by Check
	task.Subtasks = nil
	for _, w := range d.Plan.Waves {
		task.addWave(w.Subtasks)
	}
	task.Status = StatusExecuting
}

// addWave appends a wave of subtasks to the task.
func (t *Task) addWave(subs []PlannedSubtask) {
	t.Plan.Waves++
	for _, subtask := range subs {
		t.Subtasks = append(t.Subtasks, &Subtask{
			ID: NewSubtaskID(t.ID, len(t.Subtasks)+1), Wave: t.Plan.Waves, Planned: subtask, Status: SubtaskPending,
		})
	}
}

// blockForPresident blocks the subtask until the president decides.
func (sub *Subtask) blockForPresident(reason string) {
	sub.Status = SubtaskBlocked
	sub.Reason = reason
	sub.Escalation = ""
	sub.Current = ""
	sub.Blocks++
}

// resetAndRequeue resets the subtask's counters and sends it back to a worker.
func (sub *Subtask) resetAndRequeue(input string) {
	sub.GateReds = 0
	sub.RunErrors = 0
	sub.Continued = 0
	sub.Conflicts = 0
	sub.Review.Rounds = 0
	sub.Escalation, sub.Reason = "", ""
	sub.requeue(input)
}

// dueRun returns the run of one of the company's own agents that may be claimed now, or "" if there is none. It is the
// only place that decides when they work.
func (s *State) dueRun(task *Task, role Role, subID SubtaskID) RunID {
	id := s.nextRun(task, role, subID)
	if r := task.Runs[id]; task.isPaused(subID) && (r == nil || !r.Held) {
		return "" // only a held run may finish its turn
	}
	return id
}

func (s *State) nextRun(task *Task, role Role, subID SubtaskID) RunID {
	next := func(cur RunID, started int) RunID {
		if cur != "" {
			return cur
		}
		return NewRunID(task.ID, subID, role, started+1)
	}
	sub := task.Subtask(subID)
	switch {
	case task.Status.Ended():
	case role == Manager:
		plans := task.Status == StatusDecomposing && s.mayPlan(task) && !task.isAlone()
		if (plans || task.firstEscalated() != nil) && !s.awaitsClarification(task, Manager) {
			return next(task.Plan.Current, task.Plan.Started)
		}
	case role == Reviewer && subID == "":
		if task.Status == StatusReviewing && task.gatePassed() && !task.isWholeApproved() && !task.reviewExhausted() {
			return next(task.Review.Current, task.Review.Started)
		}
	case sub == nil:
	case role == Reviewer:
		if sub.Status == SubtaskReviewing || task.AwaitsConflictSummary(sub) {
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

// awaitsClarification reports whether a question of a run of the role is open.
func (s *State) awaitsClarification(t *Task, role Role) bool {
	for id, r := range t.Runs {
		if r.Role == role {
			if a := s.Approvals[s.ByKey[clarificationKey(id)]]; a != nil && a.Open() {
				return true
			}
		}
	}
	return false
}

// firstEscalated returns the first subtask that waits for the manager, or nil.
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

// Stuck returns the subtask that waits for the manager's decision, or nil.
func (t *Task) Stuck() *Subtask { return t.firstEscalated() }
