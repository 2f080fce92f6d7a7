package history

import (
	"fmt"
	"slices"

	"company/internal/company"
)

// observeTransitions holds the moves of an event against the tables, and a task's phase
// to one step forward at a time (STA-1, STA-5).
func (c *Checker) observeTransitions(before *company.State, e company.Event, after *company.State) error {
	t, was := after.Tasks[e.Task], before.Tasks[e.Task]
	switch {
	case was == nil && t == nil:
		return nil
	case t == nil:
		return fmt.Errorf("%s is gone", e.Task)
	}
	if err := company.CheckMoves(was, t); err != nil {
		return err
	}
	if was == nil {
		return nil
	}
	if reopened := (*company.TaskReopened)(nil).Kind(); was.Status.Ended() && t.Status != was.Status && e.Kind != reopened {
		return fmt.Errorf("%s goes on after its end, and nobody reopened it", t.ID)
	}
	for _, sub := range was.Subtasks {
		if t.Subtask(sub.ID) == nil && (sub.Started > 0 || t.Status != company.StatusDecomposing) {
			return fmt.Errorf("%s was begun and is gone", sub.ID)
		}
	}
	from, to := slices.Index(company.Phases, was.Phase()), slices.Index(company.Phases, t.Phase())
	if to > from+1 && !t.Status.Ended() {
		return fmt.Errorf("%s skips from %s to %s", t.ID, was.Phase(), t.Phase())
	}
	if t.Status == company.StatusReviewing && was.Status != company.StatusReviewing {
		seen := c.tasks[e.Task].reviewing
		if was.Status.Ended() { // reopened: it goes on where it was
			clear(seen)
		}
		if seen[t.Head] {
			return fmt.Errorf("%s is reviewed twice at %s", t.ID, t.Head.Short()) // STA-2
		}
		seen[t.Head] = true
	}
	return nil
}
