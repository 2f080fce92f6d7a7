package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
)

// Chat sends the conversation and returns the model's whole reply.
func (c *Client) Chat(ctx context.Context, req adapters.Request, onEvent func(adapters.Event)) (adapters.Response, error) {
	if onEvent == nil {
		onEvent = func(adapters.Event) {}
	}
	for {
		sent := c.toWire(req)
		resp, err := c.sendOnce(ctx, req, sent, onEvent)
		var refusal *adapters.Error
		if errors.As(err, &refusal) && c.dropParameter(refusal, sent) {
			c.cfg.Log.InfoContext(ctx, "the model's server refuses a parameter; sending the request without it", "model", c.cfg.Model, "refusal", refusal.Message)
			continue
		}
		if refusal != nil && refusal.Status == http.StatusNotFound {
			err = c.withNames(ctx, refusal)
		}
		return resp, err
	}
}

// withNames adds to "no such model" the names of those that there are, for the
// choice of another one.
func (c *Client) withNames(ctx context.Context, refusal *adapters.Error) error {
	names, err := c.listModels(ctx)
	if err != nil || len(names) == 0 || slices.Contains(names, c.cfg.Model) {
		return refusal
	}
	return c.modelMissing(cmp.Or(refusal.Message, "no such model"), names)
}

// sendOnce is one request and its reply.
func (c *Client) sendOnce(ctx context.Context, req adapters.Request, sent sdk.ChatCompletionRequest, onEvent func(adapters.Event)) (adapters.Response, error) {
	ctx, ex := c.http.Begin(ctx)
	defer ex.End()
	stream, err := c.api.CreateChatCompletionStream(ctx, sent)
	if err != nil {
		return adapters.Response{}, c.callError(ex, err)
	}
	defer stream.Close()
	var r reply
	for {
		var chunk sdk.ChatCompletionStreamResponse
		if chunk, err = stream.Recv(); err != nil {
			break
		}
		text, grown := r.add(chunk)
		if text != "" {
			onEvent(adapters.Event{Text: text})
		}
		switch {
		case r.finish != "":
			ex.Ending()
		case grown:
			ex.Grew(r.byteSize())
		}
	}
	if ended := ex.Stop(); !ended || r.finish == "" {
		return adapters.Response{}, r.withUsage(c, req, c.callError(ex, err))
	}
	return r.toResponse(c, req)
}
