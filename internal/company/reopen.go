package company

import (
	"fmt"
	"slices"
	"time"
)

// Retry reopens a task that failed or was cancelled. Merged subtasks stay merged;
// every other one goes on from the last commit that the host took of it.
type Retry struct {
	Task TaskID
	// From names a subtask that begins anew, without its earlier work, and so do
	// those after it that are not merged; empty: none does.
	From SubtaskID
	// Rebind gives the task the agents of the config as it is now. A nil one leaves those that it
	// has.
	Rebind *Rebinding `json:",omitempty"`
}

// WorkOnPlan goes on with the plan of a dry run, which the president has read.
type WorkOnPlan struct{ Task TaskID }

func (c Retry) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	id := string(t.ID)
	switch {
	case t.Status == StatusCompleted && t.DryRun:
		return nil, E(EConflict, id+" was a dry run").Fix("company submit --plan " + id + " works on its plan")
	case t.Status == StatusCompleted:
		return nil, E(EConflict, id+" is complete: there is nothing to do again").Fix(fmt.Sprintf("company submit --follows %s %q goes on with its pull request", id, "…"))
	case !t.Status.Ended():
		return nil, E(EConflict, id+" has not ended: "+t.Status.Text()).Fix("company resume " + id)
	case t.IsPrepared() && t.Untested() && t.Settings.NoGates == "fail":
		return nil, E(EConflict, "nothing checks the work of "+id+", and gates.none is fail").Because("its base is settled").Fix("name a command in gates.test, and submit it anew")
	}
	if c.From != "" {
		switch sub := t.Subtask(c.From); {
		case sub == nil:
			return nil, E(ENotFound, "there is no subtask "+cutText(string(c.From), 40)+" of "+id).Fix("company show " + id + " lists them")
		case sub.Status == SubtaskCompleted:
			return nil, E(EConflict, string(c.From)+" is merged").Because("what is merged stays").Fix("name one that is not, or none: company show " + id)
		}
	}
	if c.Rebind != nil {
		if err := c.Rebind.Agents.validate(); err != nil {
			return nil, err
		}
	}
	return s.reopenTask(m, t, &TaskReopened{From: c.From, Rebind: c.Rebind.changes(t)})
}

func (c WorkOnPlan) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if !t.DryRun || t.Status != StatusCompleted || len(t.Subtasks) == 0 {
		e := E(EConflict, string(t.ID)+" is no dry run with a plan").Because("it is " + t.Status.Text())
		switch {
		case !t.DryRun && t.Status.Ended() && t.Status != StatusCompleted:
			return nil, e.Fix("company retry " + string(t.ID))
		case !t.Status.Ended():
			return nil, e.Fix("company wait " + string(t.ID))
		}
		return nil, e.Fix("company show " + string(t.ID))
	}
	evs, err := s.reopenTask(m, t, &TaskReopened{Plan: true, Chosen: true})
	if err != nil || t.Settings.Plan != Ask {
		return evs, err
	}
	ask := openApproval(s, m, PendingQuestion{Key: t.planKey(), Kind: AskPlan, Task: t.ID, Question: "Work on the plan of the dry run?"})
	for _, o := range ask {
		d, err := Decode(o)
		if err != nil {
			return nil, err
		}
		answer := m.newEvent(t.ID, "", "", &ApprovalAnswered{ID: d.(*ApprovalOpened).ID, Option: OptApprove, By: "submit --plan"})
		evs = append(evs, o, answer)
	}
	return evs, nil
}

// reopenTask makes the events that reopen a task, unless something stands against
// it. Runs that were on offer when it ended are closed: their ids are not used again.
func (s *State) reopenTask(m Meta, t *Task, d *TaskReopened) ([]Event, error) {
	if s.Office.Stopped {
		return nil, E(EStopped, "the office is stopped").Fix("company resume")
	}
	if err := s.checkExclusive(t.Project.ID, t.baseName(), t.Settings.Exclusive); err != nil {
		return nil, err
	}
	if t.Follows != "" {
		lead := s.LeadOf(t)
		if lead.PR == nil || lead.PR.State != PROpen {
			return nil, E(EConflict, "the pull request that "+string(t.ID)+" follows is not open any more").Fix("submit a task of its own")
		}
		for _, id := range s.Open {
			if o := s.Tasks[id]; o.Follows != "" && s.LeadOf(o) == lead {
				return nil, E(EConflict, string(id)+" works on the branch of "+string(lead.ID)).Because("one task at a time does").Fix("company wait " + string(id))
			}
		}
	}
	var evs []Event
	for _, r := range t.sortedRuns() {
		switch {
		case r.Ended:
		case r.Held || r.Fence > 0:
			return nil, E(EStale, "run "+string(r.ID)+" of "+string(t.ID)+" is still being put away").Fix("try again in a moment")
		default:
			evs = append(evs, m.newEvent(t.ID, r.Subtask, r.ID, &RunEnded{Status: RunError, Error: "the task ended before it began"}))
		}
	}
	d.LastWorked = t.Ended
	return append(evs, m.newEvent(t.ID, "", "", d)), nil
}

