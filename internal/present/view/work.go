package view

import (
	"maps"
	"slices"
	"strconv"

	"company/internal/company"
)

// Work is the progress of tasks, for callers that follow tasks or send commands about them. Its size does not grow
// with the history.
type Work struct {
	Office  string           `json:"office"`
	Seq     uint64           `json:"seq"`   // of the newest event
	Epoch   uint64           `json:"epoch"` // 0 before the first company started
	Stopped bool             `json:"stopped"`
	Workers int              `json:"workers"`
	Hired   int              `json:"hired"` // workers added to the number in the config
	Held    []company.RunID  `json:"held"`  // runs that are held
	Open    []company.TaskID `json:"open"`  // unfinished tasks
	Tasks   []Progress       `json:"tasks"` // the requested tasks, or all unfinished ones
}

// Progress is a task with its progress.
type Progress struct {
	Task
	Over      bool       `json:"over"`      // the task has ended
	Held      bool       `json:"held"`      // a holder has one of its runs
	AtRest    bool       `json:"at_rest"`   // only a person can move it
	Questions []Approval `json:"questions"` // open questions
	Steps     []Step     `json:"steps"`     // its work outside of runs
}

// AwaitsPerson reports whether only a person can move the task, by answering a question or by resuming a subtask.
func (p Progress) AwaitsPerson() bool {
	return p.AtRest && (len(p.Questions) > 0 || len(p.PausedSubtasks) > 0)
}

// CanGoOn reports whether a company could work on a task. The task must be unfinished, not paused and without a
// pending answer, and the office must not be stopped.
func (w Work) CanGoOn(id company.TaskID) bool {
	p := w.Progress(id)
	return !w.Stopped && p != nil && !p.Over && !p.Paused && len(p.PausedSubtasks) == 0 && !p.AwaitsPerson()
}

// IsBusy reports whether an agent holds a run, or an unfinished task can continue without a person.
func (src Source) IsBusy() bool {
	for _, task := range src.State.Tasks {
		if task.HeldRun() {
			return true
		}
	}
	return slices.ContainsFunc(src.State.Open, func(id company.TaskID) bool {
		return !src.State.AtRest(src.State.Tasks[id], src.Now)
	})
}

// Work returns the progress of the named tasks, or of all unfinished ones if none is named.
func (src Source) Work(ids ...company.TaskID) (Work, error) {
	src = src.WithSchedule()
	state := src.State
	work := Work{
		Office: state.Office.ID, Seq: state.Seq, Epoch: state.Office.Epoch, Stopped: state.Office.Stopped,
		Workers: state.Office.WorkerCount(),
		Hired:   state.Office.AddedWorkers,
		Held:    []company.RunID{}, Open: append([]company.TaskID{}, state.Open...), Tasks: []Progress{},
	}
	for _, t := range state.Tasks {
		for id, r := range t.Runs {
			if r.Held {
				work.Held = append(work.Held, id)
			}
		}
	}
	slices.Sort(work.Held)
	if len(ids) == 0 {
		ids = state.Open
	}
	for _, id := range ids {
		src, err := src.withTask(id)
		if err != nil {
			return Work{}, err
		}
		s := src.State
		task, err := FindTask(s, string(id))
		if err != nil {
			return Work{}, err
		}
		over := task.Status.Ended()
		work.Tasks = append(work.Tasks, Progress{
			Task: src.Task(task), Over: over, Held: task.HeldRun(), AtRest: !over && s.AtRest(task, src.Now),
			Questions: src.approvals(s.OpenApprovals(id)), Steps: append([]Step{}, src.steps(task)...),
		})
	}
	return work, nil
}

// Progress returns the progress of a task, or nil if w does not have it.
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

// PausedIDs lists paused tasks, and paused subtasks of the other tasks.
func (w Work) PausedIDs() []string {
	var out []string
	for _, progress := range w.Tasks {
		if progress.Paused {
			out = append(out, string(progress.ID))
			continue
		}
		for _, sub := range progress.PausedSubtasks {
			out = append(out, string(sub))
		}
	}
	return out
}

// IDs lists the ids that a command line may name, for shell completion.
type IDs struct {
	Tasks        []string `json:"tasks"`
	Open         []string `json:"open"`       // unfinished tasks
	Ended        []string `json:"ended"`      // failed or cancelled tasks, which can be reopened
	Plans        []string `json:"plans"`      // dry runs
	Running      []string `json:"running"`    // subtasks that a worker works on
	Unfinished   []string `json:"unfinished"` // subtasks of unfinished tasks
	Paused       []string `json:"paused"`     // subtasks that are paused on their own
	All          []string `json:"all"`        // tasks with their subtasks and runs
	Questions    []string `json:"questions"`
	Workers      []string `json:"workers"`
	PullRequests []string `json:"pull_requests"`
	OpenPulls    []string `json:"open_pull_requests"`
	Followed     []string `json:"followed"`  // tasks with an open pull request
	Awaitable    []string `json:"awaitable"` // tasks that may still be merged, so that others can depend on them
	Projects     []string `json:"projects"`
}

