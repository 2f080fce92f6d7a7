package company

import "slices"

// Cancel ends a task at the president's request.
type Cancel struct {
	Task TaskID
	Why  string
}

func (c Cancel) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if task.Status == StatusCancelled {
		return nil, nil
	}
	if task.Status.Ended() {
		return nil, E(EConflict, string(task.ID)+" has ended already: "+task.Status.Text())
	}
	return []Event{meta.newEvent(task.ID, "", "", &TaskCancelled{Reason: c.Why})}, nil
}

// TaskCancelled ends a task at a person's request.
type TaskCancelled struct {
	Reason string `json:"reason,omitempty"`
}

var _ = registerKind[TaskCancelled]()

func (*TaskCancelled) Kind() string { return "task.cancelled" }
func (d *TaskCancelled) apply(s *State, e Event) {
	s.endTask(e, StatusCancelled, d.Reason)
}

// TaskFailed ends a task that failed.
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

// TaskCompleted ends a finished task: its pull request is open, it was a dry run with an accepted plan, or there was
// nothing to change.
type TaskCompleted struct {
	DryRun    bool      `json:"dry_run,omitempty"`
	Unchanged bool      `json:"unchanged,omitempty"`
	Evidence  *Evidence `json:"evidence,omitempty"` // nil if there was nothing to deliver
}

var _ = registerKind[TaskCompleted]()

func (*TaskCompleted) Kind() string { return "task.completed" }
func (d *TaskCompleted) apply(s *State, e Event) {
	s.endTask(e, StatusCompleted, "")
	s.editTask(e.Task).Evidence = d.Evidence
}

// endTask ends the task of an event. Unfinished subtasks fail with their task, or are cancelled with it. Those of a
// completed dry run keep their status.
func (s *State) endTask(event Event, st TaskStatus, reason string) {
	task := s.editTask(event.Task)
	for _, sub := range task.Subtasks {
		if sub.Paused {
			task.editSubtask(sub.ID).Paused = false
		}
		switch {
		case sub.Status.Ended():
		case st == StatusFailed:
			task.editSubtask(sub.ID).Status = SubtaskFailed
		case st == StatusCancelled:
			task.editSubtask(sub.ID).Status = SubtaskCancelled
		}
	}
	task.Status = st
	task.Reason = reason
	task.Ended = event.Time
	task.Queue = nil
	task.MergeIntent = nil
	task.BudgetShortfall = nil
	task.StackIntent, task.Suspects = nil, nil
	s.askOfAnother(task.ID)
	s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(id TaskID) bool { return id == task.ID })
}
