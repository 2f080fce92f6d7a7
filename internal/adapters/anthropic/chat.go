package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// Chat sends the conversation and returns the model's whole reply.
func (c *Client) Chat(
	ctx context.Context, req adapters.Request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	if onEvent == nil {
		onEvent = func(adapters.Event) {}
	}
	return exchange.Send(ctx, c.http, c.cfg.Model, func() request { return c.toWire(req) },
		func(sent request) (adapters.Response, error) {
			return c.sendOnce(ctx, req, sent, onEvent)
		}, c.dropParameter, c.listModels)
}

// sendOnce sends one request and reads its reply.
func (c *Client) sendOnce(
	ctx context.Context, req adapters.Request, sent request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	_, ex := c.http.Begin(ctx)
	defer ex.End()
	var r reply
	header := c.newHeader()
	if sent.forwarded != nil {
		maps.Copy(header, sent.forwarded.Header)
	}
	body, err := ex.Post(c.cfg.BaseURL+"/v1/messages", header, sent.chooseDocument())
	if err != nil {
		return adapters.Response{}, ex.Failure(err)
	}
	defer body.Close()
	err = ex.ReadEvents(ex.Copy(body, sent.forwarded), func(data []byte, whole bool) bool {
		text := r.readEvent(data, whole)
		ex.Grew(r.currentSize())
		if text != "" {
			onEvent(adapters.Event{Text: text})
		}
		if r.stop != "" && !r.over {
			ex.Ending()
		}
		// A client waits for the empty line behind the last event, so a copied reply is read to its end.
		return !r.over || sent.forwarded != nil
	})
	if ended := ex.Stop(); !ended || r.stop == "" {
		// Before the end, the count of the output is only the initial one.
		return adapters.Response{}, ex.KeepUnread(ex.Failure(cmp.Or(err, r.broken, errNoEnd)), nil)
	}
	whole := r.asReply(c.cfg.Model)
	if r.stop == "model_context_window_exceeded" {
		err = &adapters.Error{Kind: adapters.TooLong, Status: http.StatusOK, Unanswered: true,
			Message: "the conversation and the reply do not fit the model's context"}
		return adapters.Response{}, exchange.WithUsage(err, whole, req, c.Info())
	}
	whole.FirstByte = ex.FirstPiece()
	out, err := exchange.Complete(whole, req, c.Info())
	return out, ex.KeepUnread(err, r.unread)
}

var (
	errNoEnd   = errors.New("the stream ended without a stop reason")
	errSpliced = errors.New("the stream has two replies")
)

// reply collects the pieces of a streamed reply.
type reply struct {
	model  string
	blocks []*piece
	stop   string
	over   bool
	id     string // of the message
	broken error  // the reply is not whole
	unread exchange.Unread
	usage  adapters.Usage
}

// piece is one block of the reply.
type piece struct {
	index int
	kind  string
	block
	id, name  string
	text      exchange.Text // a text or thinking; for a call, its arguments
	signature strings.Builder
	input     string // arguments that came in one piece
}

// readEvent applies one event, or a whole reply, which some proxies send instead of a stream. It returns its text.
func (r *reply) readEvent(data []byte, whole bool) string {
	var e event
	var mistyped *json.UnmarshalTypeError // such a field is ignored
	if err := json.Unmarshal(data, &e); err != nil && !errors.As(err, &mistyped) {
		r.broken = exchange.ErrNotJSON
		return ""
	}
	if !whole {
		return r.addEvent(e)
	}
	var document messageDocument
	_ = json.Unmarshal(data, &document) // a field of a wrong type is ignored
	if document.Content == nil {
		return "" // no message: it stays without an end and is refused
	}
	var text strings.Builder
	r.addEvent(event{Type: "message_start", Message: document.started})
	for i, b := range document.Content {
		if r.currentSize().Over() {
			break
		}
		text.WriteString(r.addEvent(event{Type: "content_block_start", Index: i, ContentBlock: b}))
	}
	e.Type = "message_delta"
	e.Delta.StopReason = cmp.Or(document.StopReason, "end_turn")
	e.Usage = usage{}
	r.addEvent(e)
	r.over = true
	return text.String()
}

