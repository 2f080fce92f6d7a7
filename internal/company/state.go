package company

import (
	"maps"
	"slices"
	"time"
)

// State is the whole company as its events made it. It is a plain value that
// marshals to JSON (the snapshot). Only Apply changes it; tasks are replaced
// and never changed in place, so a *Task that was read stays as it was.
type State struct {
	Seq             uint64                     `json:"seq"`
	Time            time.Time                  `json:"time"`
	Office          Office                     `json:"office"`
	Tasks           map[TaskID]*Task           `json:"tasks"`
	Open            []TaskID                   `json:"open"` // tasks that have not ended, oldest first
	LastTask        int                        `json:"last_task"`
	SkippedTasks    int                        `json:"skipped_tasks,omitempty"` // numbers up to LastTask that no task has
	Past            map[TaskID]*PastTask       `json:"past"`                    // archived tasks, in short
	PastProjects    map[string]ProjectUse      `json:"past_projects"`           // projects of archived tasks, by id
	Approvals       map[ApprovalID]*Approval   `json:"approvals"`               // about the tasks that are not archived
	ByKey           map[string]ApprovalID      `json:"approvals_by_key"`
	LastApproval    int                        `json:"last_approval"`
	LastPR          int                        `json:"last_pr"`
	Commands        map[string]TaskID          `json:"commands"`      // submit is idempotent by command id
	CommandOrder    []string                   `json:"command_order"` // keys of Commands, oldest first
	GateResults     map[string]GateResult      `json:"verdicts"`      // by GateKey: the cache of gate runs
	GateResultOrder []string                   `json:"judged"`        // keys of GateResults, oldest first
	KnownProjects   map[string]ProjectRegistry `json:"known"`         // projects that a person has added or removed, by id
	Spending        OfficeSpending             `json:"spending"`      // of all tasks together

	shared sharedMaps // which of the maps a view holds, too
	edited []*Task    // by the event that is being applied

	options OptionTable // nil: the standard ones
}

// sharedMaps are the maps of a state that others may be reading: apply copies one
// before it writes to it. Most events write to the tasks alone.
type sharedMaps struct{ tasks, past, approvals, commands, results, projects bool }

var allShared = sharedMaps{true, true, true, true, true, true}

// maxVerdicts bounds the cache of gate runs. A tree is judged again and merged
// within minutes; older ones would only make every copy of the state dearer.
const maxVerdicts = 256

// cacheResult puts a verdict into the cache. One of a first step is not the tree's.
func (s *State) cacheResult(r GateResult) {
	if r.isPart() {
		return
	}
	ownMap(&s.GateResults, &s.shared.results)
	key := GateKey(r.Tree, r.GateHash, r.Image)
	if _, known := s.GateResults[key]; !known {
		if len(s.GateResultOrder) >= maxVerdicts {
			delete(s.GateResults, s.GateResultOrder[0])
			s.GateResultOrder = s.GateResultOrder[1:]
		}
		s.GateResultOrder = append(s.GateResultOrder, key)
	}
	s.GateResults[key] = r
}

// NewState is the company before its first event.
func NewState() *State {
	return &State{
		Tasks: map[TaskID]*Task{}, Past: map[TaskID]*PastTask{}, PastProjects: map[string]ProjectUse{}, Approvals: map[ApprovalID]*Approval{}, ByKey: map[string]ApprovalID{},
		Commands: map[string]TaskID{}, GateResults: map[string]GateResult{}, KnownProjects: map[string]ProjectRegistry{},
	}
}

// View is a copy of the state that stays as it is while the state goes on. It is
// for reading: it holds the maps of the state until apply writes to them.
func (s *State) View() *State {
	if s.shared != allShared { // a view of a view is made by many at once
		s.shared = allShared
	}
	c := *s
	c.Open, c.GateResultOrder, c.CommandOrder = slices.Clip(s.Open), slices.Clip(s.GateResultOrder), slices.Clip(s.CommandOrder) // never changed in place
	return &c
}

// trialCopy is a copy of the state to try events on. The state is as it was; the copy is
// good until the state changes.
func (s *State) trialCopy() *State {
	c := *s
	c.shared = allShared
	c.Open = slices.Clip(s.Open)
	return &c
}

// ownMap copies a map that is shared.
func ownMap[K comparable, V any](m *map[K]V, shared *bool) {
	if *shared {
		*m, *shared = maps.Clone(*m), false
	}
}

func (s *State) setTask(t *Task) {
	ownMap(&s.Tasks, &s.shared.tasks)
	s.Tasks[t.ID] = t
}

// setApproval files a question under its key.
func (s *State) setApproval(a *Approval) {
	s.ownApprovals()
	s.Approvals[a.ID], s.ByKey[a.Key] = a, a.ID
}

