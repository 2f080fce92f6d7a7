package company

import (
	"slices"
	"strconv"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// removeFromQueue takes a subtask out of the merge queue.
func (t *Task) removeFromQueue(id SubtaskID) {
	is := func(q SubtaskID) bool { return q == id }
	t.Queue, t.Suspects = slices.DeleteFunc(t.Queue, is), slices.DeleteFunc(t.Suspects, is)
}

// nextInMergeQueue is the subtask whose turn it is in the merge queue, or nil.
func (s *State) nextInMergeQueue(t *Task) *Subtask {
	if all := s.listStackable(t); len(all) > 0 {
		return all[0]
	}
	return nil
}

// RecordMergeGate brings in that the front of the queue merges cleanly by itself, and
// the verdict of the gates on exactly that tree.
type RecordMergeGate struct {
	Task    TaskID
	Subtask SubtaskID
	Head    OID
	Onto    OID
	Tree    OID
	// HeadTree is the tree of Head by itself. Where it is Tree, the merge adds
	// nothing to what the reviewer saw.
	HeadTree OID
	Result   GateResult
	Overlap  bool   // the base moved, since the review, in a file of the diff
	Message  string // of the merge commit
	Remade   []RemadeFile
}

func (c RecordMergeGate) decide(s *State, m Meta) ([]Event, error) {
	t, sub, err := s.checkMergeFront(c.Task, c.Subtask, c.Head, c.Onto)
	if err != nil || sub == nil {
		return nil, err
	}
	if err := s.checkWholeVerdict(t, c.Result); err != nil {
		return nil, err
	}
	if c.Result.Tree != c.Tree {
		return nil, E(EInvalid, "the verdict is of another tree")
	}
	if !sub.Review.Allows(sub.Head) {
		return nil, E(EInvalid, string(sub.ID)+" has not been approved")
	}
	if c.Overlap {
		return []Event{m.newEvent(t.ID, sub.ID, "", &ReviewVoided{Onto: c.Onto})}, nil
	}
	verdict := m.newEvent(t.ID, sub.ID, "", &MergeGated{GateFinished{Head: c.Head, Onto: c.Onto, Result: c.Result, Remade: c.Remade}})
	if !c.Result.AllowsMerge() {
		return []Event{verdict}, nil
	}
	if err := refuseProtectedBranch(t.IntegrationBranch()); err != nil {
		return nil, err
	}
	return []Event{verdict, m.newEvent(t.ID, sub.ID, "", &MergeIntentRecorded{
		Subtask: sub.ID, Head: c.Head, Onto: c.Onto, Tree: c.Tree, HeadTree: c.HeadTree, Message: c.Message,
	})}, nil
}

// checkMergeFront finds the front of the queue if it is the one meant, with this head
// and this integration head; nil when the world has moved on.
func (s *State) checkMergeFront(id TaskID, subID SubtaskID, head, onto OID) (*Task, *Subtask, error) {
	t, err := s.activeTask(id)
	if err != nil {
		return nil, nil, err
	}
	sub := s.nextInMergeQueue(t)
	if sub == nil || sub.ID != subID || sub.Head != head || t.Head != onto || t.MergeIntent != nil || t.StackIntent != nil {
		return t, nil, nil
	}
	return t, sub, nil
}

// MergeGated is the verdict on the tree that is about to be merged.
type MergeGated struct {
	GateFinished
}

var _ = registerKind[MergeGated]()

func (*MergeGated) Kind() string { return "merge.gated" }
func (d *MergeGated) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	s.cacheResult(d.Result)
	sub := t.editSubtask(e.Subtask)
	delete(t.Failures, "merge "+string(sub.ID))
	sub.Doubt = nil
	switch {
	case d.Result.AllowsMerge():
		sub.Gate = &d.GateFinished
		return
	case s.awaitsUnreadVerdict(t, &d.GateFinished):
		sub.Doubt = &d.GateFinished
		return
	}
	t.Suspects = nil // the red one of a red stack is found
	sub.applyGateResult(t, &d.GateFinished)
}

// MergeIntentRecorded names the commit that is about to be merged. The merge
// commit takes its date from this event, so that doing it again makes the same
// commit.
type MergeIntentRecorded struct {
	Subtask  SubtaskID `json:"subtask"`
	Head     OID       `json:"head"`
	Onto     OID       `json:"onto"`
	Tree     OID       `json:"tree"`
	HeadTree OID       `json:"head_tree,omitempty"` // of Head by itself
	Message  string    `json:"message"`
	At       time.Time `json:"at,omitzero"` // of the event; set when it is applied
}

