package view

import (
	"maps"
	"slices"
	"strconv"

	"company/internal/company"
)

// Work is how far the work is: what follows tasks, or sends a command about
// them, needs to know. It stays small however long the history is.
type Work struct {
	Office  string           `json:"office"`
	Seq     uint64           `json:"seq"`   // of the newest event
	Epoch   uint64           `json:"epoch"` // 0: nothing ever began
	Stopped bool             `json:"stopped"`
	Workers int              `json:"workers"`
	Hired   int              `json:"hired"` // of the workers, against the config
	Held    []company.RunID  `json:"held"`  // runs that are held
	Open    []company.TaskID `json:"open"`  // tasks that have not ended
	Tasks   []Progress       `json:"tasks"` // those asked for, or those that have not ended
}

// Progress is how far a task is.
type Progress struct {
	Task
	Over      bool       `json:"over"`      // it has ended
	Held      bool       `json:"held"`      // a holder has a run of it
	AtRest    bool       `json:"at_rest"`   // only a person can move it
	Questions []Approval `json:"questions"` // that are open
}

// AwaitsPerson says that only a person can move the task, and what it waits for: an
// answer, or that the pause of a subtask is lifted.
func (p Progress) AwaitsPerson() bool {
	return p.AtRest && (len(p.Questions) > 0 || len(p.PausedSubtasks) > 0)
}

// CanGoOn says that a company could work on a task: it has not ended, is not paused and
// awaits no answer, and the office is not stopped.
func (w Work) CanGoOn(id company.TaskID) bool {
	p := w.Progress(id)
	return !w.Stopped && p != nil && !p.Over && !p.Paused && len(p.PausedSubtasks) == 0 && !p.AwaitsPerson()
}

// Work is how far the tasks are that are named, or all that have not ended.
func (src Source) Work(ids ...company.TaskID) (Work, error) {
	s := src.State
	w := Work{
		Office: s.Office.ID, Seq: s.Seq, Epoch: s.Office.Epoch, Stopped: s.Office.Stopped, Workers: s.Office.WorkerCount(), Hired: s.Office.AddedWorkers,
		Held: []company.RunID{}, Open: append([]company.TaskID{}, s.Open...), Tasks: []Progress{},
	}
	for _, t := range s.Tasks {
		for id, r := range t.Runs {
			if r.Held {
				w.Held = append(w.Held, id)
			}
		}
	}
	slices.Sort(w.Held)
	if len(ids) == 0 {
		ids = s.Open
	}
	for _, id := range ids {
		src, err := src.withTask(id)
		if err != nil {
			return Work{}, err
		}
		s := src.State
		t, err := FindTask(s, string(id))
		if err != nil {
			return Work{}, err
		}
		over := t.Status.Ended()
		w.Tasks = append(w.Tasks, Progress{
			Task: src.Task(t), Over: over, Held: t.HeldRun(), AtRest: !over && s.AtRest(t, src.Now), Questions: src.approvals(s.OpenApprovals(id)),
		})
	}
	return w, nil
}

// Progress is that of one task, or nil.
func (w *Work) Progress(id company.TaskID) *Progress {
	if w == nil {
		return nil
	}
	for i := range w.Tasks {
		if w.Tasks[i].ID == id {
			return &w.Tasks[i]
		}
	}
	return nil
}

// PausedIDs lists what rests by a decision: paused tasks, and of the others the subtasks
// that are paused by themselves.
func (w Work) PausedIDs() []string {
	var out []string
	for _, t := range w.Tasks {
		if t.Paused {
			out = append(out, string(t.ID))
			continue
		}
		for _, sub := range t.PausedSubtasks {
			out = append(out, string(sub))
		}
	}
	return out
}

// IDs are those that a command line may name, for shells that complete them.
type IDs struct {
	Tasks        []string `json:"tasks"`
	Open         []string `json:"open"`       // tasks that have not ended
	Ended        []string `json:"ended"`      // tasks that failed or were cancelled, which can be reopened
	Plans        []string `json:"plans"`      // dry runs
	Running      []string `json:"running"`    // subtasks that a worker is at
	Unfinished   []string `json:"unfinished"` // subtasks, of tasks that have not ended
	Paused       []string `json:"paused"`     // subtasks that are paused by themselves
	All          []string `json:"all"`        // tasks with their subtasks and runs
	Questions    []string `json:"questions"`
	Workers      []string `json:"workers"`
	PullRequests []string `json:"pull_requests"`
	OpenPulls    []string `json:"open_pull_requests"`
	Followed     []string `json:"followed"`  // tasks with an open pull request
	Awaitable    []string `json:"awaitable"` // tasks that may still be merged, which others can begin after
	Projects     []string `json:"projects"`
}

