package company

import (
	"maps"
	"slices"
	"time"
)

// State is the state of the whole company, as its events made it. It is a plain value that marshals to JSON (the
// snapshot). Only Apply changes it. Tasks are replaced and never changed in place, so a *Task that a caller has read
// never changes.
type State struct {
	Seq             uint64                     `json:"seq"`
	Time            time.Time                  `json:"time"`
	Office          Office                     `json:"office"`
	Tasks           map[TaskID]*Task           `json:"tasks"`
	Open            []TaskID                   `json:"open"` // tasks that have not ended, oldest first
	LastTask        int                        `json:"last_task"`
	SkippedTasks    int                        `json:"skipped_tasks,omitempty"` // unused numbers up to LastTask
	Past            map[TaskID]*PastTask       `json:"past"`                    // summaries of archived tasks
	PastProjects    map[string]ProjectUse      `json:"past_projects"`           // projects of archived tasks, by id
	Approvals       map[ApprovalID]*Approval   `json:"approvals"`               // of tasks that are not archived
	ByKey           map[string]ApprovalID      `json:"approvals_by_key"`
	LastApproval    int                        `json:"last_approval"`
	LastPR          int                        `json:"last_pr"`
	Commands        map[string]TaskID          `json:"commands"`      // submit is idempotent by command id
	CommandOrder    []string                   `json:"command_order"` // keys of Commands, oldest first
	GateResults     map[string]GateResult      `json:"verdicts"`      // by GateKey: the cache of gate results
	GateResultOrder []string                   `json:"judged"`        // keys of GateResults, oldest first
	KnownProjects   map[string]ProjectRegistry `json:"known"`         // projects that a person added or removed, by id
	Spending        OfficeSpending             `json:"spending"`      // of all tasks together

	shared sharedMaps // marks the maps that a view holds too
	edited []*Task    // tasks that the current event has copied for editing

	options OptionTable // nil means the standard options
}

// sharedMaps marks the maps of a state that others may be reading. apply copies such a map before it writes to it. Most
// events write to the tasks only.
type sharedMaps struct{ tasks, past, approvals, commands, results, projects bool }

var allShared = sharedMaps{true, true, true, true, true, true}

// maxVerdicts limits the cache of gate results. A tree is usually gated again and merged within minutes. More entries
// would only make copies of the state slower.
const maxVerdicts = 256

// cacheResult adds a gate result to the cache. A result of a first step is skipped: it does not cover the whole tree.
func (s *State) cacheResult(gateResult GateResult) {
	if gateResult.isPart() {
		return
	}
	ownMap(&s.GateResults, &s.shared.results)
	key := GateKey(gateResult.Tree, gateResult.GateHash, gateResult.Image)
	if _, known := s.GateResults[key]; !known {
		if len(s.GateResultOrder) >= maxVerdicts {
			delete(s.GateResults, s.GateResultOrder[0])
			s.GateResultOrder = s.GateResultOrder[1:]
		}
		s.GateResultOrder = append(s.GateResultOrder, key)
	}
	s.GateResults[key] = gateResult
}

// NewState returns the state of a company before its first event.
func NewState() *State {
	return &State{
		Tasks: map[TaskID]*Task{}, Past: map[TaskID]*PastTask{}, PastProjects: map[string]ProjectUse{},
		Approvals: map[ApprovalID]*Approval{}, ByKey: map[string]ApprovalID{},
		Commands: map[string]TaskID{}, GateResults: map[string]GateResult{}, KnownProjects: map[string]ProjectRegistry{},
	}
}

// View returns a read-only copy of the state that later events do not change. It shares the maps of the state until
// apply writes to them.
func (s *State) View() *State {
	if s.shared != allShared { // checked first, since a view of a view may be made concurrently
		s.shared = allShared
	}
	state := *s
	// These slices are never changed in place.
	state.Open = slices.Clip(s.Open)
	state.GateResultOrder = slices.Clip(s.GateResultOrder)
	state.CommandOrder = slices.Clip(s.CommandOrder)
	return &state
}

