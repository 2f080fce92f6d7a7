package openai

import (
	"context"
	"errors"
	"net/http"

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
		}, c.adaptTo, c.listModels)
}

// sendOnce sends one request and reads its reply.
func (c *Client) sendOnce(
	ctx context.Context, req adapters.Request, sent request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	_, ex := c.http.Begin(ctx)
	defer ex.End()
	body, err := ex.Post(c.cfg.BaseURL+"/chat/completions", c.newHeader(), sent.chooseDocument())
	if err != nil {
		return adapters.Response{}, ex.Failure(err)
	}
	defer body.Close()
	var r reply
	err = ex.ReadEvents(ex.Copy(body, sent.forwarded), func(data []byte, whole bool) bool {
		text, grown := r.addEvent(data, whole)
		if whole && !grown {
			ex.Said = exchange.ParseServerError(data) // it is no reply
			return false
		}
		if text != "" {
			onEvent(adapters.Event{Text: text})
		}
		if grown {
			ex.Grew(r.currentSize())
		}
		if r.finish != "" {
			ex.Ending()
		}
		return !r.done
	})
	ended, whole := ex.Stop(), r.asReply(c)
	if !ended || r.finish == "" {
		err = exchange.WithUsage(ex.Failure(errors.Join(err, r.broken)), whole, req, c.Info())
		return adapters.Response{}, ex.KeepUnread(err, nil)
	}
	whole.FirstByte = ex.FirstPiece()
	out, err := exchange.Complete(whole, req, c.Info())
	return out, ex.KeepUnread(err, r.unread)
}

// newHeader returns the header of every request.
func (c *Client) newHeader() http.Header {
	h := http.Header{"Accept": {"text/event-stream, application/json"}}
	if c.cfg.Key.Set() {
		h.Set("Authorization", "Bearer "+c.cfg.Key.Reveal())
	}
	return h
}
