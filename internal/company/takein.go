package company

import (
	"encoding/json"
	"fmt"
)

// People and bots commit to the branch of an open pull request while a follow-up works on it. The follow-up takes these
// commits in before it pushes. They become a ticket with their last commit as its head. The ticket needs no worker. It
// passes the gates, the reviewer, the rules about protected paths and the merge queue like any other ticket.

// maxTakeIns limits how often a task takes in other people's commits before the president is asked.
const maxTakeIns = 1

// MaxChanges limits the list of changed files of one subtask, in bytes of JSON. The list becomes part of one record of
// the ledger, which holds 4 MiB, and of the state. It is enough for about twenty thousand files.
const MaxChanges = 3 << 20

// SizeOfChanges returns the size of a list of changed files as JSON, in bytes.
func SizeOfChanges(changes []Change) int {
	text, err := json.Marshal(changes)
	if err != nil {
		panic("company: a list of changes does not marshal: " + err.Error()) // strings always encode
	}
	return len(text)
}

// MayTakeIn reports whether the task may take in other people's commits without asking.
func (t *Task) MayTakeIn() bool { return t.TakeIns < maxTakeIns }

// RemoteHead returns the commit at which a follow-up expects its branch at the remote: its base, or the last merged
// commit of other people.
func (t *Task) RemoteHead() OID {
	head := t.Prepared.Base.OID
	for _, sub := range t.Subtasks {
		if sub.TakenIn != nil && sub.Status == SubtaskCompleted {
			head = sub.TakenIn.Now
		}
	}
	return head
}

// TakeInPush reports that the push of a follow-up was refused, because others had pushed commits on top of the expected
// commit.
type TakeInPush struct {
	Task   TaskID
	Head   OID          // the head that was not pushed
	Pushed BranchChange // the branch at the remote, compared with RemoteHead
	// Changes lists the files that these commits change.
	Changes []Change
}

func (c TakeInPush) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	switch {
	case task.Delivery == nil || task.Delivery.Head != c.Head || task.Head != c.Head || !state.canDeliver(task):
		return nil, E(EConflict, "the refused push is not for the head to be delivered")
	case state.LeadOf(task) == task:
		return nil, E(EConflict, string(task.ID)+
			" follows no pull request: it has no branch to which others could have pushed")
	case !task.MayTakeIn():
		return nil, E(EConflict, string(task.ID)+" has already taken in other people's commits").NeedsPerson()
	case c.Pushed.Kind != BranchAhead || c.Pushed.Delivered != task.RemoteHead():
		return nil, E(EInvalid, "only commits on top of the last push are taken in")
	case SizeOfChanges(c.Changes) > MaxChanges:
		return nil, E(EInvalid, "the commits change too many files")
	}
	if err := c.Pushed.Check(); err != nil {
		return nil, err
	}
	return []Event{meta.newEvent(task.ID, "", "", &PushTakenIn{
		Subtask: task.nextIDs(1)[0], BranchChange: c.Pushed.Bounded(), Changes: c.Changes,
	})}, nil
}

// PushTakenIn adds a ticket for commits that others pushed to the branch of the pull request.
type PushTakenIn struct {
	Subtask SubtaskID `json:"subtask"`
	BranchChange
	Changes []Change `json:"changes,omitempty"`
}

var _ = registerKind[PushTakenIn]()

func (*PushTakenIn) Kind() string { return "pr.taken_in" }
func (d *PushTakenIn) apply(s *State, e Event) {
	task := s.editTask(e.Task)
	delete(task.Failures, deliverFailure)
	task.TakeIns++
	task.addWave([]PlannedSubtask{d.plannedSubtask(task)})
	task.Status = StatusExecuting
	pushed := d.BranchChange
	sub := task.Subtasks[len(task.Subtasks)-1]
	sub.Status = SubtaskInGate
	sub.TakenIn = &pushed
	sub.Base = pushed.Delivered
	sub.Head = pushed.Now
	sub.Changes = d.Changes
}

// plannedSubtask returns the ticket. Agents read it, so it contains no text that others wrote.
func (d *PushTakenIn) plannedSubtask(task *Task) PlannedSubtask {
	commits := d.CommitsText()
	return PlannedSubtask{
		Title: "Take in " + commits + " of others",
		Description: fmt.Sprintf("Others pushed %s to %s, the branch of the pull request, while this task was under way. "+
			"The branch of this ticket stands at %s, which contains them; the task expected the branch at %s. "+
			"Keep what these commits do. Change only what the checks, the review or a merge conflict require.",
			commits, task.IntegrationBranch(), d.Now.Short(), d.Delivered.Short()),
		AcceptanceCriteria: []string{"the commits up to " + d.Now.Short() +
			" are kept, and what they do holds beside the work of this task"},
		WriteSet: []string{"**"}, Effort: "small",
	}
}

// String describes the commits that were taken in, for people. Names are safe to print: see Bounded.
func (d *PushTakenIn) String() string { return DescribeTakenIn(d.BranchChange) }

// DescribeTakenIn returns a phrase about the commits that a task has taken in.
func DescribeTakenIn(b BranchChange) string {
	return fmt.Sprintf("took in %s%s that were pushed to the branch meanwhile", b.CommitsText(), b.authorsText())
}
