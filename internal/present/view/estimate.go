package view

import (
	"fmt"
	"time"

	"company/internal/company"
)

// Estimate is the expected cost and duration of a plan, based on earlier subtasks and waves in this office. Without
// earlier work there is no estimate, and From is 0.
type Estimate struct {
	From             int    `json:"from_subtasks"` // number of earlier subtasks that it is based on
	LowTokens        int64  `json:"low_tokens"`
	HighTokens       int64  `json:"high_tokens"`
	LowCostMicroUSD  *int64 `json:"low_cost_micro_usd"` // null if no price is known
	HighCostMicroUSD *int64 `json:"high_cost_micro_usd"`
	// time with a company at work, without the time in which it only waited for the president
	LowMS  int64 `json:"low_ms"`
	HighMS int64 `json:"high_ms"`
}

// estimateTask multiplies the lowest and highest cost per subtask of earlier tasks. The range covers retries, findings
// and conflicts. Time is counted by step, because the subtasks of one step run concurrently.
func estimateTask(state *company.State, task *company.Task) Estimate {
	var estimate Estimate
	var low, high company.Amount
	judge := func(subtasks, waves int, spent company.Amount, worked time.Duration) {
		n := int64(subtasks)
		each := company.Amount{MicroUSD: spent.MicroUSD / n, Tokens: spent.Tokens / n}
		wave := worked.Milliseconds() / int64(max(1, waves))
		if estimate.From == 0 {
			low, high = each, each
			estimate.LowMS, estimate.HighMS = wave, wave
		}
		estimate.LowMS, estimate.HighMS = min(estimate.LowMS, wave), max(estimate.HighMS, wave)
		low = company.Amount{MicroUSD: min(low.MicroUSD, each.MicroUSD), Tokens: min(low.Tokens, each.Tokens)}
		high = company.Amount{MicroUSD: max(high.MicroUSD, each.MicroUSD), Tokens: max(high.Tokens, each.Tokens)}
		estimate.From += subtasks
	}
	for _, o := range state.Tasks {
		if o.Status == company.StatusCompleted && !o.DryRun && len(o.Subtasks) > 0 {
			judge(len(o.Subtasks), o.CountSteps(), o.Spent, o.WorkedFor())
		}
	}
	for id, pastTask := range state.Past {
		if state.Tasks[id] == nil && pastTask.Status == company.StatusCompleted && !pastTask.DryRun && pastTask.Subtasks > 0 {
			judge(pastTask.Subtasks, pastTask.Waves, pastTask.Spent, pastTask.WorkedFor())
		}
	}
	waves := int64(max(1, task.CountSteps()))
	estimate.LowMS, estimate.HighMS = estimate.LowMS*waves, estimate.HighMS*waves
	n := int64(len(task.Subtasks))
	estimate.LowTokens, estimate.HighTokens = low.Tokens*n, high.Tokens*n
	estimate.LowCostMicroUSD = costOrNil(company.Amount{MicroUSD: low.MicroUSD * n})
	estimate.HighCostMicroUSD = costOrNil(company.Amount{MicroUSD: high.MicroUSD * n})
	return estimate
}

func (e Estimate) RenderText(cap company.Amount) string {
	most := "at most " + cap.String()
	if cap == NoLimit {
		most = "no cap"
	}
	if e.From == 0 {
		return "estimate: none, this office has no finished work yet; " + most
	}
	return fmt.Sprintf("estimate: %s to %s, %s to %s, from %s; %s", FormatCost(e.LowCostMicroUSD, e.LowTokens),
		FormatCost(e.HighCostMicroUSD, e.HighTokens),
		FormatAge(time.Duration(e.LowMS)*time.Millisecond), FormatAge(time.Duration(e.HighMS)*time.Millisecond),
		company.Count(e.From, "earlier subtask"), most)
}