func (s *State) ownApprovals() {
	if s.shared.approvals {
		s.Approvals, s.ByKey, s.shared.approvals = maps.Clone(s.Approvals), maps.Clone(s.ByKey), false
	}
}

// ownPast is for what the state keeps of archived tasks.
func (s *State) ownPast() {
	if s.shared.past {
		s.Past, s.PastProjects, s.shared.past = maps.Clone(s.Past), maps.Clone(s.PastProjects), false
	}
}

// maxCommands bounds the submissions that are remembered by the id of their command.
// The ledger recognises a repeat all the same.
const maxCommands = 4096

// noteCommand remembers which task a submission brought about.
func (s *State) noteCommand(id string, t TaskID) {
	ownMap(&s.Commands, &s.shared.commands)
	if _, known := s.Commands[id]; !known {
		if len(s.CommandOrder) >= maxCommands {
			delete(s.Commands, s.CommandOrder[0])
			s.CommandOrder = s.CommandOrder[1:]
		}
		s.CommandOrder = append(s.CommandOrder, id)
	}
	s.Commands[id] = t
}

// Task finds a task; an unknown one, or one that is archived, is an ENotFound error.
func (s *State) Task(id TaskID) (*Task, error) {
	if t := s.Tasks[id]; t != nil {
		return t, nil
	}
	return nil, E(ENotFound, "there is no task "+string(id)).Fix("company status lists the tasks of this office")
}

// editTask replaces the task by a copy that apply may change. Its subtasks and runs are changed by
// editSubtask and setRun alone.
func (s *State) editTask(id TaskID) *Task {
	t := s.Tasks[id].cloneForEdit()
	s.setTask(t)
	s.edited = append(s.edited, t)
	return t
}

// endEdits ends the change of tasks by an event: readers share their parts from now on.
func (s *State) endEdits() {
	for _, t := range s.edited {
		t.own = ownedParts{}
	}
	s.edited = nil
}

// Office is the company's own part of the state.
type Office struct {
	ID           string `json:"id"`    // four base32 letters
	Epoch        uint64 `json:"epoch"` // grows with every start; what an older one claimed is void
	Stopped      bool   `json:"stopped"`
	Version      string `json:"version,omitempty"`
	Workers      int    `json:"workers,omitempty"` // that its config asks for, as of the newest start
	AddedWorkers int    `json:"hired,omitempty"`   // against that
	Writers      int    `json:"writers,omitempty"` // runs of workers and mergers that one project may have; 0: as many as there are workers

	Unwritten []UnwrittenFile `json:"unwritten,omitempty"` // its files that are not there, or old
	// Cleaned is up to when tasks had ended of which what they left is removed, unless
	// their pull request was open; zero: of none.
	Cleaned time.Time `json:"cleaned,omitzero"`
	// Opened is when the office was newly opened, or resumed after a stop.
	Opened time.Time `json:"opened,omitzero"`
	// Agents are the models of the config that was used last; none: no event tells.
	Agents []AgentModels `json:"agents,omitempty"`
}

// StartOffice opens the office anew: the first command of every process that
// holds its lock.
type StartOffice struct {
	Office  string
	Version string
	Workers int // of the config; 0: it is not known
	Writers int // of the config: see Office
	// Wall is what the wall clock says, where the office's time is another; zero: it
	// is not known, or the same.
	Wall time.Time
	// LastWorked is when the company before is last known to have worked; zero: it is
	// not known.
	LastWorked time.Time
	Agents     []AgentModels // of the config; none: they are not known
}

func (c StartOffice) decide(s *State, m Meta) ([]Event, error) {
	if s.Office.ID != "" && s.Office.ID != c.Office {
		return nil, foreignLedger(s.Office.ID, c.Office)
	}
	first := &OfficeStarted{Office: c.Office, Epoch: s.Office.Epoch + 1, Version: c.Version, Workers: c.Workers, Writers: c.Writers, Wall: c.Wall, LastWorked: c.LastWorked}
	if len(s.Office.Agents) == 0 {
		first.Agents = c.Agents
	}
	events := []Event{m.newEvent("", "", "", first)}
	if first.Agents != nil {
		return events, nil
	}
	changed, err := NoteAgents{Agents: c.Agents}.decide(s, m)
	return append(events, changed...), err
}

