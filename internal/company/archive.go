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
	// archiveGrace is the time that a finished task stays in the state: people look at recent tasks and retry them.
	archiveGrace = time.Hour
	// archivePatience is the longer time for tasks whose local pull request is still open, or whose files are missing.
	archivePatience = 7 * 24 * time.Hour
	// maxArchive limits an archive, in bytes, because a single event restores its tasks. A task with a larger archive
	// stays in the state.
	maxArchive = 2 << 20
)

// Archive holds finished tasks that leave the state, and the questions about them. It contains all tasks of one pull
// request, with the one that opened it first. It is stored in a blob.
type Archive struct {
	Tasks     []*Task     `json:"tasks"`
	Approvals []*Approval `json:"approvals,omitempty"`
}

// Encode returns the text of the blob.
func (a *Archive) Encode() ([]byte, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, E(EInternal, "cannot marshal the archive").Wrap(err)
	}
	return text, nil
}

// DecodeArchive parses the text of a blob.
func DecodeArchive(text []byte) (*Archive, error) {
	archive := &Archive{}
	if err := json.Unmarshal(text, archive); err != nil {
		return nil, E(ELedger, "cannot read an archive of tasks").Wrap(err)
	}
	return archive, nil
}

// Task returns a task of the archive, or nil.
func (a *Archive) Task(id TaskID) *Task {
	for _, task := range a.Tasks {
		if task.ID == id {
			return task
		}
	}
	return nil
}

