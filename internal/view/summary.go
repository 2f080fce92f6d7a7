package view

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// Summary is what a submission ends with (CLI-7).
type Summary struct {
	SchemaVersion int                `json:"schema_version"`
	Result        string             `json:"result"` // COMPLETE | INCOMPLETE | ERROR
	Task          company.TaskID     `json:"task"`
	Status        company.TaskStatus `json:"status"`
	Instruction   string             `json:"instruction"`
	Issue         *company.IssueRef  `json:"issue,omitempty"` // that the instruction quotes
	Next          string             `json:"next"`
	Why           string             `json:"why"`
	Hint          string             `json:"hint"`
	PR            *int               `json:"pr,omitempty"`
	URL           string             `json:"url,omitempty"` // of the pull request, or the path of its page
	Head          company.OID        `json:"head,omitempty"`
	CostMicroUSD  *int64             `json:"cost_micro_usd"`
	Tokens        int64              `json:"tokens"`
	DurationMS    int64              `json:"duration_ms"`
	UntestedWhy   string             `json:"untested_why,omitempty"` // why no test stands behind a complete task
	Unverified    []string           `json:"unverified,omitempty"`   // of a complete task: checks of its CI that judged nothing, and red ones that hide new faults
	Estimate      *Estimate          `json:"estimate,omitempty"`     // of a dry run
	DryRun        bool               `json:"dry_run,omitempty"`
	Plan          []string           `json:"plan,omitempty"` // of a dry run: the titles of its subtasks
}

// Summary is what a submission of a task ends with.
func (src Source) Summary(t *company.Task) Summary {
	s := src.State
	sum := Summary{
		SchemaVersion: 1, Task: t.ID, Status: s.Shown(t), Instruction: safetext.EscapeLine(company.TitleOf(t.Instruction), 100), Issue: t.Issue, Head: t.Head,
		Tokens: t.Spent.Tokens, DurationMS: taskDuration(t, t.Updated).Milliseconds(),
	}
	done := 0
	for _, sub := range t.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			done++
		}
	}
	sum.CostMicroUSD = costOrNil(t.Spent)
	sum.Hint = fmt.Sprintf("company show %s: its plan, runs and gates", t.ID)
	if n := len(t.Unwritten); n > 0 {
		sum.Hint = fmt.Sprintf("%s not written: company show %s", company.Count(n, "file"), t.ID)
	}
	switch {
	case t.Status == company.StatusCompleted && t.DryRun:
		sum.Result, sum.Next, sum.DryRun = "COMPLETE", fmt.Sprintf("company show %s; then company submit --plan %s", t.ID, t.ID), true
		sum.Why = "the plan has " + company.Count(len(t.Subtasks), "subtask") + " in " + t.NameSteps()
		for _, sub := range t.Subtasks {
			line := string(sub.ID) + "  " + sub.Planned.Title
			if after := sub.After(); len(after) > 0 {
				line += "  (after " + company.JoinIDs(after) + ")"
			}
			sum.Plan = append(sum.Plan, line)
		}
		e := estimateTask(s, t)
		sum.Estimate = &e
		sum.Hint = e.RenderText(t.Held())
	case t.Status == company.StatusCompleted:
		sum.Result, sum.UntestedWhy = "COMPLETE", t.ExplainUntested()
		if sum.UntestedWhy != "" {
			sum.Hint = "to have a test: " + untestedRemedy
		}
		if sum.Unverified = t.ExplainUnverified(); len(sum.Unverified) > 0 && sum.UntestedWhy == "" {
			sum.Hint = "what was not verified, and why: company pr show " + fmt.Sprint(t.PR.Number) + "; company doctor says which line has it run"
		}
		sum.Next = fmt.Sprintf("review the pull request: company pr show %d", t.PR.Number)
		sum.PR, sum.URL = &t.PR.Number, t.PR.URL
		sum.Why = fmt.Sprintf("%d of %s merged, %s on %s (%s)", done, company.Count(len(t.Subtasks), "subtask"), gatesLabel(t), t.IntegrationBranch(), t.Head.Short()) + unseenLabel(t)
	case t.Status == company.StatusFailed:
		sum.Result, sum.Why, sum.Next = "ERROR", safetext.EscapeLine(t.Reason, 200), "company retry "+string(t.ID)
	case t.Status == company.StatusCancelled:
		sum.Result, sum.Why, sum.Next = "INCOMPLETE", cancelledWhy(t), "company retry "+string(t.ID)
	default:
		sum.Result = "INCOMPLETE"
		sum.Why = fmt.Sprintf("%d of %s merged", done, company.Count(len(t.Subtasks), "subtask"))
		sum.Next = "company resume " + string(t.ID)
		if open := s.OpenApprovals(t.ID); len(open) > 0 {
			sum.Why = safetext.EscapeLine(open[0].Question, 200)
			sum.Next = newApproval(s, open[0]).Next
			lacks := t.Short()
			if open[0].Kind == company.AskBudget && (lacks.MicroUSD <= 0 || lacks.Tokens <= 0) { // a raise is of one of them
				sum.Next = fmt.Sprintf("%s or company reject %s", RaiseCommand(t), open[0].ID)
			}
		} else if short := s.Spending.Shortage; short != nil {
			sum.Why = fmt.Sprintf("the budget of the %s is used up, %s", short.Scope, sum.Why)
			sum.Next = RaiseOfficeCommand(s.Spending, short)
		} else if s.Office.Stopped {
			sum.Why = "the office is stopped"
			sum.Next = "company resume"
		} else if v := src.Task(t); !t.Paused && len(v.WaitsFor) > 0 {
			sum.Why = "it waits for " + v.AwaitedText()
		} else if t.Paused {
			sum.Why = "it is paused, " + sum.Why
		} else if paused := t.PausedSubtasks(); len(paused) > 0 {
			sum.Why, sum.Next = string(paused[0])+" is paused, "+sum.Why, "company resume "+string(paused[0])
		}
	}
	return sum
}

