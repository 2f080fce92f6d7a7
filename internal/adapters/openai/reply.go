package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// reply collects the pieces of a reply. They are read as raw JSON, because servers that speak this wire add members
// to it, and send some of its own in other forms.
type reply struct {
	model     string
	text      exchange.Text
	reasoning exchange.Text
	refusal   exchange.Text
	field     string // in which the reasoning came
	calls     []*call
	finish    sdk.FinishReason
	usage     exchange.Members
	kept      kept // members of the message that this wire does not know
	unread    exchange.Unread
	broken    error // a piece is not JSON, so the reply has a hole
	done      bool  // the server's end mark came
	looked    int   // bytes of arguments that were scanned for their end
}

type call struct {
	id, name string
	args     exchange.Text
	index    int  // the server's index, -1 without one
	kept     kept // members that this wire does not know
	function kept // those of its function
}

// addEvent applies one event, or a whole reply. It returns the text in it and whether the reply grew.
func (r *reply) addEvent(data []byte, whole bool) (text string, grown bool) {
	if string(data) == "[DONE]" {
		r.done = true
		if r.usage != nil { // Some servers give no reason for the end, but a count behind it.
			r.endWith("")
		}
		return "", false
	}
	chunk := exchange.MembersOf(data)
	if chunk == nil {
		r.broken = exchange.ErrNotJSON
		return "", false
	}
	r.model = cmp.Or(chunk.Word("model"), r.model)
	r.addUsage(chunk["usage"]) // if each chunk has counts, the last one is the total
	before := r.text.Len()
	for _, raw := range chunk.List("choices") {
		choice := exchange.MembersOf(raw)
		if index, _ := choice.Count("index"); index != 0 || r.currentSize().Over() {
			continue // only one choice was requested
		}
		grown = true
		message := choice["delta"]
		if exchange.IsEmpty(message) || whole && !exchange.IsEmpty(choice["message"]) {
			message = choice["message"]
		}
		r.addUsage(choice["usage"])
		r.addMessage(exchange.MembersOf(message))
		if reason := choice.Word("finish_reason"); whole || reason != "" && reason != "null" {
			r.endWith(reason)
		}
	}
	return r.text.String()[before:], grown
}

// endWith records the reason for the end of the reply, by default that it is complete.
func (r *reply) endWith(reason string) {
	switch r.finish = sdk.FinishReason(strings.ToLower(cmp.Or(reason, string(r.finish), "stop"))); r.finish {
	case "max_tokens", "model_length":
		r.finish = sdk.FinishReasonLength
	case "safety", "recitation", "prohibited_content", "blocklist":
		r.finish = sdk.FinishReasonContentFilter
	}
}

// addMessage applies a delta, or a whole message.
func (r *reply) addMessage(delta exchange.Members) {
	thought := false
	for _, name := range slices.Sorted(maps.Keys(delta)) {
		raw := delta[name]
		switch name {
		case "role":
		case "content":
			for _, part := range delta.List(name) {
				r.addPart(part)
			}
		case "refusal":
			r.unread.Note(r.refusal.Add(raw), "refusal")
		case reasoningContent, reasoning:
			// A server that sends both sends the same twice.
			if !exchange.IsEmpty(raw) && !thought && (r.field == "" || r.field == name) {
				r.unread.Note(r.reasoning.Add(raw), name)
				r.field, thought = name, true
			}
		case "tool_calls":
			for _, raw := range delta.List(name) {
				if r.currentSize().Over() {
					return
				}
				r.addCall(exchange.MembersOf(raw))
			}
		default:
			r.kept.addPiece(name, raw)
		}
	}
}

// addPart applies the content, or one of the typed parts that it consists of.
func (r *reply) addPart(raw json.RawMessage) {
	part := exchange.MembersOf(raw)
	if part == nil {
		r.unread.Note(r.text.Add(raw), "content")
		return
	}
	switch kind := part.Word("type"); kind {
	case "", "text", "output_text":
		r.unread.Note(r.text.Add(part["text"]), "content.text")
	case "refusal":
		r.unread.Note(r.refusal.Add(part["refusal"]), "content.refusal")
	case "thinking", "reasoning":
		for _, name := range []string{"thinking", "reasoning", "text"} {
			for _, raw := range part.List(name) {
				if inner := exchange.MembersOf(raw); inner != nil {
					raw = inner["text"]
				}
				r.unread.Note(r.reasoning.Add(raw), "content."+name)
			}
		}
	default:
		r.unread.Note(false, "content of type "+kind)
	}
}