// Archivable returns the lead tasks that may leave the state now with all their follow-ups: they finished a while ago.
// The oldest come first.
func (s *State) Archivable(now time.Time) []TaskID {
	chains := map[*Task][]*Task{}
	for _, task := range s.SortedTasks() {
		lead := s.LeadOf(task)
		chains[lead] = append(chains[lead], task)
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

// stayFor reports whether finished tasks must stay in the state for a while.
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

// chainOf returns a task and its follow-ups, the oldest first.
func (s *State) chainOf(lead *Task) []*Task {
	var out []*Task
	for _, task := range s.Tasks {
		if s.LeadOf(task) == lead {
			out = append(out, task)
		}
	}
	slices.SortFunc(out, func(a, b *Task) int { return a.ID.Number() - b.ID.Number() })
	return out
}

// checkArchivable refuses tasks that are not finished: one has not ended, the spending of a run is unsettled, another
// task waits for the lead, or their pull request is open at a forge.
func (s *State) checkArchivable(chain []*Task) error {
	lead := chain[0]
	if lead.PR != nil && lead.PR.State == PROpen && lead.PR.IsOnForge() {
		return E(EConflict, fmt.Sprintf("pull request #%d of %s is open", lead.PR.Number, lead.ID))
	}
	if s.isAwaited(lead) {
		return E(EConflict, "another task waits for "+string(lead.ID))
	}
	for _, task := range chain {
		if !task.Status.Ended() {
			return E(EConflict, string(task.ID)+" has not ended: "+task.Status.Text())
		}
		for _, run := range task.Runs {
			if !run.Ended && (run.Held || run.Fence > 0) {
				return E(EConflict, "the spending of run "+string(run.ID)+" is not settled")
			}
		}
	}
	return nil
}

// archiveOf returns the archive of tasks.
func (s *State) archiveOf(chain []*Task) *Archive {
	return &Archive{Tasks: chain, Approvals: s.selectApprovals(func(a *Approval) bool {
		return slices.ContainsFunc(chain, func(t *Task) bool { return t.ID == a.Task })
	})}
}

// EncodeArchive returns the archive of a task and its follow-ups as text. An archive that is too large to be restored
// is an EInvalid error.
func (s *State) EncodeArchive(id TaskID) ([]byte, error) {
	task, err := s.Task(id)
	if err != nil {
		return nil, err
	}
	text, err := s.archiveOf(s.chainOf(task)).Encode()
	if err == nil && len(text) > maxArchive {
		err = E(EInvalid, fmt.Sprintf("the archive of %s has %d bytes", id, len(text))).
			Because(fmt.Sprintf("at most %d can be restored", maxArchive))
	}
	return text, err
}

// ArchiveTask removes a finished task and its follow-ups from the state. Blob is their archive, which is already
// stored.
type ArchiveTask struct {
	Task TaskID
	Blob Hash
}

func (c ArchiveTask) decide(state *State, meta Meta) ([]Event, error) {
	if state.Past[c.Task] != nil {
		return nil, nil
	}
	task, err := state.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if state.LeadOf(task) != task {
		return nil, E(EInvalid, string(task.ID)+" is archived with the task that it follows")
	}
	chain := state.chainOf(task)
	if err := state.checkArchivable(chain); err != nil {
		return nil, err
	}
	text, err := state.EncodeArchive(task.ID)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); Hash(hex.EncodeToString(sum[:])) != c.Blob {
		return nil, E(EStale, "the archive of "+string(task.ID)+" is out of date")
	}
	taskArchived := &TaskArchived{}
	for _, t := range chain {
		taskArchived.Tasks = append(taskArchived.Tasks, state.summarizePast(t, meta))
	}
	taskArchived.Tasks[0].Blob = c.Blob
	return []Event{meta.newEvent(task.ID, "", "", taskArchived)}, nil
}

// TaskArchived removes finished tasks from the state. It keeps the data that lists and totals need.
type TaskArchived struct {
	Tasks []*PastTask `json:"tasks"` // the lead is the first
}

var _ = registerKind[TaskArchived]()

func (*TaskArchived) Kind() string { return "task.archived" }
func (d *TaskArchived) apply(state *State, _ Event) {
	ownMap(&state.Tasks, &state.shared.tasks)
	state.ownPast()
	for _, pastTask := range d.Tasks {
		projectUse := state.PastProjects[pastTask.Project]
		projectUse.addTask(state.Tasks[pastTask.ID])
		state.PastProjects[pastTask.Project] = projectUse
		delete(state.Tasks, pastTask.ID)
		state.Past[pastTask.ID] = pastTask
		for _, id := range pastTask.Questions {
			state.ownApprovals()
			delete(state.ByKey, state.Approvals[id].Key)
			delete(state.Approvals, id)
		}
	}
}

// RestoreArchived decides a command on a state that includes archived tasks. If the command causes events, the tasks
// are restored first.
type RestoreArchived struct {
	Command  Command
	Archives map[TaskID]*Archive // by the id of the lead
}

func (c RestoreArchived) decide(state *State, meta Meta) ([]Event, error) {
	with := state.trialCopy()
	var back []Event
	for _, id := range slices.SortedFunc(maps.Keys(c.Archives), func(a, b TaskID) int { return a.Number() - b.Number() }) {
		pastTask, archive := state.Past[id], c.Archives[id]
		if pastTask == nil {
			continue // already restored
		}
		if archive.Task(id) == nil || pastTask.Blob == "" {
			return nil, E(EInternal, "the archive of "+string(id)+" is of another task")
		}
		back = append(back, meta.newEvent(id, "", "", &TaskRestored{Archive: *archive}))
		with.putBack(archive)
	}
	evs, err := c.Command.decide(with, meta)
	if err != nil || len(evs) == 0 {
		return nil, err
	}
	return append(back, evs...), nil
}

// TaskRestored restores tasks from their archive to the state, because one of them is being worked on again.
type TaskRestored struct {
	Archive Archive `json:"archive"`
}

var _ = registerKind[TaskRestored]()

func (*TaskRestored) Kind() string              { return "task.restored" }
func (d *TaskRestored) apply(s *State, _ Event) { s.putBack(&d.Archive) }

// putBack restores the tasks of an archive.
func (s *State) putBack(archive *Archive) {
	s.showArchived(archive)
	s.ownPast()
	for _, task := range archive.Tasks {
		projectUse := s.PastProjects[task.Project.ID]
		projectUse.Tasks--
		s.PastProjects[task.Project.ID] = projectUse
		delete(s.Past, task.ID)
	}
}

// WithArchive returns a view that also contains the tasks of an archive. It is for reading only: the tasks still count
// as archived too.
func (s *State) WithArchive(archive *Archive) *State {
	with := s.trialCopy()
	with.showArchived(archive)
	return with
}

func (s *State) showArchived(archive *Archive) {
	for _, task := range archive.Tasks {
		if pastTask := s.Past[task.ID]; pastTask != nil && pastTask.PR != nil && task.PR != nil &&
			pastTask.PR.State != task.PR.State {
			task = task.cloneForEdit() // its pull request was settled while it was archived
			pr := *task.PR
			pr.State = pastTask.PR.State
			task.PR, task.BranchChange = &pr, nil
		}
		s.setTask(task)
	}
	for _, q := range archive.Approvals {
		s.setApproval(q)
	}
}

// ArchiveHolding returns the lead task of the archive that holds a task, and the blob. Both are empty if the task is
// not archived.
func (s *State) ArchiveHolding(id TaskID) (lead TaskID, blob Hash) {
	pastTask := s.Past[id]
	if pastTask == nil {
		return "", ""
	}
	lead = cmp.Or(pastTask.Lead, id)
	if pastTask = s.Past[lead]; pastTask == nil {
		return "", ""
	}
	return lead, pastTask.Blob
}
