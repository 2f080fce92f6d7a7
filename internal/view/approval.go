package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// Approval is a question for the president.
type Approval struct {
	ID       company.ApprovalID   `json:"id"`
	Kind     company.ApprovalKind `json:"kind"`
	Task     company.TaskID       `json:"task"` // empty: the office asks
	Subtask  company.SubtaskID    `json:"subtask,omitempty"`
	Question string               `json:"question"`
	Options  []company.Option     `json:"options"` // in the order in which they are offered
	Asked    time.Time            `json:"asked"`
	Answered *time.Time           `json:"answered"`
	Option   string               `json:"option,omitempty"`
	Text     string               `json:"text,omitempty"`
	Line     *company.ConfigLine  `json:"line,omitempty"`    // of the config, which the answer write writes
	Next     string               `json:"next,omitempty"`    // the command that answers it
	Details  []string             `json:"details,omitempty"` // of a plan: its subtasks
}

// approval is the view of a question, with what it is about.
func (src Source) approval(a *company.Approval) Approval {
	v := newApproval(src.State, a)
	if t := src.State.Tasks[a.Task]; a.Kind == company.AskPlan && a.Open() && t != nil {
		for _, sub := range t.Subtasks {
			v.Details = append(v.Details, describePlace(t, sub)+sub.Planned.Title)
		}
	}
	return v
}

// foundApproval is the view of the question that an id names. One whose task has ended waits for
// nothing any more.
func (src Source) foundApproval(th Target) Approval {
	v := src.approval(th.Approval)
	if th.Task != nil && th.Task.Status.Ended() {
		v.Next = ""
	}
	return v
}

// describePlace says where a subtask stands in the plan, before its title.
func describePlace(t *company.Task, sub *company.Subtask) string {
	switch {
	case len(sub.After()) > 0:
		return fmt.Sprintf("- %s, after %s: ", sub.ID, company.JoinIDs(sub.After()))
	case t.IsOrdered():
		return fmt.Sprintf("- %s: ", sub.ID)
	case t.Plan.Waves <= 1:
		return "- "
	}
	return fmt.Sprintf("wave %d: ", sub.Wave)
}

func newApproval(s *company.State, a *company.Approval) Approval {
	v := Approval{
		ID: a.ID, Kind: a.Kind, Task: a.Task, Subtask: a.Subtask, Question: a.Question, Options: s.OptionsOf(a), Asked: a.Asked.UTC(),
		Option: a.Option, Text: a.Text, Line: a.Line,
	}
	if a.Open() {
		v.Next = v.answerCommand()
	} else {
		at := a.Answered.UTC()
		v.Answered = &at
	}
	return v
}

func (src Source) approvals(as []*company.Approval) []Approval {
	out := []Approval{}
	for _, a := range as {
		out = append(out, src.approval(a))
	}
	return out
}

// answerCommand is the command that answers a question; of several the one for each answer.
func (v Approval) answerCommand() string {
	var commands []string
	for _, o := range v.Options {
		command := v.CommandOf(o)
		if o.Input == company.InputNeedsWords {
			command += ` "…"`
		}
		commands = append(commands, command)
	}
	return strings.Join(commands, " or ")
}

// CommandOf is the command that gives one answer, without words.
func (v Approval) CommandOf(o company.Option) string {
	switch o.Name {
	case company.OptApprove, company.OptReject, company.OptAnswer:
		return "company " + o.Name + " " + string(v.ID)
	}
	return "company answer " + string(v.ID) + " --option " + o.Name
}

// FindOption finds an option by its name.
func (v Approval) FindOption(name string) (company.Option, bool) {
	i := slices.IndexFunc(v.Options, func(o company.Option) bool { return o.Name == name })
	if i < 0 {
		return company.Option{}, false
	}
	return v.Options[i], true
}

// SubjectOf names the subtask or the task that asks, or the office.
func SubjectOf(q Approval) string {
	return cmp.Or(string(q.Subtask), string(q.Task), "the office")
}

// Render is a question with what can be answered, and the command for it.
func (v Approval) Render(s Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s of %s\n", v.ID, v.Kind, SubjectOf(v))
	for line := range strings.Lines(IndentLines(v.Question, 60)) {
		writeWrapped(&b, s, "  ", strings.TrimSpace(line))
	}
	if v.Answered != nil {
		fmt.Fprintf(&b, "  answered %s: %s %s\n", v.Answered.Local().Format(time.DateTime), v.Option, safetext.Escape(v.Text))
		return b.String()
	}
	v.writeDetails(&b, s, "  ")
	v.writeAnswers(&b, s, "  ")
	return b.String()
}

// writeDetails lists what a question is about.
func (v Approval) writeDetails(b *strings.Builder, s Style, indent string) {
	for _, line := range v.Details {
		b.WriteString(indent + s.Fit(safetext.EscapeLine(line, 160), len(indent)) + "\n")
	}
}

// answer is one that can be given to a question.
type answer struct{ word, means, command string }

// answers are what can be answered, each with its meaning and the command that gives it.
func (v Approval) answers() []answer {
	if v.Next == "" {
		return nil // it waits for nothing any more
	}
	var out []answer
	for i, o := range v.Options {
		a := answer{o.Label(), o.Means, v.CommandOf(o)}
		if key := v.OptionKey(i); key == strconv.Itoa(i+1) {
			a.word = key + " " + a.word
		}
		if o.AcceptsWords() {
			a.command += ` "…"`
		}
		out = append(out, a)
	}
	return out
}

// writeAnswers tells what each answer means, with its command, which is never cut.
func (v Approval) writeAnswers(b *strings.Builder, s Style, indent string) {
	all, word, means, command := v.answers(), 0, 0, 0
	for _, a := range all {
		word, means, command = max(word, len(a.word)), max(means, screen.Cells(a.means)), max(command, screen.Cells(a.command))
	}
	for _, a := range all {
		head := indent + screen.Pad(a.word, word+2)
		if width := len(head) + means + 3 + command; s.Width <= 0 || width <= s.Width {
			b.WriteString(head + screen.Pad(a.means, means+3) + a.command + "\n")
			continue
		}
		writeWrapped(b, s, head, a.means)
		b.WriteString(indent + strings.Repeat(" ", word+2) + a.command + "\n")
	}
}

// Question is the one that an id names: itself, or the only open one of a task.
func (src Source) Question(id string) (Approval, error) {
	src, err := src.WithTarget(id)
	if err != nil {
		return Approval{}, err
	}
	th, err := FindTarget(src.State, id)
	if err != nil {
		return Approval{}, err
	}
	if th.Approval != nil {
		return src.foundApproval(th), nil
	}
	if th.Run != nil || th.Subtask != nil {
		return Approval{}, company.E(company.EUsage, id+" is neither a question nor a task").Fix("company status lists what waits for you")
	}
	open := src.State.OpenApprovals(th.Task.ID)
	switch len(open) {
	case 0:
		return Approval{}, company.E(company.ENotFound, id+" has no open question").Fix("company status lists what waits for you")
	case 1:
		return src.approval(open[0]), nil
	}
	var list []string
	for _, q := range open {
		list = append(list, fmt.Sprintf("%s: %s", q.ID, safetext.EscapeLine(q.Question, 100)))
	}
	return Approval{}, company.E(company.EConflict, fmt.Sprintf("%s has %d open questions", id, len(open))).
		Because(strings.Join(list, "\n        ")).Fix("name one: company approve " + string(open[0].ID))
}
