package view

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/guess"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// Summary is the result of a submission (CLI-7).
type Summary struct {
	SchemaVersion int                `json:"schema_version"`
	Result        string             `json:"result"` // COMPLETE | INCOMPLETE | ERROR
	Task          company.TaskID     `json:"task"`
	Status        company.TaskStatus `json:"status"`
	Instruction   string             `json:"instruction"`
	Issue         *company.IssueRef  `json:"issue,omitempty"` // the issue that the instruction quotes
	Next          string             `json:"next"`
	Why           string             `json:"why"`
	Hint          string             `json:"hint"`
	PR            *int               `json:"pr,omitempty"`
	PRState       company.PRState    `json:"pr_state,omitempty"`
	URL           string             `json:"url,omitempty"` // URL of the pull request, or the path of its page
	Head          company.OID        `json:"head,omitempty"`
	CostMicroUSD  *int64             `json:"cost_micro_usd"`
	Tokens        int64              `json:"tokens"`
	DurationMS    int64              `json:"duration_ms"`
	UntestedWhy   string             `json:"untested_why,omitempty"` // reason why no test covers a completed task
	// for a completed task: checks of its CI without a verdict, and failed ones that can hide new failures
	Unverified []string  `json:"unverified,omitempty"`
	Estimate   *Estimate `json:"estimate,omitempty"` // for a dry run
	DryRun     bool      `json:"dry_run,omitempty"`
	Plan       []string  `json:"plan,omitempty"` // for a dry run: the titles of its subtasks
}

// Summary returns the result of a submitted task.
func (src Source) Summary(task *company.Task) Summary {
	state := src.State
	sum := Summary{
		SchemaVersion: 1, Task: task.ID, Status: src.ShownStatus(task),
		Instruction: safetext.EscapeLine(company.TitleOf(task.Instruction), 100), Issue: task.Issue, Head: task.Head,
		Tokens: task.Spent.Tokens, DurationMS: taskDuration(task, src.Now).Milliseconds(),
	}
	done := 0
	for _, sub := range task.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			done++
		}
	}
	sum.CostMicroUSD = costOrNil(task.Spent)
	sum.Hint = fmt.Sprintf("company show %s: its plan, runs and gates", task.ID)
	if n := len(task.Unwritten); n > 0 {
		sum.Hint = fmt.Sprintf("%s not written: company show %s", company.Count(n, "file"), task.ID)
	}
	switch {
	case task.Status == company.StatusCompleted && task.DryRun:
		sum.Result = "COMPLETE"
		sum.Next = fmt.Sprintf("company show %s; then company submit --plan %s", task.ID, task.ID)
		sum.DryRun = true
		sum.Why = "the plan has " + company.Count(len(task.Subtasks), "subtask") + " in " + task.NameSteps()
		for _, sub := range task.Subtasks {
			line := string(sub.ID) + "  " + sub.Planned.Title
			if after := sub.After(); len(after) > 0 {
				line += "  (after " + company.JoinIDs(after) + ")"
			}
			sum.Plan = append(sum.Plan, line)
		}
		estimate := estimateTask(state, task)
		sum.Estimate = &estimate
		sum.Hint = estimate.RenderText(task.Held())
	case task.Status == company.StatusCompleted && task.PR == nil:
		sum.Result, sum.Next = "COMPLETE", fmt.Sprintf("company show %s: why there is no pull request", task.ID)
		sum.Why = safetext.EscapeLine(explainUnchanged(task), 500)
	case task.Status == company.StatusCompleted:
		sum.Result, sum.UntestedWhy = "COMPLETE", task.ExplainUntested()
		if sum.UntestedWhy != "" {
			sum.Hint = "to add a test: " + untestedRemedy
		}
		if sum.Unverified = task.ExplainUnverified(); len(sum.Unverified) > 0 && sum.UntestedWhy == "" {
			sum.Hint = "what was not verified and why: company pr show " + fmt.Sprint(task.PR.Number) +
				"; company doctor shows the line that runs it"
		}
		sum.Next = fmt.Sprintf("review the pull request: company pr show %d", task.PR.Number)
		sum.PR = &task.PR.Number
		sum.PRState = task.PR.State
		sum.URL = task.PR.URL
		sum.Why = fmt.Sprintf("%d of %s merged, %s on %s (%s)", done, company.Count(len(task.Subtasks), "subtask"),
			gatesLabel(task), task.IntegrationBranch(), task.Head.Short()) + unseenLabel(task)
		if task.PR.Note != "" {
			sum.Why += "; " + safetext.EscapeLine(task.PR.Note, 300)
		}
	case task.Status == company.StatusFailed:
		sum.Result = "ERROR"
		sum.Why = safetext.EscapeLine(task.Reason, 200)
		sum.Next = "company retry " + string(task.ID)
	case task.Status == company.StatusCancelled:
		sum.Result = "INCOMPLETE"
		sum.Why = cancelledWhy(task)
		sum.Next = "company retry " + string(task.ID)
	default:
		sum.Result = "INCOMPLETE"
		if len(task.Subtasks) > 0 {
			sum.Why = fmt.Sprintf(", %d of %s merged", done, company.Count(len(task.Subtasks), "subtask"))
		}
		sum.Next = "company resume " + string(task.ID)
		v := src.Task(task)
		if open := state.OpenApprovals(task.ID); len(open) > 0 {
			sum.Why = safetext.EscapeLine(open[0].Question, 200)
			sum.Next = newApproval(state, open[0]).Next
			lacks := task.Short()
			if open[0].Kind == company.AskBudget && (lacks.MicroUSD <= 0 || lacks.Tokens <= 0) { // a raise covers one of them
				sum.Next = fmt.Sprintf("%s or company reject %s", RaiseCommand(task), open[0].ID)
			}
		} else if short := state.Spending.Shortage; short != nil {
			sum.Why = fmt.Sprintf("the budget of the %s is used up%s", short.Scope, sum.Why)
			sum.Next = RaiseOfficeCommand(state.Spending, short)
		} else if state.Office.Stopped {
			sum.Why = "the office is stopped"
			sum.Next = "company resume"
		} else if !task.Paused && len(v.WaitsFor) > 0 {
			sum.Why = "it waits for " + v.AwaitedText()
		} else if task.Paused {
			sum.Why = "it is paused" + sum.Why
		} else if paused := task.PausedSubtasks(); len(paused) > 0 {
			sum.Why, sum.Next = string(paused[0])+" is paused"+sum.Why, "company resume "+string(paused[0])
		} else if src.isResting(task) {
			sum.Why = src.explainRest(task) + sum.Why
		} else if holds := v.HoldTexts(); len(holds) > 0 {
			sum.Why, sum.Next = safetext.EscapeLine(holds[0], 200)+sum.Why, "company show "+string(task.ID)
		} else {
			sum.Why = "it is in progress" + sum.Why
		}
	}
	return sum
}

