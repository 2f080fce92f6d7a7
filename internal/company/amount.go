package company

import (
	"fmt"
	"math"
	"strings"
)

// Amount is an amount of money and tokens. A cap limits both, except a field that is NoCap.
type Amount struct {
	MicroUSD int64 `json:"micro_usd,omitempty"`
	Tokens   int64 `json:"tokens,omitempty"`
}

// NoCap in a field of a cap means no limit.
const NoCap int64 = -1

// Add returns the sum of two amounts. It saturates instead of overflowing.
func (a Amount) Add(b Amount) Amount {
	return Amount{addSaturating(a.MicroUSD, b.MicroUSD), addSaturating(a.Tokens, b.Tokens)}
}

// Sub returns the difference, at least zero.
func (a Amount) Sub(b Amount) Amount {
	return Amount{max(0, addSaturating(a.MicroUSD, -b.MicroUSD)), max(0, addSaturating(a.Tokens, -b.Tokens))}
}

// Raise adds to a cap. NoCap stays NoCap.
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

// addSaturating returns the sum, limited to the range of int64.
func addSaturating(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Countable returns a with each uncountable field replaced by the field of other.
func (a Amount) Countable(other Amount) Amount {
	if !isCountable(a.MicroUSD) {
		a.MicroUSD = other.MicroUSD
	}
	if !isCountable(a.Tokens) {
		a.Tokens = other.Tokens
	}
	return a
}

// isCountable reports whether a number from outside may be counted. The limit keeps sums far from an overflow.
func isCountable(n int64) bool { return n >= 0 && n <= 1<<50 }

func (a Amount) IsValid() bool { return isCountable(a.MicroUSD) && isCountable(a.Tokens) }

// isValidCap reports whether an amount can be a cap: each field is NoCap or countable.
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

// String formats an amount for people: $0.41, 212k tokens. It omits money if none was counted, because an unknown price
// is not $0.00.
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

// RaiseText returns a raise in the form that company budget add takes. It is as large as the cap, and at least what the
// next call lacks. tokens selects tokens instead of money.
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

// USDText formats an amount of money for people, in cents. An amount below one cent is shown with more digits and not
// as zero.
func USDText(micro int64) string {
	if micro > 0 && micro < 10_000 { //mutant:equal operator=<=,number=10001 one cent is told the same in both ways
		return "$" + strings.TrimRight(fmt.Sprintf("%.6f", float64(micro)/1e6), "0")
	}
	return fmt.Sprintf("$%.2f", float64(micro)/1e6)
}

// TokensText formats a number of tokens for people, in as few digits as needed.
func TokensText(n int64) string {
	switch {
	case n >= 10_000_000, n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM tokens", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk tokens", n/1000)
	}
	return Count(int(n), "token")
}
