package company

import (
	"slices"
	"time"
)

// A stack is several subtasks of the merge queue, each merged onto those before it,
// and judged by one run of the gates on the last tree. Where that is red, halves of
// the stack are tested, until one subtask alone is red.

// StackMember is one subtask of a stack.
type StackMember struct {
	Subtask SubtaskID `json:"subtask"`
	Head    OID       `json:"head"`
	Tree    OID       `json:"tree"`              // of Head, merged onto the members before it
	Message string    `json:"message,omitempty"` // of its commit on the integration branch
	// Remade are files of the tree that their own programs made anew.
	Remade []RemadeFile `json:"remade,omitempty"`
}

// MergeStack lists the subtasks that are to be tested and merged next, in order; none
// where none may be merged. The first is tested alone where it is the only one.
func (s *State) MergeStack(t *Task) []*Subtask {
	all := s.listStackable(t)
	return all[:min(len(all), max(1, t.Settings.MergeStack))]
}

// listStackable lists the subtasks that a stack may be of at this moment, in order. After a
// red stack it is the first half of those among which the red one is.
func (s *State) listStackable(t *Task) []*Subtask {
	if suspects := s.listMergeable(t, t.Suspects); len(suspects) > 0 {
		return suspects[:(len(suspects)+1)/2]
	}
	return s.listMergeable(t, t.Queue)
}

// listMergeable picks those that need not wait: for the end of a pause, or for the
// president's leave.
func (s *State) listMergeable(t *Task, ids []SubtaskID) []*Subtask {
	var out []*Subtask
	for _, id := range ids {
		sub := t.Subtask(id)
		if sub.Paused {
			continue
		}
		if w := s.mergeQuestion(t, sub); w != nil && !s.isApproved(w.Key) {
			continue
		}
		out = append(out, sub)
	}
	return out
}

// dueMerge is the merge or the test of one that the task calls for; ok is false where
// there is none. A test keeps its key when others join the queue behind it: what it has
// taken up is the stack that it was started with.
func (s *State) dueMerge(t *Task) (e Effect, ok bool) {
	if in := t.MergeIntent; in != nil {
		return Effect{Key: "merge " + string(in.Subtask) + " " + string(in.Head), Kind: EffectMerge, Subtask: in.Subtask, Fail: "merge " + string(in.Subtask)}, true
	}
	if in := t.StackIntent; in != nil {
		first, last := in.Members[0], in.Members[len(in.Members)-1]
		return Effect{Key: "merge stack " + string(first.Subtask) + " " + string(last.Tree), Kind: EffectMerge, Subtask: first.Subtask, Fail: "merge " + string(first.Subtask)}, true
	}
	front := s.nextInMergeQueue(t)
	if front == nil {
		return Effect{}, false
	}
	key := "test " + string(front.ID) + " " + string(front.Head) + " " + string(t.Head)
	if n := len(t.Suspects); n > 0 { // each step of the search is a test of its own
		key += " of " + itoa(n)
	}
	return Effect{
		Key: key, Kind: EffectTestMerge, Subtask: front.ID, Onto: t.Head, Stack: headsOf(s.MergeStack(t)), Fail: "merge " + string(front.ID),
	}, true
}

// isMerging says whether a merge of a subtask is decided on and not done.
func (t *Task) isMerging(id SubtaskID) bool {
	if in := t.MergeIntent; in != nil && in.Subtask == id {
		return true
	}
	return t.StackIntent != nil && slices.ContainsFunc(t.StackIntent.Members, func(m StackMember) bool { return m.Subtask == id })
}

// RecordStackGate brings in that subtasks of the queue merge cleanly one onto the
// other, and the verdict of the gates on the last tree.
type RecordStackGate struct {
	Task    TaskID
	Onto    OID
	Members []StackMember
	Result  GateResult
}

func (c RecordStackGate) decide(s *State, m Meta) ([]Event, error) {
	if len(c.Members) < 2 {
		return nil, E(EInvalid, "a stack is of two subtasks or more")
	}
	front := c.Members[0]
	t, sub, err := s.checkMergeFront(c.Task, front.Subtask, front.Head, c.Onto)
	if err != nil || sub == nil {
		return nil, err
	}
	if err := s.checkWholeVerdict(t, c.Result); err != nil {
		return nil, err
	}
	if c.Result.Tree != c.Members[len(c.Members)-1].Tree {
		return nil, E(EInvalid, "the verdict is of another tree")
	}
	if err := s.checkStack(t, c.Members); err != nil {
		return nil, err
	}
	if !c.Result.AllowsMerge() {
		return []Event{m.newEvent(t.ID, "", "", &StackRed{Onto: c.Onto, Members: c.Members, Result: c.Result})}, nil
	}
	if err := refuseProtectedBranch(t.IntegrationBranch()); err != nil {
		return nil, err
	}
	return []Event{m.newEvent(t.ID, "", "", &StackIntended{Onto: c.Onto, Members: c.Members, Result: c.Result})}, nil
}

