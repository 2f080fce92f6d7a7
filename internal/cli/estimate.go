package cli

import (
	"fmt"

	"company/internal/company"
)

// estimate is what the work on a plan may cost, judged by what subtasks have
// cost in this office so far. Without any it knows nothing, and says so.
type estimate struct {
	From             int    `json:"from_subtasks"` // how many it is judged by; 0: there is none
	LowTokens        int64  `json:"low_tokens"`
	HighTokens       int64  `json:"high_tokens"`
	LowCostMicroUSD  *int64 `json:"low_cost_micro_usd"` // null: no price is known
	HighCostMicroUSD *int64 `json:"high_cost_micro_usd"`
}

// estimated takes the cheapest and the dearest task of the office, per
// subtask: between the two lie retries, findings and conflicts.
func estimated(s *company.State, t *company.Task) estimate {
	var e estimate
	var low, high company.Amount
	for _, o := range s.Tasks {
		if o.Status != company.TaskCompleted || o.DryRun || len(o.Subtasks) == 0 {
			continue
		}
		n := int64(len(o.Subtasks))
		each := company.Amount{MicroUSD: o.Spent.MicroUSD / n, Tokens: o.Spent.Tokens / n}
		if e.From == 0 {
			low, high = each, each
		}
		low = company.Amount{MicroUSD: min(low.MicroUSD, each.MicroUSD), Tokens: min(low.Tokens, each.Tokens)}
		high = company.Amount{MicroUSD: max(high.MicroUSD, each.MicroUSD), Tokens: max(high.Tokens, each.Tokens)}
		e.From += len(o.Subtasks)
	}
	n := int64(len(t.Subtasks))
	e.LowTokens, e.HighTokens = low.Tokens*n, high.Tokens*n
	e.LowCostMicroUSD = cost(company.Amount{MicroUSD: low.MicroUSD * n})
	e.HighCostMicroUSD = cost(company.Amount{MicroUSD: high.MicroUSD * n})
	return e
}

func (e estimate) text(cap company.Amount) string {
	most := "never more than " + cap.String()
	if cap.MicroUSD == company.NoCap && cap.Tokens == company.NoCap {
		most = "there is no cap"
	}
	if e.From == 0 {
		return "estimate: none, nothing was done in this office yet; " + most
	}
	return fmt.Sprintf("estimate: %s to %s, judged by %d subtasks; %s", money(e.LowCostMicroUSD, e.LowTokens), money(e.HighCostMicroUSD, e.HighTokens), e.From, most)
}
