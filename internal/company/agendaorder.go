package company

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// agendaPlace is a task's place among all open ones. Projects alternate, level by level. Within a level, the place is
// that of the project's next oldest task (roundRobinTasks).
type agendaPlace struct {
	level, number int
	task          *agendaTask
}

// placeTask adds a task to the orders of its project, unless it is paused.
func (a *Agenda) placeTask(t *agendaTask) {
	if t.paused {
		return
	}
	project := t.project
	project.byAge = insertSorted(project.byAge, t, compareAges)
	project.byUrgency = insertSorted(project.byUrgency, t, compareUrgencies)
	if len(project.byAge) == 1 {
		a.working++
	}
}

// unplaceTask removes a task from the orders of its project.
func (a *Agenda) unplaceTask(t *agendaTask) {
	if t.paused {
		return
	}
	project := t.project
	project.byAge = deleteSorted(project.byAge, t, compareAges)
	project.byUrgency = deleteSorted(project.byUrgency, t, compareUrgencies)
	if len(project.byAge) == 0 {
		a.working--
	}
}

func compareAges(a, b *agendaTask) int { return cmp.Compare(a.urgency.number, b.urgency.number) }

func compareUrgencies(a, b *agendaTask) int { return a.urgency.compareTo(b.urgency) }

func comparePlaces(a, b agendaPlace) int {
	return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.number, b.number))
}

func insertSorted(agendaTasks []*agendaTask, t *agendaTask, compare func(a, b *agendaTask) int) []*agendaTask {
	index, _ := slices.BinarySearchFunc(agendaTasks, t, compare)
	return slices.Insert(agendaTasks, index, t)
}

func deleteSorted(agendaTasks []*agendaTask, t *agendaTask, compare func(a, b *agendaTask) int) []*agendaTask {
	if index, ok := slices.BinarySearchFunc(agendaTasks, t, compare); ok {
		return slices.Delete(agendaTasks, index, index+1)
	}
	return agendaTasks
}

// countTask updates the sets of tasks with effects.
func (a *Agenda) countTask(t *agendaTask) {
	has := len(t.effects) > 0
	keepMember(a.startable, t, has && !t.paused)
	keepMember(a.underWay, t, has && t.underWay)
	keepMember(a.draining, t, has && t.paused)
}

func keepMember(set map[*agendaTask]bool, t *agendaTask, is bool) {
	if is {
		set[t] = true
		return
	}
	delete(set, t)
}

// setLoad updates the load of the task's project.
func (a *Agenda) setLoad(t *agendaTask, load projectLoad) {
	project, was := t.project, t.load
	t.load = load
	project.load.runs += load.runs - was.runs
	project.load.mergers += load.mergers - was.mergers
	switch {
	case load.served.After(project.load.served):
		project.load.served = load.served
	case was.served.Equal(project.load.served) && load.served.Before(was.served):
		project.load.served = time.Time{}
		for _, other := range a.tasks {
			if other.project == project && other.load.served.After(project.load.served) {
				project.load.served = other.load.served
			}
		}
	}
}

// choosePlaces returns the tasks whose effects are due, in order: the first active tasks with effects, the tasks under
// way, and the paused tasks that finish a turn.
func (a *Agenda) choosePlaces(active int) []agendaPlace {
	var out []agendaPlace
	chosen := map[*agendaTask]bool{}
	var projects []*agendaProject
	for _, p := range a.projects {
		if len(p.byAge) > 0 {
			projects = append(projects, p)
		}
	}
	alternate := min(1, a.working-1) // 0 means that there is one project, so age alone decides
	left := len(a.startable)
	for level := 0; active > 0 && left > 0 && len(projects) > 0; level++ {
		slices.SortFunc(projects, func(p, q *agendaProject) int { return compareAges(p.byAge[level], q.byAge[level]) })
		for _, p := range projects {
			t := p.byUrgency[level]
			if len(t.effects) == 0 || active <= 0 {
				continue
			}
			out = append(out, agendaPlace{level * alternate, p.byAge[level].urgency.number, t})
			chosen[t] = true
			active, left = active-1, left-1
		}
		projects = slices.DeleteFunc(projects, func(p *agendaProject) bool { return len(p.byAge) == level+1 })
	}
	for t := range a.underWay {
		if !chosen[t] {
			level, _ := slices.BinarySearchFunc(t.project.byUrgency, t, compareUrgencies)
			out = append(out, agendaPlace{level * alternate, t.project.byAge[level].urgency.number, t})
		}
	}
	for t := range a.draining {
		out = append(out, agendaPlace{0, t.urgency.number, t})
	}
	slices.SortFunc(out, comparePlaces)
	return out
}

// timedTask is a task with a time at which it changes.
type timedTask struct {
	at   time.Time
	task *agendaTask
}

// timeHeap has the earliest entry on top. It may hold outdated entries.
type timeHeap []timedTask

// Len implements heap.Interface.
func (h timeHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h timeHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

// Swap implements heap.Interface.
func (h timeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *timeHeap) Push(x any) { *h = append(*h, x.(timedTask)) }

// Pop implements heap.Interface.
func (h *timeHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = timedTask{}
	*h = (*h)[:last]
	return x
}

// takeUntil removes the entries up to a time, and calls do for the ones that still count.
func (h *timeHeap) takeUntil(now time.Time, counts func(timedTask) bool, do func(TaskID)) {
	for len(*h) > 0 && !(*h)[0].at.After(now) {
		if x := heap.Pop(h).(timedTask); counts(x) {
			do(x.task.id)
		}
	}
}

// dropOthers removes the entries that no longer count.
func (h *timeHeap) dropOthers(counts func(timedTask) bool) {
	*h = slices.DeleteFunc(*h, func(x timedTask) bool { return !counts(x) })
	heap.Init(h)
}

func (a *Agenda) isWake(x timedTask) bool {
	return a.tasks[x.task.id] == x.task && x.task.next.Equal(x.at)
}

func (a *Agenda) isAge(x timedTask) bool {
	return a.tasks[x.task.id] == x.task && !x.task.urgency.old
}
