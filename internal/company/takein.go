package company

import (
	"encoding/json"
	"fmt"
)

// People and bots commit to the branch of an open pull request while a follow-up works on it.
// The follow-up takes these commits in before it pushes. They become a ticket whose head is
// theirs: it needs no worker, and passes the gates, the reviewer, the rules about protected
// paths and the merge queue as any other ticket does.

// maxTakeIns is how often a task takes in commits of others before the president is asked.
const maxTakeIns = 1

// MaxChanges bounds the list of changed files of one subtask, as JSON in bytes: it becomes part
// of one record of the ledger, which holds 4 MiB, and of the state. That is some twenty
// thousand files.
const MaxChanges = 2 << 20

// SizeOfChanges returns the size of a list of changed files as JSON, in bytes.
func SizeOfChanges(changes []Change) int {
	text, err := json.Marshal(changes)
	if err != nil {
		panic("company: a list of changes does not marshal: " + err.Error()) // strings always encode
	}
	return len(text)
}

// MayTakeIn reports whether the task may take in commits of others without asking.
func (t *Task) MayTakeIn() bool { return t.TakeIns < maxTakeIns }

// RemoteHead returns the commit at which a follow-up expects its branch at the remote: where it
// began, or the last commit of others that it has merged.
func (t *Task) RemoteHead() OID {
	head := t.Prepared.Base.OID
	for _, sub := range t.Subtasks {
		if sub.TakenIn != nil && sub.Status == SubtaskCompleted {
			head = sub.TakenIn.Now
		}
	}
	return head
}

// TakeInPush brings in that the push of a follow-up was refused, since others had pushed commits
// on top of what the task expected at the remote.
type TakeInPush struct {
	Task   TaskID
	Head   OID          // that was not pushed
	Pushed BranchChange // the branch at the remote, compared with RemoteHead
	// Changes are the files that the commits of others change.
	Changes []Change
}

func (c TakeInPush) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Delivery == nil || t.Delivery.Head != c.Head || t.Head != c.Head || !s.canDeliver(t):
		return nil, E(EConflict, "the refused push is not of the head that is to be delivered")
	case s.LeadOf(t) == t:
		return nil, E(EConflict, string(t.ID)+" follows no pull request: it has no branch that others could have pushed to")
	case !t.MayTakeIn():
		return nil, E(EConflict, string(t.ID)+" has taken in commits of others already").NeedsPerson()
	case c.Pushed.Kind != BranchAhead || c.Pushed.Delivered != t.RemoteHead():
		return nil, E(EInvalid, "only commits on top of what was pushed last are taken in")
	case SizeOfChanges(c.Changes) > MaxChanges:
		return nil, E(EInvalid, "the commits of others change too many files")
	}
	if err := c.Pushed.Check(); err != nil {
		return nil, err
	}
	return []Event{m.newEvent(t.ID, "", "", &PushTakenIn{
		Subtask: t.nextIDs(1)[0], BranchChange: c.Pushed.Bounded(), Changes: c.Changes,
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
	t := s.editTask(e.Task)
	delete(t.Failures, deliverFailure)
	t.TakeIns++
	t.addWave([]PlannedSubtask{d.plannedSubtask(t)})
	t.Status = StatusExecuting
	pushed := d.BranchChange
	sub := t.Subtasks[len(t.Subtasks)-1]
	sub.Status = SubtaskInGate
	sub.TakenIn = &pushed
	sub.Base = pushed.Delivered
	sub.Head = pushed.Now
	sub.Changes = d.Changes
}

// plannedSubtask is the ticket. Agents read it, so it has nothing that others wrote.
func (d *PushTakenIn) plannedSubtask(t *Task) PlannedSubtask {
	commits := d.CommitsText()
	return PlannedSubtask{
		Title: "Take in " + commits + " of others",
		Description: fmt.Sprintf("Others pushed %s to %s, the branch of the pull request, while this task was under way. "+
			"The branch of this ticket stands at %s, which contains them; the task expected the branch at %s. "+
			"Keep what these commits do. Change only what the checks, the review or a merge conflict require.",
			commits, t.IntegrationBranch(), d.Now.Short(), d.Delivered.Short()),
		AcceptanceCriteria: []string{"the commits up to " + d.Now.Short() + " are kept, and what they do holds beside the work of this task"},
		WriteSet:           []string{"**"}, Effort: "small",
	}
}

// String describes the commits that were taken in, for people. Names are as safe as Bounded makes them.
func (d *PushTakenIn) String() string { return DescribeTakenIn(d.BranchChange) }

// DescribeTakenIn tells in a phrase which commits of others a task has taken in.
func DescribeTakenIn(b BranchChange) string {
	return fmt.Sprintf("took in %s%s that were pushed to the branch meanwhile", b.CommitsText(), b.authorsText())
}
