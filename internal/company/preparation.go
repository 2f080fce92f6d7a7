package company

import "strings"

// RecordPreparation records the image of a task and the base that it was built for. If the base is not recorded yet, it
// records the base too.
type RecordPreparation struct {
	Task TaskID
	TaskPrepared
}

// TaskPrepared holds the base, gates and image of a task. It does not change afterwards. The state has it without an
// image until the image is built.
type TaskPrepared struct {
	Base     Base          `json:"base"`
	Gates    []GateCommand `json:"gates"`
	GateHash Hash          `json:"gate_hash"`
	// Image is the key of the worker image: a hash of all its inputs. The key does not depend on the daemon that has the
	// image.
	Image string `json:"image"`
	// ImageLayers lists the layers of the image from the bottom up, each as kind=key with only the first digits of the
	// key. If the image must be rebuilt, they show which layers have changed.
	ImageLayers []string `json:"image_layers,omitempty"`
	Integration string   `json:"integration"` // name of the integration branch
	Map         Hash     `json:"map,omitempty"`
	// Target is the present commit of the pull request's base. Only follow-ups have it, because they may have to merge it.
	Target OID `json:"target,omitempty"`
	// GateBase is the commit at which the gates and toolchains were found. Only follow-ups have it, because they use the
	// gates of the task that they follow.
	GateBase OID `json:"gate_base,omitempty"`
	// Notes lists requirements of the project that the image does not meet, each with a remedy.
	Notes []string `json:"notes,omitempty"`
	// Locks is the base's tree with the lock files that were generated for the task, if manifests of the project have
	// none.
	Locks OID `json:"locks,omitempty"`
	BesideChecks
	// Based means that an earlier event recorded the base.
	Based bool `json:"based,omitempty"`
}

// LockTree returns the commit or tree whose lock files define the task's packages.
func (d *TaskPrepared) LockTree() OID {
	if d.Locks != "" {
		return d.Locks
	}
	return d.Base.OID
}

// GateTree returns the commit that defines the task's gates and toolchains.
func (d *TaskPrepared) GateTree() OID {
	if d.GateBase != "" {
		return d.GateBase
	}
	return d.Base.OID
}

var _ = registerKind[TaskPrepared]()

func (c RecordPreparation) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if task.IsPrepared() || state.isWaiting(task) {
		return nil, nil
	}
	if !c.Base.OID.Valid() || c.Image == "" {
		return nil, E(EInternal, "the preparation has no base or no image")
	}
	base := TaskBased{Base: c.Base, Gates: c.Gates, GateHash: c.GateHash, Integration: c.Integration, Target: c.Target,
		GateBase: c.GateBase, BesideChecks: c.BesideChecks}
	if task.Prepared != nil {
		if !task.imageDue() || !task.Prepared.startsFrom(base) {
			return nil, nil // built for a base that is no longer the task's
		}
		c.GateBase, c.Based = task.Prepared.GateBase, true
		return []Event{meta.newEvent(task.ID, "", "", &c.TaskPrepared)}, nil
	}
	evs, err := state.decideBase(meta, task, base)
	if err != nil || len(evs) > 1 {
		return evs, err // a second event means that the task has ended
	}
	c.Based = true
	if lead := state.LeadOf(task); lead != task {
		c.GateBase = lead.Prepared.Base.OID
	}
	return append(evs, meta.newEvent(task.ID, "", "", &c.TaskPrepared)), nil
}

// Kind names the event, which has the same type as its command's content.
func (*TaskPrepared) Kind() string { return "task.prepared" }
func (d *TaskPrepared) apply(s *State, e Event) {
	task := s.editTask(e.Task)
	task.Prepared = d
	task.Head = d.Base.OID
	if task.Status == StatusPending { // the event contains the base too
		task.Status = StatusDecomposing
	}
	delete(task.Failures, "prepare")
}

// refuseProtectedBranch refuses a protected or empty name as a branch to merge work to. It is the core's part of the
// rule "never main" (REV-1): no decision may name such a branch.
func refuseProtectedBranch(branch string) error {
	if strings.TrimPrefix(branch, "refs/heads/") == "" || IsProtectedBranch(branch) {
		return E(EProtected, "the company never merges into "+branch).Fix("git.integration_branch: develop")
	}
	return nil
}
