package company

import (
	"slices"
	"time"
)

// A stack is several subtasks of the merge queue, each merged onto the previous ones. One run of the gates tests the
// last tree. If it is red, halves of the stack are tested until one red subtask is found.

// StackMember is one subtask of a stack.
type StackMember struct {
	Subtask SubtaskID `json:"subtask"`
	Head    OID       `json:"head"`
	Tree    OID       `json:"tree"`              // of Head, merged onto the previous members
	Message string    `json:"message,omitempty"` // of the commit on the integration branch
	// Remade lists files of the tree that their own programs regenerated.
	Remade []RemadeFile `json:"remade,omitempty"`
}

// MergeStack returns the subtasks to test and merge next, in order. It is empty if none may be merged. A single subtask
// is tested alone.
func (s *State) MergeStack(task *Task) []*Subtask {
	subtasks := s.listStackable(task)
	return subtasks[:min(len(subtasks), max(1, task.Settings.MergeStack))]
}

// listStackable returns the subtasks that a stack may contain now, in order. After a red stack it returns the first
// half of the suspects.
func (s *State) listStackable(task *Task) []*Subtask {
	if suspects := s.listMergeable(task, task.Suspects); len(suspects) > 0 {
		return suspects[:(len(suspects)+1)/2]
	}
	return s.listMergeable(task, task.Queue)
}

// listMergeable returns the given subtasks that are not paused and do not wait for the president's approval.
func (s *State) listMergeable(task *Task, ids []SubtaskID) []*Subtask {
	var out []*Subtask
	for _, id := range ids {
		sub := task.Subtask(id)
		if sub.Paused {
			continue
		}
		if w := s.mergeQuestion(task, sub); w != nil && !s.isApproved(w.Key) {
			continue
		}
		out = append(out, sub)
	}
	return out
}

// dueMerge returns the task's due merge or merge test. ok is false if there is none. A test keeps its key when other
// subtasks join the queue behind it, so a running test continues with the stack that it started with.
func (s *State) dueMerge(task *Task) (e Effect, ok bool) {
	if recorded := task.MergeIntent; recorded != nil {
		return Effect{Key: "merge " + string(recorded.Subtask) + " " + string(recorded.Head), Kind: EffectMerge,
			Subtask: recorded.Subtask,
			Fail:    "merge " + string(recorded.Subtask)}, true
	}
	if intended := task.StackIntent; intended != nil {
		first, last := intended.Members[0], intended.Members[len(intended.Members)-1]
		return Effect{Key: "merge stack " + string(first.Subtask) + " " + string(last.Tree), Kind: EffectMerge,
			Subtask: first.Subtask, Fail: "merge " + string(first.Subtask)}, true
	}
	front := s.nextInMergeQueue(task)
	if front == nil {
		return Effect{}, false
	}
	key := "test " + string(front.ID) + " " + string(front.Head) + " " + string(task.Head)
	if n := len(task.Suspects); n > 0 { // each step of the search is a separate test
		key += " of " + itoa(n)
	}
	return Effect{Key: key, Kind: EffectTestMerge, Subtask: front.ID, Stack: idsOf(s.MergeStack(task)),
		Fail: "merge " + string(front.ID)}, true
}

// ListTakenUp returns the subtasks of a test that may still be merged, in order. It returns nil if the first of them is
// no longer next.
func (s *State) ListTakenUp(task *Task, stack []SubtaskID) []*Subtask {
	may := s.listStackable(task)
	if len(may) == 0 || len(stack) == 0 || may[0].ID != stack[0] {
		return nil
	}
	return slices.DeleteFunc(may, func(sub *Subtask) bool { return !slices.Contains(stack, sub.ID) })
}

func idsOf(subs []*Subtask) []SubtaskID {
	out := make([]SubtaskID, len(subs))
	for i, sub := range subs {
		out[i] = sub.ID
	}
	return out
}

// isMerging reports whether a merge of a subtask is intended but not done.
func (t *Task) isMerging(id SubtaskID) bool {
	if recorded := t.MergeIntent; recorded != nil && recorded.Subtask == id {
		return true
	}
	return t.StackIntent != nil &&
		slices.ContainsFunc(t.StackIntent.Members, func(m StackMember) bool { return m.Subtask == id })
}

// RecordStackGate records that subtasks of the queue merge cleanly onto each other, with the gates' verdict on the last
// tree.
type RecordStackGate struct {
	Task    TaskID
	Onto    OID
	Members []StackMember
	Result  GateResult
}

func (c RecordStackGate) decide(state *State, meta Meta) ([]Event, error) {
	if len(c.Members) < 2 {
		return nil, E(EInvalid, "a stack needs at least two subtasks")
	}
	front := c.Members[0]
	task, sub, err := state.checkMergeFront(c.Task, front.Subtask, front.Head, c.Onto)
	if err != nil || sub == nil {
		return nil, err
	}
	if err := state.checkWholeVerdict(task, c.Result); err != nil {
		return nil, err
	}
	if c.Result.Tree != c.Members[len(c.Members)-1].Tree {
		return nil, E(EInvalid, "the verdict is for another tree")
	}
	if err := state.checkStack(task, c.Members); err != nil {
		return nil, err
	}
	if !c.Result.AllowsMerge() {
		return []Event{meta.newEvent(task.ID, "", "", &StackRed{Onto: c.Onto, Members: c.Members, Result: c.Result})}, nil
	}
	if err := refuseProtectedBranch(task.IntegrationBranch()); err != nil {
		return nil, err
	}
	return []Event{meta.newEvent(task.ID, "", "", &StackIntended{Onto: c.Onto, Members: c.Members, Result: c.Result})}, nil
}

