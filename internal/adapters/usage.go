package adapters

import (
	"math"
	"math/bits"
)

// Price in micro-USD per million tokens. Known distinguishes "free" from
// "no price in the table".
type Price struct {
	Known      bool
	InputMicro int64
	CacheMicro int64 // cached input
	WriteMicro int64 // input that is written to a cache; 0: as InputMicro
	OutMicro   int64
}

// Cost in micro-USD, rounded up. It stops at MostMicroUSD instead of passing it.
func (p Price) Cost(u Usage) int64 {
	fresh := u.InputTokens - min(u.InputTokens, u.CachedTokens+u.WrittenTokens)
	return CostOf(
		Charge{int64(fresh), p.InputMicro}, Charge{int64(u.CachedTokens), p.CacheMicro},
		Charge{int64(u.WrittenTokens), p.Write()}, Charge{int64(u.OutputTokens), p.OutMicro},
	)
}

// MostMicroUSD is where a cost stops growing: several of it can be added up,
// and the sum is still an amount that the company counts with.
const MostMicroUSD = 1 << 46

// Charge is a number of tokens at a price in micro-USD per million.
type Charge struct{ Tokens, Micro int64 }

// CostOf is the sum of charges in micro-USD, rounded up, MostMicroUSD at most.
// Negative numbers count as nothing.
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

// Write is the price of input that is written to a cache.
func (p Price) Write() int64 {
	if p.WriteMicro > 0 {
		return p.WriteMicro
	}
	return p.InputMicro
}

// Usage is the server's count. InputTokens is all of the input, cache reads and
// writes included. Estimated is true where the server gave no count, or an
// impossible one, and we counted bytes instead.
type Usage struct {
	InputTokens   int  `json:"input_tokens"`
	CachedTokens  int  `json:"cached_tokens,omitempty"`
	WrittenTokens int  `json:"written_tokens,omitempty"`
	OutputTokens  int  `json:"output_tokens"`
	Estimated     bool `json:"estimated,omitempty"`
}

// Add sums two usages. Sums stop at the largest number.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		AddTokens(u.InputTokens, v.InputTokens), AddTokens(u.CachedTokens, v.CachedTokens), AddTokens(u.WrittenTokens, v.WrittenTokens),
		AddTokens(u.OutputTokens, v.OutputTokens), u.Estimated || v.Estimated,
	}
}

// AddTokens sums counts of tokens, each at least 0. It stops at the largest
// number: a server's absurd count must not become a negative one.
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

// beyond is how many tokens a server is believed to have put to a request, or
// to have generated over its limit, by itself: prompts and documents of its
// own, thinking that it does not show.
const beyond = 1 << 20

// Believable reports whether a server can have counted this for a request and
// its reply: some input, some output where there is a reply, parts no larger
// than the whole, and neither side a million tokens over the request's size and
// limit. maxTokens is the reply's limit, size its length in bytes.
func (u Usage) Believable(req Request, maxTokens, size int) bool {
	return u.InputTokens > 0 && u.InputTokens <= AddTokens(InputBound(req), beyond) &&
		u.OutputTokens >= min(size, 1) && u.OutputTokens <= AddTokens(maxTokens, beyond) &&
		u.CachedTokens >= 0 && u.WrittenTokens >= 0 && AddTokens(u.CachedTokens, u.WrittenTokens) <= u.InputTokens
}

// Cut is the usage of a request that was cut before its server had sent a byte:
// at most its input was read, of which a token has about four bytes.
func Cut(req Request) Usage { return Usage{InputTokens: InputBound(req) / 4, Estimated: true} }

// EstimateUsage is the usage of the call of req that ended so: nothing where the request was not
// sent, else its input, and a token for each byte of the reply that came, at most maxTokens.
func (e *Unfinished) EstimateUsage(req Request, maxTokens int) Usage {
	if e.Unsent {
		return Usage{Estimated: true}
	}
	u := Cut(req)
	u.OutputTokens = min(maxTokens, max(0, e.Received))
	return u
}

// Estimate is the usage of a reply without a count of tokens: of its size in
// bytes a token has at least one.
func Estimate(req Request, maxTokens, size int) Usage {
	return Usage{InputTokens: InputBound(req), OutputTokens: min(maxTokens, size), Estimated: true}
}
