package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// Chat sends the conversation and returns the model's whole reply.
func (c *Client) Chat(ctx context.Context, req adapters.Request, onEvent func(adapters.Event)) (adapters.Response, error) {
	if onEvent == nil {
		onEvent = func(adapters.Event) {}
	}
	return exchange.Send(ctx, c.http, c.cfg.Model, func() sdk.MessageNewParams { return c.toWire(req) },
		func(sent sdk.MessageNewParams) (adapters.Response, error) { return c.sendOnce(ctx, req, sent, onEvent) }, c.dropParameter, c.listModels)
}

// sendOnce is one request and its reply.
func (c *Client) sendOnce(ctx context.Context, req adapters.Request, sent sdk.MessageNewParams, onEvent func(adapters.Event)) (adapters.Response, error) {
	ctx, ex := c.http.Begin(ctx)
	defer ex.End()
	stream := c.api.NewStreaming(ctx, sent)
	if stream.Err() == nil {
		defer stream.Close()
	}
	var r reply
	for stream.Next() {
		text := r.add(stream.Current())
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
	err := stream.Err()
	if ended := ex.Stop(); !ended || r.stop == "" {
		return adapters.Response{}, r.withUsage(c, req, ex.Failure(cmp.Or(err, errNoEnd)))
	}
	resp, err := r.toResponse(c, req)
	resp.FirstByte = ex.FirstPiece()
	return resp, err
}

var errNoEnd = errors.New("the stream ended without a reason for it")

// reply gathers the pieces of a streamed reply. The SDK's own Accumulate makes
// {} of arguments that were cut, and of a stream that was cut a reply.
type reply struct {
	model  string
	blocks []*piece
	stop   string
	over   bool
	usage  adapters.Usage
}

// piece is one block of the reply.
type piece struct {
	index int64
	kind  string
	block
	id, name  string
	text      strings.Builder // of a text or thinking; of a call, its arguments
	signature strings.Builder
	input     string // arguments that came whole
}

// add takes one event and returns the text in it.
func (r *reply) add(e sdk.MessageStreamEventUnion) string {
	switch e.Type {
	case "message_start":
		r.model = string(e.Message.Model)
		u := e.Message.Usage
		r.addCounts(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	case "content_block_start":
		b := e.ContentBlock
		p := &piece{index: e.Index, kind: b.Type, id: b.ID, name: b.Name}
		p.Data = b.Data
		p.signature.WriteString(b.Signature)
		p.text.WriteString(b.Text + b.Thinking)
		if raw, err := json.Marshal(b.Input); err == nil && b.Input != nil {
			p.input = string(raw)
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
			r.stop = string(e.Delta.StopReason)
		}
		r.addCounts(e.Usage.InputTokens, e.Usage.CacheReadInputTokens, e.Usage.CacheCreationInputTokens, e.Usage.OutputTokens)
	case "message_stop":
		r.over = true
	}
	return ""
}

// addCounts takes the server's counts, which are totals and come more than once.
func (r *reply) addCounts(input, read, written, output int64) {
	if input|read|written != 0 {
		r.usage.InputTokens = adapters.AddTokens(int(input), int(read), int(written))
		r.usage.CachedTokens, r.usage.WrittenTokens = int(read), int(written)
		if min(input, read, written) < 0 {
			r.usage.InputTokens = -1 // which Believable refuses
		}
	}
	if output < 0 || r.usage.OutputTokens < 0 {
		r.usage.OutputTokens = -1
		return
	}
	r.usage.OutputTokens = max(r.usage.OutputTokens, int(output))
}

// hasCount reports whether there is a count that can be true.
func (r *reply) hasCount(c *Client, req adapters.Request) bool {
	return r.usage.Believable(req, req.Limit(c.Info()), r.byteSize())
}

// toResponse makes the reply that the company sees. The reason for its end comes
// first: nothing of a reply that was cut is taken for whole.
func (r *reply) toResponse(c *Client, req adapters.Request) (adapters.Response, error) {
	fail := func(kind adapters.Kind, why string) (adapters.Response, error) {
		return adapters.Response{}, r.withUsage(c, req, &adapters.Error{Kind: kind, Status: http.StatusOK, Message: why, Unanswered: true})
	}
	resp := adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant}, Finish: adapters.FinishStop, Model: r.model, Served: c.Info(), Usage: r.usage,
	}
	switch r.stop {
	case "max_tokens":
		resp.Finish = adapters.FinishLength
	case "refusal":
		resp.Finish = adapters.FinishFilter
	case "model_context_window_exceeded":
		return fail(adapters.TooLong, "the conversation and the reply do not fit the model's context")
	}
	// end_turn, stop_sequence, tool_use, and pause_turn: a paused turn goes on
	// with the next request, which carries what there is of it.
	o := opaque{Model: c.cfg.Model}
	keep := false
	for _, p := range r.blocks {
		switch p.kind {
		case "text":
			resp.Message.Content += p.text.String()
			o.Blocks = append(o.Blocks, block{Kind: "text", Size: p.text.Len()})
		case "thinking":
			keep = true
			o.Blocks = append(o.Blocks, block{Kind: "thinking", Thinking: p.text.String(), Signature: p.signature.String()})
		case "redacted_thinking":
			keep = true
			o.Blocks = append(o.Blocks, block{Kind: "redacted", Data: p.Data})
		case "tool_use":
			if p.name == "" && resp.Finish == adapters.FinishStop {
				return fail(adapters.MalformedReply, "a tool call without a name")
			}
			resp.Message.ToolCalls = append(resp.Message.ToolCalls, adapters.ToolCall{ID: p.id, Name: p.name, Arguments: cmp.Or(p.text.String(), p.input)})
			o.Blocks = append(o.Blocks, block{Kind: "call"})
		}
	}
	req.PairCalls(resp.Message.ToolCalls)
	if resp.Finish == adapters.FinishStop && len(resp.Message.ToolCalls) == 0 && strings.TrimSpace(resp.Message.Content) == "" {
		return fail(adapters.MalformedReply, "the reply is empty")
	}
	if keep {
		raw, err := json.Marshal(o)
		if err != nil {
			return fail(adapters.MalformedReply, err.Error())
		}
		resp.Message.Opaque = raw
	}
	if !r.hasCount(c, req) {
		resp.Usage = adapters.Estimate(req, req.Limit(c.Info()), r.byteSize())
	}
	return resp, nil
}

// byteSize of the reply in bytes, of which a token has at least one.
func (r *reply) byteSize() int {
	n := 0
	for _, p := range r.blocks {
		n += p.text.Len() + p.signature.Len() + len(p.input) + len(p.id) + len(p.name) + len(p.Data)
	}
	return n
}

// currentSize is how much of the reply there is.
func (r *reply) currentSize() exchange.Size {
	return exchange.Size{Bytes: r.byteSize(), Parts: len(r.blocks)}
}

// withUsage adds to a failure what the server counted for it. Before the reply's
// end its count of the output is that of the beginning.
func (r *reply) withUsage(c *Client, req adapters.Request, err error) error {
	var e *adapters.Error
	if r.stop != "" && r.hasCount(c, req) && errors.As(err, &e) {
		usage := r.usage
		e.Usage, e.Unanswered = &usage, false
	}
	return err
}
