// Package prbody writes the text of a pull request from a task: the instruction,
// the changes, the decisions in them, and the evidence. It promises that the text of
// others cannot form markup or mention people in it, that it has at most
// MaxPRLines open lines and MaxPRBytes bytes, and that each cut lies at a blank
// and says so in its place. It opens nothing.
package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// Bounds of a pull request's text. Each cut says so in its place.
const (
	// MaxPRLines bounds the lines that are not folded away.
	MaxPRLines = 100
	// MaxPRBytes bounds the whole: GitHub takes 65,536 characters, and people write
	// theirs beside it.
	MaxPRBytes = 56 << 10
)

// prSection is one part of a pull request's text. Each is a function of the task
// in a file of its own (pr_<name>.go), begins with its own heading, and shows
// at most o.rows rows of a list or a table. An empty text leaves it out.
type prSection func(t *company.Task, o PROptions) string

// prSections are the parts of a pull request's text, in the order of a
// reviewer's questions.
var prSections = []prSection{
	prSummary, prInstruction, prFollowUps, prChanges, prTakenIn, prSubtasks, prDecisions, prEvidence, prGates, prFindings,
	prDependencies, prRemade, prRefused, prReview, prCost, prReproduce, prPlan, prClosing,
}

// PROptions are what the text depends on besides the task.
type PROptions struct {
	Pushed bool // the branch is at a remote
	// PushedTo is where it was pushed to, where that is not the project's remote: a
	// fork.
	PushedTo string
	// EarlierTasks are the tasks that worked on the pull request before this one, in
	// order: the one that opened it first. Empty for that one itself.
	EarlierTasks []*company.Task
	// ClosingLines are the lines by which the forge closes issues with the merge.
	ClosingLines []string

	// maxRows is how many rows of a list or table a section shows; PRBody lowers
	// it until the whole fits.
	maxRows int
	// maxText is how many bytes of an instruction or of a summary a section shows; it is
	// lowered where the whole has too many.
	maxText int
}

// Rows and bytes that a text begins with.
const (
	mostRows = 12
	mostText = 24 << 10
)

// PRBody is the text of a task's pull request: the instruction, the work, the decisions
// in it, what shows that it holds, its cost, and how to repeat it. It is a function of the
// state, so writing it again changes nothing. Text of agents and people is inert in it
// (T22), and it has at most MaxPRLines open lines and MaxPRBytes bytes.
func PRBody(t *company.Task, o PROptions) string {
	o.maxRows, o.maxText = mostRows, mostText
	text := o.writeSections(t)
	for ; countOpenLines(text) > MaxPRLines && o.maxRows > 1; text = o.writeSections(t) {
		o.maxRows--
	}
	for ; len(text) > MaxPRBytes && o.maxText > 64; text = o.writeSections(t) {
		o.maxText /= 2
		o.maxRows = max(1, o.maxRows-1)
	}
	return text
}

func (o PROptions) writeSections(t *company.Task) string {
	var parts []string
	for _, s := range prSections {
		if part := strings.TrimRight(s(t, o), "\n"); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// countOpenLines counts the lines that a reader sees without unfolding anything.
func countOpenLines(text string) int {
	n, folded := 0, false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "<details>"):
			folded = true
			n++
		case strings.HasPrefix(line, "</details>"):
			folded = false
		case !folded:
			n++
		}
	}
	return n
}

// markdownTable is a Markdown table. Rows beyond o.rows are counted and not shown.
func markdownTable(o PROptions, head []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for i, r := range rows {
		if i == o.maxRows {
			break
		}
		fmt.Fprintf(&b, "\n| %s |", strings.Join(r, " | "))
	}
	if n := len(rows) - o.maxRows; n > 0 {
		fmt.Fprintf(&b, "\n\n%d more are not shown.", n)
	}
	return b.String()
}
