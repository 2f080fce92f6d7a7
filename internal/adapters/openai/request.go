package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// noOutput replaces an empty text, because servers refuse a tool's answer without content.
const noOutput = "(no output)"

// The names under which servers send a model's reasoning.
const reasoningContent, reasoning = "reasoning_content", "reasoning"

// request is the body of POST /chat/completions. go-openai's types lack members that servers need: an empty content
// beside calls, a temperature of 0, and what a server hung on its earlier replies.
type request struct {
	Model               string             `json:"model"`
	Messages            []map[string]any   `json:"messages"`
	Tools               []sdk.Tool         `json:"tools,omitempty"`
	MaxTokens           int                `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                `json:"max_completion_tokens,omitempty"`
	Temperature         *float64           `json:"temperature,omitempty"`
	ReasoningEffort     string             `json:"reasoning_effort,omitempty"`
	Stream              bool               `json:"stream"`
	StreamOptions       *sdk.StreamOptions `json:"stream_options,omitempty"`

	learnt quirks
	kept   []string // names of the members that go back to the server

	// forwarded is set for a request of another client. body is then sent instead of the members above.
	forwarded *adapters.Forwarded
	body      map[string]json.RawMessage
}

// chooseDocument returns what is sent.
func (r request) chooseDocument() any {
	if r.forwarded != nil {
		return r.body
	}
	return r
}

// countUsage returns the option of a stream that ends with the server's count.
func countUsage() *sdk.StreamOptions { return &sdk.StreamOptions{IncludeUsage: true} }

// toWire converts a request into the wire's form.
func (c *Client) toWire(req adapters.Request) request {
	out := request{Model: c.cfg.Model, Stream: true, learnt: *c.quirks.Load()}
	learnt := out.learnt
	if !learnt.refused["stream_options"] {
		out.StreamOptions = countUsage()
	}
	ids := map[string]string{}
	for _, m := range req.Messages {
		last := len(out.Messages) - 1
		if learnt.strictOrder && m.Role == adapters.User && last >= 0 && out.Messages[last]["role"] == adapters.ToolRole {
			// The message does not move into the result: what a tool says is data, what the user says is not.
			out.Messages = append(out.Messages, map[string]any{"role": adapters.Assistant, "content": "I see."})
		}
		out.Messages = append(out.Messages, c.wireMessage(m, &out, ids))
	}
	for _, tool := range req.Tools {
		out.Tools = append(out.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: tool.Name, Description: tool.Description, Parameters: tool.WireSchema(),
		}})
	}
	c.limitReply(&out, req.Limit(c.Info()))
	if !isReasoningModel(c.cfg.Model) && !learnt.refused["temperature"] {
		out.Temperature = req.Temperature
	}
	if len(req.Tools) > 0 && (c.cfg.Model == sdk.GPT6Sol || c.cfg.Model == sdk.GPT6Luna) {
		out.ReasoningEffort = sdk.ReasoningEffortNone // otherwise tools work only over the Responses API
	}
	return out
}

// limitReply sets the limit of the reply in tokens, under the name that the server knows.
func (c *Client) limitReply(out *request, limit int) {
	limit = out.learnt.output.Limit(limit)
	if c.prefersCompletionTokens() != out.learnt.refused["max_tokens"] {
		out.MaxCompletionTokens = limit
	} else {
		out.MaxTokens = limit
	}
}

// wireMessage converts a message. A reply of this model gets back what its server hung on it. ids collects the ids of
// calls as they are sent.
func (c *Client) wireMessage(message adapters.Message, into *request, ids map[string]string) map[string]any {
	out := map[string]any{"role": message.Role, "content": message.Content}
	var o opaque
	isOwn := json.Unmarshal(message.Opaque, &o) == nil && o.Model == c.cfg.Model
	if !isOwn {
		o = opaque{}
	}
	if message.Role == adapters.Assistant {
		into.keepOn(out, c.withReasoning(o.Message, into.learnt))
	}
	var calls []map[string]any
	for i, call := range message.ToolCalls {
		// The ids of this model's calls are as its server made them. Those of others may break its rules.
		switch {
		case !isOwn || into.learnt.ownIDs:
			ids[call.ID] = exchange.ShortID(call.ID)
		case i < len(o.Calls):
			ids[call.ID] = cmp.Or(o.Calls[i].ID, call.ID)
		default:
			ids[call.ID] = call.ID
		}
		function := map[string]any{"name": call.Name, "arguments": call.WireArguments()}
		one := map[string]any{"id": ids[call.ID], "type": sdk.ToolTypeFunction, "function": function}
		if i < len(o.Calls) {
			into.keepOn(one, o.Calls[i].Call)
			into.keepOn(function, o.Calls[i].Function)
		}
		calls = append(calls, one)
	}
	switch {
	case len(message.Images) > 0:
		out["content"] = wireParts(message)
	case len(calls) > 0:
		out["tool_calls"] = calls
	case message.Content == "":
		out["content"] = noOutput
	}
	if message.ToolCallID != "" {
		out["tool_call_id"] = cmp.Or(ids[message.ToolCallID], exchange.ShortID(message.ToolCallID))
	}
	return out
}

// keepOn adds members that the server did not refuse.
func (r *request) keepOn(on map[string]any, members exchange.Members) {
	for name, raw := range members {
		if !r.learnt.refused[name] {
			on[name] = raw
			r.kept = append(r.kept, name)
		}
	}
}

// withReasoning returns the members of a reply with its reasoning as the server wants it. It costs input, so it is
// sent if the profile says so, or if the server once demanded it. Then each reply needs some, also one that had none.
func (c *Client) withReasoning(members exchange.Members, learnt quirks) exchange.Members {
	out := maps.Clone(members)
	if out == nil {
		out = exchange.Members{}
	}
	if c.cfg.EchoReasoning && !learnt.echo {
		return out
	}
	delete(out, reasoningContent)
	delete(out, reasoning)
	if learnt.echo {
		out[reasoningContent] = json.RawMessage(`" "`)
		for _, name := range []string{reasoning, reasoningContent} {
			if raw, ok := members[name]; ok {
				out[reasoningContent] = raw
			}
		}
	}
	return out
}

// wireParts returns the parts of a message with images. The images come first, as vendors recommend, each as a
// data URI.
func wireParts(message adapters.Message) []sdk.ChatMessagePart {
	var out []sdk.ChatMessagePart
	for _, image := range message.Images {
		out = append(out, sdk.ChatMessagePart{Type: sdk.ChatMessagePartTypeImageURL, ImageURL: &sdk.ChatMessageImageURL{
			URL: "data:" + image.Type + ";base64," + base64.StdEncoding.EncodeToString(image.Data),
		}})
	}
	return append(out, sdk.ChatMessagePart{Type: sdk.ChatMessagePartTypeText, Text: cmp.Or(message.Content, noOutput)})
}

// prefersCompletionTokens reports whether to try max_completion_tokens first. OpenAI itself accepts it for all
// models. Many compatible servers know only max_tokens.
func (c *Client) prefersCompletionTokens() bool {
	return c.cfg.BaseURL == Standard || isReasoningModel(c.cfg.Model)
}
