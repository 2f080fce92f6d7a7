package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// Wires returns the wires of this package.
func (c *Client) Wires() []adapters.Wire {
	return []adapters.Wire{adapters.WireChat, adapters.WireResponses}
}

// Forward implements adapters.Forwarder. What this client has learnt of its server applies to the request as well. What
// the request teaches is kept in f.Learnt.
func (c *Client) Forward(
	ctx context.Context, req adapters.Request, f adapters.Forwarded,
) (adapters.Response, error) {
	return exchange.Send(ctx, c.http, c.cfg.Model, func() request { return c.toForwarded(req, f) },
		func(sent request) (adapters.Response, error) {
			if f.Wire == adapters.WireResponses {
				return c.sendResponses(ctx, req, sent)
			}
			return c.sendOnce(ctx, req, sent, func(adapters.Event) {})
		}, c.adaptTo, c.listModels)
}

// needed are the members without which a request would be another one, so they are not left out if a server refuses
// them.
var needed = map[string]bool{"model": true, "messages": true, "tools": true, "stream": true, "input": true,
	"instructions": true, "store": true, "max_output_tokens": true}

// toForwarded returns another client's request as it is sent.
func (c *Client) toForwarded(req adapters.Request, f adapters.Forwarded) request {
	out := request{Model: c.cfg.Model, learnt: *c.quirks.Load(), forwarded: &f, body: maps.Clone(f.Body)}
	if learnt, ok := f.Learnt.Load().(quirks); ok {
		out.learnt = learnt
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "stream_options"} {
		delete(out.body, name)
	}
	for name := range out.body {
		switch {
		case needed[name]:
		case out.learnt.refused[name]:
			delete(out.body, name)
		default:
			out.kept = append(out.kept, name)
		}
	}
	c.limitReply(&out, req.Limit(c.Info()))
	out.body["model"] = quoteJSON(c.cfg.Model)
	if f.Wire == adapters.WireResponses {
		out.body["max_output_tokens"] = json.RawMessage(fmt.Sprint(max(out.MaxTokens, out.MaxCompletionTokens)))
		return out
	}
	limit, name := max(out.MaxTokens, out.MaxCompletionTokens), "max_tokens"
	if out.MaxCompletionTokens > 0 {
		name = "max_completion_tokens"
	}
	out.body[name] = json.RawMessage(fmt.Sprint(limit))
	if f.WantsStream() && !out.learnt.refused["stream_options"] {
		out.StreamOptions = countUsage()
		out.body["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	}
	return out
}

// quoteJSON returns a text as JSON.
func quoteJSON(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil { // unreachable: a string always encodes
		return json.RawMessage(`""`)
	}
	return data
}
