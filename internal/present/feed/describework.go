package feed

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// mostLines limits the detail lines below an item.
const mostLines = 12

// boundLines keeps the first lines up to a limit, and counts the rest.
func boundLines(lines []string, limit int) []string {
	if n := len(lines) - limit; n > 0 {
		return append(lines[:limit:limit], fmt.Sprintf("… and %d more", n))
	}
	return lines
}

// skippedNumbers explains a gap between the number of a task and the last one's. from is the first skipped number, or
// 0 if there is no gap.
func skippedNumbers(from int, id company.TaskID) []string {
	if from == 0 {
		return nil
	}
	numbers := "numbers " + string(company.NewTaskID(from)) + " to " + string(company.NewTaskID(id.Number()-1)) + " are"
	if from == id.Number()-1 {
		numbers = "number " + string(company.NewTaskID(from)) + " is"
	}
	return []string{numbers + " used on the remote by work that is not in this ledger"}
}

// beginLine names the tasks that must be merged before a task starts.
func beginLine(after []company.TaskID) string {
	names := make([]string, len(after))
	for i, id := range after {
		names[i] = string(id)
	}
	if last := len(names) - 1; last > 0 {
		return "it starts when " + strings.Join(names[:last], ", ") + " and " + names[last] + " are merged"
	}
	return "it starts when " + names[0] + " is merged"
}

// planLines lists the subtasks of a plan.
func planLines(task *company.Task) []string {
	if task == nil {
		return nil
	}
	var lines []string
	for _, sub := range task.Subtasks {
		lines = append(lines, planLine(sub.ID, sub.Wave, sub.Planned))
	}
	return boundLines(lines, mostLines)
}

func planLine(id company.SubtaskID, wave int, subtask company.PlannedSubtask) string {
	line := string(id) + "  " + safetext.EscapeLine(subtask.Title, 120)
	switch {
	case len(subtask.After) > 0:
		line += "  (after " + safetext.EscapeLine(strings.Join(subtask.After, ", "), 120) + ")"
	case wave > 1:
		line += fmt.Sprintf("  (wave %d)", wave)
	}
	return line
}

// partLines lists a subtask that was replanned, and the subtasks split from it.
func partLines(id company.SubtaskID, replanned *company.SubtaskReplanned) []string {
	var lines []string
	for i, part := range append([]company.SubtaskID{id}, replanned.Added...) {
		if i < len(replanned.Parts) {
			lines = append(lines, planLine(part, 0, replanned.Parts[i]))
		}
	}
	return boundLines(lines, mostLines)
}

func (it *Item) describePlanRefusal(planRefused *company.PlanRefused) {
	it.Mark = Failed
	if len(planRefused.Problems) == 1 {
		it.Text = "plan refused: " + safetext.EscapeLine(planRefused.Problems[0].String(), 200)
		return
	}
	it.Text = fmt.Sprintf("plan refused for %s", company.Count(len(planRefused.Problems), "reason"))
	for _, p := range planRefused.Problems {
		it.Lines = append(it.Lines, safetext.EscapeLine(p.String(), 200))
	}
	it.Lines = boundLines(it.Lines, mostLines)
}

// describeReview describes a review. It lists blocking findings of a rejection, and all findings of an approval.
func (it *Item) describeReview(recorded *company.ReviewRecorded) {
	it.Text, it.Mark = "review: "+strings.ReplaceAll(recorded.Verdict, "_", " "), Done
	if recorded.Confirms {
		it.Text = "second " + it.Text
	}
	if recorded.Verdict != company.Approve {
		it.Mark = Failed
	}
	for _, finding := range recorded.Findings {
		if recorded.Verdict == company.Approve || finding.Severity == company.Blocking {
			it.Lines = append(
				it.Lines, strings.TrimSpace(safetext.EscapeLine(finding.Where(), 90)+" "+safetext.EscapeLine(finding.What, 160)))
		}
	}
	if n := len(it.Lines); n > 0 && recorded.Verdict == company.Approve {
		it.Text += ", with " + company.Count(n, "remark")
	}
	it.Lines = boundLines(it.Lines, 3)
}

// joinMembers joins the subtasks of a stack.
func joinMembers(members []company.StackMember) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = string(m.Subtask)
	}
	return strings.Join(names, ", ")
}

// joinRemade lists regenerated files with the commands that generated them, and files that kept one side's text.
func joinRemade(all []company.RemadeFile) string {
	var out []string
	for _, remadeFile := range all {
		what := "regenerated"
		if remadeFile.Command == company.KeptByRule {
			what = "kept as on the branch"
		}
		out = append(
			out, fmt.Sprintf("%s %s by `%s`", safetext.EscapeLine(remadeFile.Path, 120), what,
				safetext.EscapeLine(remadeFile.Command, 120)))
	}
	return strings.Join(out, ", ")
}

// mergedAs separates the title of a subtask from its merge commit.
const mergedAs = ": merged as "

// describeMerge summarizes a subtask in one line, because a successful subtask has no other line.
func (it *Item) describeMerge(event company.Event, d *company.MergeRecorded, task *company.Task) {
	it.Text, it.Mark = strings.TrimPrefix(mergedAs, ": ")+d.Commit.Short(), Done
	if task == nil {
		return
	}
	sub := task.Subtask(event.Subtask)
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
	for _, run := range task.Runs {
		if run.Subtask == event.Subtask && !run.Claimed.IsZero() && (began.IsZero() || run.Claimed.Before(began)) {
			began = run.Claimed
		}
	}
	if !began.IsZero() {
		it.DurationMS = max(0, event.Time.Sub(began)).Milliseconds()
	}
}
