package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// Wires returns the wire of this package.
func (c *Client) Wires() []adapters.Wire { return []adapters.Wire{adapters.WireMessages} }

// Forward implements adapters.Forwarder. What this client has learnt of its server applies to the request as well, and
// it learns nothing of it.
func (c *Client) Forward(
	ctx context.Context, req adapters.Request, f adapters.Forwarded,
) (adapters.Response, error) {
	return exchange.Send(ctx, c.http, c.cfg.Model, func() request { return c.toForwarded(req, f) },
		func(sent request) (adapters.Response, error) {
			return c.sendOnce(ctx, req, sent, func(adapters.Event) {})
		}, func(*adapters.Error, request) bool { return false }, c.listModels)
}

// toForwarded returns another client's request as it is sent.
func (c *Client) toForwarded(req adapters.Request, f adapters.Forwarded) request {
	out := request{Model: c.cfg.Model, MaxTokens: c.quirks.output.Load().Limit(req.Limit(c.Info())), forwarded: &f,
		body: maps.Clone(f.Body)}
	out.body["model"] = json.RawMessage(strconv.Quote(c.cfg.Model))
	out.body["max_tokens"] = json.RawMessage(fmt.Sprint(out.MaxTokens))
	if c.quirks.noTemperature.Load() {
		delete(out.body, "temperature")
	}
	fitThinking(out.body, out.MaxTokens)
	return out
}

// minThinking is the smallest budget of thinking that servers accept, in tokens.
const minThinking = 1024

// fitThinking lowers the budget of thinking below the limit of the reply, which servers demand, or leaves thinking out.
func fitThinking(body map[string]json.RawMessage, limit int) {
	thinking := exchange.MembersOf(body["thinking"])
	budget, _ := thinking.Count("budget_tokens")
	if budget < limit {
		return
	}
	if limit/2 < minThinking {
		delete(body, "thinking")
		return
	}
	thinking["budget_tokens"] = json.RawMessage(fmt.Sprint(limit / 2))
	if data, err := json.Marshal(thinking); err == nil {
		body["thinking"] = data
	}
}
