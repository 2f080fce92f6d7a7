package company

import (
	"container/heap"
	"slices"
	"time"
)

// Agenda is an incremental version of Due. It recomputes only the tasks that an event or the time has changed, so its
// cost does not depend on the number of open tasks. Due is its specification: for the same state and time, both return
// the same effects in the same order.
//
// It is derived from the state, and only one goroutine may use it. The zero value is empty; the first Update fills it.
type Agenda struct {
	state    *State
	seq      uint64    // of the state at the last Update
	newest   time.Time // of its events
	now      time.Time
	short    bool                   // a cap of the office blocked calls at the last Update
	tasks    map[TaskID]*agendaTask // the open tasks
	projects map[string]*agendaProject
	working  int                        // number of projects with a task that is not paused
	followed map[TaskID]map[TaskID]bool // open follow-ups, by the task that opened the pull request
	// awaited holds open tasks that begin after others. Its keys are these other tasks and the leads of their pull
	// requests.
	awaited map[TaskID]map[TaskID]bool

	startable map[*agendaTask]bool // tasks that are not paused and have effects
	underWay  map[*agendaTask]bool // startable tasks that no limit holds back
	draining  map[*agendaTask]bool // paused tasks whose held runs are finishing a turn

	wakes timeHeap // times at which the effects of a task change without an event
	ages  timeHeap // times at which a task counts as passed over for long

	places    []agendaPlace // the tasks that the last Due chose
	due       []Effect      // buffer for the result of Due
	refreshed []TaskID      // see Refreshed
}

// Refreshed returns the tasks that the last Update looked at again: those of the events, those that begin after them,
// and those whose retry or deadline has come. The list is valid until the next Update.
func (a *Agenda) Refreshed() []TaskID { return a.refreshed }

// agendaTask is the agenda's data of one open task.
type agendaTask struct {
	id       TaskID
	project  *agendaProject
	lead     TaskID   // of a follow-up; otherwise empty
	awaits   []TaskID // its keys in Agenda.awaited
	paused   bool
	urgency  urgency
	effects  []Effect
	holds    []Hold // regardless of the limits on tasks and workers
	load     projectLoad
	next     time.Time // when the effects change without an event; zero means never
	underWay bool
}

// agendaProject holds the tasks of one project that are not paused, in the two orders that decide the turns. load is
// the share of workers of all its tasks.
type agendaProject struct {
	byAge     []*agendaTask
	byUrgency []*agendaTask
	load      projectLoad
}

// Update brings the agenda to a state and a time. changed lists the tasks of the events since the previous state; an
// event of the office has an empty id. Update recomputes everything after an event of the office and while a cap of the
// office blocks all tasks. It does the same if the state or the clock went back.
func (a *Agenda) Update(state *State, now time.Time, changed ...TaskID) {
	short := state.Spending.Shortage != nil
	if a.state == nil || slices.Contains(changed, "") || short || a.short || state.Seq < a.seq ||
		state.Time.Before(a.newest) ||
		now.Before(a.now) {
		*a = Agenda{
			tasks: map[TaskID]*agendaTask{}, projects: map[string]*agendaProject{}, followed: map[TaskID]map[TaskID]bool{},
			awaited:   map[TaskID]map[TaskID]bool{},
			startable: map[*agendaTask]bool{}, underWay: map[*agendaTask]bool{}, draining: map[*agendaTask]bool{}, due: a.due,
		}
		changed = state.Open
	}
	a.refreshed = a.refreshed[:0]
	a.state = state
	a.seq = state.Seq
	a.newest = state.Time
	a.now = now
	a.short = short
	for _, id := range changed {
		a.refreshTask(id)
	}
	a.wakes.takeUntil(now, a.isWake, a.refreshTask)
	a.ages.takeUntil(state.Time, a.isAge, a.refreshTask)
	if limit := 2*len(a.tasks) + 100; len(a.wakes) > limit || len(a.ages) > limit {
		a.wakes.dropOthers(a.isWake)
		a.ages.dropOthers(a.isAge)
	}
}

// Due returns the same effects as the function Due. The list is valid until the next call: allocating a new list for
// each call was a third of all memory that a busy office allocated.
func (a *Agenda) Due(active int) []Effect {
	state := a.state
	if state == nil || state.Office.Stopped || state.Office.Epoch == 0 {
		return nil
	}
	out := a.due[:0]
	a.places = a.choosePlaces(active)
	for _, p := range a.places {
		out = append(out, p.task.effects...)
	}
	if len(out) < len(a.due) {
		clear(a.due[len(out):]) // drop references to finished tasks
	}
	if a.due = out; len(out) == 0 {
		return nil
	}
	return state.limitToFreeWorkers(out, func() map[string]projectLoad {
		by := make(map[string]projectLoad, len(a.projects))
		for id, p := range a.projects {
			by[id] = p.load
		}
		return by
	}, nil)
}