// OfficeStarted voids every claim: their holders belonged to a process that
// is gone. The runs themselves go on, under their own ids.
type OfficeStarted struct {
	Office  string `json:"office"`
	Epoch   uint64 `json:"epoch"`
	Version string `json:"version,omitempty"`
	Workers int    `json:"workers,omitempty"`
	Writers int    `json:"writers,omitempty"`
	// Wall is the wall clock's time, where it differs from the event's own
	// time. It is for readers of the ledger: nothing is decided by it.
	Wall time.Time `json:"wall,omitzero"`
	// LastWorked is when the company before is last known to have worked; zero: it is
	// not known, as in events of older versions.
	LastWorked time.Time `json:"last_worked,omitzero"`
	// Agents are the models of the config, where nothing before tells of any.
	Agents []AgentModels `json:"agents,omitempty"`
}

var _ = registerKind[OfficeStarted]()

func (*OfficeStarted) Kind() string { return "office.started" }
func (d *OfficeStarted) apply(s *State, e Event) {
	s.addIdle(d.LastWorked, e.Time)
	s.Office.ID, s.Office.Epoch, s.Office.Version = d.Office, d.Epoch, d.Version
	s.Office.Opened = e.Time
	s.voidClaims(e.Time)
	if d.Workers > 0 {
		s.Office.Workers = d.Workers
	}
	s.Office.Writers = d.Writers
	if len(d.Agents) > 0 {
		s.Office.Agents = d.Agents
	}
}

// voidClaims looks at ended tasks too: a run that was never settled there must
// not seem to be held for ever.
func (s *State) voidClaims(at time.Time) {
	for id, t := range s.Tasks {
		held := false
		for _, r := range t.Runs {
			held = held || r.Held
		}
		if !held {
			continue
		}
		t := s.editTask(id)
		for rid, r := range t.Runs {
			if !r.Held {
				continue
			}
			c := *r
			c.Held, c.Worker = false, ""
			t.setRun(&c)
			if sub := t.Subtask(r.Subtask); sub != nil && sub.Status == SubtaskRunning && sub.Current == rid {
				sub = t.editSubtask(sub.ID)
				sub.Status, sub.Times.Updated = SubtaskAssigned, at
			}
		}
	}
}

// Stop freezes the office: no effect is due until Resume.
type Stop struct{ Why string }

func (c Stop) decide(s *State, m Meta) ([]Event, error) {
	if s.Office.Stopped {
		return nil, nil
	}
	return []Event{m.newEvent("", "", "", &OfficeStopped{Why: c.Why})}, nil
}

// OfficeStopped freezes everything.
type OfficeStopped struct {
	Why string `json:"why,omitempty"`
}

var _ = registerKind[OfficeStopped]()

func (*OfficeStopped) Kind() string              { return "office.stopped" }
func (d *OfficeStopped) apply(s *State, _ Event) { s.Office.Stopped = true }

// Resume lifts a stop. The holders of then have released their runs, so a new
// epoch begins.
type Resume struct{}

func (c Resume) decide(s *State, m Meta) ([]Event, error) {
	if !s.Office.Stopped {
		return nil, nil
	}
	return []Event{m.newEvent("", "", "", &OfficeResumed{Epoch: s.Office.Epoch + 1, LastWorked: s.Time})}, nil
}

// OfficeResumed lifts a stop.
type OfficeResumed struct {
	Epoch      uint64    `json:"epoch"`
	LastWorked time.Time `json:"last_worked,omitzero"` // of the newest event before
}

var _ = registerKind[OfficeResumed]()

func (*OfficeResumed) Kind() string { return "office.resumed" }
func (d *OfficeResumed) apply(s *State, e Event) {
	s.addIdle(d.LastWorked, e.Time)
	s.Office.Stopped = false
	s.Office.Epoch, s.Office.Opened = d.Epoch, e.Time
	s.voidClaims(e.Time)
}

// addIdle counts the time from a moment on as idle for each open task. A pause of a task
// counts when it is lifted. The zero time counts nothing.
func (s *State) addIdle(from, to time.Time) {
	for _, id := range s.Open {
		if t := s.Tasks[id]; !from.IsZero() && !t.Paused {
			s.editTask(id).addIdle(from, to)
		}
	}
}

// addIdle counts the time between two moments of the task's life as idle.
func (t *Task) addIdle(from, to time.Time) {
	if from.Before(t.Submitted) {
		from = t.Submitted
	}
	t.Idle += max(0, to.Sub(from))
}

// addWait counts the time in which the task waited for the president alone as idle: from
// its newest event to the answer, where no run was at work. What addIdle counted when the
// office was opened is not counted twice.
func (t *Task) addWait(opened, answered time.Time) {
	for _, r := range t.Runs {
		if r.Held && !r.Waiting {
			return
		}
	}
	from := t.Updated
	if !t.Paused && opened.After(from) {
		from = opened
	}
	t.addIdle(from, answered)
}

// WorkedFor is how long a company worked on a task that has ended.
func (t *Task) WorkedFor() time.Duration { return max(0, t.Ended.Sub(t.Submitted)-t.Idle) }