// untestedRemedy is how to have a test, where there is none.
const untestedRemedy = "gates.test in company.yaml (company init --dry-run proposes commands), or the first test of the repository"

// cancelledWhy is why a task was cancelled. A cancel needs no reason.
func cancelledWhy(t *company.Task) string {
	if t.Reason == "" {
		return "cancelled by you"
	}
	return "cancelled: " + safetext.EscapeLine(t.Reason, 200)
}

// RenderText is the summary as a block whose lines programs find by their names.
func (s Summary) RenderText() string {
	result := s.Result
	if s.UntestedWhy != "" {
		result += ", UNTESTED"
	} else if why := s.nameUnverified(); why != "" {
		result += ", UNVERIFIED (" + why + ")"
	}
	return fmt.Sprintf(`=== TASK SUMMARY ===
[RESULT] %s
[TASK]   %s %s
[NEXT]   %s
[WHY]    %s
[COST]   %s
[HINT]   %s
====================
`, result, s.Task, s.Instruction, s.Next, s.Why, s.costText(), s.Hint)
}

// nameUnverified is what was not verified of a complete task that has tests; empty where all was.
func (s Summary) nameUnverified() string {
	if s.Result != "COMPLETE" || s.UntestedWhy != "" || len(s.Unverified) == 0 {
		return ""
	}
	why := safetext.EscapeLine(s.Unverified[0], 200)
	if n := len(s.Unverified) - 1; n > 0 {
		why += fmt.Sprintf("; and %d more", n)
	}
	return why
}

// costText is what a task cost, and how long it took.
func (s Summary) costText() string {
	return FormatCost(s.CostMicroUSD, s.Tokens) + ", " + ageOf(s.DurationMS)
}

// Render is the summary for a stream: on a terminal a line for people, with the
// reason below it.
func (s Summary) Render(style Style) string {
	if style.Width <= 0 {
		return s.RenderText()
	}
	var b strings.Builder
	cost := ageOf(s.DurationMS) + ", " + FormatCost(s.CostMicroUSD, s.Tokens)
	state, color, next := "waits", screen.Bright, s.Next
	switch {
	case s.Result == "ERROR":
		state, color = "failed", screen.Red
	case s.Status == company.StatusCancelled:
		state, color = "is cancelled", screen.Yellow
	case s.DryRun:
		state, color = "is planned", screen.Green
	case s.Result == "COMPLETE" && s.UntestedWhy != "":
		state, color = "is done, UNTESTED,", screen.Yellow
	case s.nameUnverified() != "":
		state, color = "is done, UNVERIFIED,", screen.Yellow
	case s.Result == "COMPLETE":
		state, color = "is done", screen.Green
	}
	if s.PR != nil {
		next = fmt.Sprintf("company pr show %d", *s.PR)
	}
	label := "Next: "
	if s.PR != nil {
		label = "Review: "
	}
	after := " after "
	if s.Result == "COMPLETE" {
		after = " in "
	}
	fmt.Fprintf(&b, "\n%s %s%s%s.", s.Task, style.Paint(color, state), after, cost)
	line := fmt.Sprintf("%s %s%s%s.", s.Task, state, after, cost)
	if screen.Cells(line)+1+len(label)+screen.Cells(next) <= style.Width {
		b.WriteString(" " + label + style.Paint(screen.Bold, next) + "\n")
	} else {
		b.WriteString("\n  " + label + style.Paint(screen.Bold, next) + "\n")
	}
	writeWrapped(&b, style, "  ", s.Why)
	for _, title := range s.Plan {
		b.WriteString("    " + style.Fit(safetext.EscapeLine(title, 120), 4) + "\n")
	}
	if s.URL != "" {
		fmt.Fprintf(&b, "  %s\n", safetext.EscapeLine(s.URL, 400))
	}
	if s.Result == "COMPLETE" && s.Hint != "" && (s.DryRun || s.UntestedWhy != "" || len(s.Unverified) > 0) {
		writeWrapped(&b, style, "  ", s.Hint)
	}
	return b.String()
}
