package company

import "slices"

// Cancel ends a task by the president's wish.
type Cancel struct {
	Task TaskID
	Why  string
}

func (c Cancel) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if t.Status == StatusCancelled {
		return nil, nil
	}
	if t.Status.Ended() {
		return nil, E(EConflict, string(t.ID)+" has ended already: "+t.Status.Text())
	}
	return []Event{m.newEvent(t.ID, "", "", &TaskCancelled{Reason: c.Why})}, nil
}

// TaskCancelled ends a task by a person's wish.
type TaskCancelled struct {
	Reason string `json:"reason,omitempty"`
}

var _ = registerKind[TaskCancelled]()

func (*TaskCancelled) Kind() string { return "task.cancelled" }
func (d *TaskCancelled) apply(s *State, e Event) {
	s.endTask(e, StatusCancelled, d.Reason)
}

// TaskFailed ends a task that cannot be done.
type TaskFailed struct {
	Code   Code   `json:"code"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

var _ = registerKind[TaskFailed]()

func (*TaskFailed) Kind() string { return "task.failed" }
func (d *TaskFailed) apply(s *State, e Event) {
	s.endTask(e, StatusFailed, d.Reason)
}

// TaskCompleted ends a task that is done: its pull request is open, or
// it was a dry run and its plan stands.
type TaskCompleted struct {
	DryRun bool `json:"dry_run,omitempty"`
}

var _ = registerKind[TaskCompleted]()

func (*TaskCompleted) Kind() string { return "task.completed" }
func (d *TaskCompleted) apply(s *State, e Event) {
	s.endTask(e, StatusCompleted, "")
}

// endTask ends the task of an event. Its subtasks that are not done are done no more,
// unless it is completed: those of a dry run stand as they were planned.
func (s *State) endTask(e Event, st TaskStatus, reason string) {
	t := s.editTask(e.Task)
	for _, sub := range t.Subtasks {
		if sub.Paused {
			t.editSubtask(sub.ID).Paused = false
		}
		if st != StatusCompleted && !sub.Status.Ended() {
			t.editSubtask(sub.ID).Status = SubtaskCancelled
		}
	}
	t.Status, t.Reason, t.Ended = st, reason, e.Time
	t.Queue, t.MergeIntent, t.BudgetShortfall = nil, nil, nil
	t.StackIntent, t.Suspects = nil, nil
	s.askOfAnother(t.ID)
	s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(id TaskID) bool { return id == t.ID })
}
