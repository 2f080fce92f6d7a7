package historytest

import (
	"fmt"
	"slices"

	"company/internal/company"
)

// observeTransitions checks the moves of an event against the tables. It also checks that a task's phase advances by
// one step at a time (STA-1, STA-5).
func (c *Checker) observeTransitions(before *company.State, event company.Event, after *company.State) error {
	task, was := after.Tasks[event.Task], before.Tasks[event.Task]
	switch {
	case was == nil && task == nil:
		return nil
	case task == nil:
		return fmt.Errorf("%s is gone", event.Task)
	}
	if err := company.CheckMoves(was, task); err != nil {
		return err
	}
	if was == nil {
		return nil
	}
	if reopened := (*company.TaskReopened)(nil).Kind(); was.Status.Ended() && task.Status != was.Status &&
		event.Kind != reopened {
		return fmt.Errorf("%s goes on after its end, and nobody reopened it", task.ID)
	}
	for _, sub := range was.Subtasks {
		if task.Subtask(sub.ID) == nil && (sub.Started > 0 || task.Status != company.StatusDecomposing) {
			return fmt.Errorf("%s was begun and is gone", sub.ID)
		}
	}
	from, to := slices.Index(company.Phases, was.Phase()), slices.Index(company.Phases, task.Phase())
	if to > from+1 && !task.Status.Ended() {
		return fmt.Errorf("%s skips from %s to %s", task.ID, was.Phase(), task.Phase())
	}
	if task.Status == company.StatusReviewing && was.Status != company.StatusReviewing {
		seen := c.tasks[event.Task].reviewing
		if was.Status.Ended() { // reopened: it continues where it was
			clear(seen)
		}
		if seen[task.Head] {
			return fmt.Errorf("%s is reviewed twice at %s", task.ID, task.Head.Short()) // STA-2
		}
		seen[task.Head] = true
	}
	return nil
}
