// Package budget keeps spending under its cap. It owns the list prices, the
// worst case of a request, and the Allowance of one run on the worker's side:
// reserved from before every request and settled after it. The cap itself is
// the orchestrator's, which hands allowances out.
//
// It promises that a request is only sent when its worst case is covered, so
// spent and reserved together never pass the grant, as long as servers count
// truly. It does not guess: a model without a known price is counted in tokens
// alone.
package budget

import (
	"strings"

	"company/internal/adapters"
	"company/internal/lazyregexp"
)

// perMillion takes US dollars.
func perMillion(input, cached, output float64) adapters.Price {
	micro := func(usd float64) int64 { return int64(usd*1_000_000 + 0.5) }
	return adapters.Price{Known: true, InputMicro: micro(input), CacheMicro: micro(cached), OutMicro: micro(output)}
}

// claudePrice is a price of Anthropic's, whose caches cost a quarter more to write
// (for five minutes) and a tenth to read.
func claudePrice(input, output float64) adapters.Price {
	p := perMillion(input, input/10, output)
	p.WriteMicro = p.InputMicro + p.InputMicro/4
	return p
}

// priceList is one vendor's standard prices.
type priceList struct {
	adapter, address string
	prices           map[string]adapters.Price
}

// priceLists are standard list prices in USD per million tokens (input, cached
// input, output). Models whose price depends on the length of the prompt are
// left out: one number could not bound them. So are models newer than the date:
// unknown is counted in tokens, and never as nothing. A profile's own price
// wins.
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
		"gpt-4o-2024-05-13": perMillion(5, 5, 15), // dearer than its name's later snapshots
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

// ListPrice is the list price of an adapter's model at an address; "" is the
// vendor's own. The same name at another address, or behind another adapter, is
// another product, and its price is unknown until the profile tells it. It fits
// adapters.Deps.Prices.
func ListPrice(adapter, baseURL, model string) adapters.Price {
	for _, l := range priceLists {
		if base := strings.TrimRight(baseURL, "/"); l.adapter != adapter || base != "" && base != l.address {
			continue
		}
		if p, ok := l.prices[model]; ok {
			return p
		}
		return l.prices[snapshotRE.ReplaceAllString(model, "")]
	}
	return adapters.Price{}
}
