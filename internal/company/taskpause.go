package company

import "time"

// Pause pauses a task or ends its pause. Ending it also ends the pauses of its subtasks.
type Pause struct {
	Task TaskID
	Off  bool // end the pause
}

func (c Pause) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if task.Status.Ended() {
		return nil, E(EConflict, string(task.ID)+" has ended already: "+task.Status.Text())
	}
	var evs []Event
	if task.Paused == c.Off {
		taskPaused := &TaskPaused{Paused: !c.Off}
		if c.Off {
			taskPaused.LastWorked = task.Updated
		}
		evs = append(evs, meta.newEvent(task.ID, "", "", taskPaused))
	}
	if c.Off {
		for _, id := range task.PausedSubtasks() {
			evs = append(evs, meta.newEvent(task.ID, id, "", &SubtaskPaused{}))
		}
	}
	return evs, nil
}

// TaskPaused starts or ends a pause.
type TaskPaused struct {
	Paused bool `json:"paused"`
	// LastWorked is the time of the task's last change before a pause ended. Zero means unknown.
	LastWorked time.Time `json:"last_worked,omitzero"`
}

var _ = registerKind[TaskPaused]()

func (*TaskPaused) Kind() string { return "task.paused" }
func (d *TaskPaused) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	task.Paused = d.Paused
	if !d.LastWorked.IsZero() {
		task.addIdle(d.LastWorked, event.Time)
	}
	if !d.Paused {
		task.withdrawOffers(func(*Run) bool { return true })
	}
}
