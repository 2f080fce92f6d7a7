package company

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Several projects share the office's workers and its limit on concurrent tasks. Neither the oldest project nor the
// one with the most subtasks may use all of them (docs/decisions/the-office.md). The project with the least work
// under way comes next.

// roundRobinTasks orders the open tasks so that projects alternate. Each project gets a first place, in the order of
// their oldest tasks, then a second place, and so on. A project's places go to its most urgent tasks
// (docs/decisions/plans.md).
func (s *State) roundRobinTasks() []TaskID {
	nth, of := map[TaskID]int{}, map[string][]*Task{}
	for _, id := range s.Open {
		if task := s.Tasks[id]; !task.Paused {
			nth[id] = len(of[task.Project.ID])
			of[task.Project.ID] = append(of[task.Project.ID], task)
		}
	}
	out := slices.Clone(s.Open)
	if len(of) > 1 {
		slices.SortStableFunc(out, func(a, b TaskID) int { return nth[a] - nth[b] })
	}
	for _, tasks := range of {
		slices.SortFunc(tasks, func(a, b *Task) int { return s.urgencyOf(a).compareTo(s.urgencyOf(b)) })
	}
	for i, id := range out {
		task := s.Tasks[id]
		if tasks := of[task.Project.ID]; !task.Paused {
			out[i], of[task.Project.ID] = tasks[0].ID, tasks[1:]
		}
	}
	return out
}

// projectLoad is a project's share of the workers.
type projectLoad struct {
	runs    int       // runs that workers have or may claim
	mergers int       // runs that mergers have
	served  time.Time // when a worker last claimed one of its runs
}

// countWriters returns the number of runs that write to copies of the project.
func (l projectLoad) countWriters() int { return l.runs + l.mergers }

// less reports whether the project is served before the other.
func (l projectLoad) less(o projectLoad) bool {
	return l.runs < o.runs || l.runs == o.runs && l.served.Before(o.served)
}

// loadOf returns one task's share of the workers.
func (s *State) loadOf(task *Task) (l projectLoad) {
	for _, run := range task.Runs {
		if run.Role == Merger && run.Held && !run.Ended {
			l.mergers++
		}
		if run.Role != Worker {
			continue
		}
		if run.Claimed.After(l.served) {
			l.served = run.Claimed
		}
		if run.Held && !run.Ended || s.onOffer(run) && !task.isPaused(run.Subtask) {
			l.runs++
		}
	}
	return l
}

// projectLoads returns each project's share of the workers.
func (s *State) projectLoads() map[string]projectLoad {
	by := map[string]projectLoad{}
	for _, id := range s.Open {
		task := s.Tasks[id]
		l, of := by[task.Project.ID], s.loadOf(task)
		l.runs += of.runs
		l.mergers += of.mergers
		if of.served.After(l.served) {
			l.served = of.served
		}
		by[task.Project.ID] = l
	}
	return by
}

// newOffer reports whether an effect offers a run that was never claimed.
func (s *State) newOffer(effect Effect) bool {
	if _, offers := effect.Command.(Offer); !offers {
		return false
	}
	sub := s.Tasks[effect.Task].Subtask(effect.Subtask)
	return sub != nil && sub.Status == SubtaskPending
}

// newResolve reports whether an effect begins a merger's run.
func (s *State) newResolve(effect Effect) bool {
	if effect.Kind != EffectResolve {
		return false
	}
	r := s.Tasks[effect.Task].Runs[effect.Run]
	return r == nil || !r.Held
}

// limitToFreeWorkers drops new offers that no free worker could take, and effects that would give a project more
// writers than allowed. Workers take offers in the queue's order, so the selection of offers decides fairness. The
// project with the smallest share is next. A merger finishes work, so it comes before the workers of its project. loads
// returns each project's share. It is only called if a new run is to begin. hold is called for what is dropped, and
// may be nil.
func (s *State) limitToFreeWorkers(
	due []Effect, loads func() map[string]projectLoad, hold func(Hold),
) []Effect {
	team := s.Office.WorkerCount()
	if team == 0 {
		return due
	}
	writers := s.Office.Writers
	if writers == 0 {
		writers = math.MaxInt
	}
	offers, begun := map[string][]int{}, map[int]bool{} // indexes of new offers by project; new effects that begin
	for i, effect := range due {
		if s.newOffer(effect) {
			project := s.Tasks[effect.Task].Project.ID
			offers[project] = append(offers[project], i)
			begun[i] = false
		} else if s.newResolve(effect) {
			begun[i] = false
		}
	}
	if len(begun) == 0 {
		return due
	}
	by, free := loads(), team
	for _, l := range by {
		free -= l.runs
	}
	for i, effect := range due {
		if _, is := begun[i]; !is || effect.Kind != EffectResolve {
			continue
		}
		project := s.Tasks[effect.Task].Project.ID
		if l := by[project]; l.countWriters() < writers {
			l.mergers++
			by[project], begun[i] = l, true
		}
	}
	maps.DeleteFunc(offers, func(project string, _ []int) bool { return by[project].countWriters() >= writers })
	for ; free > 0 && len(offers) > 0; free-- {
		next, first := "", true
		for project, places := range offers {
			l, least := by[project], by[next]
			if first || l.less(least) || !least.less(l) && places[0] < offers[next][0] {
				next, first = project, false
			}
		}
		begun[offers[next][0]] = true
		l := by[next]
		l.runs++
		by[next] = l
		if offers[next] = offers[next][1:]; len(offers[next]) == 0 || l.countWriters() >= writers {
			delete(offers, next)
		}
	}
	out := due[:0]
	for i, effect := range due {
		if begins, isNew := begun[i]; begins || !isNew {
			out = append(out, effect)
		} else if hold != nil {
			kind := HoldWorker
			if by[s.Tasks[effect.Task].Project.ID].countWriters() >= writers {
				kind = HoldWriters
			}
			hold(Hold{Task: effect.Task, Subtask: effect.Subtask, Kind: kind})
		}
	}
	return out
}

// AwaitsWorker reports whether a new run of the task is due but does not begin. The reason is that all workers are
// taken, or that its project has all the writers that it may have.
func (s *State) AwaitsWorker(id TaskID, now time.Time) bool {
	task := s.Tasks[id]
	if task == nil || task.Status.Ended() || task.Paused || s.Office.Stopped || s.Office.WorkerCount() == 0 {
		return false
	}
	awaits, begins := false, false
	for _, e := range s.findDue(now, len(s.Open), func(h Hold) {
		awaits = awaits || h.Task == id && (h.Kind == HoldWorker || h.Kind == HoldWriters)
	}) {
		begins = begins || e.Task == id && (s.newOffer(e) || s.newResolve(e))
	}
	return awaits && !begins
}

// Waiting returns the number of worker runs that wait for a worker: the ones on offer, and the ones that will be
// offered when a worker is free.
func (s *State) Waiting(now time.Time) (n int) {
	for _, id := range s.Open {
		task := s.Tasks[id]
		if task.Paused {
			continue
		}
		for _, sub := range task.Subtasks {
			if sub.Status == SubtaskAssigned && !sub.Paused {
				n++
			}
		}
		for _, e := range s.dueTask(nil, task, now, nil) {
			if s.newOffer(e) {
				n++
			}
		}
	}
	return n
}
