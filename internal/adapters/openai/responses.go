package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// sendResponses sends one request of another client over the responses wire, and reads its reply.
func (c *Client) sendResponses(ctx context.Context, req adapters.Request, sent request) (adapters.Response, error) {
	_, ex := c.http.Begin(ctx)
	defer ex.End()
	body, err := ex.Post(c.cfg.BaseURL+"/responses", c.newHeader(), sent.chooseDocument())
	if err != nil {
		return adapters.Response{}, ex.Failure(err)
	}
	defer body.Close()
	var r responsesReply
	err = ex.ReadEvents(ex.Copy(body, sent.forwarded), func(data []byte, whole bool) bool {
		r.addEvent(data, whole)
		if r.failed != nil {
			ex.Said = exchange.ParseServerError(r.failed)
			return false
		}
		ex.Grew(r.currentSize())
		if r.status != "" {
			ex.Ending()
		}
		return true // the client waits for the empty line behind the last event
	})
	ended, whole := ex.Stop(), r.asReply()
	if !ended || r.status == "" || r.failed != nil {
		err = exchange.WithUsage(ex.Failure(errors.Join(err, r.broken)), whole, req, c.Info())
		return adapters.Response{}, ex.KeepUnread(err, nil)
	}
	whole.FirstByte = ex.FirstPiece()
	out, err := exchange.Complete(whole, req, c.Info())
	return out, ex.KeepUnread(err, r.unread)
}

// responsesReply collects the pieces of a reply over the responses wire. Of its content only what is shown and counted
// is kept, because the client has all of it.
type responsesReply struct {
	model  string
	text   strings.Builder
	calls  []adapters.ToolCall
	items  int // outputs of the model
	size   int // bytes of their pieces
	whole  int // bytes of the items that came whole
	usage  exchange.Members
	status string          // of the whole reply, "" while it is not whole
	reason string          // why it is incomplete
	failed json.RawMessage // the reply as a server ended it with an error
	unread exchange.Unread
	broken error
}

// addEvent applies one event, or a whole reply.
func (r *responsesReply) addEvent(data []byte, whole bool) {
	event := exchange.MembersOf(data)
	kind := event.Word("type")
	switch {
	case event == nil:
		r.broken = exchange.ErrNotJSON
	case whole:
		r.endWith(data)
	case strings.HasSuffix(kind, ".delta"):
		r.size += len(event["delta"])
	case kind == "response.output_item.added":
		r.items++
	case kind == "response.output_item.done":
		r.addItem(event["item"])
	case kind == "response.completed", kind == "response.incomplete", kind == "response.failed",
		kind == "response.cancelled":
		r.endWith(event["response"])
	}
}

// endWith applies the whole response that comes last.
func (r *responsesReply) endWith(response json.RawMessage) {
	last := exchange.MembersOf(response)
	status := last.Word("status")
	if !exchange.IsEmpty(last["error"]) || status == "failed" || status == "cancelled" {
		r.failed = response
	}
	if last == nil || last["output"] == nil && status == "" {
		return // it stays without an end and is refused
	}
	r.model, r.usage = last.Word("model"), exchange.MembersOf(last["usage"])
	r.reason = exchange.MembersOf(last["incomplete_details"]).Word("reason")
	r.status = cmp.Or(status, "completed")
	if r.whole > 0 {
		return // the items came before
	}
	for _, item := range last.List("output") {
		r.addItem(item)
	}
}

// addItem applies a whole item of the output. What is neither a message nor reasoning is a call.
func (r *responsesReply) addItem(raw json.RawMessage) {
	item := exchange.MembersOf(raw)
	r.whole += len(raw)
	switch kind := item.Word("type"); kind {
	case "message":
		for _, raw := range item.List("content") {
			part := exchange.MembersOf(raw)
			r.text.WriteString(cmp.Or(part.Word("text"), part.Word("refusal")))
		}
	case "reasoning":
	default:
		r.unread.Note(kind != "", "an item without a type")
		r.calls = append(r.calls, adapters.ToolCall{ID: item.Word("call_id"), Name: cmp.Or(item.Word("name"), kind),
			Arguments: cmp.Or(item.Word("arguments"), item.Word("input"))})
	}
}

// asReply returns what came.
func (r *responsesReply) asReply() exchange.Reply {
	out := exchange.Reply{Size: r.currentSize().Bytes, Broken: r.broken}
	out.Message.Content, out.Message.ToolCalls = r.text.String(), r.calls
	out.Model = r.model
	out.Usage = r.countTokens()
	switch {
	case r.reason == "max_output_tokens":
		out.Finish = adapters.FinishLength
	case r.reason == "content_filter":
		out.Finish = adapters.FinishFilter
	case r.status == "incomplete":
		out.Finish = adapters.FinishStop
		out.Broken = fmt.Errorf("the server ended the reply with %q", exchange.Clip(r.reason))
	default:
		out.Finish = adapters.FinishStop
	}
	return out
}

// countTokens returns the server's count. Thinking is in the output's.
func (r *responsesReply) countTokens() adapters.Usage {
	read := func(members exchange.Members, name string) int {
		n, ok := members.Count(name)
		r.unread.Note(ok, "usage."+name)
		return n
	}
	usage := adapters.Usage{InputTokens: read(r.usage, "input_tokens"), OutputTokens: read(r.usage, "output_tokens")}
	cached := read(exchange.MembersOf(r.usage["input_tokens_details"]), "cached_tokens")
	usage.CachedTokens = min(max(0, cached), max(0, usage.InputTokens))
	return usage
}

func (r *responsesReply) currentSize() exchange.Size {
	return exchange.Size{Bytes: max(r.size, r.whole), Parts: max(r.items, len(r.calls))}
}
