package company

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// archiveGrace is how long a task that is over stays in the state: people look at
	// what has just ended, and retry it.
	archiveGrace = time.Hour
	// archivePatience is how long it stays where a page of the office's own asks for its
	// merge, or where files of it are missing.
	archivePatience = 7 * 24 * time.Hour
	// maxArchive bounds an archive, in bytes: with it, the tasks go back into the state
	// by one event. A larger one stays there.
	maxArchive = 2 << 20
)

// Archive is what leaves the state with tasks that are over: those that work on one
// pull request, the one that opened it first, and the questions about them. It is kept
// in a blob.
type Archive struct {
	Tasks     []*Task     `json:"tasks"`
	Approvals []*Approval `json:"approvals,omitempty"`
}

// Encode is the text of the blob.
func (a *Archive) Encode() ([]byte, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, E(EInternal, "an archive does not marshal").Wrap(err)
	}
	return text, nil
}

// DecodeArchive reads the text of a blob.
func DecodeArchive(text []byte) (*Archive, error) {
	a := &Archive{}
	if err := json.Unmarshal(text, a); err != nil {
		return nil, E(ELedger, "an archive of tasks cannot be read").Wrap(err)
	}
	return a, nil
}

// Task finds a task of the archive, or nil.
func (a *Archive) Task(id TaskID) *Task {
	for _, t := range a.Tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// Archivable lists the tasks that may leave the state now, with all that follow them:
// they are over, and were so for a while. The oldest come first.
func (s *State) Archivable(now time.Time) []TaskID {
	chains := map[*Task][]*Task{}
	for _, t := range s.SortedTasks() {
		lead := s.LeadOf(t)
		chains[lead] = append(chains[lead], t)
	}
	var out []TaskID
	for lead, chain := range chains {
		if s.checkArchivable(chain) == nil && !stayFor(chain, now) {
			out = append(out, lead.ID)
		}
	}
	slices.SortFunc(out, func(a, b TaskID) int { return a.Number() - b.Number() })
	return out
}

// stayFor says whether tasks that are over are to stay in the state for a while.
func stayFor(chain []*Task, now time.Time) bool {
	wait := archiveGrace
	if pr := chain[0].PR; pr != nil && pr.State == PROpen {
		wait = archivePatience
	}
	for _, t := range chain {
		if len(t.Unwritten) > 0 {
			wait = archivePatience
		}
	}
	return slices.ContainsFunc(chain, func(t *Task) bool { return now.Before(t.Updated.Add(wait)) })
}

// chainOf lists a task and those that follow it, the oldest first.
func (s *State) chainOf(lead *Task) []*Task {
	var out []*Task
	for _, t := range s.Tasks {
		if s.LeadOf(t) == lead {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *Task) int { return a.ID.Number() - b.ID.Number() })
	return out
}

// checkArchivable refuses tasks that are not over: one has not ended, the books of a run
// are open, or a forge may still have something to say of their pull request.
func (s *State) checkArchivable(chain []*Task) error {
	lead := chain[0]
	if lead.PR != nil && lead.PR.State == PROpen && lead.PR.IsOnForge() {
		return E(EConflict, fmt.Sprintf("pull request #%d of %s is open", lead.PR.Number, lead.ID))
	}
	if s.isAwaited(lead) {
		return E(EConflict, "a task waits for "+string(lead.ID))
	}
	for _, t := range chain {
		if !t.Status.Ended() {
			return E(EConflict, string(t.ID)+" has not ended: "+t.Status.Text())
		}
		for _, r := range t.Runs {
			if !r.Ended && (r.Held || r.Fence > 0) {
				return E(EConflict, "the books of run "+string(r.ID)+" are open")
			}
		}
	}
	return nil
}

// archiveOf is the archive of tasks.
func (s *State) archiveOf(chain []*Task) *Archive {
	return &Archive{Tasks: chain, Approvals: s.selectApprovals(func(a *Approval) bool {
		return slices.ContainsFunc(chain, func(t *Task) bool { return t.ID == a.Task })
	})}
}

// EncodeArchive is the text of the archive of a task and those that follow it. EInvalid:
// it is too large to be taken back into the state.
func (s *State) EncodeArchive(id TaskID) ([]byte, error) {
	t, err := s.Task(id)
	if err != nil {
		return nil, err
	}
	text, err := s.archiveOf(s.chainOf(t)).Encode()
	if err == nil && len(text) > maxArchive {
		err = E(EInvalid, fmt.Sprintf("the archive of %s has %d bytes", id, len(text))).Because(fmt.Sprintf("at most %d can be taken back", maxArchive))
	}
	return text, err
}

// ArchiveTask takes a task that is over, and those that follow it, out of the state. Blob
// is their archive, which is stored already.
type ArchiveTask struct {
	Task TaskID
	Blob Hash
}

func (c ArchiveTask) decide(s *State, m Meta) ([]Event, error) {
	if s.Past[c.Task] != nil {
		return nil, nil
	}
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if s.LeadOf(t) != t {
		return nil, E(EInvalid, string(t.ID)+" is archived with the task that it follows")
	}
	chain := s.chainOf(t)
	if err := s.checkArchivable(chain); err != nil {
		return nil, err
	}
	text, err := s.EncodeArchive(t.ID)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); Hash(hex.EncodeToString(sum[:])) != c.Blob {
		return nil, E(EStale, "the archive is not of "+string(t.ID)+" as it is now")
	}
	d := &TaskArchived{}
	for _, t := range chain {
		d.Tasks = append(d.Tasks, s.summarizePast(t, m))
	}
	d.Tasks[0].Blob = c.Blob
	return []Event{m.newEvent(t.ID, "", "", d)}, nil
}

