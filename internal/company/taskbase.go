package company

import "fmt"

// RecordBase brings in where a task starts from and which gates judge it, as git
// objects say. It is all that planning needs; the image is made meanwhile.
type RecordBase struct {
	Task TaskID
	TaskBased
}

// TaskBased is where a task starts from. It may be recorded anew until the image is
// made, where the president has mended what stood in the way of that.
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

func (c RecordBase) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !t.looksForBase() || s.isWaiting(t) {
		return nil, nil
	}
	return s.decideBase(m, t, c.TaskBased)
}

// decideBase makes the events of a base. A task that needs gates and has none ends.
func (s *State) decideBase(m Meta, t *Task, d TaskBased) ([]Event, error) {
	if !d.Base.OID.Valid() {
		return nil, E(EInternal, "a task without a base")
	}
	if err := refuseProtectedBranch(d.Integration); err != nil {
		return nil, err
	}
	if err := s.checkFollowUpBase(t, &d); err != nil {
		return nil, err
	}
	d.Line = placedLine(d.Line)
	evs := []Event{m.newEvent(t.ID, "", "", &d)}
	if len(d.Gates) == 0 && t.Settings.NoGates == "fail" {
		evs = append(evs, m.newEvent(t.ID, "", "", &TaskFailed{Code: EGates,
			Reason: "no gates were found in the repository and gates.none is fail"}))
	}
	return evs, nil
}

// looksForBase says whether the task's base is to be found, for the first time or again.
func (t *Task) looksForBase() bool { return t.Status == StatusPending || t.BaseMayHaveMoved }

// baseMayMove says whether another base may take the place of the task's: its image is not
// made, and no worker could begin from it.
func (t *Task) baseMayMove() bool {
	return t.Prepared != nil && t.Prepared.Image == "" && t.Early == nil
}

// IsPrepared says whether the image of the task is there, and with it all that its
// containers need.
func (t *Task) IsPrepared() bool { return t.Prepared != nil && t.Prepared.Image != "" }

// startsFrom says whether a preparation is of this base.
func (d *TaskPrepared) startsFrom(b TaskBased) bool {
	return d.Base.OID == b.Base.OID && d.GateHash == b.GateHash && d.Integration == b.Integration
}

func (*TaskBased) Kind() string { return "task.based" }
func (d *TaskBased) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	moved := t.Prepared != nil && t.Prepared.Base.OID != d.Base.OID
	if t.Prepared == nil && len(t.After) > 0 {
		t.Idle = max(t.Idle, e.Time.Sub(t.Submitted)) // it waited for others
	}
	t.Prepared = &TaskPrepared{Base: d.Base, Gates: d.Gates, GateHash: d.GateHash, Integration: d.Integration, Target: d.Target, GateBase: d.GateBase, BesideChecks: d.BesideChecks}
	t.Head = d.Base.OID
	t.BaseMayHaveMoved = false
	delete(t.Failures, "prepare")
	if len(d.Gates) > 0 {
		s.withdrawOpen(t.ID, AskNoGates, baseMoved, e)
		s.forgetLeave(t.ID, e)
	}
	switch {
	case moved: // what was planned on another commit is planned again
		t.Status = StatusDecomposing
		t.Subtasks = nil
		t.Plan.Accepted, t.Plan.Why, t.Plan.Waves, t.Plan.Refused, t.Plan.Problems = "", "", 0, 0, nil
		s.withdrawOpen(t.ID, AskPlan, baseMoved, e)
	case t.Status == StatusPending:
		t.Status = StatusDecomposing
	}
}

// baseMoved is why questions about an older base are void.
const baseMoved = "the base has moved"

// withdrawOpen closes an open question of a kind, which is void for the given reason. It
// can be asked again.
func (s *State) withdrawOpen(id TaskID, kind ApprovalKind, why string, e Event) {
	for _, a := range s.selectApprovals(func(a *Approval) bool { return a.Task == id && a.Kind == kind && a.Open() }) {
		c := *a
		c.Answered, c.Option, c.By = e.Time, withdrawn, why
		s.retireKey(c, e)
	}
}

// withdrawOpenKey closes the open question with a key, if there is one.
func (s *State) withdrawOpenKey(key, why string, e Event) {
	if a := s.Approvals[s.ByKey[key]]; a != nil && a.Open() {
		c := *a
		c.Answered, c.Option, c.By = e.Time, withdrawn, why
		s.retireKey(c, e)
	}
}

// forgetLeave has a leave to go without checks count no more: it was given for a base
// that had none. The answer stays to be read.
func (s *State) forgetLeave(id TaskID, e Event) {
	for _, a := range s.selectApprovals(func(a *Approval) bool { return a.Key == "no_gates "+string(id) && !a.Open() }) {
		s.retireKey(*a, e)
	}
}

// retireKey keeps a question under another key, so that its own can be asked again.
func (s *State) retireKey(a Approval, e Event) {
	s.ownApprovals()
	delete(s.ByKey, a.Key)
	a.Key = fmt.Sprintf("%s until %d", a.Key, e.Seq)
	s.setApproval(&a)
}

// imageDue says whether the image of the task is to be made. A dry run ends with its
// plan and needs none.
func (t *Task) imageDue() bool {
	return t.Prepared != nil && t.Prepared.Image == "" && !t.looksForBase() && !t.DryRun
}

// baselineDue says whether the gates are to be run on the base tree.
func (t *Task) baselineDue() bool {
	return (t.Status == StatusDecomposing || t.Status == StatusExecuting || t.Status == StatusReviewing) && t.IsPrepared() && !t.baselineKnown() && !t.DryRun
}

// baselineKnown says whether it is known what the gates say of the base.
func (t *Task) baselineKnown() bool {
	return t.Prepared != nil && (len(t.Prepared.Gates) == 0 || t.Baseline != nil)
}

// untestedAllowed says whether the task may go on with nothing checked.
func (s *State) untestedAllowed(t *Task) bool {
	return t.Settings.NoGates == "allow" || s.isApproved("no_gates "+string(t.ID))
}

// mayPlan says whether the manager may plan. It needs the base and, where it is known that
// no gate looks at the work, leave; it waits neither for the image nor for the baseline,
// nor for a person who has to mend one of these. Planning that is under way goes on.
func (s *State) mayPlan(t *Task) bool {
	switch {
	case t.Prepared == nil:
		return false
	case t.Plan.Current != "":
		return true
	}
	return (t.hasGates() || s.untestedAllowed(t)) && !t.looksForBase()
}
