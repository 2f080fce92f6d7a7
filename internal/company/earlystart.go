package company

import "time"

// EarlyAfter is how long workers wait for the image with the compiled base, and for the
// verdict on the base, before they begin without.
const EarlyAfter = 20 * time.Second

// earlyAlone is how long the worker of an instruction waits for the verdict on the base. No manager plans
// meanwhile.
const earlyAlone = 2 * time.Second

// WaitForBase is how long the workers of a task wait for the verdict on its base.
func (t *Task) WaitForBase() time.Duration {
	if t.isAlone() {
		return earlyAlone
	}
	return EarlyAfter
}

// StartEarly has the workers of a task begin before the checks have judged its base, since
// that takes long: the base is still being compiled, or the checks still run on it.
type StartEarly struct {
	Task TaskID
	EarlyStart
}

// EarlyStart lets workers begin before the checks have judged their base. No check judges their
// work before that.
type EarlyStart struct {
	// Base is the commit that workers begin from. From then on the base is settled.
	Base OID `json:"base"`
	// Image is the key of an image like the task's own, without the layers that compile
	// the base. Empty: the task's own image is there.
	Image string `json:"image,omitempty"`
}

var _ = registerKind[EarlyStart]()

func (c StartEarly) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Prepared == nil || t.Prepared.Base.OID != c.Base || t.looksForBase() || t.DryRun || t.baselineKnown():
		return nil, nil // too late, or of a base that is no longer the task's
	case t.Early != nil:
		return nil, nil
	case c.Image == "" && !t.IsPrepared():
		return nil, E(EInvalid, "workers would begin without an image")
	}
	return []Event{m.newEvent(t.ID, "", "", &c.EarlyStart)}, nil
}

func (*EarlyStart) Kind() string              { return "task.early_start" }
func (d *EarlyStart) apply(s *State, e Event) { s.editTask(e.Task).Early = d }

// dropImage has the image of the task made anew. Workers that have begun go on in the one that
// they began in.
func (t *Task) dropImage() {
	if t.Early != nil && t.Early.Image == "" {
		t.Early = &EarlyStart{Base: t.Early.Base, Image: t.Prepared.Image}
	}
	p := *t.Prepared
	p.Image, p.ImageLayers = "", nil
	t.Prepared = &p
}

// WorkImage is the key of the image that agents of the task work in.
func (t *Task) WorkImage() string {
	switch {
	case t.IsPrepared():
		return t.Prepared.Image
	case t.Early != nil:
		return t.Early.Image
	}
	return ""
}

// ListImages lists the keys of the images that the task has.
func (t *Task) ListImages() (keys []string) {
	if t.Early != nil && t.Early.Image != "" {
		keys = append(keys, t.Early.Image)
	}
	if t.IsPrepared() {
		keys = append(keys, t.Prepared.Image)
	}
	return keys
}

// mayWork reports whether workers may begin: there is an image, and the base is judged or
// that takes so long that they begin before. Once true of a task, it stays true.
func (s *State) mayWork(t *Task) bool {
	return t.Early != nil && t.WorkImage() != "" || s.mayJudge(t)
}

// mayJudge reports whether work that was handed in may be judged: the image is there, the
// base is judged, and something will judge the work or need not. Once true of a task, it
// stays true.
func (s *State) mayJudge(t *Task) bool {
	return t.IsPrepared() && t.baselineKnown() && (t.hasGates() || s.untestedAllowed(t))
}
