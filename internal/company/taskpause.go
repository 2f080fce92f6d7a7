package company

// Pause and its opposite keep a task from having effects. To lift it lifts the pauses
// of its subtasks, too.
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
	var evs []Event
	if t.Paused == c.Off {
		evs = append(evs, m.newEvent(t.ID, "", "", &TaskPaused{Paused: !c.Off}))
	}
	if c.Off {
		for _, id := range t.PausedSubtasks() {
			evs = append(evs, m.newEvent(t.ID, id, "", &SubtaskPaused{}))
		}
	}
	return evs, nil
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
	if !d.Paused {
		t.withdrawOffers(func(*Run) bool { return true })
	}
}
