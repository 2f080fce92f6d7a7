package view

import (
	"fmt"
	"time"

	"company/internal/company"
)

// Estimate is what the work on a plan may cost and how long it may take, judged
// by what subtasks and waves have taken in this office so far. Without any it
// knows nothing, and says so.
type Estimate struct {
	From             int    `json:"from_subtasks"` // how many it is judged by; 0: there is none
	LowTokens        int64  `json:"low_tokens"`
	HighTokens       int64  `json:"high_tokens"`
	LowCostMicroUSD  *int64 `json:"low_cost_micro_usd"` // null: no price is known
	HighCostMicroUSD *int64 `json:"high_cost_micro_usd"`
	LowMS            int64  `json:"low_ms"` // in which a company was at work, without the time in which it waited for the president alone
	HighMS           int64  `json:"high_ms"`
}

// estimateTask takes the cheapest and the dearest task of the office, per
// subtask: between the two lie retries, findings and conflicts. Time goes by
// steps: the subtasks of one step run at once.
func estimateTask(s *company.State, t *company.Task) Estimate {
	var e Estimate
	var low, high company.Amount
	judge := func(subtasks, waves int, spent company.Amount, worked time.Duration) {
		n := int64(subtasks)
		each := company.Amount{MicroUSD: spent.MicroUSD / n, Tokens: spent.Tokens / n}
		wave := worked.Milliseconds() / int64(max(1, waves))
		if e.From == 0 {
			low, high = each, each
			e.LowMS, e.HighMS = wave, wave
		}
		e.LowMS, e.HighMS = min(e.LowMS, wave), max(e.HighMS, wave)
		low = company.Amount{MicroUSD: min(low.MicroUSD, each.MicroUSD), Tokens: min(low.Tokens, each.Tokens)}
		high = company.Amount{MicroUSD: max(high.MicroUSD, each.MicroUSD), Tokens: max(high.Tokens, each.Tokens)}
		e.From += subtasks
	}
	for _, o := range s.Tasks {
		if o.Status == company.StatusCompleted && !o.DryRun && len(o.Subtasks) > 0 {
			judge(len(o.Subtasks), o.CountSteps(), o.Spent, o.WorkedFor())
		}
	}
	for id, o := range s.Past {
		if s.Tasks[id] == nil && o.Status == company.StatusCompleted && !o.DryRun && o.Subtasks > 0 {
			judge(o.Subtasks, o.Waves, o.Spent, o.WorkedFor())
		}
	}
	waves := int64(max(1, t.CountSteps()))
	e.LowMS, e.HighMS = e.LowMS*waves, e.HighMS*waves
	n := int64(len(t.Subtasks))
	e.LowTokens, e.HighTokens = low.Tokens*n, high.Tokens*n
	e.LowCostMicroUSD = costOrNil(company.Amount{MicroUSD: low.MicroUSD * n})
	e.HighCostMicroUSD = costOrNil(company.Amount{MicroUSD: high.MicroUSD * n})
	return e
}

func (e Estimate) RenderText(cap company.Amount) string {
	most := "never more than " + cap.String()
	if cap == NoLimit {
		most = "there is no cap"
	}
	if e.From == 0 {
		return "estimate: none, nothing was done in this office yet; " + most
	}
	return fmt.Sprintf("estimate: %s to %s, %s to %s, from %s; %s", FormatCost(e.LowCostMicroUSD, e.LowTokens), FormatCost(e.HighCostMicroUSD, e.HighTokens),
		FormatAge(time.Duration(e.LowMS)*time.Millisecond), FormatAge(time.Duration(e.HighMS)*time.Millisecond), company.Count(e.From, "earlier subtask"), most)
}
