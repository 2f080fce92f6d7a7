package ollama

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/ollama/ollama/api"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// reply collects the pieces of a reply.
type reply struct {
	text, thinking strings.Builder
	calls          []adapters.ToolCall
	last           api.ChatResponse
	bytes          int // of all collected data
}

// add applies one piece.
func (r *reply) add(p api.ChatResponse) {
	r.text.WriteString(p.Message.Content)
	r.thinking.WriteString(p.Message.Thinking)
	r.bytes += len(p.Message.Content) + len(p.Message.Thinking)
	for _, tc := range p.Message.ToolCalls {
		call := adapters.ToolCall{ID: tc.ID, Name: tc.Function.Name, Arguments: tc.Function.Arguments.String()}
		if raw, ok := tc.Function.Arguments.Get(malformed); ok && tc.Function.Arguments.Len() == 1 {
			if text, ok := raw.(string); ok {
				call.Arguments = text // the agent explains the error to the model
			}
		}
		r.bytes += len(call.ID) + len(call.Name) + len(call.Arguments)
		r.calls = append(r.calls, call)
	}
	r.last = p
}

// byteSize returns the size of the reply in bytes. A token has at least one byte.
func (r *reply) byteSize() int { return r.bytes }

// currentSize returns the size of the reply so far.
func (r *reply) currentSize() exchange.Size {
	return exchange.Size{Bytes: r.bytes, Parts: len(r.calls)}
}

// toResponse returns the reply as an adapters.Response. It returns a MalformedReply error for an empty reply or
// a call without a name.
func (r *reply) toResponse(client *Client, req adapters.Request) (adapters.Response, error) {
	resp := adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant, Content: r.text.String()},
		Finish:  adapters.FinishStop, Model: r.last.Model, Served: client.Info(),
		Usage: adapters.Usage{InputTokens: r.last.PromptEvalCount, OutputTokens: r.last.EvalCount},
	}
	if r.last.DoneReason == "length" {
		resp.Finish = adapters.FinishLength
	}
	counted := resp.Usage.Believable(req, req.Limit(client.Info()), r.byteSize())
	if !counted {
		resp.Usage = adapters.Estimate(req, req.Limit(client.Info()), r.byteSize())
	}
	garbage := func(reason string) (adapters.Response, error) {
		fault := &adapters.Error{Kind: adapters.MalformedReply, Status: http.StatusOK, Message: reason, Unanswered: !counted}
		if counted {
			fault.Usage = &resp.Usage
		}
		return adapters.Response{}, fault
	}
	for _, call := range r.calls {
		if call.Name == "" {
			return garbage("a tool call without a name")
		}
	}
	req.PairCalls(r.calls)
	resp.Message.ToolCalls = r.calls
	if resp.Finish == adapters.FinishStop && len(resp.Message.ToolCalls) == 0 &&
		strings.TrimSpace(resp.Message.Content) == "" {
		return garbage("the reply is empty")
	}
	if r.thinking.Len() > 0 {
		raw, err := json.Marshal(opaque{r.thinking.String()})
		if err != nil {
			return garbage(err.Error())
		}
		resp.Message.Opaque = raw
	}
	return resp, nil
}
