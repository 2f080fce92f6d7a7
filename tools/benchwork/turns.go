package main

import (
	"slices"
	"time"

	"company/internal/present/view"
)

// RoleCount is the usage of the agents of one role.
type RoleCount struct {
	Requests     int   `json:"requests"`
	Input        int64 `json:"input"`  // tokens, as the model's server reports them
	Cached       int64 `json:"cached"` // input tokens from the server's cache
	Output       int64 `json:"output"` // tokens
	CostMicroUSD int64 `json:"cost_micro_usd"`
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
func countChain(requests []view.Request) (n int) {
	answered := slices.DeleteFunc(slices.Clone(requests), func(r view.Request) bool { return r.Answered == nil })
	slices.SortFunc(answered, func(a, b view.Request) int { return a.Answered.Compare(*b.Answered) })
	var free time.Time
	for _, request := range answered {
		if !request.Asked.Before(free) {
			n, free = n+1, *request.Answered
		}
	}
	return n
}