// trialCopy returns a copy of the state to try events on. The original is not affected. The copy is valid until the
// original changes.
func (s *State) trialCopy() *State {
	state := *s
	state.shared = allShared
	state.Open = slices.Clip(s.Open)
	return &state
}

// ownMap clones a map if it is shared, so that the caller may write to it.
func ownMap[K comparable, V any](m *map[K]V, shared *bool) {
	if *shared {
		*m, *shared = maps.Clone(*m), false
	}
}

func (s *State) setTask(task *Task) {
	ownMap(&s.Tasks, &s.shared.tasks)
	s.Tasks[task.ID] = task
}

// setApproval stores an approval by its id and by its key.
func (s *State) setApproval(approval *Approval) {
	s.ownApprovals()
	s.Approvals[approval.ID], s.ByKey[approval.Key] = approval, approval.ID
}

func (s *State) ownApprovals() {
	if s.shared.approvals {
		s.Approvals = maps.Clone(s.Approvals)
		s.ByKey = maps.Clone(s.ByKey)
		s.shared.approvals = false
	}
}

// ownPast clones the maps of archived tasks if they are shared.
func (s *State) ownPast() {
	if s.shared.past {
		s.Past = maps.Clone(s.Past)
		s.PastProjects = maps.Clone(s.PastProjects)
		s.shared.past = false
	}
}

// maxCommands limits how many submissions are remembered by command id. The ledger recognises a repeated command even
// without this entry.
const maxCommands = 4096

// noteCommand records the task that a submission created.
func (s *State) noteCommand(id string, taskID TaskID) {
	ownMap(&s.Commands, &s.shared.commands)
	if _, known := s.Commands[id]; !known {
		if len(s.CommandOrder) >= maxCommands {
			delete(s.Commands, s.CommandOrder[0])
			s.CommandOrder = s.CommandOrder[1:]
		}
		s.CommandOrder = append(s.CommandOrder, id)
	}
	s.Commands[id] = taskID
}

// Task returns a task. An unknown or archived task is an ENotFound error.
func (s *State) Task(id TaskID) (*Task, error) {
	if t := s.Tasks[id]; t != nil {
		return t, nil
	}
	return nil, E(ENotFound, "there is no task "+string(id)).Fix("company status lists the tasks of this office")
}

// editTask replaces the task with a copy that apply may change, and returns the copy. Change its subtasks and runs only
// through editSubtask and setRun.
func (s *State) editTask(id TaskID) *Task {
	task := s.Tasks[id].cloneForEdit()
	s.setTask(task)
	s.edited = append(s.edited, task)
	return task
}

// endEdits ends an event's edits: from now on, readers share the parts of the edited tasks.
func (s *State) endEdits() {
	for _, t := range s.edited {
		t.own = ownedParts{}
	}
	s.edited = nil
}

// Office is the part of the state that belongs to the office itself.
type Office struct {
	ID           string `json:"id"`    // four base32 letters
	Epoch        uint64 `json:"epoch"` // increases with every start; claims of an older epoch are void
	Stopped      bool   `json:"stopped"`
	Version      string `json:"version,omitempty"`
	Workers      int    `json:"workers,omitempty"` // requested by the config at the newest start
	AddedWorkers int    `json:"hired,omitempty"`   // difference from Workers
	// Writers limits the runs of workers and mergers in one project. Zero means as many as there are workers.
	Writers int `json:"writers,omitempty"`

	Unwritten []UnwrittenFile `json:"unwritten,omitempty"` // the office's files that are missing or out of date
	// Leftovers of tasks that ended before Cleaned are removed, unless the pull request was open. Zero means that no
	// cleanup ran yet.
	Cleaned time.Time `json:"cleaned,omitzero"`
	// Opened is the time at which the office was last opened, or resumed after a stop.
	Opened time.Time `json:"opened,omitzero"`
	// Agents holds the models of the newest config. Empty means that no event recorded them.
	Agents []AgentModels `json:"agents,omitempty"`
}

