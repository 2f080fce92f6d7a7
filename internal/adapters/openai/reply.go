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

// reply gathers the pieces of a streamed reply.
type reply struct {
	model     string
	text      strings.Builder
	reasoning strings.Builder
	refusal   strings.Builder
	calls     []*call
	finish    sdk.FinishReason
	usage     *sdk.Usage
	looked    int // bytes of arguments that were looked through for their end
}

type call struct {
	id, name string
	args     strings.Builder
	index    int // as the server numbered it, -1 where it did not
}

// add takes one chunk. It returns the text in it and whether the reply grew.
func (r *reply) add(chunk sdk.ChatCompletionStreamResponse) (text string, grown bool) {
	if chunk.Model != "" {
		r.model = chunk.Model
	}
	if chunk.Usage != nil {
		r.usage = chunk.Usage // the last one is the total where each chunk has one
	}
	before := r.text.Len()
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue // we ask for one
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

// addCall finds the call that a delta belongs to. The index decides where
// there is one, then the id, then the order. A new id with a new name is a new
// call whatever the index says: some servers number all parallel calls 0, and
// others give each piece of one call a fresh id.
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
			into = known // a finished call whose id and name come again is another one
		}
	}
	if index < 0 && delta.ID == "" && len(r.calls) > 0 {
		into = r.calls[len(r.calls)-1]
		if delta.Function.Name != "" && into.name != "" {
			into = nil // whole calls, one after the other, without ids
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

// isWhole reports whether a call has all of its arguments.
func (r *reply) isWhole(c *call) bool {
	r.looked += c.args.Len()
	return json.Valid([]byte(c.args.String()))
}

// unfit are finish reasons that say the reply is none.
var unfit = map[sdk.FinishReason]bool{
	"error": true, "abort": true, "malformed_function_call": true, "insufficient_system_resource": true,
}

// toResponse makes the reply that the company sees, or a Garbage error for one
// that says nothing.
func (r *reply) toResponse(c *Client, req adapters.Request) (adapters.Response, error) {
	garbage := func(why string) (adapters.Response, error) {
		return adapters.Response{}, r.withUsage(c, req, &adapters.Error{Kind: adapters.MalformedReply, Status: 200, Message: why, Unanswered: true})
	}
	resp := adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant, Content: r.text.String()},
		Finish:  adapters.FinishStop,
		Model:   r.model,
		Served:  c.Info(),
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
		resp.Message.ToolCalls = append(resp.Message.ToolCalls, adapters.ToolCall{ID: call.id, Name: call.name, Arguments: call.args.String()})
	}
	req.PairCalls(resp.Message.ToolCalls)
	if resp.Finish == adapters.FinishStop && len(resp.Message.ToolCalls) == 0 && strings.TrimSpace(resp.Message.Content) == "" {
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
	if resp.Usage, ok = r.serverUsage(c, req); !ok {
		resp.Usage = adapters.Estimate(req, req.Limit(c.Info()), r.byteSize())
	}
	return resp, nil
}

// byteSize of the reply in bytes, of which a token has at least one.
func (r *reply) byteSize() int {
	n := r.text.Len() + r.reasoning.Len() + r.refusal.Len()
	for _, call := range r.calls {
		n += len(call.id) + len(call.name) + call.args.Len()
	}
	return n
}

// currentSize is how much of the reply there is.
func (r *reply) currentSize() exchange.Size {
	return exchange.Size{Bytes: r.byteSize(), Parts: len(r.calls), Looked: r.looked}
}

// serverUsage is the server's count, where it gave one that can be true.
func (r *reply) serverUsage(c *Client, req adapters.Request) (adapters.Usage, bool) {
	u := r.usage
	if u == nil {
		return adapters.Usage{}, false
	}
	usage := adapters.Usage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens}
	if u.PromptTokensDetails != nil {
		usage.CachedTokens = min(max(0, u.PromptTokensDetails.CachedTokens), max(0, u.PromptTokens))
	}
	return usage, usage.Believable(req, req.Limit(c.Info()), r.byteSize())
}

// withUsage adds to a failure what the server counted for it.
func (r *reply) withUsage(c *Client, req adapters.Request, err error) error {
	var e *adapters.Error
	if usage, ok := r.serverUsage(c, req); ok && errors.As(err, &e) {
		e.Usage, e.Unanswered = &usage, false
	}
	return err
}
