package company

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Several projects share the office's workers and its limit on tasks at once.
// Neither the one that came first nor the one with the most subtasks may have
// all of it (docs/decisions/0027): the project with the least under way is
// next.

// roundRobinTasks orders the open tasks so that projects alternate: a place for each
// project, in the order of their oldest tasks, then a second place for each. A project's
// places go to its most urgent tasks (docs/decisions/0115).
func (s *State) roundRobinTasks() []TaskID {
	nth, of := map[TaskID]int{}, map[string][]*Task{}
	for _, id := range s.Open {
		if t := s.Tasks[id]; !t.Paused {
			nth[id] = len(of[t.Project.ID])
			of[t.Project.ID] = append(of[t.Project.ID], t)
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
		t := s.Tasks[id]
		if tasks := of[t.Project.ID]; !t.Paused {
			out[i], of[t.Project.ID] = tasks[0].ID, tasks[1:]
		}
	}
	return out
}

// projectLoad is what a project has of the workers.
type projectLoad struct {
	runs    int       // that workers have or may take
	mergers int       // runs that mergers have
	served  time.Time // when a worker was last given a run of it
}

// countWriters is how many runs write to copies of the project.
func (l projectLoad) countWriters() int { return l.runs + l.mergers }

// less says which project is served first.
func (l projectLoad) less(o projectLoad) bool {
	return l.runs < o.runs || l.runs == o.runs && l.served.Before(o.served)
}

// loadOf is what one task has of the workers.
func (s *State) loadOf(t *Task) (l projectLoad) {
	for _, r := range t.Runs {
		if r.Role == Merger && r.Held && !r.Ended {
			l.mergers++
		}
		if r.Role != Worker {
			continue
		}
		if r.Claimed.After(l.served) {
			l.served = r.Claimed
		}
		if r.Held && !r.Ended || s.onOffer(r) && !t.isPaused(r.Subtask) {
			l.runs++
		}
	}
	return l
}

// projectLoads tells what each project has of the workers.
func (s *State) projectLoads() map[string]projectLoad {
	by := map[string]projectLoad{}
	for _, id := range s.Open {
		t := s.Tasks[id]
		l, of := by[t.Project.ID], s.loadOf(t)
		l.runs += of.runs
		l.mergers += of.mergers
		if of.served.After(l.served) {
			l.served = of.served
		}
		by[t.Project.ID] = l
	}
	return by
}

// newOffer says whether an effect offers a run that was never claimed.
func (s *State) newOffer(e Effect) bool {
	if _, offers := e.Command.(Offer); !offers {
		return false
	}
	sub := s.Tasks[e.Task].Subtask(e.Subtask)
	return sub != nil && sub.Status == SubtaskPending
}

// newResolve reports whether an effect begins a merger's run.
func (s *State) newResolve(e Effect) bool {
	if e.Kind != EffectResolve {
		return false
	}
	r := s.Tasks[e.Task].Runs[e.Run]
	return r == nil || !r.Held
}

// limitToFreeWorkers drops the new offers for which there is no worker yet, and what
// would give a project more writers than it may have. What is on offer is taken in the
// queue's order, so fairness is decided by what is offered: the project that has the
// least is next. A merger, which ends a piece of work, comes before workers of its
// project. loads tells what each has; it is asked only where something is to begin.
func (s *State) limitToFreeWorkers(due []Effect, loads func() map[string]projectLoad) []Effect {
	team := s.Office.WorkerCount()
	if team == 0 {
		return due
	}
	writers := s.Office.Writers
	if writers == 0 {
		writers = math.MaxInt
	}
	offers, begun := map[string][]int{}, map[int]bool{} // the places of new offers, by project; which new effects begin
	for i, e := range due {
		if s.newOffer(e) {
			project := s.Tasks[e.Task].Project.ID
			offers[project] = append(offers[project], i)
			begun[i] = false
		} else if s.newResolve(e) {
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
	for i, e := range due {
		if _, is := begun[i]; !is || e.Kind != EffectResolve {
			continue
		}
		project := s.Tasks[e.Task].Project.ID
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
	for i, e := range due {
		if begins, isNew := begun[i]; begins || !isNew {
			out = append(out, e)
		}
	}
	return out
}

// AwaitsWorker reports whether a subtask of the task could be begun, or a conflict of
// it resolved, and is not, because every worker has a run or is due to be offered one,
// or its project has all the writers that it may have.
func (s *State) AwaitsWorker(id TaskID, now time.Time) bool {
	t := s.Tasks[id]
	if t == nil || t.Status.Ended() || t.Paused || s.Office.Stopped || s.Office.WorkerCount() == 0 {
		return false
	}
	mine := func(e Effect) bool { return e.Task == id && (s.newOffer(e) || s.newResolve(e)) }
	return slices.ContainsFunc(s.dueTask(nil, t, now), mine) && !slices.ContainsFunc(Due(s, now, len(s.Open)), mine)
}

// Waiting counts the runs of subtasks that wait for a worker: those on offer,
// and those that will be offered when one is free.
func (s *State) Waiting(now time.Time) (n int) {
	for _, id := range s.Open {
		t := s.Tasks[id]
		if t.Paused {
			continue
		}
		for _, sub := range t.Subtasks {
			if sub.Status == SubtaskAssigned && !sub.Paused {
				n++
			}
		}
		for _, e := range s.dueTask(nil, t, now) {
			if s.newOffer(e) {
				n++
			}
		}
	}
	return n
}
