package company

import "time"

// EarlyAfter is how long workers wait for the image with the compiled base, and for the baseline, before they begin
// without them.
const EarlyAfter = 20 * time.Second

// earlyAlone is how long the worker of a whole instruction waits for the baseline. It is shorter because no manager
// plans meanwhile.
const earlyAlone = 2 * time.Second

// WaitForBase returns how long the workers of a task wait for its baseline.
func (t *Task) WaitForBase() time.Duration {
	if t.isAlone() {
		return earlyAlone
	}
	return EarlyAfter
}

// StartEarly lets the workers of a task begin before its baseline is known, because that takes long: the base is still
// being compiled, or the checks still run on it.
type StartEarly struct {
	Task TaskID
	EarlyStart
}

// EarlyStart lets workers begin before the baseline is known. No check judges their work before that.
type EarlyStart struct {
	// Base is the commit that workers begin from. The base no longer changes from then on.
	Base OID `json:"base"`
	// Image is the key of an image like the task's own, without the layers that compile the base. Empty means that the
	// task's own image exists.
	Image string `json:"image,omitempty"`
}

var _ = registerKind[EarlyStart]()

func (c StartEarly) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	switch {
	case task.Prepared == nil || task.Prepared.Base.OID != c.Base || task.looksForBase() || task.DryRun ||
		task.baselineKnown():
		return nil, nil // too late, or for a base that is no longer the task's
	case task.Early != nil:
		return nil, nil
	case c.Image == "" && !task.IsPrepared():
		return nil, E(EInvalid, "workers would begin without an image")
	}
	return []Event{meta.newEvent(task.ID, "", "", &c.EarlyStart)}, nil
}

func (*EarlyStart) Kind() string              { return "task.early_start" }
func (d *EarlyStart) apply(s *State, e Event) { s.editTask(e.Task).Early = d }

// dropImage discards the image of the task, so that it is rebuilt. Workers that have begun keep the image that they
// began in.
func (t *Task) dropImage() {
	if t.Early != nil && t.Early.Image == "" {
		t.Early = &EarlyStart{Base: t.Early.Base, Image: t.Prepared.Image}
	}
	taskPrepared := *t.Prepared
	taskPrepared.Image, taskPrepared.ImageLayers = "", nil
	t.Prepared = &taskPrepared
}

// WorkImage returns the key of the image that agents of the task work in, or "" if there is none.
func (t *Task) WorkImage() string {
	switch {
	case t.IsPrepared():
		return t.Prepared.Image
	case t.Early != nil:
		return t.Early.Image
	}
	return ""
}

// ListImages returns the keys of the images that the task has.
func (t *Task) ListImages() (keys []string) {
	if t.Early != nil && t.Early.Image != "" {
		keys = append(keys, t.Early.Image)
	}
	if t.IsPrepared() {
		keys = append(keys, t.Prepared.Image)
	}
	return keys
}

// mayWork reports whether workers may begin: there is an image, and either the baseline is known or an early start is
// recorded. Once true for a task, it stays true.
func (s *State) mayWork(t *Task) bool {
	return t.Early != nil && t.WorkImage() != "" || s.mayJudge(t)
}

// mayJudge reports whether submitted work may be checked: the image exists, the baseline is known, and the task has
// gates or may go without. Once true for a task, it stays true.
func (s *State) mayJudge(t *Task) bool {
	return t.IsPrepared() && t.baselineKnown() && (t.hasGates() || s.untestedAllowed(t))
}
