package company

// Pause and its opposite keep a task from having effects.
type Pause struct {
	Task TaskID
	Off  bool // lift the pause
}

func (c Pause) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if t.Status.Ended() {
		return nil, E(EConflict, string(t.ID)+" has ended already: "+string(t.Status))
	}
	if t.Paused == !c.Off {
		return nil, nil
	}
	return []Event{m.newEvent(t.ID, "", "", &TaskPaused{Paused: !c.Off})}, nil
}

// TaskPaused sets or lifts a pause.
type TaskPaused struct {
	Paused bool `json:"paused"`
}

var _ = registerKind[TaskPaused]()

func (*TaskPaused) Kind() string { return "task.paused" }
func (d *TaskPaused) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Paused = d.Paused
	for id, r := range t.Runs {
		// An item that was leased in vain meanwhile is no longer on the queue.
		if !d.Paused && !r.Held && !r.Ended && r.Offered != 0 {
			c := *r
			c.Offered = 0
			t.Runs[id] = &c
		}
	}
}