// StartOffice opens the office. It is the first command of every process that holds the office's lock.
type StartOffice struct {
	Office  string
	Version string
	Workers int // from the config; 0 means unknown
	Writers int // from the config: see Office
	// Wall is the wall clock's time where it differs from the office's time. Zero means that it is unknown or the same.
	Wall time.Time
	// LastWorked is the last time at which the previous process is known to have worked. Zero means unknown.
	LastWorked time.Time
	Agents     []AgentModels // from the config; empty means unknown
	// Takeover describes the process from which the office was taken over. Nil means that the office was free.
	Takeover *Takeover
}

// Takeover describes a process that held the office without beating or answering, and was killed for that (STA-17).
type Takeover struct {
	PID    int           `json:"pid"`
	Silent time.Duration `json:"silent"` // time since its last heartbeat
}

func (c StartOffice) decide(state *State, meta Meta) ([]Event, error) {
	if state.Office.ID != "" && state.Office.ID != c.Office {
		return nil, E(ELedger, "this ledger belongs to office "+state.Office.ID+", not to "+c.Office)
	}
	first := &OfficeStarted{Office: c.Office, Epoch: state.Office.Epoch + 1, Version: c.Version, Workers: c.Workers,
		Writers: c.Writers, Wall: c.Wall, LastWorked: c.LastWorked, Held: state.heldUntil(c.LastWorked),
		Takeover: c.Takeover}
	if len(state.Office.Agents) == 0 {
		first.Agents = c.Agents
	}
	events := []Event{meta.newEvent("", "", "", first)}
	if first.Agents != nil {
		return events, nil
	}
	changed, err := NoteAgents{Agents: c.Agents}.decide(state, meta)
	return append(events, changed...), err
}

// heldUntil returns for each held run how long its holder had it, if the holder worked until the given time at most. It
// returns nil if that time is unknown.
func (s *State) heldUntil(worked time.Time) map[RunID]time.Duration {
	var held map[RunID]time.Duration
	for _, task := range s.Tasks {
		for id, run := range task.Runs {
			if d := worked.Sub(run.Claimed); run.Held && d > 0 {
				if held == nil {
					held = map[RunID]time.Duration{}
				}
				held[id] = d
			}
		}
	}
	return held
}

// OfficeStarted voids every claim, since the holders belonged to a process that is gone. The runs themselves continue
// under their own ids.
type OfficeStarted struct {
	Office  string `json:"office"`
	Epoch   uint64 `json:"epoch"`
	Version string `json:"version,omitempty"`
	Workers int    `json:"workers,omitempty"`
	Writers int    `json:"writers,omitempty"`
	// Wall is the wall clock's time where it differs from the event's own time. It is for readers of the ledger: no
	// decision uses it.
	Wall time.Time `json:"wall,omitzero"`
	// LastWorked is the last time at which the previous process is known to have worked. Zero means unknown.
	LastWorked time.Time `json:"last_worked,omitzero"`
	// Held says how long the runs whose claims it voids were held. It lacks runs for which that is unknown.
	Held map[RunID]time.Duration `json:"held,omitempty"`
	// Agents holds the models of the config if no earlier event recorded any.
	Agents []AgentModels `json:"agents,omitempty"`
	// Takeover describes the process from which the office was taken over, if any.
	Takeover *Takeover `json:"takeover,omitempty"`
}

var _ = registerKind[OfficeStarted]()

