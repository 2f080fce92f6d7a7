package adapters

import (
	"math"
	"math/bits"
)

// Price holds prices in micro-USD per million tokens. Known distinguishes "free" from "no price in the table".
type Price struct {
	Known      bool
	InputMicro int64
	CacheMicro int64 // cached input
	WriteMicro int64 // input that is written to a cache, 0 for the same as InputMicro
	OutMicro   int64
}

// Cost returns the cost in micro-USD, rounded up and limited to MostMicroUSD.
func (p Price) Cost(usage Usage) int64 {
	fresh := usage.InputTokens - min(usage.InputTokens, usage.CachedTokens+usage.WrittenTokens)
	return CostOf(
		Charge{int64(fresh), p.InputMicro}, Charge{int64(usage.CachedTokens), p.CacheMicro},
		Charge{int64(usage.WrittenTokens), p.Write()}, Charge{int64(usage.OutputTokens), p.OutMicro},
	)
}

// MostMicroUSD is the largest cost that is computed. Sums of several such costs are still valid amounts.
const MostMicroUSD = 1 << 46

// Charge is a number of tokens at a price in micro-USD per million.
type Charge struct{ Tokens, Micro int64 }

// CostOf returns the sum of charges in micro-USD, rounded up and limited to MostMicroUSD. Negative numbers count
// as 0.
func CostOf(charges ...Charge) int64 {
	sum := uint64(999_999)
	for _, c := range charges {
		high, low := bits.Mul64(uint64(max(0, c.Tokens)), uint64(max(0, c.Micro)))
		var carry uint64
		if sum, carry = bits.Add64(sum, low, 0); high+carry != 0 {
			return MostMicroUSD
		}
	}
	return int64(min(sum/1_000_000, MostMicroUSD))
}

// Write returns the price of input that is written to a cache.
func (p Price) Write() int64 {
	if p.WriteMicro > 0 {
		return p.WriteMicro
	}
	return p.InputMicro
}

// Usage is the server's count of tokens. InputTokens is the whole input, including cache reads and writes.
// Estimated means that the server gave no count, or an impossible one, and bytes were counted instead.
type Usage struct {
	InputTokens   int  `json:"input_tokens"`
	CachedTokens  int  `json:"cached_tokens,omitempty"`
	WrittenTokens int  `json:"written_tokens,omitempty"`
	OutputTokens  int  `json:"output_tokens"`
	Estimated     bool `json:"estimated,omitempty"`
}

// Add sums two usages. Sums saturate at the largest int.
func (u Usage) Add(usage Usage) Usage {
	return Usage{
		AddTokens(u.InputTokens, usage.InputTokens), AddTokens(u.CachedTokens, usage.CachedTokens),
		AddTokens(u.WrittenTokens, usage.WrittenTokens),
		AddTokens(u.OutputTokens, usage.OutputTokens), u.Estimated || usage.Estimated,
	}
}

// AddTokens sums token counts and ignores negative ones. The sum saturates at the largest int, so that an absurd
// count cannot overflow.
func AddTokens(counts ...int) int {
	sum := 0
	for _, n := range counts {
		if n > math.MaxInt-sum {
			return math.MaxInt
		}
		sum += max(0, n)
	}
	return sum
}

// beyond is the number of tokens that a server may plausibly add by itself to a request, or generate beyond its
// limit: its own prompts and documents, or hidden thinking.
const beyond = 1 << 20

// Believable reports whether a server's count is plausible for a request and its reply. There must be some
// input, and some output if there is a reply. Parts must not exceed the whole, and neither side may exceed the
// request's bound or limit by more than about a million tokens. maxTokens is the reply's limit, size its length
// in bytes.
func (u Usage) Believable(req Request, maxTokens, size int) bool {
	return u.InputTokens > 0 && u.InputTokens <= AddTokens(InputBound(req), beyond) &&
		u.OutputTokens >= min(size, 1) && u.OutputTokens <= AddTokens(maxTokens, beyond) &&
		u.CachedTokens >= 0 && u.WrittenTokens >= 0 && AddTokens(u.CachedTokens, u.WrittenTokens) <= u.InputTokens
}

// Cut returns the usage of a request that was cut before its server sent a byte. At most its input was read, at
// about four bytes per token.
func Cut(req Request) Usage { return Usage{InputTokens: InputBound(req) / 4, Estimated: true} }

// EstimateUsage returns the estimated usage of the unfinished call of req. It is zero if the request was not
// sent. Otherwise it is the input, and one token for each received byte of the reply, up to maxTokens.
func (e *Unfinished) EstimateUsage(req Request, maxTokens int) Usage {
	if e.Unsent {
		return Usage{Estimated: true}
	}
	usage := Cut(req)
	usage.OutputTokens = min(maxTokens, max(0, e.Received))
	return usage
}

// Estimate returns the usage of a reply without a token count. It assumes at most one token per byte.
func Estimate(req Request, maxTokens, size int) Usage {
	return Usage{InputTokens: InputBound(req), OutputTokens: min(maxTokens, size), Estimated: true}
}
