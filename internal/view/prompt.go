package view

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// RenderPrompt is a question as it is asked on a terminal, with what may be typed.
func (v Approval) RenderPrompt(s Style) string {
	var b strings.Builder
	about := ""
	if !strings.HasPrefix(v.Question, SubjectOf(v)) {
		about = SubjectOf(v) + ": "
	}
	head := fmt.Sprintf("! %s  ", v.ID)
	indent := strings.Repeat(" ", len(head))
	b.WriteString(s.Paint(screen.Bright, strings.TrimSpace(head)) + "  " + s.Wrap(about+safetext.Escape(v.Question), indent) + "\n")
	v.writeDetails(&b, s, indent)
	if v.Kind == company.AskClarification {
		b.WriteString("  your words are the answer\n")
	} else {
		for _, o := range []struct{ key, option string }{{"y", company.OptApprove}, {"n", company.OptReject}} {
			writeWrapped(&b, s, fmt.Sprintf("  %-10s  ", o.key+v.argumentHint(o.option)), v.Options[o.option])
		}
	}
	b.WriteString("  s  show")
	if v.HasDiff() {
		b.WriteString("    d  diff")
	}
	b.WriteString("    l  later\n")
	return b.String()
}

// argumentHint is what may follow a yes or a no.
func (v Approval) argumentHint(option string) string {
	switch {
	case v.Kind.AsksAmount() && option == company.OptApprove:
		return " [amount]"
	case v.AcceptsWords(option):
		return " [words]"
	}
	return ""
}

// AcceptsWords says whether text beside an option reaches an agent.
func (v Approval) AcceptsWords(option string) bool {
	return strings.Contains(v.Options[option], "your words")
}

// WordsGoWith is the key and the option that a bare sentence is meant for; empty: there
// is none.
func (v Approval) WordsGoWith() (key, option string) {
	switch {
	case v.AcceptsWords(company.OptApprove):
		return "y", company.OptApprove
	case v.AcceptsWords(company.OptReject):
		return "n", company.OptReject
	}
	return "", ""
}

// HasDiff says whether there is a change that the question is about.
func (v Approval) HasDiff() bool {
	switch v.Kind {
	case company.AskMerge, company.AskProtected, company.AskBlocked, company.AskReview, company.AskGates, company.AskPR, company.AskHeld:
		return true
	}
	return false
}

// AnsweredText says what an answer did to its task.
func AnsweredText(v Approval, t Progress) string {
	text := map[string]string{company.OptApprove: "yes", company.OptReject: "no", company.OptAnswer: "answered", company.OptWithdrawn: "withdrawn"}[v.Option]
	switch {
	case t.Over:
		merged := "nothing was merged"
		if t.Merged > 0 {
			merged = fmt.Sprintf("%d of %s stay merged on %s", t.Merged, company.Count(t.Subtasks, "subtask"), t.Branch)
		}
		return fmt.Sprintf("%s: %s. %s is %s; %s.", v.ID, text, t.ID, t.endText(), merged)
	case v.Option == company.OptReject && v.Text != "":
		text += ", with your words"
	case v.Option == company.OptApprove && !v.Kind.AsksAmount() && v.Text == "":
		means, _, _ := strings.Cut(v.Options[v.Option], ",")
		text += ": " + means
	}
	return fmt.Sprintf("%s: %s.", v.ID, text)
}

// endText is how a task has ended, behind "it is".
func (v Task) endText() string {
	switch v.Status {
	case company.StatusFailed:
		return "given up"
	case company.StatusCompleted:
		return "done"
	}
	return string(v.Status)
}