// explainRest returns why a task rests. An answer may have come since the last company.
func (src Source) explainRest(task *company.Task) string {
	const why = "no company is running"
	for _, approval := range src.State.AnsweredApprovals(task.ID) {
		if approval.Option != company.OptWithdrawn && !approval.Answered.Before(task.Updated) { // nothing happened since
			return "your answer is in; " + why
		}
	}
	return why
}

// untestedRemedy explains how to add a test if there is none.
const untestedRemedy = "gates.test in company.yaml (company init --dry-run proposes commands), or the first test of " +
	"the repository"

// explainUnchanged returns why a completed task has no pull request: what its workers say.
func explainUnchanged(task *company.Task) string {
	for _, sub := range task.Subtasks {
		run := task.Runs[company.NewRunID(task.ID, sub.ID, company.Worker, sub.Started)]
		if run != nil && run.Summary != "" {
			return run.Summary
		}
	}
	return "Nothing to change: the repository already does what you asked."
}

// cancelledWhy returns why a task was cancelled. A cancellation may have no reason.
func cancelledWhy(task *company.Task) string {
	if task.Reason == "" {
		return "cancelled by you"
	}
	return "cancelled: " + safetext.EscapeLine(task.Reason, 200)
}

// RenderText renders the summary as a block. Programs find its lines by their names.
func (s Summary) RenderText() string {
	result := s.Result
	if s.UntestedWhy != "" {
		result += ", UNTESTED"
	} else if reason := s.nameUnverified(); reason != "" {
		result += ", UNVERIFIED (" + reason + ")"
	}
	return fmt.Sprintf(`=== TASK SUMMARY ===
[RESULT] %s
[TASK]   %s %s
[NEXT]   %s
[WHY]    %s
[COST]   %s
[HINT]   %s
====================
`, result, s.Task, s.Instruction, s.Next, s.shortReason(), s.costText(), s.Hint)
}

