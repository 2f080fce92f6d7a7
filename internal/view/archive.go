package view

import (
	"slices"

	"company/internal/company"
)

// Archives has the tasks that have left the state.
type Archives interface {
	// LoadArchive gives the archive that holds a task. It is not changed.
	LoadArchive(id company.TaskID) (*company.Archive, error)
}

// withTask is the source in whose state a task is found though it is archived.
func (src Source) withTask(id company.TaskID) (Source, error) {
	if src.State.Tasks[id] != nil || src.State.Past[id] == nil || src.Archives == nil {
		return src, nil
	}
	a, err := src.Archives.LoadArchive(id)
	if err != nil {
		return src, err
	}
	src.State = src.State.WithArchive(a)
	return src, nil
}

// WithTarget is the source in whose state the task is found that an id names, or that
// it is of, though it is archived.
func (src Source) WithTarget(id string) (Source, error) {
	switch {
	case approvalRE.MatchString(id):
		return src.withTask(src.State.TaskAskedBy(company.ApprovalID(id)))
	case company.TaskID(id).Valid():
		return src.withTask(company.TaskID(id))
	case company.SubtaskID(id).Valid():
		return src.withTask(company.SubtaskID(id).Task())
	case company.RunID(id).Valid():
		return src.withTask(company.RunID(id).Task())
	}
	return src, nil
}

// WithArchives is a command as the state of the source decides it: with the archives of
// the tasks that it is about.
func (src Source) WithArchives(c company.Command) (company.Command, *company.State, error) {
	targets := company.ArchivedTargets(src.State, c)
	if len(targets) == 0 || src.Archives == nil {
		return c, src.State, nil
	}
	with := company.RestoreArchived{Command: c, Archives: map[company.TaskID]*company.Archive{}}
	for _, id := range targets {
		a, err := src.Archives.LoadArchive(id)
		if err != nil {
			return nil, nil, err
		}
		with.Archives[id] = a
	}
	return with, src.State, nil
}

// officeTask is a task of the office: one of the two is set.
type officeTask struct {
	now  *company.Task
	past *company.PastTask // archived
}

func (t officeTask) id() company.TaskID {
	if t.past != nil {
		return t.past.ID
	}
	return t.now.ID
}

// allTasks lists the tasks of the office, archived ones too, the newest last.
func (src Source) allTasks() []officeTask {
	s := src.State
	out := make([]officeTask, 0, len(s.Tasks)+len(s.Past))
	if len(s.Past) == 0 {
		for _, t := range s.SortedTasks() {
			out = append(out, officeTask{now: t})
		}
		return out
	}
	for _, t := range s.Tasks {
		out = append(out, officeTask{now: t})
	}
	for _, p := range s.Past {
		out = append(out, officeTask{past: p})
	}
	slices.SortFunc(out, func(a, b officeTask) int { return a.id().Number() - b.id().Number() })
	return out
}

// makeRow is the short view of a task, which is read where it is archived.
func (src Source) makeRow(t officeTask) (Task, error) {
	if t.past == nil {
		return src.Task(t.now), nil
	}
	with, err := src.withTask(t.past.ID)
	if err != nil {
		return Task{}, err
	}
	found, err := with.State.Task(t.past.ID)
	if err != nil {
		return Task{}, err
	}
	return with.Task(found), nil
}

// pullRequests are those of the office in one of the states, or all without one; that of
// the oldest task is the first.
func (src Source) pullRequests(states ...company.PRState) []PullRequest {
	wanted := func(st company.PRState) bool { return len(states) == 0 || slices.Contains(states, st) }
	by := map[company.TaskID]PullRequest{}
	for _, p := range src.State.Pulls() {
		if wanted(p.State) {
			by[p.Lead.ID] = NewPullRequest(pullTask(p))
		}
	}
	for id, p := range src.State.Past {
		if p.PR != nil && wanted(p.PR.State) && src.State.Tasks[id] == nil {
			by[id] = NewPullRequest(&company.Task{ID: id, PR: p.PR, BranchChange: p.BranchChange})
		}
	}
	out := make([]PullRequest, 0, len(by))
	for _, v := range by {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b PullRequest) int { return a.Task.Number() - b.Task.Number() })
	return out
}
