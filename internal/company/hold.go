package company

import (
	"slices"
	"time"
)

// HoldKind says what the next work of a task waits for.
type HoldKind string

const (
	HoldTasks   HoldKind = "tasks"   // tasks that it begins after
	HoldBranch  HoldKind = "branch"  // an earlier follow-up, which works on the same branch
	HoldSlot    HoldKind = "slot"    // as many tasks are under way as limits.concurrent_tasks allows
	HoldRetry   HoldKind = "retry"   // the pause after a failure
	HoldAnswer  HoldKind = "answer"  // it failed too often, and the president is asked
	HoldMoney   HoldKind = "money"   // a cap of the office is used up
	HoldWorker  HoldKind = "worker"  // every worker has a run
	HoldWriters HoldKind = "writers" // its project has all the runs that may write to it at a time
)

// Hold is work of a task, or of one of its subtasks, that does not begin now. FindDue decides it.
type Hold struct {
	Task    TaskID
	Subtask SubtaskID // empty if the whole task waits
	Kind    HoldKind
	Tasks   []TaskID // HoldTasks, HoldBranch: the ones that it waits for; HoldSlot: those under way
	// The fields below are those of HoldRetry and HoldAnswer. Failure is the last one. The next attempt is number Attempt
	// of Attempts, after which the president is asked, or the manager decides. Attempts is 0 if nobody is asked.
	Failure  Failure
	Attempt  int
	Attempts int
	Manager  bool
}

// IsQueued reports whether the whole task waits for its turn.
func (h Hold) IsQueued() bool {
	return h.Subtask == "" && (h.Kind == HoldSlot || h.Kind == HoldBranch)
}

// isSame reports whether two holds are about the same work and reason.
func (h Hold) isSame(o Hold) bool {
	return h.Task == o.Task && h.Subtask == o.Subtask && h.Kind == o.Kind
}

// FindDue returns the effects that Due lists, and the work that does not begin now with the reason. active limits how
// many tasks may work at once. A paused task holds nothing back, and neither does an office that is stopped.
func FindDue(state *State, now time.Time, active int) ([]Effect, []Hold) {
	var holds []Hold
	due := state.findDue(now, active, appendHold(&holds))
	return due, holds
}

// appendHold returns a function that appends each hold once.
func appendHold(holds *[]Hold) func(Hold) {
	return func(h Hold) {
		if !slices.ContainsFunc(*holds, h.isSame) {
			*holds = append(*holds, h)
		}
	}
}

// ListHolds returns the holds of a task, as of the last call of Due. It leaves out HoldWorker and HoldWriters.
func (a *Agenda) ListHolds(id TaskID) []Hold {
	known := a.tasks[id]
	if known == nil || a.state.Office.Stopped {
		return nil
	}
	if !a.startable[known] || a.underWay[known] {
		return known.holds
	}
	var working []TaskID
	for _, place := range a.places {
		if place.task == known {
			return known.holds
		}
		if !place.task.paused {
			working = append(working, place.task.id)
		}
	}
	return append(slices.Clone(known.holds), Hold{Task: id, Kind: HoldSlot, Tasks: working})
}

// holdAfter returns the hold of an effect that has failed, or nil if it may be tried again.
func (t *Task) holdAfter(effect Effect, failure Failure, now time.Time) *Hold {
	held := &Hold{Task: t.ID, Subtask: effect.Subtask, Kind: HoldAnswer, Failure: failure}
	switch {
	case t.retriesExhausted(effect.Fail, failure):
		return held
	case now.Before(failure.NotBefore):
		held.Kind = HoldRetry
		held.Attempt, held.Attempts = failure.Attempt+1, t.Settings.EffectRetries+1
		switch sub := t.Subtask(effect.Subtask); {
		case effect.Fail == askTroubleFailure:
			held.Attempts = 0
		case sub != nil && effect.Fail == "run "+string(sub.ID) && sub.RunErrors > 0 && !t.isBeyondManager(failure.Code):
			held.Attempt = sub.RunErrors + 1
			held.Attempts = t.Settings.RunRetries + 1
			held.Manager = true
		}
		return held
	}
	return nil
}

// holdBefore returns why a task does not look for its base yet, or nil.
func (s *State) holdBefore(task *Task) *Hold {
	if awaited := s.WaitsFor(task); len(awaited) > 0 {
		held := &Hold{Task: task.ID, Kind: HoldTasks}
		for _, a := range awaited {
			held.Tasks = append(held.Tasks, a.Task)
		}
		return held
	}
	if earlier := s.earlierFollowUp(task); earlier != "" {
		return &Hold{Task: task.ID, Kind: HoldBranch, Tasks: []TaskID{earlier}}
	}
	return nil
}
