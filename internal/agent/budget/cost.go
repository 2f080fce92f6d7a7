package budget

import (
	"errors"

	"company/internal/adapters"
	"company/internal/company"
)

// WorstCase returns the highest possible cost of a request: the upper bound of its input (see
// adapters.InputBound) at the highest input price, and an output of max_tokens. A model without a price costs
// tokens only.
func WorstCase(req adapters.Request, info adapters.Info) company.Amount {
	output := req.MaxTokens
	if output <= 0 {
		output = info.MaxOutput
	}
	return worstCaseAmount(int64(adapters.InputBound(req)), min(int64(output), maxOutputTokens), info.Price)
}

func worstCaseAmount(input, output int64, price adapters.Price) company.Amount {
	amount := company.Amount{Tokens: input + output}
	if price.Known {
		amount.MicroUSD = adapters.CostOf(
			adapters.Charge{Tokens: input, Micro: max(price.InputMicro, price.CacheMicro, price.WriteMicro)},
			adapters.Charge{Tokens: output, Micro: price.OutMicro})
	}
	return amount
}

// maxOutputTokens limits the output limit of a request, in tokens, so that sums do not overflow.
const maxOutputTokens = 1 << 40

// ActualCost returns the cost of a reply: the server's count at the price of the model that served it. For an
// estimated or impossible count it returns the worst case.
func ActualCost(usage adapters.Usage, price adapters.Price, worst company.Amount) company.Amount {
	if usage.Estimated || min(usage.InputTokens, usage.OutputTokens) < 0 {
		return worst
	}
	amount := company.Amount{Tokens: int64(adapters.AddTokens(usage.InputTokens, usage.OutputTokens))}
	if price.Known {
		amount.MicroUSD = price.Cost(usage)
	}
	return amount.Countable(worst)
}

// FailureCost returns the cost of a failed call. It is zero if the server refused the call, and the server's count if
// there is one. It is an estimate if the progress of the call is known (docs/decisions/money.md), and the worst case
// otherwise.
func FailureCost(err error, req adapters.Request, price adapters.Price, worst company.Amount) company.Amount {
	fault, ok := asModelError(err)
	var end *adapters.Unfinished
	switch {
	case ok && fault.Usage != nil:
		return ActualCost(*fault.Usage, price, worst)
	case errors.As(err, &end):
		u := end.EstimateUsage(req, req.MaxTokens)
		return worstCaseAmount(int64(u.InputTokens), int64(u.OutputTokens), price).Countable(worst)
	case !ok:
		return worst // cut off by this side: the server may have continued
	case fault.Unanswered:
		return worst
	}
	return company.Amount{}
}
