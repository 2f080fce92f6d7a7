package openai

import (
	"context"
	"errors"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
)

// Chat sends the conversation and returns the model's whole reply.
func (c *Client) Chat(ctx context.Context, req adapters.Request, onEvent func(adapters.Event)) (adapters.Response, error) {
	if onEvent == nil {
		onEvent = func(adapters.Event) {}
	}
	for {
		sent := c.wire(req)
		resp, err := c.once(ctx, req, sent, onEvent)
		var refusal *adapters.Error
		if errors.As(err, &refusal) && c.learn(refusal, sent) {
			c.cfg.Log.InfoContext(ctx, "the model's server refuses a parameter; sending the request without it", "model", c.cfg.Model, "refusal", refusal.Message)
			continue
		}
		return resp, err
	}
}

// once is one request and its reply.
func (c *Client) once(ctx context.Context, req adapters.Request, sent sdk.ChatCompletionRequest, onEvent func(adapters.Event)) (adapters.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, ex := withExchange(ctx)
	clock := &watch{cancel: cancel}
	defer clock.stop()
	clock.within(c.cfg.FirstToken, errFirstToken)

	stream, err := c.api.CreateChatCompletionStream(ctx, sent)
	if err != nil {
		return adapters.Response{}, c.failure(ctx, ex, err)
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
			clock.within(min(tailGrace, c.cfg.Idle), errTail)
		case grown:
			clock.within(c.cfg.Idle, errIdle)
		}
	}
	clock.stop()
	cause := context.Cause(ctx)
	whole := r.finish != "" && !errors.Is(err, errTooBig) && (cause == nil || errors.Is(cause, errTail))
	if !whole {
		return adapters.Response{}, r.billed(c.failure(ctx, ex, err))
	}
	return r.response(c, req)
}

// watch ends a call that keeps us waiting. It is used by one goroutine.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// within starts the time anew.
func (w *watch) within(d time.Duration, cause error) {
	w.stop()
	w.timer = time.AfterFunc(d, func() { w.cancel(cause) })
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
