package company

import (
	"fmt"
	"slices"
)

// TaskMoves lists the statuses to which one event may move a task (STA-1). docs/state_machine.md shows them as a
// diagram. Only a person can reopen an ended task. Awaiting input is not a stored status: Shown derives it from an open
// approval.
var TaskMoves = map[TaskStatus][]TaskStatus{
	StatusPending:     {StatusDecomposing, StatusFailed, StatusCancelled},
	StatusDecomposing: {StatusExecuting, StatusFailed, StatusCancelled},
	StatusExecuting:   {StatusReviewing, StatusDecomposing, StatusCompleted, StatusFailed, StatusCancelled},
	StatusReviewing:   {StatusCompleted, StatusExecuting, StatusFailed, StatusCancelled},
	StatusFailed:      {StatusPending, StatusDecomposing, StatusExecuting, StatusReviewing},
	StatusCancelled:   {StatusPending, StatusDecomposing, StatusExecuting, StatusReviewing},
	StatusCompleted:   {StatusExecuting}, // for a dry run whose plan is worked on
}

// SubtaskMoves lists the statuses to which one event may move a subtask (STA-1). A subtask moves forward by one phase
// at a time (STA-5). It ends as failed or cancelled only with its task. One that its agents give up is blocked until
// the president decides. A ticket that takes in other people's commits begins in the gates, because it needs no
// worker.
var SubtaskMoves = map[SubtaskStatus][]SubtaskStatus{
	SubtaskPending:  {SubtaskAssigned, SubtaskBlocked, SubtaskFailed, SubtaskCancelled},
	SubtaskAssigned: {SubtaskRunning, SubtaskFailed, SubtaskCancelled},
	SubtaskRunning: {SubtaskInGate, SubtaskAssigned, SubtaskPending, SubtaskBlocked, SubtaskFailed,
		SubtaskCancelled},
	SubtaskInGate:    {SubtaskReviewing, SubtaskPending, SubtaskBlocked, SubtaskFailed, SubtaskCancelled},
	SubtaskReviewing: {SubtaskMerging, SubtaskPending, SubtaskBlocked, SubtaskFailed, SubtaskCancelled},
	SubtaskMerging: {SubtaskCompleted, SubtaskInGate, SubtaskPending, SubtaskBlocked, SubtaskFailed,
		SubtaskCancelled},
	SubtaskBlocked:   {SubtaskPending, SubtaskFailed, SubtaskCancelled},
	SubtaskFailed:    {SubtaskPending, SubtaskInGate},
	SubtaskCancelled: {SubtaskPending, SubtaskInGate},
}

// CheckMoves returns an ELedger error if an event moved a task, or one of its subtasks, in a way that TaskMoves and
// SubtaskMoves do not list. A nil before means that the event created the task. Apply calls it for each event, so the
// committer refuses such an event before it is stored.
func CheckMoves(before, after *Task) error {
	switch {
	case before == nil && after.Status != StatusPending:
		return E(ELedger, fmt.Sprintf("%s begins as %s", after.ID, after.Status))
	case before == nil:
		before = &Task{Status: StatusPending}
	case after.Status != before.Status && !slices.Contains(TaskMoves[before.Status], after.Status):
		return E(ELedger, fmt.Sprintf("%s moves from %s to %s", after.ID, before.Status, after.Status))
	}
	for _, sub := range after.Subtasks {
		old := before.Subtask(sub.ID)
		switch {
		case old == nil && sub.Status == SubtaskInGate && sub.TakenIn != nil:
		case old == nil && sub.Status != SubtaskPending:
			return E(ELedger, fmt.Sprintf("%s begins as %s", sub.ID, sub.Status))
		case old != nil && sub.Status != old.Status && !slices.Contains(SubtaskMoves[old.Status], sub.Status):
			return E(ELedger, fmt.Sprintf("%s moves from %s to %s", sub.ID, old.Status, sub.Status))
		}
	}
	return nil
}
