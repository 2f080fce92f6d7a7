package company

import "time"

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
		return nil, E(EConflict, string(t.ID)+" has ended already: "+t.Status.Text())
	}
	var evs []Event
	if t.Paused == c.Off {
		d := &TaskPaused{Paused: !c.Off}
		if c.Off {
			d.LastWorked = t.Updated
		}
		evs = append(evs, m.newEvent(t.ID, "", "", d))
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
	// LastWorked is when the task last changed before a pause was lifted; zero: it is
	// not known, as in events of older versions.
	LastWorked time.Time `json:"last_worked,omitzero"`
}

var _ = registerKind[TaskPaused]()

func (*TaskPaused) Kind() string { return "task.paused" }
func (d *TaskPaused) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Paused = d.Paused
	if !d.LastWorked.IsZero() {
		t.addIdle(d.LastWorked, e.Time)
	}
	if !d.Paused {
		t.withdrawOffers(func(*Run) bool { return true })
	}
}