// addUsage applies the server's counts.
func (r *reply) addUsage(raw json.RawMessage) {
	if u := exchange.MembersOf(raw); !exchange.IsEmpty(u["prompt_tokens"]) || !exchange.IsEmpty(u["completion_tokens"]) {
		r.usage = u
	}
}

// addCall adds a delta to its call. It finds the call by the index, else by the id, else by the order. A new id
// with a new name is always a new call. Some servers number all parallel calls 0, and others give each piece of
// one call a new id.
func (r *reply) addCall(delta exchange.Members) {
	function := exchange.MembersOf(delta["function"])
	id, name := delta.Word("id"), function.Word("name")
	index := -1
	if n, ok := delta.Count("index"); ok && !exchange.IsEmpty(delta["index"]) {
		index = n
	}
	var into *call
	for i := len(r.calls) - 1; i >= 0 && into == nil; i-- {
		known := r.calls[i]
		switch {
		case index >= 0 && known.index == index:
			into = known
		case index < 0 && id != "" && known.id == id && !(name != "" && r.isWhole(known)):
			into = known // a complete call whose id and name come again is a new call
		}
	}
	if index < 0 && id == "" && len(r.calls) > 0 {
		into = r.calls[len(r.calls)-1]
		if name != "" && into.name != "" {
			into = nil // complete calls, one after the other, without ids
		}
	}
	if into != nil && name != "" && into.name != "" && id != into.id && id != "" {
		into = nil
	}
	if into == nil {
		into = &call{index: index}
		r.calls = append(r.calls, into)
	}
	into.id = cmp.Or(into.id, id)
	into.name = cmp.Or(into.name, name)
	if args := bytes.TrimSpace(function["arguments"]); !into.args.Add(args) {
		into.args.WriteString(string(args)) // an object instead of its text
	}
	into.kept.addOthers(delta, "id", "type", "index", "function")
	into.function.addOthers(function, "name", "arguments")
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

// asReply returns what came.
func (r *reply) asReply(client *Client) exchange.Reply {
	out := exchange.Reply{Size: r.byteSize(), Broken: r.broken, Opaque: r.keepOpaque(client.cfg.Model)}
	out.Message.Content = r.text.String()
	out.Finish = adapters.FinishStop
	out.Model = r.model
	out.Usage = r.countTokens()
	switch {
	case r.finish == sdk.FinishReasonContentFilter || r.refusal.Len() > 0:
		out.Finish = adapters.FinishFilter
		out.Message.Content += r.refusal.String()
	case r.finish == sdk.FinishReasonLength:
		out.Finish = adapters.FinishLength
	case unfit[r.finish]:
		out.Broken = fmt.Errorf("the server ended the reply with %q", exchange.Clip(string(r.finish)))
	}
	r.unread.Note(!r.text.Torn(), "the end of content, half a character")
	for _, call := range r.calls {
		if out.Finish == adapters.FinishStop && call.args.Torn() {
			out.Broken = exchange.ErrTorn
		}
		out.Message.ToolCalls = append(out.Message.ToolCalls,
			adapters.ToolCall{ID: call.id, Name: call.name, Arguments: call.args.String()})
	}
	return out
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
	n := r.kept.size
	for _, call := range r.calls {
		n += call.kept.size + call.function.size
	}
	return exchange.Size{Bytes: n + r.byteSize(), Parts: len(r.calls), Looked: r.looked}
}

// countTokens returns the server's count. Thinking that is billed as output, but not counted in completion_tokens (by
// xAI and Gemini), is in the total. DeepSeek and Moonshot have names of their own for cached tokens.
func (r *reply) countTokens() adapters.Usage {
	read := func(name string) int {
		n, ok := r.usage.Count(name)
		r.unread.Note(ok, "usage."+name)
		return n
	}
	usage := adapters.Usage{InputTokens: read("prompt_tokens"), OutputTokens: read("completion_tokens")}
	if total := read("total_tokens"); usage.OutputTokens >= 0 && usage.InputTokens >= 0 {
		usage.OutputTokens = max(usage.OutputTokens, total-usage.InputTokens-read("citation_tokens"))
	}
	cached, _ := exchange.MembersOf(r.usage["prompt_tokens_details"]).Count("cached_tokens")
	cached = cmp.Or(cached, read("cached_tokens"), read("prompt_cache_hit_tokens"))
	usage.CachedTokens = min(max(0, cached), max(0, usage.InputTokens))
	return usage
}
