package company

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// agendaPlace is a task's place among all open ones: projects alternate, level by
// level, and within a level the place is that of the project's next oldest task
// (roundRobinTasks).
type agendaPlace struct {
	level, number int
	task          *agendaTask
}

// placeTask puts a task into the orders of its project; a paused one is in none.
func (a *Agenda) placeTask(t *agendaTask) {
	if t.paused {
		return
	}
	p := t.project
	p.byAge = insertSorted(p.byAge, t, compareAges)
	p.byUrgency = insertSorted(p.byUrgency, t, compareUrgencies)
	if len(p.byAge) == 1 {
		a.working++
	}
}

// unplaceTask takes a task out of the orders of its project.
func (a *Agenda) unplaceTask(t *agendaTask) {
	if t.paused {
		return
	}
	p := t.project
	p.byAge = deleteSorted(p.byAge, t, compareAges)
	p.byUrgency = deleteSorted(p.byUrgency, t, compareUrgencies)
	if len(p.byAge) == 0 {
		a.working--
	}
}

func compareAges(a, b *agendaTask) int { return cmp.Compare(a.urgency.number, b.urgency.number) }

func compareUrgencies(a, b *agendaTask) int { return a.urgency.compareTo(b.urgency) }

func comparePlaces(a, b agendaPlace) int {
	return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.number, b.number))
}

func insertSorted(in []*agendaTask, t *agendaTask, compare func(a, b *agendaTask) int) []*agendaTask {
	at, _ := slices.BinarySearchFunc(in, t, compare)
	return slices.Insert(in, at, t)
}

func deleteSorted(in []*agendaTask, t *agendaTask, compare func(a, b *agendaTask) int) []*agendaTask {
	if at, ok := slices.BinarySearchFunc(in, t, compare); ok {
		return slices.Delete(in, at, at+1)
	}
	return in
}

// countTask keeps the sets of tasks with effects.
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

// setLoad keeps what the project of a task has of the workers.
func (a *Agenda) setLoad(t *agendaTask, load projectLoad) {
	p, was := t.project, t.load
	t.load = load
	p.load.runs += load.runs - was.runs
	p.load.mergers += load.mergers - was.mergers
	switch {
	case load.served.After(p.load.served):
		p.load.served = load.served
	case was.served.Equal(p.load.served) && load.served.Before(was.served):
		p.load.served = time.Time{}
		for _, other := range a.tasks {
			if other.project == p && other.load.served.After(p.load.served) {
				p.load.served = other.load.served
			}
		}
	}
}

// choosePlaces picks the tasks whose effects are due, in order: the first active ones
// that have any, those that are under way, and those whose turns come to an end.
func (a *Agenda) choosePlaces(active int) []agendaPlace {
	var out []agendaPlace
	chosen := map[*agendaTask]bool{}
	var projects []*agendaProject
	for _, p := range a.projects {
		if len(p.byAge) > 0 {
			projects = append(projects, p)
		}
	}
	alternate := min(1, a.working-1) // 0: there is one project, and age alone decides
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

// timedTask is a task and a time at which something about it changes.
type timedTask struct {
	at   time.Time
	task *agendaTask
}

// timeHeap has the earliest on top. It may hold some that count no more.
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

// takeUntil takes what is due by a time and does it, where it still counts.
func (h *timeHeap) takeUntil(now time.Time, counts func(timedTask) bool, do func(TaskID)) {
	for len(*h) > 0 && !(*h)[0].at.After(now) {
		if x := heap.Pop(h).(timedTask); counts(x) {
			do(x.task.id)
		}
	}
}

// dropOthers drops what counts no more.
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
