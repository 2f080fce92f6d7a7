package company

import (
	"slices"
	"time"
)

// isDeadlocked reports whether nothing moves a task any more (WRK-10): nothing of it runs, is due or on the queue, no
// time and no other task brings anything, nobody paused it, and no question about it is open. The rules never lead
// there, so it is a fault of this program or a state that it cannot read. due and held tell whether the task has due
// effects, and work that does not begin now.
func (s *State) isDeadlocked(task *Task, due, held bool) bool {
	return !due && !held && !task.Status.Ended() && !task.Paused && !task.HeldRun() &&
		!slices.ContainsFunc(task.Subtasks, func(sub *Subtask) bool { return sub.Paused }) &&
		len(s.OpenApprovals(task.ID)) == 0
}

// dueTask appends the effects of one task. It calls hold for work that does not begin. hold may be nil.
func (s *State) dueTask(out []Effect, task *Task, now time.Time, hold func(Hold)) []Effect {
	before, held := len(out), false
	out = s.dueWork(out, task, now, func(h Hold) {
		held = true
		if hold != nil {
			hold(h)
		}
	})
	if !s.isDeadlocked(task, len(out) > before, held) {
		return out
	}
	end := Effect{Key: "deadlock " + string(task.ID), Kind: EffectCommand, Task: task.ID, Command: EndDeadlock{task.ID},
		Fail: deadlockFailure}
	if failure, failed := task.Failures[end.Fail]; failed {
		if waits := task.holdAfter(end, failure, now); waits != nil {
			if hold != nil {
				hold(*waits)
			}
			return out
		}
	}
	return append(out, end)
}

// deadlockFailure is the key of failures to end a deadlocked task.
const deadlockFailure = "deadlock"

// EndDeadlock ends a task that nothing moves any more, so that its president is told.
type EndDeadlock struct{ Task TaskID }

func (c EndDeadlock) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	held := false
	due := s.dueWork(nil, task, meta.Now, func(Hold) { held = true })
	if !s.isDeadlocked(task, len(due) > 0, held) {
		return nil, nil
	}
	return []Event{meta.newEvent(task.ID, "", "", &TaskFailed{Code: EInternal,
		Reason: "deadlock: nothing of it runs, is due, or is waited for",
		Hint:   "company retry " + string(task.ID) + " continues it; please report this: it is a bug"})}, nil
}