func (*OfficeStarted) Kind() string { return "office.started" }
func (d *OfficeStarted) apply(state *State, event Event) {
	state.addIdle(d.LastWorked, event.Time)
	state.Office.ID = d.Office
	state.Office.Epoch = d.Epoch
	state.Office.Version = d.Version
	state.Office.Opened = event.Time
	state.voidClaims(event.Time, d.Held)
	if d.Workers > 0 {
		state.Office.Workers = d.Workers
	}
	state.Office.Writers = d.Writers
	if len(d.Agents) > 0 {
		state.Office.Agents = d.Agents
	}
}

// voidClaims releases all held runs. It includes ended tasks: an unsettled run there must not look held forever.
// heldFor says how long their holders had them.
func (s *State) voidClaims(at time.Time, heldFor map[RunID]time.Duration) {
	for id, task := range s.Tasks {
		held := false
		for _, r := range task.Runs {
			held = held || r.Held
		}
		if !held {
			continue
		}
		t := s.editTask(id)
		for rid, run := range t.Runs {
			if !run.Held {
				continue
			}
			c := *run
			c.Held, c.Worker = false, ""
			c.Earlier += heldFor[rid]
			t.setRun(&c)
			if sub := t.Subtask(run.Subtask); sub != nil && sub.Status == SubtaskRunning && sub.Current == rid {
				sub = t.editSubtask(sub.ID)
				sub.Status, sub.Times.Updated = SubtaskAssigned, at
			}
		}
	}
}

// Stop freezes the office: no effect is due until Resume.
type Stop struct{ Why string }

func (c Stop) decide(s *State, meta Meta) ([]Event, error) {
	if s.Office.Stopped {
		return nil, nil
	}
	return []Event{meta.newEvent("", "", "", &OfficeStopped{Why: c.Why})}, nil
}

// OfficeStopped freezes the office.
type OfficeStopped struct {
	Why string `json:"why,omitempty"`
}

var _ = registerKind[OfficeStopped]()

func (*OfficeStopped) Kind() string              { return "office.stopped" }
func (d *OfficeStopped) apply(s *State, _ Event) { s.Office.Stopped = true }

// Resume ends a stop. The holders from before the stop have released their runs, so a new epoch begins.
type Resume struct{}

func (c Resume) decide(state *State, meta Meta) ([]Event, error) {
	if !state.Office.Stopped {
		return nil, nil
	}
	return []Event{meta.newEvent("", "", "", &OfficeResumed{Epoch: state.Office.Epoch + 1, LastWorked: state.Time})}, nil
}

// OfficeResumed ends a stop.
type OfficeResumed struct {
	Epoch      uint64    `json:"epoch"`
	LastWorked time.Time `json:"last_worked,omitzero"` // time of the newest event before
}

var _ = registerKind[OfficeResumed]()

func (*OfficeResumed) Kind() string { return "office.resumed" }
func (d *OfficeResumed) apply(state *State, event Event) {
	state.addIdle(d.LastWorked, event.Time)
	state.Office.Stopped = false
	state.Office.Epoch, state.Office.Opened = d.Epoch, event.Time
	state.voidClaims(event.Time, nil)
}

// addIdle counts the time between from and to as idle for each open task that is not paused. The time of a pause is
// counted when the pause ends. A zero from counts as no time.
func (s *State) addIdle(from, to time.Time) {
	for _, id := range s.Open {
		if t := s.Tasks[id]; !from.IsZero() && !t.Paused {
			s.editTask(id).addIdle(from, to)
		}
	}
}

// addIdle counts the time between from and to as idle, but no time before the task was submitted.
func (t *Task) addIdle(from, to time.Time) {
	if from.Before(t.Submitted) {
		from = t.Submitted
	}
	t.Idle += max(0, to.Sub(from))
}

// addWait counts the time in which the task waited only for the president as idle: from its newest event to the answer.
// It counts no time while a run was at work. Time that addIdle counted when the office was opened is not counted twice.
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

// WorkedFor returns how long the company worked on an ended task: its duration without idle time.
func (t *Task) WorkedFor() time.Duration { return max(0, t.Ended.Sub(t.Submitted)-t.Idle) }
