package view

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// Target is the object that an id on the command line names. A run has its task, and its subtask if there is one. A
// question of the office has no task.
type Target struct {
	Task     *company.Task
	Subtask  *company.Subtask
	Run      *company.Run
	Approval *company.Approval
}

var approvalRE = lazyregexp.New(`^a[1-9][0-9]{0,8}$`)

// FindTarget looks up an id: t1, t1-02, t1-02.3, a4, or task-001, the log of t1. The error is EUsage for a malformed
// id, and ENotFound if there is no such object.
func FindTarget(state *company.State, id string) (Target, error) {
	id = company.TaskOfLog(id)
	switch {
	case approvalRE.MatchString(id):
		approval := state.Approvals[company.ApprovalID(id)]
		if approval == nil {
			return Target{}, company.E(company.ENotFound, "there is no question "+id).
				Fix("company status lists what waits for you")
		}
		return Target{Approval: approval, Task: state.Tasks[approval.Task]}, nil
	case company.TaskID(id).Valid():
		task := state.Tasks[company.TaskID(id)]
		if task == nil {
			return Target{}, TaskNotFound(state, id)
		}
		return Target{Task: task}, nil
	case company.SubtaskID(id).Valid():
		task := state.Tasks[company.SubtaskID(id).Task()]
		if task == nil {
			return Target{}, TaskNotFound(state, string(company.SubtaskID(id).Task()))
		}
		sub := task.Subtask(company.SubtaskID(id))
		if sub == nil {
			return Target{}, company.E(company.ENotFound, "there is no subtask "+id).Because(describeSubtasks(task)).
				Fix("company show " + string(task.ID))
		}
		return Target{Task: task, Subtask: sub}, nil
	case company.RunID(id).Valid():
		task := state.Tasks[company.RunID(id).Task()]
		if task == nil {
			return Target{}, TaskNotFound(state, string(company.RunID(id).Task()))
		}
		run := task.Runs[company.RunID(id)]
		if run == nil {
			return Target{}, company.E(company.ENotFound, "there is no run "+id).
				Fix("company show " + string(task.ID) + " lists its runs")
		}
		return Target{Task: task, Subtask: task.Subtask(run.Subtask), Run: run}, nil
	}
	return Target{}, company.E(company.EUsage, fmt.Sprintf("invalid id %q", safetext.EscapeLine(id, 80))).
		Fix("ids look like t12 (task), t12-03 (subtask), t12-03.2 (run), a7 (question)")
}

// TaskNotFound returns the error for an id without a task.
func TaskNotFound(state *company.State, id string) error {
	fault := company.E(company.ENotFound, "there is no task "+safetext.EscapeLine(id, 40))
	if len(state.Tasks)+len(state.Past) == 0 {
		return fault.Because("this office has no tasks yet").Fix(`submit the first: company submit "…"`)
	}
	return fault.Because(fmt.Sprintf("the newest is t%d", state.LastTask)).
		Fix("company status lists the tasks of this office")
}

func describeSubtasks(task *company.Task) string {
	if len(task.Subtasks) == 0 {
		return string(task.ID) + " has no plan yet"
	}
	ids := make([]string, len(task.Subtasks))
	for i, sub := range task.Subtasks {
		ids[i] = string(sub.ID)
	}
	return string(task.ID) + " has " + strings.Join(ids, ", ")
}

// FindTask is like FindTarget, but accepts only the id of a task.
func FindTask(state *company.State, id string) (*company.Task, error) {
	if !company.TaskID(id).Valid() {
		return nil, company.E(company.EUsage, fmt.Sprintf("invalid task id %q", safetext.EscapeLine(id, 80))).
			Fix("task ids look like t12; company status lists them")
	}
	th, err := FindTarget(state, id)
	return th.Task, err
}

// Shown is the object that an id names, with all details. One of the pointers is set.
type Shown struct {
	Question      *Approval   `json:"question,omitempty"`
	Run           *Run        `json:"run,omitempty"`
	SchemaVersion int         `json:"schema_version"`
	Subtask       *Subtask    `json:"subtask,omitempty"`
	Task          *TaskDetail `json:"task,omitempty"`
}

// Show looks up an id and returns the object with all details.
func (src Source) Show(id string) (Shown, error) {
	shown := Shown{SchemaVersion: 1}
	src, err := src.WithTarget(id)
	if err != nil {
		return shown, err
	}
	th, err := FindTarget(src.State, id)
	if err != nil {
		return shown, err
	}
	switch {
	case th.Approval != nil:
		q := src.foundApproval(th)
		shown.Question = &q
	case th.Run != nil:
		r := src.Run(th.Task, th.Run)
		shown.Run = &r
	case th.Subtask != nil:
		sub := src.Subtask(th.Task, th.Subtask)
		shown.Subtask = &sub
	default:
		t := src.TaskDetail(th.Task)
		shown.Task = &t
	}
	return shown, nil
}

// Printed returns the object for -o json, without fields that only the text uses.
func (v Shown) Printed() Shown {
	if v.Task != nil {
		taskDetail := *v.Task
		taskDetail.Holds = nil
		v.Task = &taskDetail
	}
	return v
}

// Render renders the object as text.
func (v Shown) Render(style Style) string {
	switch {
	case v.Question != nil:
		return v.Question.Render(style)
	case v.Run != nil:
		return v.Run.Render(style)
	case v.Subtask != nil:
		return v.Subtask.Render(style)
	case v.Task != nil:
		return v.Task.Render(style)
	}
	return ""
}

// In returns the object with another path for the folder of the runs' files, for display.
func (v Shown) In(runs string) Shown {
	if v.Task != nil {
		taskDetail := *v.Task
		taskDetail.RunsFolder = runs
		v.Task = &taskDetail
	}
	return v
}
