package view

import (
	"fmt"

	"company/internal/company"
	"company/internal/safetext"
)

// Summary is what a submission ends with (CLI-7).
type Summary struct {
	SchemaVersion int                `json:"schema_version"`
	Result        string             `json:"result"` // COMPLETE | INCOMPLETE | ERROR
	Task          company.TaskID     `json:"task"`
	Status        company.TaskStatus `json:"status"`
	Instruction   string             `json:"instruction"`
	Next          string             `json:"next"`
	Why           string             `json:"why"`
	Hint          string             `json:"hint"`
	PR            *int               `json:"pr,omitempty"`
	Head          company.OID        `json:"head,omitempty"`
	CostMicroUSD  *int64             `json:"cost_micro_usd"`
	Tokens        int64              `json:"tokens"`
	DurationMS    int64              `json:"duration_ms"`
	UntestedWhy   string             `json:"untested_why,omitempty"` // why no test stands behind what is complete
	Estimate      *Estimate          `json:"estimate,omitempty"`     // of a dry run

}

// Summary is what a submission of a task ends with.
func (src Source) Summary(t *company.Task) Summary {
	s := src.State
	sum := Summary{
		SchemaVersion: 1, Task: t.ID, Status: s.Shown(t), Instruction: safetext.EscapeLine(t.Instruction, 100), Head: t.Head,
		Tokens: t.Spent.Tokens, DurationMS: taskDuration(t, t.Updated).Milliseconds(),
	}
	done := 0
	for _, sub := range t.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			done++
		}
	}
	sum.CostMicroUSD = costOrNil(t.Spent)
	sum.Hint = fmt.Sprintf("cost %s, %s", FormatCost(sum.CostMicroUSD, t.Spent.Tokens), FormatAge(taskDuration(t, t.Updated)))
	if n := len(t.Unwritten); n > 0 {
		sum.Hint += fmt.Sprintf("; %s not written: company show %s", company.Count(n, "file"), t.ID)
	}
	switch {
	case t.Status == company.StatusCompleted && t.DryRun:
		sum.Result, sum.Next = "COMPLETE", fmt.Sprintf("company show %s; then submit it without --dry-run", t.ID)
		sum.Why = "the plan has " + company.Count(len(t.Subtasks), "subtask") + " in " + company.Count(t.Plan.Waves, "wave")
		e := estimateTask(s, t)
		sum.Estimate = &e
		sum.Hint += "; " + e.RenderText(t.Held())
	case t.Status == company.StatusCompleted:
		sum.Result, sum.UntestedWhy = "COMPLETE", t.ExplainUntested()
		if sum.UntestedWhy != "" {
			sum.Hint += "; to have a test: " + untestedRemedy
		}
		sum.Next = fmt.Sprintf("review the pull request: company pr show %d", t.PR.Number)
		sum.PR = &t.PR.Number
		sum.Why = fmt.Sprintf("%d of %s merged, %s on %s (%s)", done, company.Count(len(t.Subtasks), "subtask"), gatesLabel(t), t.IntegrationBranch(), t.Head.Short())
	case t.Status == company.StatusFailed:
		sum.Result, sum.Why, sum.Next = "ERROR", safetext.EscapeLine(t.Reason, 200), "company show "+string(t.ID)
	case t.Status == company.StatusCancelled:
		sum.Result, sum.Why, sum.Next = "INCOMPLETE", cancelledWhy(t), "company show "+string(t.ID)
	default:
		sum.Result = "INCOMPLETE"
		sum.Why = fmt.Sprintf("%d of %s merged", done, company.Count(len(t.Subtasks), "subtask"))
		sum.Next = "company resume " + string(t.ID)
		if open := s.OpenApprovals(t.ID); len(open) > 0 {
			sum.Why = safetext.EscapeLine(open[0].Question, 200)
			sum.Next = AnswerCommand(open[0])
			if open[0].Kind == company.AskBudget {
				sum.Next = fmt.Sprintf("%s or company reject %s", RaiseCommand(t), open[0].ID)
			}
		} else if s.Office.Stopped {
			sum.Why = "the office is stopped"
			sum.Next = "company resume"
		} else if t.Paused {
			sum.Why = "it is paused, " + sum.Why
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

func (s Summary) RenderText() string {
	result := s.Result
	if s.UntestedWhy != "" {
		result += ", UNTESTED"
	}
	return fmt.Sprintf(`=== TASK SUMMARY ===
[RESULT] %s
[TASK]   %s %s
[NEXT]   %s
[WHY]    %s
[HINT]   %s
====================
`, result, s.Task, s.Instruction, s.Next, s.Why, s.Hint)
}
