// Package prbody writes the text of a pull request from a task: what was asked,
// what was done, and what shows that it holds. It promises that the text of
// others cannot form markup or mention people in it, that it has at most
// MaxPRLines lines, and that each cut says so in its place. It opens nothing.
package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// MaxPRLines bounds a pull request's text. Each cut says so in its place.
const MaxPRLines = 60

// prSection is one part of a pull request's text. Each is a function of the task
// in a file of its own (pr_<name>.go), begins with its own heading, and shows
// at most o.rows rows of a list or a table. An empty text leaves it out.
type prSection func(t *company.Task, o PROptions) string

// prSections are the parts of a pull request's text, in the order of a
// reviewer's questions.
var prSections = []prSection{
	prSummary, prFollowUps, prSubtasks, prEvidence, prDependencies, prRefused, prGates, prReview, prCost, prReproduce, prPlan, prClosing,
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
}

// PRBody is the text of a task's pull request: the instruction, the work, its
// evidence, its cost, and how to repeat it. It is a function of the state, so
// writing it again changes nothing. Text of agents and people is inert in it
// (T22), and it has at most MaxPRLines lines.
func PRBody(t *company.Task, o PROptions) string {
	var text string
	for o.maxRows = 12; o.maxRows > 0; o.maxRows-- {
		var parts []string
		for _, s := range prSections {
			if part := strings.TrimRight(s(t, o), "\n"); part != "" {
				parts = append(parts, part)
			}
		}
		text = strings.Join(parts, "\n\n") + "\n"
		if strings.Count(text, "\n") <= MaxPRLines {
			break
		}
	}
	return text
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
