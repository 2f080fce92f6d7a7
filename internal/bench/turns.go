package bench

import (
	"slices"
	"time"

	"company/internal/agent"
)

// RoleCount is the usage of the agents of one role.
type RoleCount struct {
	Requests     int   `json:"requests"`
	Input        int64 `json:"input"`  // tokens, as the model's server reports them
	Cached       int64 `json:"cached"` // input tokens from the server's cache
	Output       int64 `json:"output"` // tokens
	CostMicroUSD int64 `json:"cost_micro_usd"`
}

// addTurn adds a request.
func (c RoleCount) addTurn(turn agent.Turn) RoleCount {
	return RoleCount{
		c.Requests + 1, c.Input + int64(turn.Usage.InputTokens), c.Cached + int64(turn.Usage.CachedTokens),
		c.Output + int64(turn.Usage.OutputTokens), c.CostMicroUSD + turn.Spent.MicroUSD,
	}
}

// add returns the sum of two counts.
func (c RoleCount) add(roleCount RoleCount) RoleCount {
	return RoleCount{c.Requests + roleCount.Requests, c.Input + roleCount.Input, c.Cached + roleCount.Cached,
		c.Output + roleCount.Output,
		c.CostMicroUSD + roleCount.CostMicroUSD}
}

// divide returns the mean of n added counts.
func (c RoleCount) divide(n int) RoleCount {
	return RoleCount{c.Requests / n, c.Input / int64(n), c.Cached / int64(n), c.Output / int64(n),
		c.CostMicroUSD / int64(n)}
}

// countChain returns the length of the longest chain of requests in which each starts after the previous one was
// answered. More workers cannot shorten it.
func countChain(turns []agent.Turn) (n int) {
	turns = slices.DeleteFunc(slices.Clone(turns), func(t agent.Turn) bool { return t.Answered.IsZero() })
	slices.SortFunc(turns, func(a, b agent.Turn) int { return a.Answered.Compare(b.Answered) })
	var free time.Time
	for _, turn := range turns {
		if !turn.Asked.Before(free) {
			n, free = n+1, turn.Answered
		}
	}
	return n
}
