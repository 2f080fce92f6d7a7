package feed

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// mostLines bounds the details below an item.
const mostLines = 12

// boundLines keeps the first of many lines, and counts the rest.
func boundLines(lines []string, most int) []string {
	if n := len(lines) - most; n > 0 {
		return append(lines[:most:most], fmt.Sprintf("… and %d more", n))
	}
	return lines
}

// skippedNumbers explains why a task does not have the number after the last task's. from is the
// first number that was skipped; 0 means none.
func skippedNumbers(from int, id company.TaskID) []string {
	if from == 0 {
		return nil
	}
	numbers := "numbers " + string(company.NewTaskID(from)) + " to " + string(company.NewTaskID(id.Number()-1)) + " are"
	if from == id.Number()-1 {
		numbers = "number " + string(company.NewTaskID(from)) + " is"
	}
	return []string{numbers + " used at the remote by work that this ledger does not know"}
}

// beginLine says which tasks are to be merged before a task begins.
func beginLine(after []company.TaskID) string {
	names := make([]string, len(after))
	for i, id := range after {
		names[i] = string(id)
	}
	if last := len(names) - 1; last > 0 {
		return "it begins when " + strings.Join(names[:last], ", ") + " and " + names[last] + " are merged"
	}
	return "it begins when " + names[0] + " is merged"
}

// planLines name the subtasks of a plan.
func planLines(t *company.Task) []string {
	if t == nil {
		return nil
	}
	var lines []string
	for _, sub := range t.Subtasks {
		lines = append(lines, planLine(sub.ID, sub.Wave, sub.Planned))
	}
	return boundLines(lines, mostLines)
}

func planLine(id company.SubtaskID, wave int, p company.PlannedSubtask) string {
	line := string(id) + "  " + safetext.EscapeLine(p.Title, 120)
	switch {
	case len(p.After) > 0:
		line += "  (after " + safetext.EscapeLine(strings.Join(p.After, ", "), 120) + ")"
	case wave > 1:
		line += fmt.Sprintf("  (wave %d)", wave)
	}
	return line
}

// partLines name a subtask that was planned anew, and those that were split from it.
func partLines(id company.SubtaskID, d *company.SubtaskReplanned) []string {
	var lines []string
	for i, part := range append([]company.SubtaskID{id}, d.Added...) {
		if i < len(d.Parts) {
			lines = append(lines, planLine(part, 0, d.Parts[i]))
		}
	}
	return boundLines(lines, mostLines)
}

func (it *Item) describePlanRefusal(d *company.PlanRefused) {
	it.Mark = Failed
	if len(d.Problems) == 1 {
		it.Text = "plan refused: " + safetext.EscapeLine(d.Problems[0].String(), 200)
		return
	}
	it.Text = fmt.Sprintf("plan refused for %s", company.Count(len(d.Problems), "reason"))
	for _, p := range d.Problems {
		it.Lines = append(it.Lines, safetext.EscapeLine(p.String(), 200))
	}
	it.Lines = boundLines(it.Lines, mostLines)
}

// describeReview tells a verdict: with findings that bar where it is red, and with
// the others where it is not.
func (it *Item) describeReview(d *company.ReviewRecorded) {
	it.Text, it.Mark = "review: "+strings.ReplaceAll(d.Verdict, "_", " "), Done
	if d.Confirms {
		it.Text = "second " + it.Text
	}
	if d.Verdict != company.Approve {
		it.Mark = Failed
	}
	for _, f := range d.Findings {
		if d.Verdict == company.Approve || f.Severity == company.Blocking {
			it.Lines = append(it.Lines, strings.TrimSpace(safetext.EscapeLine(f.Where(), 90)+" "+safetext.EscapeLine(f.What, 160)))
		}
	}
	if n := len(it.Lines); n > 0 && d.Verdict == company.Approve {
		it.Text += ", with " + company.Count(n, "remark")
	}
	it.Lines = boundLines(it.Lines, 3)
}

// joinMembers names the subtasks of a stack.
func joinMembers(members []company.StackMember) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = string(m.Subtask)
	}
	return strings.Join(names, ", ")
}

// joinRemade names files with the programs that made them anew.
func joinRemade(all []company.RemadeFile) string {
	var out []string
	for _, l := range all {
		out = append(out, fmt.Sprintf("%s made anew by `%s`", safetext.EscapeLine(l.Path, 120), safetext.EscapeLine(l.Command, 120)))
	}
	return strings.Join(out, ", ")
}

// mergedAs stands between the title of a subtask and its merge commit.
const mergedAs = ": merged as "

// describeMerge tells in a line what a subtask came to, since a subtask that goes
// well has no other.
func (it *Item) describeMerge(e company.Event, d *company.MergeRecorded, t *company.Task) {
	it.Text, it.Mark = strings.TrimPrefix(mergedAs, ": ")+d.Commit.Short(), Done
	if t == nil {
		return
	}
	sub := t.Subtask(e.Subtask)
	if sub == nil {
		return
	}
	it.Text = safetext.EscapeLine(sub.Planned.Title, 80) + ": " + it.Text
	if n := len(sub.Changes); n > 0 {
		it.Text += ", " + company.Count(n, "file")
	}
	if n := sub.Attempts(); n > 1 {
		it.Text += fmt.Sprintf(", attempt %d", n)
	}
	if sub.Gate != nil && len(sub.Gate.Remade) > 0 {
		it.Text += ", " + joinRemade(sub.Gate.Remade)
	}
	if sub.Gate != nil && len(sub.Gate.Stack) > 1 {
		it.Text += ", tested with " + company.Count(len(sub.Gate.Stack)-1, "other")
	}
	var began time.Time
	for _, r := range t.Runs {
		if r.Subtask == e.Subtask && !r.Claimed.IsZero() && (began.IsZero() || r.Claimed.Before(began)) {
			began = r.Claimed
		}
	}
	if !began.IsZero() {
		it.DurationMS = max(0, e.Time.Sub(began)).Milliseconds()
	}
}
