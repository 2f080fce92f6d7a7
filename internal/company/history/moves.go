package history

import (
	"fmt"
	"slices"

	"company/internal/company"
)

// TaskMoves are all the ways in which one event may move a task (STA-1);
// docs/state_machine.md draws them. From a last status only a person reopens it.
// Awaiting input is no move: Shown derives it from an open approval.
var TaskMoves = map[company.TaskStatus][]company.TaskStatus{
	company.StatusPending:     {company.StatusDecomposing, company.StatusFailed, company.StatusCancelled},
	company.StatusDecomposing: {company.StatusExecuting, company.StatusFailed, company.StatusCancelled},
	company.StatusExecuting:   {company.StatusReviewing, company.StatusDecomposing, company.StatusCompleted, company.StatusFailed, company.StatusCancelled},
	company.StatusReviewing:   {company.StatusCompleted, company.StatusExecuting, company.StatusFailed, company.StatusCancelled},
	company.StatusFailed:      {company.StatusPending, company.StatusDecomposing, company.StatusExecuting, company.StatusReviewing},
	company.StatusCancelled:   {company.StatusPending, company.StatusDecomposing, company.StatusExecuting, company.StatusReviewing},
	company.StatusCompleted:   {company.StatusExecuting}, // of a dry run, whose plan is worked on
}

// SubMoves are all the ways in which one event may move a subtask (STA-1).
// Forward they go one phase at a time (STA-5); every way back says why. No
// rule fails a subtask by itself: it is blocked until the president decides.
var SubMoves = map[company.SubtaskStatus][]company.SubtaskStatus{
	company.SubtaskPending:   {company.SubtaskAssigned, company.SubtaskBlocked, company.SubtaskCancelled},
	company.SubtaskAssigned:  {company.SubtaskRunning, company.SubtaskCancelled},
	company.SubtaskRunning:   {company.SubtaskInGate, company.SubtaskAssigned, company.SubtaskPending, company.SubtaskBlocked, company.SubtaskCancelled},
	company.SubtaskInGate:    {company.SubtaskReviewing, company.SubtaskPending, company.SubtaskBlocked, company.SubtaskCancelled},
	company.SubtaskReviewing: {company.SubtaskMerging, company.SubtaskPending, company.SubtaskBlocked, company.SubtaskCancelled},
	company.SubtaskMerging:   {company.SubtaskCompleted, company.SubtaskInGate, company.SubtaskPending, company.SubtaskBlocked, company.SubtaskCancelled},
	company.SubtaskBlocked:   {company.SubtaskPending, company.SubtaskCancelled},
	company.SubtaskCancelled: {company.SubtaskPending, company.SubtaskInGate},
}

// observeTransitions holds the moves of an event against the tables, and a task's phase
// to one step forward at a time (STA-1, STA-5).
func (c *Checker) observeTransitions(before *company.State, e company.Event, after *company.State) error {
	t, was := after.Tasks[e.Task], before.Tasks[e.Task]
	switch {
	case was == nil && t == nil:
		return nil
	case t == nil:
		return fmt.Errorf("%s is gone", e.Task)
	case was == nil && t.Status != company.StatusPending:
		return fmt.Errorf("%s begins as %s", e.Task, t.Status)
	case was == nil:
		return nil
	}
	if t.Status != was.Status && !slices.Contains(TaskMoves[was.Status], t.Status) {
		return fmt.Errorf("%s moves from %s to %s", t.ID, was.Status, t.Status)
	}
	if reopened := (*company.TaskReopened)(nil).Kind(); was.Status.Ended() && t.Status != was.Status && e.Kind != reopened {
		return fmt.Errorf("%s goes on after its end, and nobody reopened it", t.ID)
	}
	for _, sub := range was.Subtasks {
		now := t.Subtask(sub.ID)
		switch {
		case now == nil && (sub.Started > 0 || t.Status != company.StatusDecomposing):
			return fmt.Errorf("%s was begun and is gone", sub.ID)
		case now != nil && now.Status != sub.Status && !slices.Contains(SubMoves[sub.Status], now.Status):
			return fmt.Errorf("%s moves from %s to %s", sub.ID, sub.Status, now.Status)
		}
	}
	for _, sub := range t.Subtasks {
		if was.Subtask(sub.ID) == nil && sub.Status != company.SubtaskPending {
			return fmt.Errorf("%s begins as %s", sub.ID, sub.Status)
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
