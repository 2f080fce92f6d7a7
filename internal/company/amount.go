package company

import "fmt"

// Amount is money and tokens, the two things that are counted. Caps hold in
// both dimensions where a cap is not NoCap.
type Amount struct {
	MicroUSD int64 `json:"micro_usd,omitempty"`
	Tokens   int64 `json:"tokens,omitempty"`
}

// NoCap in a field of a cap means that the dimension is not limited.
const NoCap int64 = -1

// Add sums two amounts.
func (a Amount) Add(b Amount) Amount { return Amount{a.MicroUSD + b.MicroUSD, a.Tokens + b.Tokens} }

// Sub is the difference, never below zero.
func (a Amount) Sub(b Amount) Amount {
	return Amount{max(0, a.MicroUSD-b.MicroUSD), max(0, a.Tokens-b.Tokens)}
}

// sane reports whether an amount that came from outside can be counted with:
// sums of it stay far from where they would wrap around and pass every cap.
func (a Amount) sane() bool {
	const most = 1 << 50
	return a.MicroUSD >= 0 && a.MicroUSD <= most && a.Tokens >= 0 && a.Tokens <= most
}

// capped reports whether an amount can be a cap: sane where it is not NoCap.
func (a Amount) capped() bool {
	if a.MicroUSD == NoCap {
		a.MicroUSD = 0
	}
	if a.Tokens == NoCap {
		a.Tokens = 0
	}
	return a.sane()
}

// Within reports whether a fits under cap.
func (a Amount) Within(cap Amount) bool {
	return (cap.MicroUSD == NoCap || a.MicroUSD <= cap.MicroUSD) && (cap.Tokens == NoCap || a.Tokens <= cap.Tokens)
}

// String is an amount for people: $0.41, 212k tokens. Where no price is known
// no money is counted, and none is named: an unknown cost is not $0.00.
func (a Amount) String() string {
	tok := func(n int64) string {
		switch {
		case n >= 10_000_000:
			return fmt.Sprintf("%dM tokens", n/1_000_000)
		case n >= 10_000:
			return fmt.Sprintf("%dk tokens", n/1000)
		}
		return fmt.Sprintf("%d tokens", n)
	}
	switch {
	case a.MicroUSD == NoCap && a.Tokens == NoCap:
		return "no limit"
	case a.MicroUSD == NoCap, a.MicroUSD == 0 && a.Tokens > 0:
		return tok(a.Tokens)
	case a.Tokens == NoCap:
		return fmt.Sprintf("$%.2f", float64(a.MicroUSD)/1e6)
	}
	return fmt.Sprintf("$%.2f, %s", float64(a.MicroUSD)/1e6, tok(a.Tokens))
}
