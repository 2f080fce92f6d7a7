package company

// PauseSubtask and its opposite keep one subtask from having effects: no run of it is
// offered or claimed, one that is held comes to the end of its turn, and it is neither
// checked, reviewed nor merged. The others of its task go on.
type PauseSubtask struct {
	Subtask SubtaskID
	Off     bool // lift the pause
}

func (c PauseSubtask) decide(s *State, m Meta) ([]Event, error) {
	t, sub, err := s.findSubtask(c.Subtask)
	if err != nil {
		return nil, err
	}
	show := "company show " + string(t.ID)
	switch {
	case t.Status.Ended():
		return nil, E(EConflict, string(t.ID)+" has ended already: "+t.Status.Text()).Fix(show)
	case sub.Status.Ended():
		return nil, E(EConflict, string(sub.ID)+" has ended already: it is "+sub.describeStanding()).Fix(show)
	case sub.Paused == !c.Off:
		return nil, nil
	case !c.Off && t.isMerging(sub.ID):
		return nil, E(EConflict, string(sub.ID)+" is being merged at this moment").Because("its branch may have moved already").Fix(show)
	}
	return []Event{m.newEvent(t.ID, sub.ID, "", &SubtaskPaused{Paused: !c.Off})}, nil
}

// SubtaskPaused sets or lifts the pause of one subtask.
type SubtaskPaused struct {
	Paused bool `json:"paused"`
}

var _ = registerKind[SubtaskPaused]()

func (*SubtaskPaused) Kind() string { return "subtask.paused" }
func (d *SubtaskPaused) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.editSubtask(e.Subtask).Paused = d.Paused
	if !d.Paused {
		t.withdrawOffers(func(r *Run) bool { return r.Subtask == e.Subtask })
	}
}

// withdrawOffers has runs offered anew that were on offer during a pause: an item that
// was leased in vain meanwhile is no longer on the queue.
func (t *Task) withdrawOffers(of func(*Run) bool) {
	for _, r := range t.Runs {
		if of(r) && !r.Held && !r.Ended && r.Offered != 0 {
			c := *r
			c.Offered = 0
			t.setRun(&c)
		}
	}
}

// isPaused says whether runs of a subtask rest: by its own pause, or by that of its
// task. Without a subtask it is the task's own.
func (t *Task) isPaused(id SubtaskID) bool {
	sub := t.Subtask(id)
	return t.Paused || sub != nil && sub.Paused
}

// PausedSubtasks lists the subtasks that are paused by themselves.
func (t *Task) PausedSubtasks() []SubtaskID {
	var out []SubtaskID
	for _, sub := range t.Subtasks {
		if sub.Paused {
			out = append(out, sub.ID)
		}
	}
	return out
}
