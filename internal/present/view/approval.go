package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// Approval is a question for the president.
type Approval struct {
	ID       company.ApprovalID   `json:"id"`
	Kind     company.ApprovalKind `json:"kind"`
	Task     company.TaskID       `json:"task"` // empty if the question is about the office
	Subtask  company.SubtaskID    `json:"subtask,omitempty"`
	Question string               `json:"question"`
	Options  []company.Option     `json:"options"` // in display order
	Asked    time.Time            `json:"asked"`
	Answered *time.Time           `json:"answered"`
	Option   string               `json:"option,omitempty"`
	Text     string               `json:"text,omitempty"`
	Line     *company.ConfigLine  `json:"line,omitempty"`    // config line that the answer "write" adds
	Next     string               `json:"next,omitempty"`    // command that answers it
	Details  []string             `json:"details,omitempty"` // for a plan: its subtasks
}

// approval returns the view of a question, with details of its subject.
func (src Source) approval(approval *company.Approval) Approval {
	v := newApproval(src.State, approval)
	if task := src.State.Tasks[approval.Task]; approval.Kind == company.AskPlan && approval.Open() && task != nil {
		for _, sub := range task.Subtasks {
			v.Details = append(v.Details, describePlace(task, sub)+sub.Planned.Title)
		}
	}
	return v
}

// foundApproval returns the view of the question that an id names. If its task has ended, no answer is expected any
// more and Next is empty.
func (src Source) foundApproval(th Target) Approval {
	approval := src.approval(th.Approval)
	if th.Task != nil && th.Task.Status.Ended() {
		approval.Next = ""
	}
	return approval
}

// describePlace returns the position of a subtask in the plan, as a prefix for its title.
func describePlace(task *company.Task, sub *company.Subtask) string {
	switch {
	case len(sub.After()) > 0:
		return fmt.Sprintf("- %s, after %s: ", sub.ID, company.JoinIDs(sub.After()))
	case task.IsOrdered():
		return fmt.Sprintf("- %s: ", sub.ID)
	case task.Plan.Waves <= 1:
		return "- "
	}
	return fmt.Sprintf("wave %d: ", sub.Wave)
}

func newApproval(state *company.State, approval *company.Approval) Approval {
	v := Approval{
		ID: approval.ID, Kind: approval.Kind, Task: approval.Task, Subtask: approval.Subtask, Question: approval.Question,
		Options: state.OptionsOf(approval),
		Asked:   approval.Asked.UTC(),
		Option:  approval.Option, Text: approval.Text, Line: approval.Line,
	}
	if approval.Open() {
		v.Next = v.answerCommand()
	} else {
		at := approval.Answered.UTC()
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

// answerCommand returns the commands that answer a question, one for each answer.
func (v Approval) answerCommand() string {
	var commands []string
	for _, option := range v.Options {
		command := v.CommandOf(option)
		if option.Input == company.InputNeedsWords {
			command += ` "…"`
		}
		commands = append(commands, command)
	}
	return strings.Join(commands, " or ")
}

// CommandOf returns the command that gives an answer, without its text.
func (v Approval) CommandOf(option company.Option) string {
	switch option.Name {
	case company.OptApprove, company.OptReject, company.OptAnswer:
		return "company " + option.Name + " " + string(v.ID)
	}
	return "company answer " + string(v.ID) + " --option " + option.Name
}

// FindOption finds an option by its name.
func (v Approval) FindOption(name string) (company.Option, bool) {
	i := slices.IndexFunc(v.Options, func(o company.Option) bool { return o.Name == name })
	if i < 0 {
		return company.Option{}, false
	}
	return v.Options[i], true
}

// SubjectOf names the subtask or task that a question is about, or the office.
func SubjectOf(q Approval) string {
	return cmp.Or(string(q.Subtask), string(q.Task), "the office")
}

// Render renders a question with its possible answers and their commands.
func (v Approval) Render(style Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s of %s\n", v.ID, v.Kind, SubjectOf(v))
	for line := range strings.Lines(termtext.IndentLines(v.Question, 60)) {
		writeWrapped(&b, style, "  ", strings.TrimSpace(line))
	}
	if v.Answered != nil {
		fmt.Fprintf(&b, "  answered %s: %s %s\n", v.Answered.Local().Format(time.DateTime), v.Option, safetext.Escape(v.Text))
		return b.String()
	}
	v.writeDetails(&b, style, "  ")
	v.writeAnswers(&b, style, "  ")
	return b.String()
}

// writeDetails lists the details of a question.
func (v Approval) writeDetails(b *strings.Builder, style Style, indent string) {
	for _, line := range v.Details {
		b.WriteString(indent + style.Fit(safetext.EscapeLine(line, 160), len(indent)) + "\n")
	}
}

// answer is a possible answer to a question.
type answer struct{ word, means, command string }

// answers returns the possible answers, each with its meaning and command.
func (v Approval) answers() []answer {
	if v.Next == "" {
		return nil // no answer is expected any more
	}
	var out []answer
	for i, option := range v.Options {
		a := answer{option.Label(), option.Means, v.CommandOf(option)}
		if key := v.OptionKey(i); key == strconv.Itoa(i+1) {
			a.word = key + " " + a.word
		}
		if option.AcceptsWords() {
			a.command += ` "…"`
		}
		out = append(out, a)
	}
	return out
}

// writeAnswers writes the meaning and the command of each answer. It never cuts a command.
func (v Approval) writeAnswers(b *strings.Builder, style Style, indent string) {
	all := v.answers()
	var word, means, command int
	for _, answer := range all {
		word = max(word, len(answer.word))
		means = max(means, termtext.Cells(answer.means))
		command = max(command, termtext.Cells(answer.command))
	}
	for _, answer := range all {
		head := indent + termtext.Pad(answer.word, word+2)
		if width := len(head) + means + 3 + command; style.Width <= 0 || width <= style.Width {
			b.WriteString(head + termtext.Pad(answer.means, means+3) + answer.command + "\n")
			continue
		}
		writeWrapped(b, style, head, answer.means)
		b.WriteString(indent + strings.Repeat(" ", word+2) + answer.command + "\n")
	}
}

// Question returns the question that an id names, or the only open question of a task.
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
		return Approval{}, company.E(company.EUsage, id+" is not a question or a task").
			Fix("company status lists what waits for you")
	}
	open := src.State.OpenApprovals(th.Task.ID)
	switch len(open) {
	case 0:
		return Approval{}, company.E(company.ENotFound, id+" has no open question").
			Fix("company status lists what waits for you")
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
