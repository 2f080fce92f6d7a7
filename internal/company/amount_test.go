package company

import "testing"

// Amounts are told in as few digits as they need, and what has no limit or no
// price is not named.
func TestAmountText(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]Amount{
		"no limit":           {MicroUSD: NoCap, Tokens: NoCap},
		"212k tokens":        {Tokens: 212_000},
		"1 token":            {Tokens: 1},
		"9999 tokens":        {MicroUSD: NoCap, Tokens: 9999},
		"10k tokens":         {Tokens: 10_000},
		"1M tokens":          {Tokens: 1_000_000},
		"1500k tokens":       {Tokens: 1_500_000},
		"10M tokens":         {Tokens: 10_900_000},
		"$0.41":              {MicroUSD: 410_000, Tokens: NoCap},
		"$0.01":              {MicroUSD: 10_000, Tokens: NoCap},
		"$0.009999":          {MicroUSD: 9_999, Tokens: NoCap},
		"$0.0099":            {MicroUSD: 9_900, Tokens: NoCap},
		"$0.00, 0 tokens":    {},
		"$2.50, 1 token":     {MicroUSD: 2_500_000, Tokens: 1},
		"$2.50, 12k tokens":  {MicroUSD: 2_500_000, Tokens: 12_345},
		"$0.000001, 1 token": {MicroUSD: 1, Tokens: 1},
	} {
		if got := a.String(); got != want {
			t.Errorf("%+v is %q, want %q", a, got, want)
		}
	}
}
