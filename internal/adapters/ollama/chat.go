package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ollama/ollama/api"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
	"company/internal/company"
	"company/internal/lazyregexp"
)

// opaque is what Message.Opaque holds for this wire.
type opaque struct {
	Thinking string `json:"thinking"`
}

var (
	errDone    = errors.New("the reply is whole")
	errNotDone = errors.New("the server did not say that the reply is done")
)

// Chat sends the conversation and returns the model's whole reply.
func (c *Client) Chat(ctx context.Context, req adapters.Request, onEvent func(adapters.Event)) (adapters.Response, error) {
	if onEvent == nil {
		onEvent = func(adapters.Event) {}
	}
	f, err := c.modelFacts(ctx)
	if err != nil {
		return adapters.Response{}, err
	}
	sent, err := c.toWire(req, f)
	if err != nil {
		return adapters.Response{}, err
	}
	ctx, ex := c.http.Begin(ctx)
	defer ex.End()
	var r reply
	err = c.api.Chat(ctx, sent, func(piece api.ChatResponse) error {
		r.add(piece)
		ex.Grew(r.currentSize())
		if piece.Message.Content != "" {
			onEvent(adapters.Event{Text: piece.Message.Content})
		}
		if piece.Done {
			return errDone // what follows is of no use
		}
		return nil
	})
	// The module takes a stream that was cut for one that ended, and an answer
	// without a body for a good one whatever its status.
	if ended := ex.Stop(); !ended || !errors.Is(err, errDone) || ex.Status != http.StatusOK {
		err = c.callError(ex, errors.Join(err, errNotDone), f.model)
		var e *adapters.Error
		if ctx.Err() == nil && errors.As(err, &e) && e.Status == http.StatusNotFound {
			err = c.explainError(c.modelMissing(ctx, e, f.model), f.model)
		}
		return adapters.Response{}, err
	}
	resp, err := r.toResponse(c, req)
	resp.FirstByte = ex.FirstPiece()
	return resp, err
}

// toWire translates a request.
func (c *Client) toWire(req adapters.Request, f facts) (*api.ChatRequest, error) {
	yes, no := true, false
	out := &api.ChatRequest{
		Model: f.model, Stream: &yes, Options: map[string]any{"num_ctx": f.context, "num_predict": req.Limit(c.Info())},
		// Without these the server drops the oldest messages silently.
		Truncate: &no, Shift: &no,
	}
	if req.Temperature != nil {
		out.Options["temperature"] = *req.Temperature
	}
	for _, m := range req.Messages {
		w := api.Message{Role: m.Role, Content: m.Content, ToolName: m.ToolName, ToolCallID: m.ToolCallID}
		for _, image := range m.Images {
			w.Images = append(w.Images, image.Data)
		}
		for i, tc := range m.ToolCalls {
			call := api.ToolCall{ID: tc.ID, Function: api.ToolCallFunction{Index: i, Name: tc.Name}}
			if err := json.Unmarshal([]byte(tc.WireArguments()), &call.Function.Arguments); err != nil {
				return nil, company.E(company.EInternal, "a past call of "+tc.Name+" cannot be sent").Wrap(err)
			}
			w.ToolCalls = append(w.ToolCalls, call)
		}
		var o opaque
		if m.Role == adapters.Assistant && json.Unmarshal(m.Opaque, &o) == nil {
			w.Thinking = o.Thinking
		}
		out.Messages = append(out.Messages, w)
	}
	for _, t := range req.Tools {
		w := api.Tool{Type: "function", Function: api.ToolFunction{Name: t.Name, Description: t.Description}}
		// The server reads a schema into the same struct, which keeps types,
		// descriptions and required members, and drops the finer rules: a call
		// that breaks those is answered with the whole schema.
		if err := json.Unmarshal(t.WireSchema(), &w.Function.Parameters); err != nil {
			return nil, company.E(company.EInternal, "the schema of "+t.Name+" cannot be sent").Wrap(err)
		}
		out.Tools = append(out.Tools, w)
	}
	return out, nil
}

var (
	// badCallRE matches the server's message when the model wrote a tool call
	// that it cannot read: its parser's own message, under status 500.
	badCallRE = lazyregexp.New(`(?i)error parsing tool call|invalid character .* (?:looking for|in |after )|unexpected end of json|xml syntax error|failed to parse tool`)
	// tooLargeRE matches a model that this machine cannot hold.
	tooLargeRE = lazyregexp.New(`(?i)requires more system memory|unable to allocate|insufficient memory|cudamalloc failed|out of memory`)
	// diedRE matches a model's process that ended. It is started anew with the
	// next request, which may go better or not; we do not wait for it.
	diedRE = lazyregexp.New(`(?i)runner process (?:has terminated|no longer running)|runner has unexpectedly stopped|timed out waiting for llama runner`)
	// badNameRE matches a name that is none.
	badNameRE = lazyregexp.New(`(?i)unqualified name|invalid model name`)
)

// callError makes the one error of a call. A tool call that the server could not
// read is a bad sample and no failure of the server's: it is asked for again.
func (c *Client) callError(ex *exchange.Exchange, err error, model string) error {
	err = ex.Failure(err)
	var e *adapters.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Status >= 500 && badCallRE.MatchString(e.Message), e.Status == http.StatusOK && badCallRE.MatchString(e.Message):
		e.Kind, e.Unanswered = adapters.MalformedReply, true
	case e.Status >= 500 && tooLargeRE.MatchString(e.Message):
		e.Kind = adapters.BadRequest
		e.Fix = "use a smaller model, or a smaller context_tokens for the profile"
	case e.Status >= 500 && badNameRE.MatchString(e.Message):
		e.Kind = adapters.BadRequest
		e.Fix = "correct the model's name: ollama list"
	case e.Status >= 500 && e.Kind == adapters.Overloaded && diedRE.MatchString(e.Message):
		e.Kind = adapters.MalformedReply
		e.Fix = "the process that runs the model ends: the server's log says why; a smaller model, or a smaller context_tokens, may do"
	}
	return c.explainError(e, model)
}
