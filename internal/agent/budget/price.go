// Package budget keeps spending within its cap. It owns the list prices, the worst case of a request, and the
// Allowance of one run on the worker's side. Every request reserves from the allowance before it is sent, and
// settles afterwards. The cap itself belongs to the orchestrator, which grants allowances.
//
// It promises that a request is sent only if its worst case is covered. Spent and reserved together never exceed
// the grant, as long as servers count correctly. It does not guess: a model without a known price is counted
// only in tokens.
package budget

import (
	"strings"

	"company/internal/adapters"
	"company/internal/lib/lazyregexp"
)

// perMillion converts prices in US dollars per million tokens.
func perMillion(input, cached, output float64) adapters.Price {
	micro := func(usd float64) int64 { return int64(usd*1_000_000 + 0.5) }
	return adapters.Price{Known: true, InputMicro: micro(input), CacheMicro: micro(cached), OutMicro: micro(output)}
}

// claudePrice returns a price of Anthropic. Writing its cache (for five minutes) costs a quarter more than
// input, and reading it costs a tenth.
func claudePrice(input, output float64) adapters.Price {
	price := perMillion(input, input/10, output)
	price.WriteMicro = price.InputMicro + price.InputMicro/4
	return price
}

// priceList holds one vendor's standard prices.
type priceList struct {
	adapter, address string
	prices           map[string]adapters.Price
}

// priceLists holds standard list prices in USD per million tokens (input, cached input, output). Models whose
// price depends on the length of the prompt are left out, because one number could not bound it. Models newer
// than the dates below are left out, too. Models without a price are counted in tokens, never as free. A
// profile's own price takes precedence.
var priceLists = []priceList{
	// As of March 2026: OpenAI's pricing page
	// (https://platform.openai.com/docs/pricing), as public price lists quote it.
	{"openai", "https://api.openai.com/v1", map[string]adapters.Price{
		"gpt-5":             perMillion(1.25, 0.125, 10),
		"gpt-5-mini":        perMillion(0.25, 0.025, 2),
		"gpt-5-nano":        perMillion(0.05, 0.005, 0.40),
		"gpt-5.1":           perMillion(1.25, 0.125, 10),
		"gpt-4.1":           perMillion(2, 0.50, 8),
		"gpt-4.1-mini":      perMillion(0.40, 0.10, 1.60),
		"gpt-4.1-nano":      perMillion(0.10, 0.025, 0.40),
		"gpt-4o":            perMillion(2.50, 1.25, 10),
		"gpt-4o-2024-05-13": perMillion(5, 5, 15), // more expensive than later snapshots of its name
		"gpt-4o-mini":       perMillion(0.15, 0.075, 0.60),
		"o3":                perMillion(2, 0.50, 8),
		"o3-mini":           perMillion(1.10, 0.55, 4.40),
		"o4-mini":           perMillion(1.10, 0.275, 4.40),
	}},
	// As of April 2026: Anthropic's pricing page
	// (https://docs.anthropic.com/en/docs/about-claude/pricing), as public price
	// lists quote it. Without the beta header for longer contexts, which is
	// never sent, no price depends on the length.
	{"anthropic", "https://api.anthropic.com", map[string]adapters.Price{
		"claude-opus-4-7":   claudePrice(5, 25),
		"claude-opus-4-6":   claudePrice(5, 25),
		"claude-opus-4-5":   claudePrice(5, 25),
		"claude-sonnet-4-6": claudePrice(3, 15),
		"claude-sonnet-4-5": claudePrice(3, 15),
		"claude-haiku-4-5":  claudePrice(1, 5),
	}},
}

var snapshotRE = lazyregexp.New(`-20\d\d-?\d\d-?\d\d$`)

// ListPrice returns the list price of an adapter's model at an address. An empty address means the vendor's own.
// The same name at another address, or behind another adapter, is another product. Its price is unknown unless
// the profile sets it. ListPrice fits adapters.Deps.Prices.
func ListPrice(adapter, baseURL, model string) adapters.Price {
	for _, priceList := range priceLists {
		if base := strings.TrimRight(baseURL, "/"); priceList.adapter != adapter || base != "" && base != priceList.address {
			continue
		}
		if p, ok := priceList.prices[model]; ok {
			return p
		}
		return priceList.prices[snapshotRE.ReplaceAllString(model, "")]
	}
	return adapters.Price{}
}
