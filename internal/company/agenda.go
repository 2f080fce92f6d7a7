package company

import (
	"container/heap"
	"slices"
	"time"
)

// Agenda is Due, kept up to date: it looks again only at the tasks that an event or
// the time has changed, so that it costs the same however many tasks are open. Due
// is its specification: from one state, at one time, both name the same effects in
// the same order.
//
// It is derived from the state and belongs to one goroutine. The zero value is
// empty; the first Update fills it.
type Agenda struct {
	state    *State
	seq      uint64    // of the state at the last Update
	newest   time.Time // of its events
	now      time.Time
	short    bool                   // a cap of the office was in the way at the last Update
	tasks    map[TaskID]*agendaTask // the open ones
	projects map[string]*agendaProject
	working  int                        // projects with a task that is not paused
	followed map[TaskID]map[TaskID]bool // open follow-ups, by the task that opened the pull request
	awaited  map[TaskID]map[TaskID]bool // open tasks that begin after others, by each of these and by what opened its pull request

	startable map[*agendaTask]bool // tasks that are not paused and have effects
	underWay  map[*agendaTask]bool // those of them that no limit holds back
	draining  map[*agendaTask]bool // paused tasks whose held runs come to the end of a turn

	wakes timeHeap // when the effects of a task change by time alone
	ages  timeHeap // when a task has been passed over for long

	due []Effect // room for what Due gives
}

// agendaTask is what an agenda knows of one open task.
type agendaTask struct {
	id       TaskID
	project  *agendaProject
	lead     TaskID   // of a follow-up; else empty
	awaits   []TaskID // keys of Agenda.awaited that it is under
	paused   bool
	urgency  urgency
	effects  []Effect
	load     projectLoad
	next     time.Time // when the effects change by time alone; zero: never
	underWay bool
}

// agendaProject is the tasks of one project that are not paused, in both of the
// orders that decide whose turn it is, and what all of its tasks have of the workers.
type agendaProject struct {
	byAge     []*agendaTask
	byUrgency []*agendaTask
	load      projectLoad
}

// Update brings the agenda to a state and a time. changed are the tasks of the events
// between the state before and this one. An event of the office has none: after it,
// while a cap of the office is in the way of all tasks, and where the state or the
// clock went back, everything is looked at anew.
func (a *Agenda) Update(s *State, now time.Time, changed ...TaskID) {
	short := s.Spending.Shortage != nil
	if a.state == nil || slices.Contains(changed, "") || short || a.short || s.Seq < a.seq || s.Time.Before(a.newest) || now.Before(a.now) {
		*a = Agenda{
			tasks: map[TaskID]*agendaTask{}, projects: map[string]*agendaProject{}, followed: map[TaskID]map[TaskID]bool{}, awaited: map[TaskID]map[TaskID]bool{},
			startable: map[*agendaTask]bool{}, underWay: map[*agendaTask]bool{}, draining: map[*agendaTask]bool{}, due: a.due,
		}
		changed = s.Open
	}
	a.state, a.seq, a.newest, a.now, a.short = s, s.Seq, s.Time, now, short
	for _, id := range changed {
		a.refreshTask(id)
	}
	a.wakes.takeUntil(now, a.isWake, a.refreshTask)
	a.ages.takeUntil(s.Time, a.isAge, a.refreshTask)
	if most := 2*len(a.tasks) + 100; len(a.wakes) > most || len(a.ages) > most {
		a.wakes.dropOthers(a.isWake)
		a.ages.dropOthers(a.isAge)
	}
}

// Due lists what must be under way, as the function of this name does. The list is valid
// until the next call: a list of its own at each look was a third of all memory that an
// office at work asked for.
func (a *Agenda) Due(active int) []Effect {
	s := a.state
	if s == nil || s.Office.Stopped || s.Office.Epoch == 0 {
		return nil
	}
	out := a.due[:0]
	for _, p := range a.choosePlaces(active) {
		out = append(out, p.task.effects...)
	}
	if len(out) < len(a.due) {
		clear(a.due[len(out):]) // it holds nothing of tasks that are over
	}
	if a.due = out; len(out) == 0 {
		return nil
	}
	return s.limitToFreeWorkers(out, func() map[string]projectLoad {
		by := make(map[string]projectLoad, len(a.projects))
		for id, p := range a.projects {
			by[id] = p.load
		}
		return by
	})
}

