package openai

import (
	"context"

	sdk "github.com/sashabaranov/go-openai"

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
	return exchange.Send(ctx, c.http, c.cfg.Model, func() sdk.ChatCompletionRequest { return c.toWire(req) },
		func(sent sdk.ChatCompletionRequest) (adapters.Response, error) {
			return c.sendOnce(ctx, req, sent, onEvent)
		}, c.dropParameter, c.listModels)
}

// sendOnce sends one request and reads its reply.
func (c *Client) sendOnce(
	ctx context.Context, req adapters.Request, sent sdk.ChatCompletionRequest, onEvent func(adapters.Event),
) (adapters.Response, error) {
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
		if grown {
			ex.Grew(r.currentSize())
		}
		if r.finish != "" {
			ex.Ending()
		}
	}
	if ended := ex.Stop(); !ended || r.finish == "" {
		return adapters.Response{}, r.withUsage(c, req, c.callError(ex, err))
	}
	resp, err := r.toResponse(c, req)
	resp.FirstByte = ex.FirstPiece()
	return resp, err
}
