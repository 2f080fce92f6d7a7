package company

import (
	"fmt"
	"math"
	"strings"
)

// Amount is money and tokens, the two counted dimensions. Caps hold in both
// dimensions where a cap is not NoCap.
type Amount struct {
	MicroUSD int64 `json:"micro_usd,omitempty"`
	Tokens   int64 `json:"tokens,omitempty"`
}

// NoCap in a field of a cap means that the dimension is not limited.
const NoCap int64 = -1

// Add sums two amounts. It stops at the largest numbers instead of passing
// them.
func (a Amount) Add(b Amount) Amount {
	return Amount{addSaturating(a.MicroUSD, b.MicroUSD), addSaturating(a.Tokens, b.Tokens)}
}

// Sub is the difference, never below zero.
func (a Amount) Sub(b Amount) Amount {
	return Amount{max(0, addSaturating(a.MicroUSD, -b.MicroUSD)), max(0, addSaturating(a.Tokens, -b.Tokens))}
}

// Raise adds to a cap; no cap stays none.
func (a Amount) Raise(by Amount) Amount {
	sum := a.Add(by)
	if a.MicroUSD == NoCap {
		sum.MicroUSD = NoCap
	}
	if a.Tokens == NoCap {
		sum.Tokens = NoCap
	}
	return sum
}

// addSaturating sums two numbers and stops at the ends of what an int64 holds.
func addSaturating(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Countable is a with what cannot be counted with replaced by what stands in
// for it in other.
func (a Amount) Countable(other Amount) Amount {
	if !isCountable(a.MicroUSD) {
		a.MicroUSD = other.MicroUSD
	}
	if !isCountable(a.Tokens) {
		a.Tokens = other.Tokens
	}
	return a
}

// isCountable reports whether a number that came from outside can be counted
// with: sums of it stay far from where they would pass every cap.
func isCountable(n int64) bool { return n >= 0 && n <= 1<<50 }

func (a Amount) IsValid() bool { return isCountable(a.MicroUSD) && isCountable(a.Tokens) }

// isValidCap reports whether an amount can be a cap: sane where it is not NoCap.
func (a Amount) isValidCap() bool {
	if a.MicroUSD == NoCap {
		a.MicroUSD = 0
	}
	if a.Tokens == NoCap {
		a.Tokens = 0
	}
	return a.IsValid()
}

// Within reports whether a fits under cap.
func (a Amount) Within(cap Amount) bool {
	return (cap.MicroUSD == NoCap || a.MicroUSD <= cap.MicroUSD) && (cap.Tokens == NoCap || a.Tokens <= cap.Tokens)
}

// String is an amount for people: $0.41, 212k tokens. Where no price is known
// no money is counted, and none is named: an unknown cost is not $0.00.
func (a Amount) String() string {
	switch {
	case a.MicroUSD == NoCap && a.Tokens == NoCap:
		return "no limit"
	case a.MicroUSD == NoCap, a.MicroUSD == 0 && a.Tokens > 0:
		return TokensText(a.Tokens)
	case a.Tokens == NoCap:
		return USDText(a.MicroUSD)
	}
	return USDText(a.MicroUSD) + ", " + TokensText(a.Tokens)
}

// RaiseText is how much a cap may grow, as company budget add takes it: as much as the cap holds,
// and no less than the next call lacks. tokens says in which of the two.
func RaiseText(limit, lacks Amount, tokens bool) string {
	if !tokens {
		cents := (max(limit.MicroUSD, lacks.MicroUSD) + 9_999) / 10_000
		if cents <= 0 || limit.MicroUSD == NoCap {
			return "5usd"
		}
		return strings.TrimSuffix(fmt.Sprintf("%.2f", float64(cents)/100), ".00") + "usd"
	}
	n := max(limit.Tokens, lacks.Tokens)
	if n <= 0 || limit.Tokens == NoCap {
		return "1Mtokens"
	}
	switch thousands := (n + 999) / 1000; {
	case n < 1000:
		return fmt.Sprintf("%dtokens", n)
	case thousands%1000 == 0:
		return fmt.Sprintf("%dMtokens", thousands/1000)
	default:
		return fmt.Sprintf("%dktokens", thousands)
	}
}

// USDText is an amount of money for people, in cents: less than one is shown as
// such and not as zero.
func USDText(micro int64) string {
	if micro > 0 && micro < 10_000 { //mutant:equal operator=<=,number=10001 one cent is told the same in both ways
		return "$" + strings.TrimRight(fmt.Sprintf("%.6f", float64(micro)/1e6), "0")
	}
	return fmt.Sprintf("$%.2f", float64(micro)/1e6)
}

// TokensText is a number of tokens for people, in as few digits as it needs.
func TokensText(n int64) string {
	switch {
	case n >= 10_000_000, n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM tokens", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk tokens", n/1000)
	}
	return Count(int(n), "token")
}