// TaskArchived takes tasks that are over out of the state. What lists and sums need of
// them stays.
type TaskArchived struct {
	Tasks []*PastTask `json:"tasks"` // the one that the others follow is the first
}

var _ = registerKind[TaskArchived]()

func (*TaskArchived) Kind() string { return "task.archived" }
func (d *TaskArchived) apply(s *State, _ Event) {
	ownMap(&s.Tasks, &s.shared.tasks)
	s.ownPast()
	for _, p := range d.Tasks {
		u := s.PastProjects[p.Project]
		u.addTask(s.Tasks[p.ID])
		s.PastProjects[p.Project] = u
		delete(s.Tasks, p.ID)
		s.Past[p.ID] = p
		for _, id := range p.Questions {
			s.ownApprovals()
			delete(s.ByKey, s.Approvals[id].Key)
			delete(s.Approvals, id)
		}
	}
}

// RestoreArchived has a command decided on a state in which archived tasks are back. If
// it changes anything, they go back into the state before.
type RestoreArchived struct {
	Command  Command
	Archives map[TaskID]*Archive // by the task that the others follow
}

func (c RestoreArchived) decide(s *State, m Meta) ([]Event, error) {
	with := s.trialCopy()
	var back []Event
	for _, id := range slices.SortedFunc(maps.Keys(c.Archives), func(a, b TaskID) int { return a.Number() - b.Number() }) {
		p, a := s.Past[id], c.Archives[id]
		if p == nil {
			continue // it is back already
		}
		if a.Task(id) == nil || p.Blob == "" {
			return nil, E(EInternal, "the archive of "+string(id)+" is of another task")
		}
		back = append(back, m.newEvent(id, "", "", &TaskRestored{Archive: *a}))
		with.putBack(a)
	}
	evs, err := c.Command.decide(with, m)
	if err != nil || len(evs) == 0 {
		return nil, err
	}
	return append(back, evs...), nil
}

// TaskRestored takes tasks out of their archive back into the state: one of them is
// worked on again.
type TaskRestored struct {
	Archive Archive `json:"archive"`
}

var _ = registerKind[TaskRestored]()

func (*TaskRestored) Kind() string              { return "task.restored" }
func (d *TaskRestored) apply(s *State, _ Event) { s.putBack(&d.Archive) }

// putBack takes the tasks of an archive back.
func (s *State) putBack(a *Archive) {
	s.showArchived(a)
	s.ownPast()
	for _, t := range a.Tasks {
		u := s.PastProjects[t.Project.ID]
		u.Tasks--
		s.PastProjects[t.Project.ID] = u
		delete(s.Past, t.ID)
	}
}

// WithArchive is a view, made of another, in which the tasks of an archive are found as
// they were. It is for reading: they count among the archived, too.
func (s *State) WithArchive(a *Archive) *State {
	with := s.trialCopy()
	with.showArchived(a)
	return with
}

func (s *State) showArchived(a *Archive) {
	for _, t := range a.Tasks {
		if p := s.Past[t.ID]; p != nil && p.PR != nil && t.PR != nil && p.PR.State != t.PR.State {
			t = t.cloneForEdit() // settled by what happened to the office
			pr := *t.PR
			pr.State = p.PR.State
			t.PR, t.BranchChange = &pr, nil
		}
		s.setTask(t)
	}
	for _, q := range a.Approvals {
		s.setApproval(q)
	}
}

// ArchiveHolding names the task in whose archive a task lies, and its blob; empty: the
// task is not archived.
func (s *State) ArchiveHolding(id TaskID) (lead TaskID, blob Hash) {
	p := s.Past[id]
	if p == nil {
		return "", ""
	}
	lead = cmp.Or(p.Lead, id)
	if p = s.Past[lead]; p == nil {
		return "", ""
	}
	return lead, p.Blob
}