// TaskReopened has a task that had ended go on.
type TaskReopened struct {
	From SubtaskID `json:"from,omitempty"` // begins anew, with those after it
	Plan bool      `json:"plan,omitempty"` // it was a dry run, and is none from now on
	// Chosen is set where the president has read the plan: one that replaces it is asked
	// about. Events of older versions lack it.
	Chosen bool `json:"chosen,omitempty"`
	// Rebind gives the task other agents.
	Rebind *Rebinding `json:"rebind,omitempty"`
	// LastWorked is when the task had ended; zero in events of older versions.
	LastWorked time.Time `json:"last_worked,omitzero"`
}

var _ = registerKind[TaskReopened]()

func (*TaskReopened) Kind() string { return "task.reopened" }
func (d *TaskReopened) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	if !d.LastWorked.IsZero() {
		t.addIdle(d.LastWorked, e.Time)
	}
	t.Reason, t.Ended, t.Paused = "", time.Time{}, false
	t.DryRun = t.DryRun && !d.Plan
	clear(t.Failures)
	t.rebindAgents(d.Rebind)
	if d.Chosen {
		t.Plan.Chosen = t.Plan.Accepted
	}
	t.Plan.Refused, t.Plan.Problems, t.Plan.Current = 0, nil, ""
	t.Review.Rounds, t.Review.Current = 0, ""
	t.TakeIns = 0
	anew := false
	for _, sub := range t.Subtasks {
		anew = anew || sub.ID == d.From
		if sub.Status != SubtaskCompleted {
			t.editSubtask(sub.ID).reopenWork(anew, t.Settings)
		}
	}
	if t.Gate != nil && !t.Gate.Result.AllowsMerge() {
		t.Gate = nil
	}
	if !t.Review.Allows(t.Head) {
		t.Review.withdrawLast(t.Settings)
	}
	t.BaseMayHaveMoved = !d.Plan && t.baseMayMove() // as that of a new task
	switch {
	case t.Prepared == nil:
		t.Status = StatusPending
	case len(t.Subtasks) == 0:
		t.Status = StatusDecomposing
	case t.Wave() == 0:
		t.Status = StatusReviewing
	default:
		t.Status = StatusExecuting
	}
	s.withdrawAnswers(t.ID, e)
	s.askAfterAnew(t.ID, e)
	at, _ := slices.BinarySearchFunc(s.Open, t.ID, func(a, b TaskID) int { return a.Number() - b.Number() })
	s.Open = slices.Insert(slices.Clone(s.Open), at, t.ID)
}

// reopenWork lets a subtask go on that ended with its task. A commit that a worker had
// handed in is checked again; all other work goes to a worker. Commits of others are kept in
// any case: the ticket that takes them in goes on from its head.
func (sub *Subtask) reopenWork(anew bool, settings Settings) {
	sub.Guided, sub.Merger, sub.Review.Current = 0, "", ""
	sub.Unresolved = nil
	if anew && sub.TakenIn == nil {
		sub.Head, sub.From, sub.Base, sub.Branch, sub.Changes, sub.Gate = "", "", "", "", nil, nil
		sub.Review.Last, sub.Review.Past, sub.Model, sub.MoreTurns = nil, nil, "", 0
		sub.resetAndRequeue("")
		return
	}
	input := sub.Input
	for _, why := range []string{sub.Escalation, sub.Reason} {
		if why != "" {
			input = appendInput(input, "Before, it was given up: "+why)
		}
	}
	handedIn := sub.Head != "" && sub.Current == "" && input == ""
	if sub.Head != "" && sub.Current != "" && input == "" {
		// It stays so if the task ends again before a worker takes it: what was cut off is never handed in.
		input = "The run before this one was cut off with its task. Go on from what is there."
	}
	sub.resetAndRequeue(input)
	if handedIn {
		sub.Status = SubtaskInGate
		sub.Review.withdrawLast(settings)
	}
}

// withdrawn is the answer of a question that was open when its task ended, once the
// task goes on.
const withdrawn = "withdrawn"

// withdrawAnswers lets every question of a task be asked again that was answered
// with no, put off, or not answered at all.
func (s *State) withdrawAnswers(id TaskID, e Event) {
	for _, a := range s.selectApprovals(func(a *Approval) bool {
		return a.Task == id && (a.Open() || a.Option == OptReject || a.Option == OptWait)
	}) {
		c := *a
		if c.Open() {
			c.Answered, c.Option, c.By = e.Time, withdrawn, "the task was reopened"
		}
		s.ownApprovals()
		delete(s.ByKey, c.Key)
		c.Key = fmt.Sprintf("%s until %d", c.Key, e.Seq)
		s.setApproval(&c)
	}
}
