package company

import (
	"fmt"
	"slices"
	"time"
)

// Retry reopens a failed or cancelled task. Merged subtasks stay merged. Every other subtask continues from the last
// commit that the host took.
type Retry struct {
	Task TaskID
	// From names a subtask that restarts without its earlier work. The unmerged subtasks after it restart too. Empty means
	// that none restarts.
	From SubtaskID
	// Rebind gives the task the agents of the present config. Nil means that it keeps its own.
	Rebind *Rebinding `json:",omitempty"`
}

// WorkOnPlan continues with the plan of a dry run that the president has read.
type WorkOnPlan struct{ Task TaskID }

func (c Retry) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.Task(c.Task)
	if err != nil {
		return nil, err
	}
	id := string(task.ID)
	switch {
	case task.Status == StatusCompleted && task.DryRun:
		return nil, E(EConflict, id+" was a dry run").Fix("company submit --plan " + id + " works on its plan")
	case task.Status == StatusCompleted:
		return nil, E(EConflict, id+" is complete: there is nothing to retry").
			Fix(fmt.Sprintf("company submit --follows %s %q goes on with its pull request", id, "…"))
	case !task.Status.Ended():
		return nil, E(EConflict, id+" has not ended: "+task.Status.Text()).Fix("company resume " + id)
	case task.IsPrepared() && task.Untested() && task.Settings.NoGates == "fail":
		return nil, E(EConflict, id+" has no gates, and gates.none is fail").Because("its base is already prepared").
			Fix("set a command in gates.test, and submit it again")
	}
	if c.From != "" {
		switch sub := task.Subtask(c.From); {
		case sub == nil:
			return nil, E(ENotFound, "there is no subtask "+cutText(string(c.From), 40)+" of "+id).
				Fix("company show " + id + " lists them")
		case sub.Status == SubtaskCompleted:
			return nil, E(EConflict, string(c.From)+" is merged").Because("merged work stays").
				Fix("name an unmerged subtask, or none: company show " + id)
		}
	}
	if c.Rebind != nil {
		if err := c.Rebind.Agents.validate(); err != nil {
			return nil, err
		}
	}
	return state.reopenTask(meta, task, &TaskReopened{From: c.From, Rebind: c.Rebind.changes(task)})
}

func (c WorkOnPlan) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if !task.DryRun || task.Status != StatusCompleted || len(task.Subtasks) == 0 {
		fault := E(EConflict, string(task.ID)+" is not a dry run with a plan").Because("it is " + task.Status.Text())
		switch {
		case !task.DryRun && task.Status.Ended() && task.Status != StatusCompleted:
			return nil, fault.Fix("company retry " + string(task.ID))
		case !task.Status.Ended():
			return nil, fault.Fix("company wait " + string(task.ID))
		}
		return nil, fault.Fix("company show " + string(task.ID))
	}
	evs, err := state.reopenTask(meta, task, &TaskReopened{Plan: true, Chosen: true})
	if err != nil || task.Settings.Plan != Ask {
		return evs, err
	}
	ask := openApproval(
		state, meta,
		PendingQuestion{Key: task.planKey(), Kind: AskPlan, Task: task.ID, Question: "Work on the plan of the dry run?"})
	for _, event := range ask {
		data, err := Decode(event)
		if err != nil {
			return nil, err
		}
		answer := meta.newEvent(task.ID, "", "",
			&ApprovalAnswered{ID: data.(*ApprovalOpened).ID, Option: OptApprove, By: "submit --plan"})
		evs = append(evs, event, answer)
	}
	return evs, nil
}

// reopenTask returns the events that reopen a task, or an error if it cannot be reopened. Runs that were on offer when
// the task ended, and those that passed their deadline since, are ended, and their ids are not reused.
func (s *State) reopenTask(meta Meta, task *Task, taskReopened *TaskReopened) ([]Event, error) {
	if s.Office.Stopped {
		return nil, E(EStopped, "the office is stopped").Fix("company resume")
	}
	if err := s.checkExclusive(task.Project.ID, task.baseName(), task.Settings.Exclusive); err != nil {
		return nil, err
	}
	if task.Follows != "" {
		lead := s.LeadOf(task)
		if lead.PR == nil || lead.PR.State != PROpen {
			return nil, E(EConflict, "the pull request that "+string(task.ID)+" follows is no longer open").
				Fix("submit a new task")
		}
		for _, id := range s.Open {
			if o := s.Tasks[id]; o.Follows != "" && s.LeadOf(o) == lead {
				return nil, E(EConflict, string(id)+" works on the branch of "+string(lead.ID)).Because("only one task may at a time").
					Fix("company wait " + string(id))
			}
		}
	}
	var evs []Event
	for _, run := range task.sortedRuns() {
		switch {
		case run.Ended:
		case run.Fence > 0 && !meta.Now.Before(run.Deadline): // nobody is left to put it away
			evs = append(evs, meta.newEvent(task.ID, run.Subtask, run.ID, run.deadlineOutcome()))
		case run.Held || run.Fence > 0:
			return nil, E(EStale, "run "+string(run.ID)+" of "+string(task.ID)+" is still being cleaned up").
				Fix("try again in a moment")
		default:
			evs = append(
				evs, meta.newEvent(task.ID, run.Subtask, run.ID,
					&RunEnded{Status: RunError, Error: "the task ended before it began"}))
		}
	}
	taskReopened.LastWorked = task.Ended
	return append(evs, meta.newEvent(task.ID, "", "", taskReopened)), nil
}