// checkStack refuses a stack that the state does not call for any more: a member was
// paused or went back to its worker, or another stack is to be tested.
func (s *State) checkStack(t *Task, members []StackMember) error {
	if most := max(1, t.Settings.MergeStack); len(members) > most {
		return E(EInvalid, "a stack of "+itoa(len(members))+" subtasks; at most "+itoa(most)+" are merged at once")
	}
	may := s.listStackable(t)
	for _, m := range members {
		at := slices.IndexFunc(may, func(sub *Subtask) bool { return sub.ID == m.Subtask })
		switch {
		case at < 0 || may[at].Head != m.Head:
			return E(EStale, string(m.Subtask)+" is not to be merged with the others of its stack any more")
		case !m.Tree.Valid():
			return E(EInvalid, string(m.Subtask)+" is merged to no tree")
		case !may[at].Review.Allows(m.Head):
			return E(EInvalid, string(m.Subtask)+" has not been approved")
		}
		may = may[at+1:]
	}
	return nil
}

// StackRed is a stack on whose tree the gates do not pass. It blames none of its
// members: halves of it are tested next.
type StackRed struct {
	Onto    OID           `json:"onto"`
	Members []StackMember `json:"members"`
	Result  GateResult    `json:"result"`
}

var _ = registerKind[StackRed]()

func (*StackRed) Kind() string { return "stack.red" }
func (d *StackRed) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	s.cacheResult(d.Result)
	delete(t.Failures, "merge "+string(d.Members[0].Subtask))
	t.Suspects = subtasksOf(d.Members)
}

// StackIntended names the merges that are about to be done at once, and the verdict on
// the last tree. The commits take their date from this event, so that doing them again
// makes the same commits.
type StackIntended struct {
	Onto    OID           `json:"onto"`
	Members []StackMember `json:"members"`
	Result  GateResult    `json:"result"`
	At      time.Time     `json:"at,omitzero"` // of the event; set when it is applied
}

var _ = registerKind[StackIntended]()

func (*StackIntended) Kind() string { return "stack.intended" }
func (d *StackIntended) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	s.cacheResult(d.Result)
	c := *d
	c.At = e.Time
	t.StackIntent = &c
	together := subtasksOf(d.Members)
	for _, m := range d.Members {
		sub := t.editSubtask(m.Subtask)
		delete(t.Failures, "merge "+string(sub.ID))
		gate := &GateFinished{Head: m.Head, Onto: d.Onto, Result: d.Result, Stack: together, Remade: m.Remade}
		// What the ticket's tests show is known of the tree that they were run on.
		if was := sub.Gate; was != nil && was.Result.Tree == m.Tree {
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

// RecordStackMerge brings in that the integration branch stands at the last of the
// merge commits of a stack, in the order of its members.
type RecordStackMerge struct {
	Task    TaskID
	Commits []OID
}

func (c RecordStackMerge) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	in := t.StackIntent
	if in == nil {
		return nil, nil
	}
	for _, sub := range t.Subtasks {
		if sub.Merged != "" && slices.Contains(c.Commits, sub.Merged) {
			return nil, nil // a late repeat of an earlier merge says nothing about this one
		}
	}
	if len(c.Commits) != len(in.Members) {
		return nil, E(EInvalid, "a stack of "+itoa(len(in.Members))+" subtasks has as many commits")
	}
	var out []Event
	for i, commit := range c.Commits {
		if !commit.Valid() || commit == in.Onto || slices.Contains(c.Commits[:i], commit) {
			return nil, E(EInvalid, "a merge needs a commit of its own")
		}
		out = append(out, m.newEvent(t.ID, in.Members[i].Subtask, "", &MergeRecorded{Commit: commit}))
	}
	return out, nil
}

// finishIntended ends the merge that was to be done next, which is done as a commit,
// and gives its tree. The events of a stack's merges are one append.
func (t *Task) finishIntended(commit OID) (tree OID) {
	in := t.StackIntent
	if in == nil {
		tree, t.MergeIntent = t.MergeIntent.Tree, nil
		return tree
	}
	tree, t.StackIntent = in.Members[0].Tree, nil
	if rest := in.Members[1:]; len(rest) > 0 {
		c := *in
		c.Onto, c.Members = commit, rest
		t.StackIntent = &c
	}
	return tree
}
