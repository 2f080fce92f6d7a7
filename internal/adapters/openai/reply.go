package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// reply collects the pieces of a streamed reply.
type reply struct {
	model     string
	text      strings.Builder
	reasoning strings.Builder
	refusal   strings.Builder
	calls     []*call
	finish    sdk.FinishReason
	usage     *sdk.Usage
	looked    int // bytes of arguments that were scanned for their end
}

type call struct {
	id, name string
	args     strings.Builder
	index    int // the server's index, -1 without one
}

// add applies one chunk. It returns the chunk's text and whether the reply grew.
func (r *reply) add(chunk sdk.ChatCompletionStreamResponse) (text string, grown bool) {
	if chunk.Model != "" {
		r.model = chunk.Model
	}
	if chunk.Usage != nil {
		r.usage = chunk.Usage // if each chunk has counts, the last one is the total
	}
	before := r.text.Len()
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue // only one choice was requested
		}
		grown = true
		r.text.WriteString(choice.Delta.Content)
		r.reasoning.WriteString(choice.Delta.ReasoningContent)
		r.refusal.WriteString(choice.Delta.Refusal)
		for _, delta := range choice.Delta.ToolCalls {
			if r.currentSize().Over() {
				break
			}
			r.addCall(delta)
		}
		if choice.FinishReason != "" && choice.FinishReason != sdk.FinishReasonNull {
			r.finish = choice.FinishReason
		}
	}
	return r.text.String()[before:], grown
}

// addCall adds a delta to its call. It finds the call by the index, else by the id, else by the order. A new id
// with a new name is always a new call. Some servers number all parallel calls 0, and others give each piece of
// one call a new id.
func (r *reply) addCall(delta sdk.ToolCall) {
	index := -1
	if delta.Index != nil {
		index = *delta.Index
	}
	var into *call
	for i := len(r.calls) - 1; i >= 0 && into == nil; i-- {
		known := r.calls[i]
		switch {
		case index >= 0 && known.index == index:
			into = known
		case index < 0 && delta.ID != "" && known.id == delta.ID && !(delta.Function.Name != "" && r.isWhole(known)):
			into = known // a complete call whose id and name come again is a new call
		}
	}
	if index < 0 && delta.ID == "" && len(r.calls) > 0 {
		into = r.calls[len(r.calls)-1]
		if delta.Function.Name != "" && into.name != "" {
			into = nil // complete calls, one after the other, without ids
		}
	}
	if into != nil && delta.Function.Name != "" && into.name != "" && delta.ID != into.id && delta.ID != "" {
		into = nil
	}
	if into == nil {
		into = &call{index: index}
		r.calls = append(r.calls, into)
	}
	into.id = cmp.Or(into.id, delta.ID)
	into.name = cmp.Or(into.name, delta.Function.Name)
	into.args.WriteString(delta.Function.Arguments)
}

// isWhole reports whether the arguments of a call are complete.
func (r *reply) isWhole(c *call) bool {
	r.looked += c.args.Len()
	return json.Valid([]byte(c.args.String()))
}

// unfit lists finish reasons of unusable replies.
var unfit = map[sdk.FinishReason]bool{
	"error": true, "abort": true, "malformed_function_call": true, "insufficient_system_resource": true,
}

// toResponse returns the reply as an adapters.Response. It returns a MalformedReply error for an empty or
// otherwise unusable reply.
func (r *reply) toResponse(client *Client, req adapters.Request) (adapters.Response, error) {
	garbage := func(reason string) (adapters.Response, error) {
		return adapters.Response{}, r.withUsage(
			client, req, &adapters.Error{Kind: adapters.MalformedReply, Status: 200, Message: reason, Unanswered: true})
	}
	resp := adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant, Content: r.text.String()},
		Finish:  adapters.FinishStop,
		Model:   r.model,
		Served:  client.Info(),
	}
	switch {
	case r.finish == sdk.FinishReasonContentFilter || r.refusal.Len() > 0:
		resp.Finish = adapters.FinishFilter
		resp.Message.Content += r.refusal.String()
	case r.finish == sdk.FinishReasonLength:
		resp.Finish = adapters.FinishLength
	case unfit[r.finish]:
		return garbage(fmt.Sprintf("the server ended the reply with %q", exchange.Clip(string(r.finish))))
	}
	for _, call := range r.calls {
		if call.name == "" && resp.Finish == adapters.FinishStop {
			return garbage("a tool call without a name")
		}
		resp.Message.ToolCalls = append(
			resp.Message.ToolCalls, adapters.ToolCall{ID: call.id, Name: call.name, Arguments: call.args.String()})
	}
	req.PairCalls(resp.Message.ToolCalls)
	if resp.Finish == adapters.FinishStop && len(resp.Message.ToolCalls) == 0 &&
		strings.TrimSpace(resp.Message.Content) == "" {
		return garbage("the reply is empty")
	}
	if r.reasoning.Len() > 0 {
		raw, err := json.Marshal(opaque{Reasoning: r.reasoning.String()})
		if err != nil {
			return garbage(err.Error())
		}
		resp.Message.Opaque = raw
	}
	var ok bool
	if resp.Usage, ok = r.serverUsage(client, req); !ok {
		resp.Usage = adapters.Estimate(req, req.Limit(client.Info()), r.byteSize())
	}
	return resp, nil
}

// byteSize returns the size of the reply in bytes. A token has at least one byte.
func (r *reply) byteSize() int {
	n := r.text.Len() + r.reasoning.Len() + r.refusal.Len()
	for _, call := range r.calls {
		n += len(call.id) + len(call.name) + call.args.Len()
	}
	return n
}

// currentSize returns the size of the reply so far.
func (r *reply) currentSize() exchange.Size {
	return exchange.Size{Bytes: r.byteSize(), Parts: len(r.calls), Looked: r.looked}
}

// serverUsage returns the server's count, and whether it is plausible.
func (r *reply) serverUsage(client *Client, req adapters.Request) (adapters.Usage, bool) {
	u := r.usage
	if u == nil {
		return adapters.Usage{}, false
	}
	usage := adapters.Usage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens}
	if u.PromptTokensDetails != nil {
		usage.CachedTokens = min(max(0, u.PromptTokensDetails.CachedTokens), max(0, u.PromptTokens))
	}
	return usage, usage.Believable(req, req.Limit(client.Info()), r.byteSize())
}

// withUsage adds the server's count to a failure.
func (r *reply) withUsage(client *Client, req adapters.Request, err error) error {
	var fault *adapters.Error
	if usage, ok := r.serverUsage(client, req); ok && errors.As(err, &fault) {
		fault.Usage, fault.Unanswered = &usage, false
	}
	return err
}
