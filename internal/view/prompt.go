package view

import (
	"fmt"
	"strconv"
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
	if v.AsksForWords() {
		b.WriteString("  your words are the answer\n")
	} else {
		for i, o := range v.Options {
			writeWrapped(&b, s, fmt.Sprintf("  %-10s  ", v.OptionKey(i)+argumentHint(o)), v.optionMeaning(i))
		}
	}
	b.WriteString("  s  show")
	if v.HasDiff() {
		b.WriteString("    d  diff")
	}
	b.WriteString("    l  later\n")
	return b.String()
}

// argumentHint is what may follow the key of an option.
func argumentHint(o company.Option) string {
	switch o.Input {
	case company.InputAmount:
		return " [amount]"
	case company.InputWords:
		return " [words]"
	case company.InputNeedsWords:
		return " words"
	}
	return ""
}

// optionMeaning is what an option does, with its name where the key does not say it.
func (v Approval) optionMeaning(i int) string {
	o := v.Options[i]
	if v.OptionKey(i) == strconv.Itoa(i+1) {
		return o.Label() + ": " + o.Means
	}
	return o.Means
}

// AsksForWords reports whether words are the only answer.
func (v Approval) AsksForWords() bool {
	return len(v.Options) == 1 && v.Options[0].Input == company.InputNeedsWords
}

// OptionKey is what is typed for an option: y, n, w, or its place in the list.
func (v Approval) OptionKey(i int) string {
	switch v.Options[i].Name {
	case company.OptApprove:
		return "y"
	case company.OptReject:
		return "n"
	case company.OptAnswer:
		return "w"
	}
	return strconv.Itoa(i + 1)
}

// TypedOption finds the option that a typed text stands for: its key, its label or its name.
func (v Approval) TypedOption(word string) (company.Option, bool) {
	for i, o := range v.Options {
		if word == v.OptionKey(i) || word == o.Label() || word == o.Name {
			return o, true
		}
	}
	return company.Option{}, false
}

// WordsGoWith finds the key and the option that a bare sentence is meant for.
func (v Approval) WordsGoWith() (key string, o company.Option, ok bool) {
	for i, o := range v.Options {
		if o.AcceptsWords() {
			return v.OptionKey(i), o, true
		}
	}
	return "", company.Option{}, false
}

// HasDiff says whether there is a change that the question is about.
func (v Approval) HasDiff() bool {
	switch v.Kind {
	case company.AskMerge, company.AskProtected, company.AskBlocked, company.AskMergeConflict, company.AskReview, company.AskGates, company.AskPR, company.AskHeld, company.AskOtherBase:
		return true
	}
	return false
}

// AnsweredText says what an answer did to its task.
func AnsweredText(v Approval, t Progress) string {
	given, _ := v.FindOption(v.Option)
	text := company.OptionWord(v.Option)
	switch {
	case t.Over:
		merged := "nothing was merged"
		if t.Merged > 0 {
			merged = fmt.Sprintf("%d of %s stay merged on %s", t.Merged, company.Count(t.Subtasks, "subtask"), t.Branch)
		}
		return fmt.Sprintf("%s: %s. %s is %s; %s.", v.ID, text, t.ID, t.endText(), merged)
	case v.Option == company.OptWrite && v.Line != nil:
		text = v.Line.String() + " is written into " + v.Line.File + ", and it is tried again"
	case v.Option == company.OptApprove && (given.Input == company.InputAmount || v.Text != ""):
	case v.Option == company.OptReject && v.Text == "":
	case given.Input == company.InputNeedsWords && v.AsksForWords():
	case v.Text != "":
		text += ", with your words"
	case given.Means != "":
		means, _, _ := strings.Cut(given.Means, ",")
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
