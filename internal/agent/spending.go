package agent

import (
	"slices"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// settledCall is the counted cost of one call.
type settledCall struct {
	n    int
	cost company.Amount
}

// settleCall adds the cost of a call to the run and to the call's model, and closes the call. A cost without a
// known call counts for no model.
func (c *conversation) settleCall(n int, cost company.Amount) {
	c.spent = c.spent.Add(cost)
	c.settled = append(c.settled, settledCall{n, cost})
	if m := c.spendingOf(c.open[n].Model); m != nil {
		m.Spent = m.Spent.Add(cost)
	}
	delete(c.open, n)
}

// spendingOf returns the entry of a model in byModel. It is nil for an empty name.
func (c *conversation) spendingOf(model string) *company.ModelSpent {
	if model == "" {
		return nil
	}
	i := slices.IndexFunc(c.byModel, func(m company.ModelSpent) bool { return m.Model == model })
	if i < 0 {
		i = len(c.byModel)
		c.byModel = append(c.byModel, company.ModelSpent{Model: model})
	}
	return &c.byModel[i]
}

func (c *conversation) foldUsage(r replyRecord) {
	call, known := c.open[r.N]
	// An impossible cost is replaced by the worst case.
	if known {
		r.Spent = r.Spent.Countable(call.Worst)
	}
	c.usage = c.usage.Add(r.Usage)
	c.settleCall(r.N, r.Spent)
	if m := c.spendingOf(call.Model); m != nil {
		addCounts(m, r)
	}
}

// addCounts adds the tokens that a model's server counted. It also records the name that the server gave its
// model.
func addCounts(modelSpent *company.ModelSpent, r replyRecord) {
	if !r.Usage.Estimated {
		modelSpent.Input = int64(adapters.AddTokens(int(modelSpent.Input), r.Usage.InputTokens))
		modelSpent.Cached = int64(adapters.AddTokens(int(modelSpent.Cached), r.Usage.CachedTokens))
	}
	last := modelSpent.Model
	if n := len(modelSpent.Served); n > 0 {
		last = modelSpent.Served[n-1]
	}
	if r.Model != "" && r.Model != last && len(modelSpent.Served) < maxServed {
		modelSpent.Served = append(modelSpent.Served, safetext.Cut(r.Model, 200))
	}
}

// maxServed limits the recorded names of one model.
const maxServed = 8

// totalSpent returns the cost of the run. A call without a reply counts as its worst case.
func (c *conversation) totalSpent() company.Amount {
	sum := c.spent
	for _, call := range c.open {
		sum = sum.Add(call.Worst)
	}
	return sum
}
