package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	ctx, ex := c.http.Begin(ctx)
	defer ex.End()
	var r reply
	resp, err := c.http.Post(ctx, c.cfg.BaseURL+"/v1/messages", c.newHeader(), sent)
	if err != nil {
		return adapters.Response{}, ex.Failure(err)
	}
	defer resp.Body.Close()
	for events := json.NewDecoder(resp.Body); ; {
		var e event
		if err = readEvent(events, &e); err != nil {
			break
		}
		text := r.add(e)
		ex.Grew(r.currentSize())
		if text != "" {
			onEvent(adapters.Event{Text: text})
		}
		if r.over {
			break
		}
		if r.stop != "" {
			ex.Ending()
		}
	}
	if ended := ex.Stop(); !ended || r.stop == "" {
		return adapters.Response{}, r.withUsage(c, req, ex.Failure(cmp.Or(err, errNoEnd)))
	}
	whole, err := r.toResponse(c, req)
	whole.FirstByte = ex.FirstPiece()
	return whole, err
}

var errNoEnd = errors.New("the stream ended without a reason for it")

// readEvent reads the next event. It ignores fields with a wrong type.
func readEvent(events *json.Decoder, into *event) error {
	err := events.Decode(into)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return nil
	}
	return err
}

// reply collects the pieces of a streamed reply.
type reply struct {
	model  string
	blocks []*piece
	stop   string
	over   bool
	usage  adapters.Usage
}

// piece is one block of the reply.
type piece struct {
	index int
	kind  string
	block
	id, name  string
	text      strings.Builder // a text or thinking; for a call, its arguments
	signature strings.Builder
	input     string // arguments that came in one piece
}

// add applies one event and returns its text.
func (r *reply) add(e event) string {
	switch e.Type {
	case "message_start":
		r.model = e.Message.Model
		r.addCounts(e.Message.Usage)
	case "content_block_start":
		b := e.ContentBlock
		p := &piece{index: e.Index, kind: b.Type, id: b.ID, name: b.Name}
		p.Data = b.Data
		p.signature.WriteString(b.Signature)
		p.text.WriteString(b.Text + b.Thinking)
		if string(b.Input) != "null" {
			p.input = string(b.Input)
		}
		r.blocks = append(r.blocks, p)
		return b.Text
	case "content_block_delta":
		for _, p := range slices.Backward(r.blocks) {
			if p.index != e.Index {
				continue
			}
			p.text.WriteString(e.Delta.Text + e.Delta.Thinking + e.Delta.PartialJSON)
			p.signature.WriteString(e.Delta.Signature)
			break
		}
		return e.Delta.Text
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

// hasCount reports whether there is a plausible count.
func (r *reply) hasCount(c *Client, req adapters.Request) bool {
	return r.usage.Believable(req, req.Limit(c.Info()), r.byteSize())
}

// toResponse returns the reply as an adapters.Response. It checks the reason for the end first, so a cut reply
// is never taken for complete.
func (r *reply) toResponse(client *Client, req adapters.Request) (adapters.Response, error) {
	fail := func(kind adapters.Kind, reason string) (adapters.Response, error) {
		return adapters.Response{}, r.withUsage(
			client, req, &adapters.Error{Kind: kind, Status: http.StatusOK, Message: reason, Unanswered: true})
	}
	resp := adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant}, Finish: adapters.FinishStop, Model: r.model,
		Served: client.Info(),
		Usage:  r.usage,
	}
	switch r.stop {
	case "max_tokens":
		resp.Finish = adapters.FinishLength
	case "refusal":
		resp.Finish = adapters.FinishFilter
	case "model_context_window_exceeded":
		return fail(adapters.TooLong, "the conversation and the reply do not fit the model's context")
	}
	// end_turn, stop_sequence, tool_use, and pause_turn: a paused turn continues with the next request, which
	// carries its part so far.
	o := opaque{Model: client.cfg.Model}
	keep := false
	for _, piece := range r.blocks {
		switch piece.kind {
		case "text":
			resp.Message.Content += piece.text.String()
			o.Blocks = append(o.Blocks, block{Kind: "text", Size: piece.text.Len()})
		case "thinking":
			keep = true
			o.Blocks = append(
				o.Blocks, block{Kind: "thinking", Thinking: piece.text.String(), Signature: piece.signature.String()})
		case "redacted_thinking":
			keep = true
			o.Blocks = append(o.Blocks, block{Kind: "redacted", Data: piece.Data})
		case "tool_use":
			if piece.name == "" && resp.Finish == adapters.FinishStop {
				return fail(adapters.MalformedReply, "a tool call without a name")
			}
			resp.Message.ToolCalls = append(
				resp.Message.ToolCalls,
				adapters.ToolCall{ID: piece.id, Name: piece.name, Arguments: cmp.Or(piece.text.String(), piece.input)})
			o.Blocks = append(o.Blocks, block{Kind: "call"})
		}
	}
	req.PairCalls(resp.Message.ToolCalls)
	if resp.Finish == adapters.FinishStop && len(resp.Message.ToolCalls) == 0 &&
		strings.TrimSpace(resp.Message.Content) == "" {
		return fail(adapters.MalformedReply, "the reply is empty")
	}
	if keep {
		raw, err := json.Marshal(o)
		if err != nil {
			return fail(adapters.MalformedReply, err.Error())
		}
		resp.Message.Opaque = raw
	}
	if !r.hasCount(client, req) {
		resp.Usage = adapters.Estimate(req, req.Limit(client.Info()), r.byteSize())
	}
	return resp, nil
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

// withUsage adds the server's count to a failure. It requires the end of the reply, because before that the
// count of the output is only the initial one.
func (r *reply) withUsage(client *Client, req adapters.Request, err error) error {
	var fault *adapters.Error
	if r.stop != "" && r.hasCount(client, req) && errors.As(err, &fault) {
		usage := r.usage
		fault.Usage, fault.Unanswered = &usage, false
	}
	return err
}
