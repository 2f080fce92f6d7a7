// Package prbody writes the text of a pull request from a task: above the fold the problem,
// the change, how it was checked and the points to judge; folded the instruction,
// the evidence and the rest. It promises that the text of others cannot form markup or
// mention people in it, that the open part has at most MaxPRLines lines of MaxPRColumns
// characters and MaxPRWords words, and the whole MaxPRBytes bytes, and that each cut lies at a
// blank and says so in its place. It opens nothing.
package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// Bounds of a pull request's text. Each cut says so in its place.
const (
	// MaxPRLines bounds the lines above the fold, blank ones and those that close issues
	// included: a maintainer reads them without scrolling.
	MaxPRLines = 25
	// MaxPRColumns bounds the characters of one of them.
	MaxPRColumns = 100
	// MaxPRWords bounds the words above the fold.
	MaxPRWords = 200
	// MaxPRBytes bounds the whole: GitHub takes 65,536 characters, and people write
	// theirs beside it.
	MaxPRBytes = 56 << 10
)

// prSection is one folded part of a pull request's text. Each is a function of the task
// in a file of its own, begins with its own heading, and shows
// at most o.maxRows rows of a list or a table. An empty text leaves it out.
type prSection func(t *company.Task, o PROptions) string

// prFold is what one summary folds away; without a section that has something to say it is left out.
type prFold struct {
	summary  func(t *company.Task, o PROptions) string
	sections []prSection
}

// prFolds are the folded parts, in the order in which a reader needs them.
var prFolds = []prFold{
	{nameJudged, []prSection{prDecisions, prFindings, prRefused, prDependencies}},
	{nameChecks, []prSection{prGates, prEvidence, prReview}},
	{nameAsked, []prSection{prInstruction, prFollowUps}},
	{nameWork, []prSection{prChanges, prSubtasks, prTakenIn, prRemade, prPlan}},
	{func(*company.Task, PROptions) string { return "How to repeat it, and what it cost" }, []prSection{prReproduce, prCost}},
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
	// TitleAbove says that the title stands above the text, as forges show it.
	TitleAbove bool
	// ClosingLines are the lines by which the forge closes issues with the merge.
	ClosingLines []string

	// maxRows is how many rows of a list or table a folded section shows; it is lowered
	// where the whole has too many bytes.
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
// (T22), and it keeps the bounds above.
func PRBody(t *company.Task, o PROptions) string {
	o.maxRows, o.maxText = mostRows, mostText
	closing := strings.TrimSpace(prClosing(t, o))
	lines, words := MaxPRLines, MaxPRWords-len(strings.Fields(closing))
	if closing != "" {
		lines -= countLines(closing) + 1
	}
	open := writeOpen(t, o, lines, words)
	if closing != "" {
		closing = "\n\n" + closing
	}
	whole := func() string { return open + o.writeFolds(t) + closing + "\n" }
	text := whole()
	for ; len(text) > MaxPRBytes && o.maxText > 64; text = whole() {
		o.maxText /= 2
		o.maxRows = max(1, o.maxRows-1)
	}
	return text
}

// writeFolds writes the folded parts, one behind the other.
func (o PROptions) writeFolds(t *company.Task) string {
	var b strings.Builder
	for _, f := range prFolds {
		var parts []string
		for _, s := range f.sections {
			if part := strings.Trim(s(t, o), "\n"); part != "" {
				parts = append(parts, part)
			}
		}
		if len(parts) > 0 {
			fmt.Fprintf(&b, "\n\n<details><summary>%s</summary>\n\n%s\n\n</details>", f.summary(t, o), strings.Join(parts, "\n\n"))
		}
	}
	return b.String()
}

// nameJudged counts what a person has to judge.
func nameJudged(t *company.Task, _ PROptions) string {
	if n := len(t.Decisions()); n > 0 {
		return "Findings, and " + countNoun(n, "decision") + " in your place"
	}
	return "Findings"
}

// nameChecks counts the checks.
func nameChecks(t *company.Task, _ PROptions) string {
	n := 0
	if t.Gate != nil {
		n = len(t.Gate.Result.Checks)
	}
	return "Checks in full: " + countNoun(n, "gate") + ", and what shows each criterion"
}

// nameAsked tells how long the instruction is.
func nameAsked(t *company.Task, o PROptions) string {
	text := strings.TrimSpace(o.leadOf(t).Instruction)
	return "What was asked, " + countNoun(strings.Count(text, "\n")+1, "line")
}

// nameWork counts the tickets.
func nameWork(t *company.Task, _ PROptions) string {
	return "The work in full: " + countNoun(len(t.Subtasks), "ticket")
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