// maxReason is the length of the reason in the block, in characters. The whole reason is in the JSON.
const maxReason = 50

// shortReason returns the reason as one short line (CLI-7): without the branch and the commit, cut after a word, and
// without an agent's guess.
func (s Summary) shortReason() string {
	why := s.Why
	if before, _, found := strings.Cut(why, " ("+s.Head.Short()+")"); found && s.Head != "" {
		if branch := strings.LastIndex(before, " on "); branch > 0 {
			why = before[:branch]
		}
	}
	if runes := []rune(why); len(runes) > maxReason {
		why = string(runes[:maxReason])
		if space := strings.LastIndexByte(why, ' '); space > 0 {
			why = why[:space]
		}
		if open := strings.LastIndex(why, " ("); open > 0 && !strings.Contains(why[open:], ")") {
			why = why[:open]
		}
		why = strings.TrimRight(why, ",;:") + "…"
	}
	if s.Status != company.StatusCancelled && guess.FindPhrase(why) != "" {
		return fmt.Sprintf("company show %s has the reason", s.Task)
	}
	return why
}

// nameUnverified returns the first unverified check of a completed task that has tests, and the number of others. It
// returns "" if all checks were verified.
func (s Summary) nameUnverified() string {
	if s.Result != "COMPLETE" || s.UntestedWhy != "" || len(s.Unverified) == 0 {
		return ""
	}
	reason := safetext.EscapeLine(s.Unverified[0], 200)
	if n := len(s.Unverified) - 1; n > 0 {
		reason += fmt.Sprintf("; and %d more", n)
	}
	return reason
}

// costText formats the cost and the duration of a task.
func (s Summary) costText() string {
	return FormatCost(s.CostMicroUSD, s.Tokens) + ", " + ageOf(s.DurationMS)
}

// Render renders the summary for a stream. On a terminal it is a sentence with the reason below it.
func (s Summary) Render(style Style) string {
	if style.Width <= 0 {
		return s.RenderText()
	}
	var b strings.Builder
	cost := ageOf(s.DurationMS) + ", " + FormatCost(s.CostMicroUSD, s.Tokens)
	state := "waits"
	color := termtext.Bright
	next := s.Next
	switch {
	case s.Result == "ERROR":
		state, color = "failed", termtext.Red
	case s.Status == company.StatusCancelled:
		state, color = "is cancelled", termtext.Yellow
	case s.DryRun:
		state, color = "is planned", termtext.Green
	case s.Result == "COMPLETE" && s.UntestedWhy != "":
		state, color = "is done, UNTESTED,", termtext.Yellow
	case s.nameUnverified() != "":
		state, color = "is done, UNVERIFIED,", termtext.Yellow
	case s.Result == "COMPLETE":
		state, color = "is done", termtext.Green
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
	if termtext.Cells(line)+1+len(label)+termtext.Cells(next) <= style.Width {
		b.WriteString(" " + label + style.Paint(termtext.Bold, next) + "\n")
	} else {
		b.WriteString("\n  " + label + style.Paint(termtext.Bold, next) + "\n")
	}
	writeWrapped(&b, style, "  ", s.Why)
	for _, title := range s.Plan {
		b.WriteString("    " + style.Fit(safetext.EscapeLine(title, 120), 4) + "\n")
	}
	if s.URL != "" {
		fmt.Fprintf(&b, "  %s\n", safetext.EscapeLine(s.URL, 400))
	}
	if s.PRState == company.PROpen && !strings.Contains(s.URL, "://") { // no forge has a button to merge it
		fmt.Fprintf(&b, "  To merge it: company pr merge %d; to try it first: company pr checkout %[1]d\n", *s.PR)
	}
	if s.Result == "COMPLETE" && s.Hint != "" && (s.DryRun || s.UntestedWhy != "" || len(s.Unverified) > 0) {
		writeWrapped(&b, style, "  ", s.Hint)
	}
	return b.String()
}
