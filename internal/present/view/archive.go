package view

import (
	"slices"

	"company/internal/company"
)

// Archives reads tasks that were moved out of the state.
type Archives interface {
	// LoadArchive returns the archive that contains a task. The caller must not change it.
	LoadArchive(id company.TaskID) (*company.Archive, error)
}

// withTask returns a source whose state contains a task, even if it is archived.
func (src Source) withTask(id company.TaskID) (Source, error) {
	if src.State.Tasks[id] != nil || src.State.Past[id] == nil || src.Archives == nil {
		return src, nil
	}
	archive, err := src.Archives.LoadArchive(id)
	if err != nil {
		return src, err
	}
	src.State = src.State.WithArchive(archive)
	return src, nil
}

// WithTarget returns a source whose state contains the task of an id, even if it is archived.
func (src Source) WithTarget(id string) (Source, error) {
	id = company.TaskOfLog(id)
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

// WithArchives returns a command with the archives of the tasks that it is about, as the state of the source needs
// them.
func (src Source) WithArchives(command company.Command) (company.Command, *company.State, error) {
	targets := company.ArchivedTargets(src.State, command)
	if len(targets) == 0 || src.Archives == nil {
		return command, src.State, nil
	}
	with := company.RestoreArchived{Command: command, Archives: map[company.TaskID]*company.Archive{}}
	for _, id := range targets {
		archive, err := src.Archives.LoadArchive(id)
		if err != nil {
			return nil, nil, err
		}
		with.Archives[id] = archive
	}
	return with, src.State, nil
}

// officeTask is a task of the office. Exactly one field is set.
type officeTask struct {
	now  *company.Task
	past *company.PastTask // the archived task
}

func (t officeTask) id() company.TaskID {
	if t.past != nil {
		return t.past.ID
	}
	return t.now.ID
}

// allTasks lists all tasks of the office, archived ones included, newest last.
func (src Source) allTasks() []officeTask {
	state := src.State
	out := make([]officeTask, 0, len(state.Tasks)+len(state.Past))
	if len(state.Past) == 0 {
		for _, t := range state.SortedTasks() {
			out = append(out, officeTask{now: t})
		}
		return out
	}
	for _, t := range state.Tasks {
		out = append(out, officeTask{now: t})
	}
	for _, p := range state.Past {
		out = append(out, officeTask{past: p})
	}
	slices.SortFunc(out, func(a, b officeTask) int { return a.id().Number() - b.id().Number() })
	return out
}

// makeRow returns the short view of a task. It loads an archived task.
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

// pullRequests returns the office's pull requests in one of the given states, or all if none is given. They are sorted
// by task, oldest first.
func (src Source) pullRequests(states ...company.PRState) []PullRequest {
	wanted := func(st company.PRState) bool { return len(states) == 0 || slices.Contains(states, st) }
	by := map[company.TaskID]PullRequest{}
	for _, pull := range src.State.Pulls() {
		if wanted(pull.State) {
			by[pull.Lead.ID] = NewPullRequest(pullTask(pull))
		}
	}
	for id, pastTask := range src.State.Past {
		if pastTask.PR != nil && wanted(pastTask.PR.State) && src.State.Tasks[id] == nil {
			by[id] = NewPullRequest(&company.Task{ID: id, PR: pastTask.PR, BranchChange: pastTask.BranchChange})
		}
	}
	out := make([]PullRequest, 0, len(by))
	for _, v := range by {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b PullRequest) int { return a.Task.Number() - b.Task.Number() })
	return out
}