// Has says whether an effect is due but for the limits on tasks and workers: those
// decide what begins, not what ends.
func (a *Agenda) Has(e Effect) bool {
	t := a.tasks[e.Task]
	return t != nil && !a.state.Office.Stopped && slices.ContainsFunc(t.effects, func(o Effect) bool { return o.Key == e.Key })
}

// Next is when the agenda changes by time alone, as NextDue is.
func (a *Agenda) Next() time.Time {
	for ; len(a.wakes) > 0; heap.Pop(&a.wakes) {
		if a.isWake(a.wakes[0]) {
			return earliestAfter(time.Time{}, a.state.Spending.endsAfter(a.now), a.wakes[0].at)
		}
	}
	if a.state == nil {
		return time.Time{}
	}
	return a.state.Spending.endsAfter(a.now)
}

// refreshTask looks at one task anew, and at those that begin after it.
func (a *Agenda) refreshTask(id TaskID) {
	for later := range a.awaited[id] {
		if t := a.state.Tasks[later]; t != nil && !t.Status.Ended() {
			a.setEffects(a.tasks[later], t)
		}
	}
	t, known := a.state.Tasks[id], a.tasks[id]
	isOpen := t != nil && !t.Status.Ended()
	var lead TaskID
	switch {
	case known == nil && !isOpen:
		return
	case known == nil:
		lead = a.addTask(t).lead
	case !isOpen:
		lead = known.lead
		a.removeTask(known)
	default:
		a.changeTask(known, t)
		return
	}
	for other := range a.followed[lead] { // one at a time works on a branch
		a.setEffects(a.tasks[other], a.state.Tasks[other])
	}
}

func (a *Agenda) addTask(t *Task) *agendaTask {
	p := a.projects[t.Project.ID]
	if p == nil {
		p = &agendaProject{}
		a.projects[t.Project.ID] = p
	}
	known := &agendaTask{id: t.ID, project: p, paused: t.Paused, urgency: a.state.urgencyOf(t)}
	a.tasks[t.ID] = known
	if t.Follows != "" {
		known.lead = a.state.LeadOf(t).ID
		if a.followed[known.lead] == nil {
			a.followed[known.lead] = map[TaskID]bool{}
		}
		a.followed[known.lead][t.ID] = true
	}
	for _, id := range t.After {
		known.awaits = append(known.awaits, id, a.state.leadIDOf(id))
	}
	for _, id := range known.awaits {
		if a.awaited[id] == nil {
			a.awaited[id] = map[TaskID]bool{}
		}
		a.awaited[id][t.ID] = true
	}
	if !known.urgency.old {
		heap.Push(&a.ages, timedTask{t.Submitted.Add(MaxPassedOver), known})
	}
	a.placeTask(known)
	a.setEffects(known, t)
	return known
}

func (a *Agenda) removeTask(known *agendaTask) {
	delete(a.tasks, known.id)
	a.unplaceTask(known)
	known.effects, known.underWay = nil, false
	a.countTask(known)
	a.setLoad(known, projectLoad{})
	deleteFrom(a.followed, known.lead, known.id)
	for _, id := range known.awaits {
		deleteFrom(a.awaited, id, known.id)
	}
}

// deleteFrom takes a task out of one of the sets, and drops the set with its last.
func deleteFrom(sets map[TaskID]map[TaskID]bool, of, id TaskID) {
	if delete(sets[of], id); len(sets[of]) == 0 {
		delete(sets, of)
	}
}

func (a *Agenda) changeTask(known *agendaTask, t *Task) {
	if u := a.state.urgencyOf(t); u != known.urgency || t.Paused != known.paused {
		a.unplaceTask(known)
		known.urgency, known.paused = u, t.Paused
		a.placeTask(known)
	}
	a.setEffects(known, t)
}

// setEffects finds the effects of a task, and what else its runs decide.
func (a *Agenda) setEffects(known *agendaTask, t *Task) {
	if t.Paused {
		known.effects, known.underWay = a.state.dueWhilePaused(known.effects[:0], t, a.now), false
	} else {
		known.effects, known.underWay = a.state.dueTask(known.effects[:0], t, a.now), a.state.underWay(t)
	}
	a.countTask(known)
	a.setLoad(known, a.state.loadOf(t))
	if next := nextChange(t, a.now); !next.Equal(known.next) {
		known.next = next
		if !next.IsZero() {
			heap.Push(&a.wakes, timedTask{next, known})
		}
	}
}
