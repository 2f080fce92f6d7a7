package view

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
	"company/internal/safetext"
)

// Target is the object of an id on the command line. Exactly its fields are
// set: a run has its task, and its subtask where it has one. A question of the office has no task.
type Target struct {
	Task     *company.Task
	Subtask  *company.Subtask
	Run      *company.Run
	Approval *company.Approval
}

var approvalRE = lazyregexp.New(`^a[1-9][0-9]{0,8}$`)

// FindTarget looks an id up: t1, t1-02, t1-02.3, a4. A malformed id is wrong
// usage; a well-formed one without an object is ENotFound.
func FindTarget(s *company.State, id string) (Target, error) {
	switch {
	case approvalRE.MatchString(id):
		a := s.Approvals[company.ApprovalID(id)]
		if a == nil {
			return Target{}, company.E(company.ENotFound, "there is no question "+id).Fix("company status lists what waits for you")
		}
		return Target{Approval: a, Task: s.Tasks[a.Task]}, nil
	case company.TaskID(id).Valid():
		t := s.Tasks[company.TaskID(id)]
		if t == nil {
			return Target{}, TaskNotFound(s, id)
		}
		return Target{Task: t}, nil
	case company.SubtaskID(id).Valid():
		t := s.Tasks[company.SubtaskID(id).Task()]
		if t == nil {
			return Target{}, TaskNotFound(s, string(company.SubtaskID(id).Task()))
		}
		sub := t.Subtask(company.SubtaskID(id))
		if sub == nil {
			return Target{}, company.E(company.ENotFound, "there is no subtask "+id).Because(describeSubtasks(t)).Fix("company show " + string(t.ID))
		}
		return Target{Task: t, Subtask: sub}, nil
	case company.RunID(id).Valid():
		t := s.Tasks[company.RunID(id).Task()]
		if t == nil {
			return Target{}, TaskNotFound(s, string(company.RunID(id).Task()))
		}
		r := t.Runs[company.RunID(id)]
		if r == nil {
			return Target{}, company.E(company.ENotFound, "there is no run "+id).Fix("company show " + string(t.ID) + " lists its runs")
		}
		return Target{Task: t, Subtask: t.Subtask(r.Subtask), Run: r}, nil
	}
	return Target{}, company.E(company.EUsage, fmt.Sprintf("%q is no id", safetext.EscapeLine(id, 80))).
		Fix("ids look like t12 (task), t12-03 (subtask), t12-03.2 (run), a7 (question)")
}

// TaskNotFound is the error of an id that names no task.
func TaskNotFound(s *company.State, id string) error {
	e := company.E(company.ENotFound, "there is no task "+safetext.EscapeLine(id, 40))
	if len(s.Tasks)+len(s.Past) == 0 {
		return e.Because("this office has no tasks yet").Fix(`company submit "…" gives it the first`)
	}
	return e.Because(fmt.Sprintf("the newest is t%d", s.LastTask)).Fix("company status lists the tasks of this office")
}

func describeSubtasks(t *company.Task) string {
	if len(t.Subtasks) == 0 {
		return string(t.ID) + " has no plan yet"
	}
	ids := make([]string, len(t.Subtasks))
	for i, sub := range t.Subtasks {
		ids[i] = string(sub.ID)
	}
	return string(t.ID) + " has " + strings.Join(ids, ", ")
}

// FindTask is FindTarget for what must be a task.
func FindTask(s *company.State, id string) (*company.Task, error) {
	if !company.TaskID(id).Valid() {
		return nil, company.E(company.EUsage, fmt.Sprintf("%q is no task", safetext.EscapeLine(id, 80))).Fix("tasks look like t12; company status lists them")
	}
	th, err := FindTarget(s, id)
	return th.Task, err
}

// Shown is what an id names, with everything in it: one of the pointers is set.
type Shown struct {
	Question      *Approval   `json:"question,omitempty"`
	Run           *Run        `json:"run,omitempty"`
	SchemaVersion int         `json:"schema_version"`
	Subtask       *Subtask    `json:"subtask,omitempty"`
	Task          *TaskDetail `json:"task,omitempty"`
}

// Show looks an id up and gives all that is known of what it names.
func (src Source) Show(id string) (Shown, error) {
	v := Shown{SchemaVersion: 1}
	src, err := src.WithTarget(id)
	if err != nil {
		return v, err
	}
	th, err := FindTarget(src.State, id)
	if err != nil {
		return v, err
	}
	switch {
	case th.Approval != nil:
		q := src.foundApproval(th)
		v.Question = &q
	case th.Run != nil:
		r := src.Run(th.Task, th.Run)
		v.Run = &r
	case th.Subtask != nil:
		sub := src.Subtask(th.Task, th.Subtask)
		v.Subtask = &sub
	default:
		t := src.TaskDetail(th.Task)
		v.Task = &t
	}
	return v, nil
}

// Printed is what -o json prints: without what text alone needs.
func (v Shown) Printed() Shown {
	if v.Task != nil {
		t := *v.Task
		t.Holds = nil
		v.Task = &t
	}
	return v
}

// Render is what people read.
func (v Shown) Render(s Style) string {
	switch {
	case v.Question != nil:
		return v.Question.Render(s)
	case v.Run != nil:
		return v.Run.Render(s)
	case v.Subtask != nil:
		return v.Subtask.Render(s)
	case v.Task != nil:
		return v.Task.Render(s)
	}
	return ""
}

// In is the same with the folder of the runs' files, as text names it.
func (v Shown) In(runs string) Shown {
	if v.Task != nil {
		t := *v.Task
		t.RunsFolder = runs
		v.Task = &t
	}
	return v
}