var _ = registerKind[MergeIntentRecorded]()

func (*MergeIntentRecorded) Kind() string { return "merge.intended" }
func (d *MergeIntentRecorded) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	c := *d
	c.At = e.Time
	t.MergeIntent = &c
}

// ReportConflict brings in that the front of the queue does not merge.
type ReportConflict struct {
	Task    TaskID
	Subtask SubtaskID
	ConflictReported
}

// ConflictReported is a conflict that the merger agent is to resolve.
type ConflictReported struct {
	Head  OID      `json:"head"`
	Onto  OID      `json:"onto"`
	Paths []string `json:"paths"`
	Why   string   `json:"why,omitempty"` // files among them are not made anew by their own program
	// Moved says that git merges them by itself, into files that need the president's leave
	// and that the ticket changes by another name.
	Moved bool `json:"moved,omitempty"`
}

var _ = registerKind[ConflictReported]()

func (c ReportConflict) decide(s *State, m Meta) ([]Event, error) {
	t, sub, err := s.checkMergeFront(c.Task, c.Subtask, c.Head, c.Onto)
	if err != nil || sub == nil {
		return nil, err
	}
	return []Event{m.newEvent(t.ID, sub.ID, "", &c.ConflictReported)}, nil
}

func (*ConflictReported) Kind() string { return "merge.conflicted" }
func (d *ConflictReported) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	sub := t.editSubtask(e.Subtask)
	t.removeFromQueue(sub.ID)
	delete(t.Failures, "merge "+string(sub.ID))
	sub.Conflicts++
	if sub.Conflicts > t.Settings.Conflicts {
		sub.escalateToManager("it keeps conflicting with what was merged before")
		sub.Unresolved = d
		return
	}
	sub.Conflict, sub.Merger = d, ""
}

// mergerEnded takes the merger agent's resolution: a new head, which is gated
// and reviewed like any other.
func (sub *Subtask) mergerEnded(t *Task, e Event, d *RunEnded) {
	if d.Status != RunSuccess {
		if d.Human || d.isInfrastructureFailure() {
			sub.Merger = ""
			t.countFailure("resolve "+string(sub.ID), e.Time, EffectFailed{Code: d.Code, Error: d.Error, Hint: d.Hint, Human: d.Human})
			return
		}
		conflict := sub.Conflict
		sub.escalateToManager("the merger could not resolve its conflict: " + d.Error)
		sub.Unresolved = conflict
		return
	}
	sub.Head, sub.Changes, sub.Gate = d.Head, d.Changes, nil
	delete(t.Failures, "resolve "+string(sub.ID))
	sub.Conflict, sub.Merger = nil, ""
	sub.Review.withdrawLast(t.Settings)
	sub.Status = SubtaskInGate
}

// RecordMerge brings in that the integration branch stands at the merge commit.
type RecordMerge struct {
	Task   TaskID
	Commit OID
}

func (c RecordMerge) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if t.MergeIntent == nil {
		return nil, nil
	}
	if !c.Commit.Valid() || c.Commit == t.MergeIntent.Onto {
		return nil, E(EInvalid, "a merge needs a commit of its own")
	}
	for _, sub := range t.Subtasks {
		if sub.Merged == c.Commit {
			return nil, nil // a late repeat of an earlier merge says nothing about this one
		}
	}
	out := []Event{m.newEvent(t.ID, t.MergeIntent.Subtask, "", &MergeRecorded{Commit: c.Commit})}
	if t.approvalCarries() {
		out = append(out, m.newEvent(t.ID, t.MergeIntent.Subtask, "", &ReviewCarried{From: t.MergeIntent.Head, Head: c.Commit}))
	}
	return out, nil
}

// MergeRecorded completes a subtask.
type MergeRecorded struct {
	Commit OID `json:"commit"`
}

var _ = registerKind[MergeRecorded]()

func (*MergeRecorded) Kind() string { return "merge.done" }
func (d *MergeRecorded) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	sub := t.editSubtask(e.Subtask)
	t.Head, t.Tree = d.Commit, t.finishIntended(d.Commit)
	t.removeFromQueue(sub.ID)
	sub.Status, sub.Merged = SubtaskCompleted, d.Commit
	delete(t.Failures, "merge "+string(sub.ID))
	if t.Wave() == 0 {
		t.Status = StatusReviewing // STA-2: entered once per integration head
	}
}
