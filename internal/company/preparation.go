package company

import "strings"

// RecordPreparation brings in the image of a task, with the base that it was made for.
// Where the base is not recorded yet it brings in that, too.
type RecordPreparation struct {
	Task TaskID
	TaskPrepared
}

// TaskPrepared is where and with what a task works. It does not change afterwards. In the
// state it has no image until that is made.
type TaskPrepared struct {
	Base     Base          `json:"base"`
	Gates    []GateCommand `json:"gates"`
	GateHash Hash          `json:"gate_hash"`
	// Image is the key of the worker image: a hash of all that goes into it, whichever
	// daemon has it. Older versions wrote the id of one daemon, with sha256: before it.
	Image string `json:"image"`
	// ImageLayers are the layers of the image from the bottom up, each as its kind, = and
	// the first digits of its key. Where the image has to be made again they tell what
	// has changed since. Older versions wrote none.
	ImageLayers []string `json:"image_layers,omitempty"`
	Integration string   `json:"integration"` // name of the integration branch
	Map         Hash     `json:"map,omitempty"`
	// Target is where the pull request's base stands; of follow-ups only,
	// which may have to merge it.
	Target OID `json:"target,omitempty"`
	// GateBase is the commit that the gates and the toolchains were found at; of
	// follow-ups only, which are judged by those of the task that they follow.
	GateBase OID `json:"gate_base,omitempty"`
	// Notes are the project's wishes that the image does not meet, each with a
	// remedy.
	Notes []string `json:"notes,omitempty"`
	// Locks is the base's tree with the lock files that were made for the task, where
	// manifests of the project have none.
	Locks OID `json:"locks,omitempty"`
	BesideChecks
	// Based says that the base was recorded before, by an event of its own.
	Based bool `json:"based,omitempty"`
}

// LockTree is the commit or tree whose lock files say which packages the task has.
func (d *TaskPrepared) LockTree() OID {
	if d.Locks != "" {
		return d.Locks
	}
	return d.Base.OID
}

// GateTree is the commit whose gates and toolchains the task has.
func (d *TaskPrepared) GateTree() OID {
	if d.GateBase != "" {
		return d.GateBase
	}
	return d.Base.OID
}

var _ = registerKind[TaskPrepared]()

func (c RecordPreparation) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if t.IsPrepared() || s.isWaiting(t) {
		return nil, nil
	}
	if !c.Base.OID.Valid() || c.Image == "" {
		return nil, E(EInternal, "a preparation without base or image")
	}
	base := TaskBased{Base: c.Base, Gates: c.Gates, GateHash: c.GateHash, Integration: c.Integration, Target: c.Target, GateBase: c.GateBase, BesideChecks: c.BesideChecks}
	if t.Prepared != nil {
		if !t.imageDue() || !t.Prepared.startsFrom(base) {
			return nil, nil // made for a base that is no longer the task's
		}
		c.GateBase, c.Based = t.Prepared.GateBase, true
		return []Event{m.newEvent(t.ID, "", "", &c.TaskPrepared)}, nil
	}
	evs, err := s.decideBase(m, t, base)
	if err != nil || len(evs) > 1 {
		return evs, err // with more than the base the task has ended
	}
	c.Based = true
	if lead := s.LeadOf(t); lead != t {
		c.GateBase = lead.Prepared.Base.OID
	}
	return append(evs, m.newEvent(t.ID, "", "", &c.TaskPrepared)), nil
}

// Kind makes Prepared the event of its own command.
func (*TaskPrepared) Kind() string { return "task.prepared" }
func (d *TaskPrepared) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Prepared = d
	t.Head = d.Base.OID
	if t.Status == StatusPending { // older versions recorded the base with the image
		t.Status = StatusDecomposing
	}
	delete(t.Failures, "prepare")
}

// refuseProtectedBranch is the core's part of "never main": no decision ever
// names main or master as what work is merged to (REV-1).
func refuseProtectedBranch(branch string) error {
	name := strings.ToLower(strings.TrimPrefix(branch, "refs/heads/"))
	if name == "main" || name == "master" || name == "" {
		return E(EProtected, "work is never merged to "+branch).Fix("git.integration_branch: develop")
	}
	return nil
}