// checkStack refuses an outdated stack: a member was paused or went back to its worker, or another stack must be
// tested.
func (s *State) checkStack(task *Task, members []StackMember) error {
	if limit := max(1, task.Settings.MergeStack); len(members) > limit {
		return E(EInvalid, "a stack of "+itoa(len(members))+" subtasks is over the limit of "+itoa(limit))
	}
	may := s.listStackable(task)
	for _, stackMember := range members {
		index := slices.IndexFunc(may, func(sub *Subtask) bool { return sub.ID == stackMember.Subtask })
		switch {
		case index < 0 || may[index].Head != stackMember.Head:
			return E(EStale, string(stackMember.Subtask)+" no longer belongs to the stack")
		case !stackMember.Tree.Valid():
			return E(EInvalid, string(stackMember.Subtask)+" has no merged tree")
		case !may[index].Review.Allows(stackMember.Head):
			return E(EInvalid, string(stackMember.Subtask)+" has not been approved")
		}
		may = may[index+1:]
	}
	return nil
}

// StackRed records a stack whose tree the gates failed. It blames none of its members; halves of it are tested next.
type StackRed struct {
	Onto    OID           `json:"onto"`
	Members []StackMember `json:"members"`
	Result  GateResult    `json:"result"`
}

var _ = registerKind[StackRed]()

func (*StackRed) Kind() string { return "stack.red" }
func (d *StackRed) apply(state *State, e Event) {
	task := state.editTask(e.Task)
	state.cacheResult(d.Result)
	delete(task.Failures, "merge "+string(d.Members[0].Subtask))
	task.Suspects = subtasksOf(d.Members)
}

// StackIntended records the merges that are about to be done at once, with the verdict on the last tree. The commits
// take their date from this event, so a retry creates the same commits.
type StackIntended struct {
	Onto    OID           `json:"onto"`
	Members []StackMember `json:"members"`
	Result  GateResult    `json:"result"`
	At      time.Time     `json:"at,omitzero"` // time of the event; set by apply
}

var _ = registerKind[StackIntended]()

func (*StackIntended) Kind() string { return "stack.intended" }
func (d *StackIntended) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	state.cacheResult(d.Result)
	intended := *d
	intended.At = event.Time
	task.StackIntent = &intended
	together := subtasksOf(d.Members)
	for _, stackMember := range d.Members {
		sub := task.editSubtask(stackMember.Subtask)
		delete(task.Failures, "merge "+string(sub.ID))
		gate := &GateFinished{Head: stackMember.Head, Onto: d.Onto, Result: d.Result, Stack: together,
			Remade: stackMember.Remade}
		// The red-green result is valid for the tree on which the tests ran.
		if was := sub.Gate; was != nil && was.Result.Tree == stackMember.Tree {
			gate.Result.RedGreen = was.Result.RedGreen
		}
		sub.Gate, sub.Doubt = gate, nil
	}
}

func subtasksOf(members []StackMember) []SubtaskID {
	out := make([]SubtaskID, len(members))
	for i, m := range members {
		out[i] = m.Subtask
	}
	return out
}

// RecordStackMerge records that the integration branch is at the last merge commit of a stack. Commits are in the order
// of the members.
type RecordStackMerge struct {
	Task    TaskID
	Commits []OID
}

func (c RecordStackMerge) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	intended := task.StackIntent
	if intended == nil {
		return nil, nil
	}
	for _, sub := range task.Subtasks {
		if sub.Merged != "" && slices.Contains(c.Commits, sub.Merged) {
			return nil, nil // a late repeat of an earlier merge does not affect this one
		}
	}
	if len(c.Commits) != len(intended.Members) {
		return nil, E(EInvalid, "a stack of "+itoa(len(intended.Members))+" subtasks needs as many commits")
	}
	var out []Event
	for i, commit := range c.Commits {
		if !commit.Valid() || commit == intended.Onto || slices.Contains(c.Commits[:i], commit) {
			return nil, E(EInvalid, "each merge needs its own commit")
		}
		out = append(out, meta.newEvent(task.ID, intended.Members[i].Subtask, "", &MergeRecorded{Commit: commit}))
	}
	return out, nil
}

// finishIntended removes the intended merge that is now done as a commit, and returns its tree. The events of a stack's
// merges are one append.
func (t *Task) finishIntended(commit OID) (tree OID) {
	in := t.StackIntent
	if in == nil {
		tree, t.MergeIntent = t.MergeIntent.Tree, nil
		return tree
	}
	tree, t.StackIntent = in.Members[0].Tree, nil
	if rest := in.Members[1:]; len(rest) > 0 {
		intended := *in
		intended.Onto, intended.Members = commit, rest
		t.StackIntent = &intended
	}
	return tree
}