// TaskReopened reopens an ended task.
type TaskReopened struct {
	From SubtaskID `json:"from,omitempty"` // restarts, with the unmerged ones after it
	Plan bool      `json:"plan,omitempty"` // it was a dry run and no longer is
	// Chosen means that the president has read the plan. A plan that replaces it needs approval.
	Chosen bool `json:"chosen,omitempty"`
	// Rebind gives the task other agents.
	Rebind *Rebinding `json:"rebind,omitempty"`
	// LastWorked is the time at which the task had ended.
	LastWorked time.Time `json:"last_worked,omitzero"`
}

var _ = registerKind[TaskReopened]()

func (*TaskReopened) Kind() string { return "task.reopened" }
func (d *TaskReopened) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	if !d.LastWorked.IsZero() {
		task.addIdle(d.LastWorked, event.Time)
	}
	task.Reason = ""
	task.Ended = time.Time{}
	task.Paused = false
	task.DryRun = task.DryRun && !d.Plan
	clear(task.Failures)
	task.rebindAgents(d.Rebind)
	if d.Chosen {
		task.Plan.Chosen = task.Plan.Accepted
	}
	task.Plan.Refused = 0
	task.Plan.Problems = nil
	task.Plan.Current = ""
	task.Review.Rounds, task.Review.Current = 0, ""
	task.TakeIns = 0
	restart := false
	for _, sub := range task.Subtasks {
		restart = restart || sub.ID == d.From
		if sub.Status != SubtaskCompleted {
			task.editSubtask(sub.ID).reopenWork(restart)
		}
	}
	if task.Gate != nil && !task.Gate.Result.AllowsMerge() {
		task.Gate = nil
	}
	if !task.Review.Allows(task.Head) {
		task.Review.withdrawLast()
	}
	task.BaseMayHaveMoved = !d.Plan && task.Prepared != nil && !task.IsPrepared() // as for a new task
	switch {
	case task.Prepared == nil:
		task.Status = StatusPending
	case len(task.Subtasks) == 0:
		task.Status = StatusDecomposing
	case task.Wave() == 0:
		task.Status = StatusReviewing
	default:
		task.Status = StatusExecuting
	}
	state.withdrawAnswers(task.ID, event)
	state.askAfterAgain(task.ID, event)
	index, _ := slices.BinarySearchFunc(state.Open, task.ID, func(a, b TaskID) int { return a.Number() - b.Number() })
	state.Open = slices.Insert(slices.Clone(state.Open), index, task.ID)
}

// reopenWork continues a subtask that ended with its task. A commit that a worker had handed in is checked again. Other
// work goes to a worker. Commits of other people are always kept: the ticket that takes them in continues from its
// head.
func (sub *Subtask) reopenWork(restart bool) {
	sub.Guided = 0
	sub.Merger = ""
	sub.Review.Current = ""
	sub.Unresolved = nil
	if restart && sub.TakenIn == nil {
		sub.dropWork()
		sub.Base = ""
		sub.Branch = ""
		sub.Model = ""
		sub.MoreTurns = 0
		sub.resetAndRequeue("")
		return
	}
	input := sub.Input
	for _, reason := range []string{sub.Escalation, sub.Reason} {
		if reason != "" {
			input = appendInput(input, "Before, it was given up: "+reason)
		}
	}
	handedIn := sub.Head != "" && sub.Current == "" && input == ""
	if sub.Head != "" && sub.Current != "" && input == "" {
		// It is kept if the task ends again before a worker takes it: cut-off work is never handed in.
		input = "The run before this one was cut off with its task. Go on from what is there."
	}
	sub.resetAndRequeue(input)
	if handedIn {
		sub.Status = SubtaskInGate
		sub.Review.withdrawLast()
	}
}

// withdrawn is the option of a question that was still open when its task was reopened or its reason was gone.
const withdrawn = "withdrawn"

// withdrawAnswers makes questions of a task askable again if they were rejected, postponed or not answered.
func (s *State) withdrawAnswers(id TaskID, event Event) {
	for _, approval := range s.selectApprovals(func(a *Approval) bool {
		return a.Task == id && (a.Open() || a.Option == OptReject || a.Option == OptWait)
	}) {
		c := *approval
		if c.Open() {
			c.Answered = event.Time
			c.Option = withdrawn
			c.By = "the task was reopened"
		}
		s.ownApprovals()
		delete(s.ByKey, c.Key)
		c.Key = fmt.Sprintf("%s until %d", c.Key, event.Seq)
		s.setApproval(&c)
	}
}