// addEvent applies one event and returns its text.
func (r *reply) addEvent(e event) string {
	switch e.Type {
	case "message_start":
		if r.id != "" && e.Message.ID != r.id {
			r.broken = errSpliced
		}
		r.id, r.model = e.Message.ID, e.Message.Model
		r.addCounts(e.Message.Usage)
	case "content_block_start":
		b := e.ContentBlock
		p := &piece{index: e.Index, kind: b.Type, id: b.ID, name: b.Name}
		p.Data = b.Data
		p.signature.WriteString(b.Signature)
		text := r.growBlock(p, b.Text)
		r.growBlock(p, b.Thinking)
		if string(b.Input) != "null" {
			p.input = string(b.Input)
		}
		r.blocks = append(r.blocks, p)
		return text
	case "content_block_delta":
		for _, p := range slices.Backward(r.blocks) {
			if p.index != e.Index {
				continue
			}
			text := r.growBlock(p, e.Delta.Text)
			r.growBlock(p, e.Delta.Thinking)
			r.growBlock(p, e.Delta.PartialJSON)
			p.signature.WriteString(e.Delta.Signature)
			return text
		}
		r.unread.Note(false, "a delta of a block that did not begin")
	case "message_delta":
		if e.Delta.StopReason != "" {
			r.stop = e.Delta.StopReason
		}
		r.addCounts(e.Usage)
	case "message_stop":
		r.over = true
	}
	return ""
}

// growBlock adds to the text of a block and returns what it added.
func (r *reply) growBlock(p *piece, raw json.RawMessage) string {
	before := p.text.Len()
	r.unread.Note(p.text.Add(raw), p.kind)
	return p.text.String()[before:]
}

// addCounts applies the server's counts, which are totals and come more than once.
func (r *reply) addCounts(u usage) {
	if u.Input|u.Read|u.Written != 0 {
		r.usage.InputTokens = adapters.AddTokens(u.Input, u.Read, u.Written)
		r.usage.CachedTokens, r.usage.WrittenTokens = u.Read, u.Written
		if min(u.Input, u.Read, u.Written) < 0 {
			r.usage.InputTokens = -1 // Believable refuses this
		}
	}
	if u.Output < 0 || r.usage.OutputTokens < 0 {
		r.usage.OutputTokens = -1
		return
	}
	r.usage.OutputTokens = max(r.usage.OutputTokens, u.Output)
}

// asReply returns what came. Of the reasons for an end, end_turn, stop_sequence, tool_use and pause_turn are a complete
// reply: a paused turn continues with the next request, which carries its part so far.
func (r *reply) asReply(model string) exchange.Reply {
	out := exchange.Reply{Size: r.byteSize(), Broken: r.broken}
	out.Finish = adapters.FinishStop
	out.Model = r.model
	out.Usage = r.usage
	switch r.stop {
	case "max_tokens":
		out.Finish = adapters.FinishLength
	case "refusal":
		out.Finish = adapters.FinishFilter
	}
	o := opaque{Model: model}
	var text strings.Builder
	for _, piece := range r.blocks {
		switch piece.kind {
		case "text":
			text.WriteString(piece.text.String())
			o.Blocks = append(o.Blocks, block{Kind: "text", Size: piece.text.Len()})
		case "thinking":
			out.Opaque = &o
			o.Blocks = append(
				o.Blocks, block{Kind: "thinking", Thinking: piece.text.String(), Signature: piece.signature.String()})
		case "redacted_thinking":
			out.Opaque = &o
			o.Blocks = append(o.Blocks, block{Kind: "redacted", Data: piece.Data})
		case "tool_use":
			out.Message.ToolCalls = append(out.Message.ToolCalls,
				adapters.ToolCall{ID: piece.id, Name: piece.name, Arguments: cmp.Or(piece.text.String(), piece.input)})
			o.Blocks = append(o.Blocks, block{Kind: "call"})
		}
		if piece.text.Torn() && piece.kind == "tool_use" && out.Finish == adapters.FinishStop {
			out.Broken = exchange.ErrTorn
		}
		r.unread.Note(piece.kind != "text" || !piece.text.Torn(), "the end of a text, half a character")
	}
	out.Message.Content = text.String()
	return out
}

// byteSize returns the size of the reply in bytes. A token has at least one byte.
func (r *reply) byteSize() int {
	n := 0
	for _, p := range r.blocks {
		n += p.text.Len() + p.signature.Len() + len(p.input) + len(p.id) + len(p.name) + len(p.Data)
	}
	return n
}

// currentSize returns the size of the reply so far.
func (r *reply) currentSize() exchange.Size {
	return exchange.Size{Bytes: r.byteSize(), Parts: len(r.blocks)}
}