// IDs returns the ids of the office.
func (src Source) IDs() IDs {
	state, iDs := src.State, IDs{}
	for _, of := range src.allTasks() {
		if of.past != nil {
			iDs.addPast(of.past)
			continue
		}
		task := of.now
		iDs.Tasks, iDs.All = append(iDs.Tasks, string(task.ID)), append(iDs.All, string(task.ID))
		iDs.addEnd(task.ID, task.Status, task.DryRun)
		for _, sub := range task.Subtasks {
			if !task.Status.Ended() && (sub.Status == company.SubtaskRunning || sub.Status == company.SubtaskAssigned) {
				iDs.Running = append(iDs.Running, string(sub.ID))
			}
			if sub.Paused {
				iDs.Paused = append(iDs.Paused, string(sub.ID))
			} else if !task.Status.Ended() && !sub.Status.Ended() {
				iDs.Unfinished = append(iDs.Unfinished, string(sub.ID))
			}
			iDs.All = append(iDs.All, string(sub.ID))
		}
		for _, id := range slices.Sorted(maps.Keys(task.Runs)) {
			iDs.All = append(iDs.All, string(id))
		}
	}
	for _, id := range state.Open {
		iDs.Open = append(iDs.Open, string(id))
		if !state.Tasks[id].DryRun {
			iDs.Awaitable = append(iDs.Awaitable, string(id))
		}
	}
	for _, q := range state.OpenApprovals("") {
		iDs.Questions = append(iDs.Questions, string(q.ID))
	}
	for n := 1; n <= state.Office.WorkerCount(); n++ {
		iDs.Workers = append(iDs.Workers, "w"+strconv.Itoa(n))
	}
	for _, pullRequest := range src.pullRequests() {
		iDs.PullRequests = append(iDs.PullRequests, strconv.Itoa(pullRequest.Number))
		if pullRequest.State == company.PROpen {
			iDs.OpenPulls, iDs.Followed = append(iDs.OpenPulls, strconv.Itoa(pullRequest.Number)),
				append(iDs.Followed, string(pullRequest.Task))
			iDs.Awaitable = append(iDs.Awaitable, string(pullRequest.Task))
		}
	}
	for _, p := range state.Projects() {
		iDs.Projects = append(iDs.Projects, p.Name)
	}
	return iDs
}

// addEnd adds a failed or cancelled task to Ended, and a completed dry run to Plans.
func (v *IDs) addEnd(id company.TaskID, st company.TaskStatus, dryRun bool) {
	switch {
	case st == company.StatusFailed || st == company.StatusCancelled:
		v.Ended = append(v.Ended, string(id))
	case st == company.StatusCompleted && dryRun:
		v.Plans = append(v.Plans, string(id))
	}
}

// addPast adds an archived task.
func (v *IDs) addPast(pastTask *company.PastTask) {
	v.Tasks, v.All = append(v.Tasks, string(pastTask.ID)), append(v.All, string(pastTask.ID))
	v.addEnd(pastTask.ID, pastTask.Status, pastTask.DryRun)
	for n := 1; n <= pastTask.Subtasks; n++ {
		v.All = append(v.All, string(company.NewSubtaskID(pastTask.ID, n)))
	}
	for _, run := range pastTask.RunIDs() {
		v.All = append(v.All, string(run))
	}
}

// Projects are the repositories that an office works on, most recently used first.
type Projects struct {
	Epoch    uint64                  `json:"epoch"` // 0 if no company has worked in this office yet
	Projects []company.ProjectRecord `json:"projects"`
}

// Projects returns the projects of the office.
func (src Source) Projects() Projects {
	return Projects{Epoch: src.State.Office.Epoch, Projects: src.State.Projects()}
}

// Range is the change that an id made, as two commits of a project.
type Range struct {
	Of      string          `json:"of"`
	Project company.Project `json:"project"`
	From    company.OID     `json:"from"`
	To      company.OID     `json:"to"`
	Context int             `json:"-"` // unchanged lines around a change in its patch; 0 means UsualContext
}

// UsualContext is the default number of unchanged lines around a change, the same as git's.
const UsualContext = 3

// Range returns the commits that an id changed. A task's range is its integration branch since the base. A subtask's
// is its head since the base of its first run. A run's is its own commits.
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

// PullRecord is a pull request and its tasks as the office recorded them. It is needed to ask the forge about it.
type PullRecord struct {
	Office string       `json:"office"`
	Pull   company.Pull `json:"pull"`
}

// Task returns the task that opened the pull request, with the current pull request after all follow-ups.
func (r PullRecord) Task() *company.Task { return pullTask(r.Pull) }

// PullRecord returns the pull request with a number, or of a task.
func (src Source) PullRecord(ref string) (PullRecord, error) {
	src, err := src.withPull(ref)
	if err != nil {
		return PullRecord{}, err
	}
	p, err := findPull(src.State, ref)
	return PullRecord{Office: src.State.Office.ID, Pull: p}, err
}

// JoinIDs joins task ids with commas.
func JoinIDs(ids []company.TaskID) string { return joinFirst(ids, len(ids)) }

// RecoveryNotes tells which tasks "recovery: ask" paused, and how to resume them. It returns nil if there are none.
func RecoveryNotes(paused []company.TaskID) []string {
	if len(paused) == 0 {
		return nil
	}
	return []string{"recovery: ask: " + JoinIDs(paused) + " is unfinished and paused; continue with: company resume"}
}