// Has reports whether an effect is due, regardless of the limits on tasks and workers. Those limits decide which
// effects begin, not which end.
func (a *Agenda) Has(effect Effect) bool {
	agendaTask := a.tasks[effect.Task]
	return agendaTask != nil && !a.state.Office.Stopped &&
		slices.ContainsFunc(agendaTask.effects, func(o Effect) bool { return o.Key == effect.Key })
}

// Next returns the time at which the agenda changes without an event, like NextDue.
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

// refreshTask recomputes one task and the tasks that begin after it.
func (a *Agenda) refreshTask(id TaskID) {
	for later := range a.awaited[id] {
		if t := a.state.Tasks[later]; t != nil && !t.Status.Ended() {
			a.setEffects(a.tasks[later], t)
		}
	}
	task, known := a.state.Tasks[id], a.tasks[id]
	isOpen := task != nil && !task.Status.Ended()
	var lead TaskID
	switch {
	case known == nil && !isOpen:
		return
	case known == nil:
		lead = a.addTask(task).lead
	case !isOpen:
		lead = known.lead
		a.removeTask(known)
	default:
		a.changeTask(known, task)
		return
	}
	for other := range a.followed[lead] { // only one of them at a time works on a branch
		a.setEffects(a.tasks[other], a.state.Tasks[other])
	}
}

func (a *Agenda) addTask(task *Task) *agendaTask {
	project := a.projects[task.Project.ID]
	if project == nil {
		project = &agendaProject{}
		a.projects[task.Project.ID] = project
	}
	known := &agendaTask{id: task.ID, project: project, paused: task.Paused, urgency: a.state.urgencyOf(task)}
	a.tasks[task.ID] = known
	if task.Follows != "" {
		known.lead = a.state.LeadOf(task).ID
		if a.followed[known.lead] == nil {
			a.followed[known.lead] = map[TaskID]bool{}
		}
		a.followed[known.lead][task.ID] = true
	}
	for _, id := range task.After {
		known.awaits = append(known.awaits, id, a.state.leadIDOf(id))
	}
	for _, id := range known.awaits {
		if a.awaited[id] == nil {
			a.awaited[id] = map[TaskID]bool{}
		}
		a.awaited[id][task.ID] = true
	}
	if !known.urgency.old {
		heap.Push(&a.ages, timedTask{task.Submitted.Add(MaxPassedOver), known})
	}
	a.placeTask(known)
	a.setEffects(known, task)
	return known
}

func (a *Agenda) removeTask(known *agendaTask) {
	delete(a.tasks, known.id)
	a.unplaceTask(known)
	a.refreshed = append(a.refreshed, known.id)
	known.effects, known.underWay = nil, false
	a.countTask(known)
	a.setLoad(known, projectLoad{})
	deleteFrom(a.followed, known.lead, known.id)
	for _, id := range known.awaits {
		deleteFrom(a.awaited, id, known.id)
	}
}

// deleteFrom removes a task from one of the sets. It removes the set if it is then empty.
func deleteFrom(sets map[TaskID]map[TaskID]bool, of, id TaskID) {
	if delete(sets[of], id); len(sets[of]) == 0 {
		delete(sets, of)
	}
}

func (a *Agenda) changeTask(known *agendaTask, task *Task) {
	if urgency := a.state.urgencyOf(task); urgency != known.urgency || task.Paused != known.paused {
		a.unplaceTask(known)
		known.urgency, known.paused = urgency, task.Paused
		a.placeTask(known)
	}
	a.setEffects(known, task)
}

// setEffects recomputes the effects, the load and the next wake-up of a task.
func (a *Agenda) setEffects(known *agendaTask, task *Task) {
	known.holds = nil
	a.refreshed = append(a.refreshed, known.id)
	if task.Paused {
		known.effects, known.underWay = a.state.dueWhilePaused(known.effects[:0], task, a.now), false
	} else {
		known.effects = a.state.dueTask(known.effects[:0], task, a.now, appendHold(&known.holds))
		known.underWay = a.state.underWay(task)
	}
	a.countTask(known)
	a.setLoad(known, a.state.loadOf(task))
	if next := nextChange(task, a.now); !next.Equal(known.next) {
		known.next = next
		if !next.IsZero() {
			heap.Push(&a.wakes, timedTask{next, known})
		}
	}
}
