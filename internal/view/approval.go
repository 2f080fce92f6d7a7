package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// Approval is a question for the president.
type Approval struct {
	ID       company.ApprovalID   `json:"id"`
	Kind     company.ApprovalKind `json:"kind"`
	Task     company.TaskID       `json:"task"`
	Subtask  company.SubtaskID    `json:"subtask,omitempty"`
	Question string               `json:"question"`
	Options  map[string]string    `json:"options"`
	Asked    time.Time            `json:"asked"`
	Answered *time.Time           `json:"answered"`
	Option   string               `json:"option,omitempty"`
	Text     string               `json:"text,omitempty"`
	Next     string               `json:"next,omitempty"` // the command that answers it
}

// NewApproval is the view of a question.
func NewApproval(a *company.Approval) Approval {
	v := Approval{
		ID: a.ID, Kind: a.Kind, Task: a.Task, Subtask: a.Subtask, Question: a.Question, Options: a.Options(), Asked: a.Asked.UTC(),
		Option: a.Option, Text: a.Text,
	}
	if a.Open() {
		v.Next = AnswerCommand(a)
	} else {
		at := a.Answered.UTC()
		v.Answered = &at
	}
	return v
}

func viewApprovals(as []*company.Approval) []Approval {
	out := []Approval{}
	for _, a := range as {
		out = append(out, NewApproval(a))
	}
	return out
}

// AnswerCommand is the command that answers a question.
func AnswerCommand(a *company.Approval) string {
	if a.Kind == company.AskClarification {
		return `company answer ` + string(a.ID) + ` "…"`
	}
	return "company approve " + string(a.ID) + " or company reject " + string(a.ID)
}

func SubjectOf(q Approval) string {
	if q.Subtask != "" {
		return string(q.Subtask)
	}
	return string(q.Task)
}

func (v Approval) RenderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s of %s\n%s", v.ID, v.Kind, SubjectOf(v), IndentLines(v.Question, 60))
	if v.Answered != nil {
		fmt.Fprintf(&b, "  answered %s: %s %s\n", v.Answered.Local().Format(time.DateTime), v.Option, safetext.Escape(v.Text))
		return b.String()
	}
	for _, o := range []string{company.OptApprove, company.OptReject, company.OptAnswer} {
		if means := v.Options[o]; means != "" {
			fmt.Fprintf(&b, "  %s: %s\n", o, means)
		}
	}
	if v.Next != "" {
		fmt.Fprintf(&b, "  %s\n", v.Next)
	}
	return b.String()
}

// Question is the one that an id names: itself, or the only open one of a task.
func (src Source) Question(id string) (Approval, error) {
	th, err := FindTarget(src.State, id)
	if err != nil {
		return Approval{}, err
	}
	if th.Approval != nil {
		v := NewApproval(th.Approval)
		if th.Task.Status.Ended() {
			v.Next = "" // it waits for nothing any more
		}
		return v, nil
	}
	if th.Run != nil || th.Subtask != nil {
		return Approval{}, company.E(company.EUsage, id+" is neither a question nor a task").Fix("company status lists what waits for you")
	}
	open := src.State.OpenApprovals(th.Task.ID)
	switch len(open) {
	case 0:
		return Approval{}, company.E(company.ENotFound, id+" has no open question").Fix("company status lists what waits for you")
	case 1:
		return NewApproval(open[0]), nil
	}
	var list []string
	for _, q := range open {
		list = append(list, fmt.Sprintf("%s: %s", q.ID, safetext.EscapeLine(q.Question, 100)))
	}
	return Approval{}, company.E(company.EConflict, fmt.Sprintf("%s has %d open questions", id, len(open))).
		Because(strings.Join(list, "\n        ")).Fix("name one: company approve " + string(open[0].ID))
}
