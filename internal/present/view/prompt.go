package view

import (
	"fmt"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// RenderPrompt renders a question for a terminal, with the keys that answer it.
func (v Approval) RenderPrompt(style Style) string {
	var b strings.Builder
	about := ""
	if !strings.HasPrefix(v.Question, SubjectOf(v)) {
		about = SubjectOf(v) + ": "
	}
	head := fmt.Sprintf("! %s  ", v.ID)
	indent := strings.Repeat(" ", len(head))
	b.WriteString(style.Paint(termtext.Bright, strings.TrimSpace(head)) + "  " +
		style.Wrap(about+safetext.Escape(v.Question), indent) + "\n")
	v.writeDetails(&b, style, indent)
	if v.AsksForWords() {
		b.WriteString("  Type your answer.\n")
	} else {
		for i, o := range v.Options {
			writeWrapped(&b, style, fmt.Sprintf("  %-10s  ", v.OptionKey(i)+argumentHint(o)), v.optionMeaning(i))
		}
	}
	b.WriteString("  s  show")
	if v.HasDiff() {
		b.WriteString("    d  diff")
	}
	b.WriteString("    l  later\n")
	return b.String()
}

// argumentHint describes the argument that may follow the key of an option.
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

// optionMeaning describes an option, with its name if the key is only a number.
func (v Approval) optionMeaning(i int) string {
	option := v.Options[i]
	if v.OptionKey(i) == strconv.Itoa(i+1) {
		return option.Label() + ": " + option.Means
	}
	return option.Means
}

// AsksForWords reports whether the only answer is a text.
func (v Approval) AsksForWords() bool {
	return len(v.Options) == 1 && v.Options[0].Input == company.InputNeedsWords
}

// OptionKey returns the key to type for an option: y, n, w, or its number in the list.
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

// TypedOption finds the option for a typed text: its key, its label or its name.
func (v Approval) TypedOption(word string) (company.Option, bool) {
	for i, option := range v.Options {
		if word == v.OptionKey(i) || word == option.Label() || word == option.Name {
			return option, true
		}
	}
	return company.Option{}, false
}

// WordsGoWith returns the first option that accepts a text, and its key.
func (v Approval) WordsGoWith() (key string, o company.Option, ok bool) {
	for i, option := range v.Options {
		if option.AcceptsWords() {
			return v.OptionKey(i), option, true
		}
	}
	return "", company.Option{}, false
}

// HasDiff reports whether the question is about a change that can be shown.
func (v Approval) HasDiff() bool {
	switch v.Kind {
	case company.AskMerge, company.AskProtected, company.AskBlocked, company.AskMergeConflict, company.AskReview,
		company.AskGates, company.AskPR, company.AskHeld, company.AskOtherBase:
		return true
	}
	return false
}

// AnsweredText describes the effect of an answer on its task.
func AnsweredText(approval Approval, progress Progress) string {
	given, _ := approval.FindOption(approval.Option)
	text := company.OptionWord(approval.Option)
	switch {
	case progress.Over:
		merged := "nothing was merged"
		if progress.Merged > 0 {
			merged = fmt.Sprintf("%d of %s stay merged on %s", progress.Merged, company.Count(progress.Subtasks, "subtask"),
				progress.Branch)
		}
		return fmt.Sprintf("%s: %s. %s is %s; %s.", approval.ID, text, progress.ID, progress.endText(), merged)
	case approval.Option == company.OptWrite && approval.Line != nil:
		text = approval.Line.String() + " is written into " + approval.Line.File + ", and it is retried"
	case approval.Option == company.OptApprove && (given.Input == company.InputAmount || approval.Text != ""):
	case approval.Option == company.OptReject && approval.Text == "":
	case given.Input == company.InputNeedsWords && approval.AsksForWords():
	case approval.Text != "":
		text += ", with your words"
	case given.Means != "":
		means, _, _ := strings.Cut(given.Means, ",")
		text += ": " + means
	}
	return fmt.Sprintf("%s: %s.", approval.ID, text)
}

// endText describes how a task ended, to follow "it is".
func (v Task) endText() string {
	switch v.Status {
	case company.StatusFailed:
		return "given up"
	case company.StatusCompleted:
		return "done"
	}
	return string(v.Status)
}
