package budget

import (
	"math"
	"math/bits"

	"company/internal/adapters"
	"company/internal/company"
)

// Worst is the most that a request can cost: the upper bound of its input (see
// adapters.InputBound) and an output of max_tokens, at the dearest of the
// input prices. An unpriced model costs tokens only.
func Worst(req adapters.Request, info adapters.Info) company.Amount {
	output := req.MaxTokens
	if output <= 0 {
		output = info.MaxOutput
	}
	return worst(int64(adapters.InputBound(req)), min(int64(output), mostOutput), info.Price)
}

func worst(input, output int64, p adapters.Price) company.Amount {
	a := company.Amount{Tokens: input + output}
	if p.Known {
		a.MicroUSD = cost(input, max(p.InputMicro, p.CacheMicro, p.WriteMicro), output, p.OutMicro)
	}
	return a
}

const (
	mostMicro  = math.MaxInt64 / 1024 // room to add many up
	mostOutput = 1 << 40
)

// cost is rounded up and stops at the largest number instead of passing it.
func cost(input, inputMicro, output, outMicro int64) int64 {
	h1, l1 := bits.Mul64(uint64(max(0, input)), uint64(max(0, inputMicro)))
	h2, l2 := bits.Mul64(uint64(max(0, output)), uint64(max(0, outMicro)))
	low, carry := bits.Add64(l1, l2, 0)
	low, round := bits.Add64(low, 999_999, 0)
	if h1+h2+carry+round != 0 || low/1_000_000 > uint64(mostMicro) {
		return mostMicro
	}
	return int64(low / 1_000_000)
}

// Actual is what a reply cost: the server's count at the price of the model
// that served it. An estimated usage is no count, so the worst case stands.
func Actual(usage adapters.Usage, price adapters.Price, worst company.Amount) company.Amount {
	if usage.Estimated {
		return worst
	}
	a := company.Amount{Tokens: int64(usage.InputTokens) + int64(usage.OutputTokens)}
	if price.Known {
		a.MicroUSD = price.Cost(usage)
	}
	return a
}

// OfFailure is what a failed call cost: nothing when the server refused it,
// its count when it gave one, else the worst case.
func OfFailure(err error, price adapters.Price, worst company.Amount) company.Amount {
	e, ok := asModelError(err)
	switch {
	case !ok:
		return worst // cut off by us: the server may have worked on
	case e.Usage != nil:
		return Actual(*e.Usage, price, worst)
	case e.Unanswered:
		return worst
	}
	return company.Amount{}
}
