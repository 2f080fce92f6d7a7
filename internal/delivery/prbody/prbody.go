// Package prbody writes the text of a pull request from a task. The open part has the problem, the change, how it was
// checked and the points to judge. The folded part has the instruction, the evidence and the rest. Untrusted text
// cannot form markup or mention people. The author's text in the open part has limits of its own. The open part has at
// most MaxPRLines lines of MaxPRColumns characters and MaxPRWords words unless that text needs more. The whole has at
// most MaxPRBytes bytes. Text is cut at blanks only, and each cut is marked in place. It opens no pull request.
package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// Limits for a pull request's text. Each cut is marked in place.
const (
	// MaxPRLines limits the lines above the fold, including blank lines and lines that close issues. A maintainer can
	// read them without scrolling.
	MaxPRLines = 30
	// MaxPRColumns is the number of characters after which a longer line counts as one more.
	MaxPRColumns = 100
	// MaxPRWords limits the words above the fold.
	MaxPRWords = 250
	// MaxPRBytes limits the whole text: GitHub allows 65,536 characters, and people add text of their own.
	MaxPRBytes = 56 << 10
)

// prSection writes one folded part of a pull request's text. Each section is a function of the task in its own file,
// begins with its own heading, and shows at most o.maxRows rows of a list or table. An empty text omits the section.
type prSection func(t *company.Task, o PROptions) string

// prFold groups the sections behind one summary. It is omitted if all its sections are empty.
type prFold struct {
	summary  func(t *company.Task, o PROptions) string
	sections []prSection
}

// prFolds are the folded parts, in the order in which a reader needs them.
var prFolds = []prFold{
	{nameJudged, []prSection{prDecisions, prFindings, prBypassed, prRefused, prDependencies}},
	{nameChecks, []prSection{prGates, prEvidence, prReview}},
	{nameAsked, []prSection{prInstruction, prFollowUps}},
	{nameWork, []prSection{prChanges, prSubtasks, prTakenIn, prRemade, prPlan}},
	{func(*company.Task, PROptions) string { return "How to repeat it, and what it cost" },
		[]prSection{prReproduce, prCost}},
}

// PROptions holds the inputs of the text besides the task.
type PROptions struct {
	Pushed bool // the branch is at a remote
	// PushedTo is the address that the branch was pushed to if it is not the project's remote: a fork.
	PushedTo string
	// Note tells where the branch went or why it was not pushed. PushByHand is the command for a push by a person. Both
	// may be empty.
	Note, PushByHand string
	// EarlierTasks are the earlier tasks of the same pull request, in order, starting with the one that opened it. It is
	// empty for that one.
	EarlierTasks []*company.Task
	// TitleAbove means that the title is shown above the text, as forges do.
	TitleAbove bool
	// ClosingLines are the lines that make the forge close issues at the merge.
	ClosingLines []string

	// placed are the parts that stand in the repository's template, above the text (FillTemplate).
	placed map[slot]bool
	// size is the size of the open part, which decides what the folded ones add to it.
	size openSize
	// maxRows limits the rows of a list or table in a folded section. It is lowered if the whole text is too long.
	maxRows int
	// maxText limits the bytes of an instruction or summary in a section. It is lowered if the whole text is too long.
	maxText int
}

// Initial limits for rows and bytes.
const (
	mostRows = 12
	mostText = 24 << 10
)

// PRBody returns the text of a task's pull request: the instruction, the work, its decisions, the evidence, the cost,
// and how to reproduce it. It depends only on the state, so writing it again changes no text. Text of agents and
// people is made inert (T22), and the limits above hold.
func PRBody(task *company.Task, prOptions PROptions) string {
	prOptions.maxRows, prOptions.maxText = mostRows, mostText
	closing := strings.TrimSpace(prClosing(task, prOptions))
	lines, words := MaxPRLines, MaxPRWords-len(strings.Fields(closing))
	if closing != "" {
		lines -= countLines(closing) + 1
	}
	open, size := writeOpen(task, prOptions, lines, words)
	prOptions.size = size
	if closing != "" {
		closing = "\n\n" + closing
	}
	whole := func() string { return open + prOptions.writeFolds(task) + closing + "\n" }
	text := whole()
	for ; len(text) > MaxPRBytes && prOptions.maxText > 64; text = whole() {
		prOptions.maxText /= 2
		prOptions.maxRows = max(1, prOptions.maxRows-1)
	}
	return text
}

// writeFolds writes the folded parts in order.
func (o PROptions) writeFolds(task *company.Task) string {
	var b strings.Builder
	for _, prFold := range prFolds {
		var parts []string
		for _, s := range prFold.sections {
			if part := strings.Trim(s(task, o), "\n"); part != "" {
				parts = append(parts, part)
			}
		}
		if len(parts) > 0 {
			fmt.Fprintf(&b, "\n\n<details><summary>%s</summary>\n\n%s\n\n</details>", prFold.summary(task, o),
				strings.Join(parts, "\n\n"))
		}
	}
	return b.String()
}

// nameJudged returns the summary with the number of decisions to judge.
func nameJudged(t *company.Task, o PROptions) string {
	if list := t.Decisions(); len(list) > 0 && !areTold(list, o.size) {
		return "Findings, and " + countNoun(len(list), "decision") + " in your place"
	}
	return "Findings"
}

// nameChecks returns the summary with the number of gates.
func nameChecks(task *company.Task, _ PROptions) string {
	n := 0
	if task.Gate != nil {
		n = len(task.Gate.Result.Checks)
	}
	return "Checks in full: " + countNoun(n, "gate") + ", and what shows each criterion"
}

// nameAsked returns the summary with the length of the instruction.
func nameAsked(t *company.Task, o PROptions) string {
	text := strings.TrimSpace(o.leadOf(t).Instruction)
	return "What was asked, " + countNoun(strings.Count(text, "\n")+1, "line")
}

// nameWork returns the summary with the number of tickets.
func nameWork(t *company.Task, _ PROptions) string {
	return "The work in full: " + countNoun(len(t.Subtasks), "ticket")
}

// markdownTable returns a Markdown table. Rows beyond prOptions.maxRows are counted but not shown.
func markdownTable(prOptions PROptions, head []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for i, r := range rows {
		if i == prOptions.maxRows {
			break
		}
		fmt.Fprintf(&b, "\n| %s |", strings.Join(r, " | "))
	}
	if n := len(rows) - prOptions.maxRows; n > 0 {
		fmt.Fprintf(&b, "\n\n%d more are not shown.", n)
	}
	return b.String()
}
