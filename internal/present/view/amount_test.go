package view_test

import (
	"testing"

	"company/internal/company"
	"company/internal/present/view"
)

// Amounts of people.
func TestParseAmount(t *testing.T) {
	for text, want := range map[string]company.Amount{
		"5usd": {MicroUSD: 5_000_000}, "$2.50": {MicroUSD: 2_500_000}, "0.000001usd": {MicroUSD: 1},
		"5 USD":      {MicroUSD: 5_000_000},
		"100ktokens": {Tokens: 100_000}, "2Mtokens": {Tokens: 2_000_000}, "7tokens": {Tokens: 7},
		"1.5ktokens": {Tokens: 1500},
	} {
		if got, err := view.ParseAmount(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "usd", "-5usd", "$5usd", "$5tokens", "0usd", "1e9usd", "5eur",
		"9999999999999usd", "5usd x", "0.0000001usd", "NaNusd", "५usd"} {
		if got, err := view.ParseAmount(text); company.CodeOf(err) != company.EUsage {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
