package budget

import (
	"errors"

	"company/internal/adapters"
	"company/internal/company"
)

// WorstCase is the most that a request can cost: the upper bound of its input (see
// adapters.InputBound) and an output of max_tokens, at the dearest of the
// input prices. An unpriced model costs tokens only.
func WorstCase(req adapters.Request, info adapters.Info) company.Amount {
	output := req.MaxTokens
	if output <= 0 {
		output = info.MaxOutput
	}
	return worstCaseAmount(int64(adapters.InputBound(req)), min(int64(output), maxOutputTokens), info.Price)
}

func worstCaseAmount(input, output int64, p adapters.Price) company.Amount {
	a := company.Amount{Tokens: input + output}
	if p.Known {
		a.MicroUSD = adapters.CostOf(adapters.Charge{Tokens: input, Micro: max(p.InputMicro, p.CacheMicro, p.WriteMicro)}, adapters.Charge{Tokens: output, Micro: p.OutMicro})
	}
	return a
}

// maxOutputTokens bounds a reply's limit, in tokens, so that calls can be added up.
const maxOutputTokens = 1 << 40

// ActualCost is what a reply cost: the server's count at the price of the model
// that served it. An estimated usage is no count, and neither is an impossible
// one, so the worst case stands.
func ActualCost(usage adapters.Usage, price adapters.Price, worst company.Amount) company.Amount {
	if usage.Estimated || min(usage.InputTokens, usage.OutputTokens) < 0 {
		return worst
	}
	a := company.Amount{Tokens: int64(adapters.AddTokens(usage.InputTokens, usage.OutputTokens))}
	if price.Known {
		a.MicroUSD = price.Cost(usage)
	}
	return a.Countable(worst)
}

// FailureCost is what a failed call of req cost: nothing when the server refused
// it, its count when it gave one, an estimate where it is known how far the call
// came (decision 0233), else the worst case.
func FailureCost(err error, req adapters.Request, price adapters.Price, worst company.Amount) company.Amount {
	e, ok := asModelError(err)
	var end *adapters.Unfinished
	switch {
	case ok && e.Usage != nil:
		return ActualCost(*e.Usage, price, worst)
	case errors.As(err, &end):
		u := end.EstimateUsage(req, req.MaxTokens)
		return worstCaseAmount(int64(u.InputTokens), int64(u.OutputTokens), price).Countable(worst)
	case !ok:
		return worst // cut off by us: the server may have worked on
	case e.Unanswered:
		return worst
	}
	return company.Amount{}
}