// IDs are those of the office.
func (src Source) IDs() IDs {
	s, v := src.State, IDs{}
	for _, of := range src.allTasks() {
		if of.past != nil {
			v.addPast(of.past)
			continue
		}
		t := of.now
		v.Tasks, v.All = append(v.Tasks, string(t.ID)), append(v.All, string(t.ID))
		v.addEnd(t.ID, t.Status, t.DryRun)
		for _, sub := range t.Subtasks {
			if !t.Status.Ended() && (sub.Status == company.SubtaskRunning || sub.Status == company.SubtaskAssigned) {
				v.Running = append(v.Running, string(sub.ID))
			}
			if sub.Paused {
				v.Paused = append(v.Paused, string(sub.ID))
			} else if !t.Status.Ended() && !sub.Status.Ended() {
				v.Unfinished = append(v.Unfinished, string(sub.ID))
			}
			v.All = append(v.All, string(sub.ID))
		}
		for _, id := range slices.Sorted(maps.Keys(t.Runs)) {
			v.All = append(v.All, string(id))
		}
	}
	for _, id := range s.Open {
		v.Open = append(v.Open, string(id))
		if !s.Tasks[id].DryRun {
			v.Awaitable = append(v.Awaitable, string(id))
		}
	}
	for _, q := range s.OpenApprovals("") {
		v.Questions = append(v.Questions, string(q.ID))
	}
	for n := 1; n <= s.Office.WorkerCount(); n++ {
		v.Workers = append(v.Workers, "w"+strconv.Itoa(n))
	}
	for _, p := range src.pullRequests() {
		v.PullRequests = append(v.PullRequests, strconv.Itoa(p.Number))
		if p.State == company.PROpen {
			v.OpenPulls, v.Followed = append(v.OpenPulls, strconv.Itoa(p.Number)), append(v.Followed, string(p.Task))
			v.Awaitable = append(v.Awaitable, string(p.Task))
		}
	}
	for _, p := range s.Projects() {
		v.Projects = append(v.Projects, p.Name)
	}
	return v
}

// addEnd lists a task among those that can be reopened, or worked on.
func (v *IDs) addEnd(id company.TaskID, st company.TaskStatus, dryRun bool) {
	switch {
	case st == company.StatusFailed || st == company.StatusCancelled:
		v.Ended = append(v.Ended, string(id))
	case st == company.StatusCompleted && dryRun:
		v.Plans = append(v.Plans, string(id))
	}
}

// addPast lists an archived task.
func (v *IDs) addPast(p *company.PastTask) {
	v.Tasks, v.All = append(v.Tasks, string(p.ID)), append(v.All, string(p.ID))
	v.addEnd(p.ID, p.Status, p.DryRun)
	for n := 1; n <= p.Subtasks; n++ {
		v.All = append(v.All, string(company.NewSubtaskID(p.ID, n)))
	}
	for _, run := range p.RunIDs() {
		v.All = append(v.All, string(run))
	}
}

// Projects are the repositories that an office works on, the one used last
// first.
type Projects struct {
	Epoch    uint64                  `json:"epoch"` // 0: no company works in this office yet
	Projects []company.ProjectRecord `json:"projects"`
}

// Projects are those of the office.
func (src Source) Projects() Projects {
	return Projects{Epoch: src.State.Office.Epoch, Projects: src.State.Projects()}
}

// Range is what an id changed, as two commits of a project.
type Range struct {
	Of      string          `json:"of"`
	Project company.Project `json:"project"`
	From    company.OID     `json:"from"`
	To      company.OID     `json:"to"`
	Context int             `json:"-"` // unchanged lines around a change in its patch; 0: UsualContext
}

// UsualContext is how many unchanged lines stand around a change, as git has it.
const UsualContext = 3

// Range tells what an id changed: a task its integration branch since the
// base, a subtask its head since the base of its first run, a run its own.
func (src Source) Range(id string) (Range, error) {
	src, err := src.WithTarget(id)
	if err != nil {
		return Range{}, err
	}
	th, err := FindTarget(src.State, id)
	if err != nil {
		return Range{}, err
	}
	if th.Approval != nil {
		return Range{}, company.E(company.EUsage, id+" is a question").Fix("company diff <task|subtask|run>")
	}
	v := Range{Of: id, Project: th.Task.Project}
	switch {
	case th.Run != nil:
		v.From, v.To = th.Run.From, th.Run.Head
	case th.Subtask != nil:
		v.From, v.To = th.Subtask.Base, th.Subtask.Head
	case th.Task.Prepared != nil:
		v.From, v.To = th.Task.Prepared.Base.OID, th.Task.Head
	}
	if v.From == "" || v.To == "" {
		return Range{}, company.E(company.ENotFound, id+" has no commit yet").Fix("company show " + id)
	}
	return v, nil
}

// PullRecord is one pull request with the tasks that made it, as the office's
// own record has it: what asks the forge about it needs that.
type PullRecord struct {
	Office string       `json:"office"`
	Pull   company.Pull `json:"pull"`
}

// Task is the task that opened the pull request, with the pull request as it
// stands after all follow-ups.
func (r PullRecord) Task() *company.Task { return pullTask(r.Pull) }

// PullRecord is the one of a number, or of a task.
func (src Source) PullRecord(ref string) (PullRecord, error) {
	src, err := src.withPull(ref)
	if err != nil {
		return PullRecord{}, err
	}
	p, err := findPull(src.State, ref)
	return PullRecord{Office: src.State.Office.ID, Pull: p}, err
}

// JoinIDs lists tasks in a line.
func JoinIDs(ids []company.TaskID) string {
	out := ""
	for i, id := range ids {
		if i > 0 {
			out += ", "
		}
		out += string(id)
	}
	return out
}

// RecoveryNotes say which tasks recovery: ask has paused, and the way on. Of none there is
// nothing to say.
func RecoveryNotes(paused []company.TaskID) []string {
	if len(paused) == 0 {
		return nil
	}
	return []string{"recovery: ask: " + JoinIDs(paused) + " is unfinished and paused; go on with: company resume"}
}
