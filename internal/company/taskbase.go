package company

import "fmt"

// RecordBase records the base of a task and its gates, according to git objects. Planning needs no more than that, and
// the image is built meanwhile.
type RecordBase struct {
	Task TaskID
	TaskBased
}

// TaskBased records the base of a task. It may be recorded again until the image is built, if the president fixed a
// problem that prevented the image.
type TaskBased struct {
	Base        Base          `json:"base"`
	Gates       []GateCommand `json:"gates"`
	GateHash    Hash          `json:"gate_hash"`
	Integration string        `json:"integration"`
	Target      OID           `json:"target,omitempty"`    // as in TaskPrepared
	GateBase    OID           `json:"gate_base,omitempty"` // as in TaskPrepared
	BesideChecks
}

var _ = registerKind[TaskBased]()

func (c RecordBase) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !task.looksForBase() || state.isWaiting(task) {
		return nil, nil
	}
	return state.decideBase(meta, task, c.TaskBased)
}

// decideBase returns the events of a base. A task that requires gates but has none fails.
func (s *State) decideBase(meta Meta, task *Task, taskBased TaskBased) ([]Event, error) {
	if !taskBased.Base.OID.Valid() {
		return nil, E(EInternal, "the task has no base")
	}
	if err := refuseProtectedBranch(taskBased.Integration); err != nil {
		return nil, err
	}
	if err := s.checkFollowUpBase(task, &taskBased); err != nil {
		return nil, err
	}
	taskBased.Line = placedLine(taskBased.Line)
	evs := []Event{meta.newEvent(task.ID, "", "", &taskBased)}
	if len(taskBased.Gates) == 0 && task.Settings.NoGates == "fail" {
		evs = append(evs, meta.newEvent(task.ID, "", "", &TaskFailed{Code: EGates,
			Reason: "no gates were found in the repository and gates.none is fail"}))
	}
	return evs, nil
}

// looksForBase reports whether the task's base must be looked up, for the first time or again.
func (t *Task) looksForBase() bool { return t.Status == StatusPending || t.BaseMayHaveMoved }

// IsPrepared reports whether the image of the task exists, with everything that its containers need.
func (t *Task) IsPrepared() bool { return t.Prepared != nil && t.Prepared.Image != "" }

// dropImage discards the image of the task, so that it is rebuilt.
func (t *Task) dropImage() {
	taskPrepared := *t.Prepared
	taskPrepared.Image, taskPrepared.ImageLayers = "", nil
	t.Prepared = &taskPrepared
}

// startsFrom reports whether a preparation is for this base.
func (d *TaskPrepared) startsFrom(b TaskBased) bool {
	return d.Base.OID == b.Base.OID && d.GateHash == b.GateHash && d.Integration == b.Integration
}

func (*TaskBased) Kind() string { return "task.based" }
func (d *TaskBased) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	moved := task.Prepared != nil && task.Prepared.Base.OID != d.Base.OID
	if task.Prepared == nil && len(task.After) > 0 {
		task.Idle = max(task.Idle, event.Time.Sub(task.Submitted)) // it waited for other tasks
	}
	task.Prepared = &TaskPrepared{Base: d.Base, Gates: d.Gates, GateHash: d.GateHash, Integration: d.Integration,
		Target: d.Target, GateBase: d.GateBase, BesideChecks: d.BesideChecks}
	task.Head = d.Base.OID
	task.BaseMayHaveMoved = false
	delete(task.Failures, "prepare")
	if len(d.Gates) > 0 {
		state.withdrawOpen(task.ID, AskNoGates, baseMoved, event)
		state.forgetLeave(task.ID, event)
	}
	switch {
	case moved: // a plan for another commit is void, so plan again
		task.Status = StatusDecomposing
		task.Subtasks = nil
		task.Plan.Accepted = ""
		task.Plan.Why = ""
		task.Plan.Waves = 0
		task.Plan.Refused = 0
		task.Plan.Problems = nil
		state.withdrawOpen(task.ID, AskPlan, baseMoved, event)
	case task.Status == StatusPending:
		task.Status = StatusDecomposing
	}
}

// baseMoved is the reason why questions about an older base are void.
const baseMoved = "the base has moved"

// withdrawOpen closes the open questions of a kind for the given reason. They can be asked again.
func (s *State) withdrawOpen(id TaskID, kind ApprovalKind, reason string, event Event) {
	for _, a := range s.selectApprovals(func(a *Approval) bool { return a.Task == id && a.Kind == kind && a.Open() }) {
		approval := *a
		approval.Answered = event.Time
		approval.Option = withdrawn
		approval.By = reason
		s.retireKey(approval, event)
	}
}

// withdrawOpenKey closes the open question with a key, if there is one.
func (s *State) withdrawOpenKey(key, reason string, event Event) {
	if a := s.Approvals[s.ByKey[key]]; a != nil && a.Open() {
		approval := *a
		approval.Answered = event.Time
		approval.Option = withdrawn
		approval.By = reason
		s.retireKey(approval, event)
	}
}

// forgetLeave voids the permission to work without checks: it was given for a base that had none. The answer stays
// readable.
func (s *State) forgetLeave(id TaskID, event Event) {
	for _, a := range s.selectApprovals(func(a *Approval) bool { return a.Key == "no_gates "+string(id) && !a.Open() }) {
		s.retireKey(*a, event)
	}
}

// retireKey stores a question under another key, so that its own key can be asked again.
func (s *State) retireKey(approval Approval, event Event) {
	s.ownApprovals()
	delete(s.ByKey, approval.Key)
	approval.Key = fmt.Sprintf("%s until %d", approval.Key, event.Seq)
	s.setApproval(&approval)
}

// imageDue reports whether the image of the task must be built. A dry run ends with its plan and needs none.
func (t *Task) imageDue() bool {
	return t.Prepared != nil && t.Prepared.Image == "" && !t.looksForBase() && !t.DryRun
}

// baselineDue reports whether the gates must run on the base tree.
func (t *Task) baselineDue() bool {
	return (t.Status == StatusDecomposing || t.Status == StatusExecuting || t.Status == StatusReviewing) &&
		t.IsPrepared() && !t.baselineKnown() && !t.DryRun
}

// baselineKnown reports whether the result of the gates on the base is known.
func (t *Task) baselineKnown() bool {
	return t.Prepared != nil && (len(t.Prepared.Gates) == 0 || t.Baseline != nil)
}

// mayWork reports whether workers may begin: the image exists, the baseline is known, and the task has gates or may go
// without. Once true for a task, it stays true.
func (s *State) mayWork(t *Task) bool {
	return t.IsPrepared() && t.baselineKnown() && (t.hasGates() || s.untestedAllowed(t))
}

// untestedAllowed reports whether the task may continue without any check.
func (s *State) untestedAllowed(t *Task) bool {
	return t.Settings.NoGates == "allow" || s.isApproved("no_gates "+string(t.ID))
}

// mayPlan reports whether the manager may plan. It needs the base. If it is known that no gate checks the work, it also
// needs permission. It does not wait for the image or the baseline, nor for a person to fix one of these. Planning in
// progress continues.
func (s *State) mayPlan(task *Task) bool {
	switch {
	case task.Prepared == nil:
		return false
	case task.Plan.Current != "":
		return true
	}
	return (task.hasGates() || s.untestedAllowed(task)) && !task.looksForBase()
}
