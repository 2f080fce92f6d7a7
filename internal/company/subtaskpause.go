package company

// PauseSubtask pauses one subtask or ends its pause. While paused, no run of it is offered or claimed, and a held run
// only finishes its turn. The subtask is not checked, reviewed or merged. The other subtasks of its task continue.
type PauseSubtask struct {
	Subtask SubtaskID
	Off     bool // end the pause
}

func (c PauseSubtask) decide(s *State, meta Meta) ([]Event, error) {
	task, sub, err := s.findSubtask(c.Subtask)
	if err != nil {
		return nil, err
	}
	show := "company show " + string(task.ID)
	switch {
	case task.Status.Ended():
		return nil, E(EConflict, string(task.ID)+" has ended already: "+task.Status.Text()).Fix(show)
	case sub.Status.Ended():
		return nil, E(EConflict, string(sub.ID)+" has ended already: it is "+sub.describeStanding()).Fix(show)
	case sub.Paused == !c.Off:
		return nil, nil
	case !c.Off && task.isMerging(sub.ID):
		return nil, E(EConflict, string(sub.ID)+" is being merged").
			Because("its branch may have moved already").Fix(show)
	}
	return []Event{meta.newEvent(task.ID, sub.ID, "", &SubtaskPaused{Paused: !c.Off})}, nil
}

// SubtaskPaused starts or ends the pause of one subtask.
type SubtaskPaused struct {
	Paused bool `json:"paused"`
}

var _ = registerKind[SubtaskPaused]()

func (*SubtaskPaused) Kind() string { return "subtask.paused" }
func (d *SubtaskPaused) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	task.editSubtask(event.Subtask).Paused = d.Paused
	if !d.Paused {
		task.withdrawOffers(func(r *Run) bool { return r.Subtask == event.Subtask })
	}
}

// withdrawOffers withdraws the offers of runs after a pause, so that they are offered again. A worker may have taken
// their queue items in vain meanwhile.
func (t *Task) withdrawOffers(of func(*Run) bool) {
	for _, run := range t.Runs {
		if of(run) && !run.Held && !run.Ended && run.Offered != 0 {
			c := *run
			c.Offered = 0
			t.setRun(&c)
		}
	}
}

// isPaused reports whether a subtask's runs are paused, by its own pause or that of its task. For an empty id it only
// checks the task.
func (t *Task) isPaused(id SubtaskID) bool {
	sub := t.Subtask(id)
	return t.Paused || sub != nil && sub.Paused
}

// PausedSubtasks returns the subtasks that are paused themselves.
func (t *Task) PausedSubtasks() []SubtaskID {
	var out []SubtaskID
	for _, sub := range t.Subtasks {
		if sub.Paused {
			out = append(out, sub.ID)
		}
	}
	return out
}
