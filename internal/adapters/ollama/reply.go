package ollama

import (
	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// reply collects the pieces of a reply. They are read as raw JSON: the module would refuse a whole reply for an invalid
// count, or for a call's arguments that are not an object.
type reply struct {
	text, thinking exchange.Text
	calls          []adapters.ToolCall
	model, reason  string
	usage          adapters.Usage
	done           bool
	bytes          int // of all collected data
	unread         exchange.Unread
}

// addPiece applies one piece and returns its text.
func (r *reply) addPiece(piece exchange.Members) string {
	before, message := r.text.Len(), exchange.MembersOf(piece["message"])
	for name, text := range map[string]*exchange.Text{"content": &r.text, "thinking": &r.thinking} {
		r.bytes -= text.Len()
		r.unread.Note(text.Add(message[name]), "message."+name)
		r.bytes += text.Len()
	}
	for _, raw := range message.List("tool_calls") {
		if r.currentSize().Over() {
			break
		}
		call := exchange.MembersOf(raw)
		function := exchange.MembersOf(call["function"])
		one := adapters.ToolCall{ID: call.Word("id"), Name: function.Word("name"), Arguments: "{}"}
		if args := function["arguments"]; !exchange.IsEmpty(args) {
			one.Arguments = string(args)
			if text := function.Word("arguments"); text != "" {
				one.Arguments = text // some proxies send them as OpenAI does
			}
		}
		r.bytes += len(one.ID) + len(one.Name) + len(one.Arguments)
		r.calls = append(r.calls, one)
	}
	r.model = piece.Word("model")
	r.reason = piece.Word("done_reason")
	r.done = piece.Word("done") == "true"
	read := func(name string) int {
		if n, ok := piece.Count(name); ok {
			return n
		}
		return -1 // Believable refuses this
	}
	r.usage = adapters.Usage{InputTokens: read("prompt_eval_count"), OutputTokens: read("eval_count")}
	return r.text.String()[before:]
}

// currentSize returns the size of the reply so far.
func (r *reply) currentSize() exchange.Size {
	return exchange.Size{Bytes: r.bytes, Parts: len(r.calls)}
}

// asReply returns what came.
func (r *reply) asReply() exchange.Reply {
	out := exchange.Reply{Size: r.bytes}
	out.Message.Content, out.Message.ToolCalls = r.text.String(), r.calls
	out.Finish = adapters.FinishStop
	out.Model = r.model
	out.Usage = r.usage
	if r.reason == "length" {
		out.Finish = adapters.FinishLength
	}
	r.unread.Note(!r.text.Torn(), "the end of message.content, half a character")
	if r.thinking.Len() > 0 {
		out.Opaque = opaque{r.thinking.String()}
	}
	return out
}
