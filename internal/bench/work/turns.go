package work

import (
	"slices"
	"time"

	"company/internal/agent"
)

// RoleCount is what the agents of one role took.
type RoleCount struct {
	Requests     int   `json:"requests"`
	Input        int64 `json:"input"`  // tokens, as the model's server reports them
	Cached       int64 `json:"cached"` // of them, from its cache
	Output       int64 `json:"output"` // tokens
	CostMicroUSD int64 `json:"cost_micro_usd"`
}

// addTurn adds one request.
func (c RoleCount) addTurn(t agent.Turn) RoleCount {
	return RoleCount{
		c.Requests + 1, c.Input + int64(t.Usage.InputTokens), c.Cached + int64(t.Usage.CachedTokens),
		c.Output + int64(t.Usage.OutputTokens), c.CostMicroUSD + t.Spent.MicroUSD,
	}
}

// add sums two counts.
func (c RoleCount) add(d RoleCount) RoleCount {
	return RoleCount{c.Requests + d.Requests, c.Input + d.Input, c.Cached + d.Cached, c.Output + d.Output, c.CostMicroUSD + d.CostMicroUSD}
}

// divide is the mean of n counts that were added.
func (c RoleCount) divide(n int) RoleCount {
	return RoleCount{c.Requests / n, c.Input / int64(n), c.Cached / int64(n), c.Output / int64(n), c.CostMicroUSD / int64(n)}
}

// countChain is the length of the longest chain of requests of which each was asked once the
// one before it was answered: what no number of workers makes shorter.
func countChain(turns []agent.Turn) (n int) {
	turns = slices.DeleteFunc(slices.Clone(turns), func(t agent.Turn) bool { return t.Answered.IsZero() })
	slices.SortFunc(turns, func(a, b agent.Turn) int { return a.Answered.Compare(b.Answered) })
	var free time.Time
	for _, t := range turns {
		if !t.Asked.Before(free) {
			n, free = n+1, t.Answered
		}
	}
	return n
}
