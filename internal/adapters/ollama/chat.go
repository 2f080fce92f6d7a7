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
	"company/internal/lib/lazyregexp"
)

// opaque is the content of Message.Opaque for this wire.
type opaque struct {
	Thinking string `json:"thinking"`
}

var (
	errDone    = errors.New("the reply is whole")
	errNotDone = errors.New("the server did not say that the reply is done")
)

// Chat sends the conversation and returns the model's whole reply.
func (c *Client) Chat(
	ctx context.Context, req adapters.Request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	if onEvent == nil {
		onEvent = func(adapters.Event) {}
	}
	facts, err := c.modelFacts(ctx)
	if err != nil {
		return adapters.Response{}, err
	}
	sent, err := c.toWire(req, facts)
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
			return errDone // ignore the rest
		}
		return nil
	})
	// The module takes a cut stream for a finished one. It also takes an answer without a body for a good one, with
	// any status.
	if ended := ex.Stop(); !ended || !errors.Is(err, errDone) || ex.Status != http.StatusOK {
		err = c.callError(ex, errors.Join(err, errNotDone), facts.model)
		var fault *adapters.Error
		if ctx.Err() == nil && errors.As(err, &fault) && fault.Status == http.StatusNotFound {
			err = c.explainError(c.modelMissing(ctx, fault, facts.model), facts.model)
		}
		return adapters.Response{}, err
	}
	resp, err := r.toResponse(c, req)
	resp.FirstByte = ex.FirstPiece()
	return resp, err
}

// toWire converts a request into the wire's form.
func (c *Client) toWire(req adapters.Request, f facts) (*api.ChatRequest, error) {
	yes, no := true, false
	out := &api.ChatRequest{
		Model: f.model, Stream: &yes, Options: map[string]any{"num_ctx": f.context, "num_predict": req.Limit(c.Info())},
		// Otherwise the server silently drops the oldest messages.
		Truncate: &no, Shift: &no,
	}
	if req.Temperature != nil {
		out.Options["temperature"] = *req.Temperature
	}
	for _, message := range req.Messages {
		w := api.Message{Role: message.Role, Content: message.Content, ToolName: message.ToolName,
			ToolCallID: message.ToolCallID}
		for _, image := range message.Images {
			w.Images = append(w.Images, image.Data)
		}
		for i, tc := range message.ToolCalls {
			call := api.ToolCall{ID: tc.ID, Function: api.ToolCallFunction{Index: i, Name: tc.Name}}
			if err := json.Unmarshal([]byte(tc.WireArguments()), &call.Function.Arguments); err != nil {
				return nil, company.E(company.EInternal, "a past call of "+tc.Name+" cannot be sent").Wrap(err)
			}
			w.ToolCalls = append(w.ToolCalls, call)
		}
		var o opaque
		if message.Role == adapters.Assistant && json.Unmarshal(message.Opaque, &o) == nil {
			w.Thinking = o.Thinking
		}
		out.Messages = append(out.Messages, w)
	}
	for _, tool := range req.Tools {
		w := api.Tool{Type: "function", Function: api.ToolFunction{Name: tool.Name, Description: tool.Description}}
		// The server reads a schema into the same struct, which keeps types, descriptions and required members, but
		// drops finer rules. A call that breaks such rules is answered with the whole schema.
		if err := json.Unmarshal(tool.WireSchema(), &w.Function.Parameters); err != nil {
			return nil, company.E(company.EInternal, "the schema of "+tool.Name+" cannot be sent").Wrap(err)
		}
		out.Tools = append(out.Tools, w)
	}
	return out, nil
}

var (
	// badCallRE matches the message of the server's parser about a model's tool call that it cannot read, under
	// status 500.
	badCallRE = lazyregexp.New(
		`(?i)error parsing tool call|invalid character .* (?:looking for|in |after )|unexpected end of json|xml syntax error|failed to parse tool`)
	// tooLargeRE matches messages about a model that does not fit on this machine.
	tooLargeRE = lazyregexp.New(
		`(?i)requires more system memory|unable to allocate|insufficient memory|cudamalloc failed|out of memory`)
	// diedRE matches messages about a model's process that ended. The next request restarts it, so there is no need
	// to wait.
	diedRE = lazyregexp.New(
		`(?i)runner process (?:has terminated|no longer running)|runner has unexpectedly stopped|timed out waiting for llama runner`)
	// badNameRE matches messages about an invalid model name.
	badNameRE = lazyregexp.New(`(?i)unqualified name|invalid model name`)
)

// callError returns the error of a call. A tool call that the server could not read is a bad sample, not a
// failure of the server. The request is then repeated.
func (c *Client) callError(ex *exchange.Exchange, err error, model string) error {
	err = ex.Failure(err)
	var fault *adapters.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch {
	case fault.Status >= 500 && badCallRE.MatchString(fault.Message),
		fault.Status == http.StatusOK && badCallRE.MatchString(fault.Message):
		fault.Kind, fault.Unanswered = adapters.MalformedReply, true
	case fault.Status >= 500 && tooLargeRE.MatchString(fault.Message):
		fault.Kind = adapters.BadRequest
		fault.Fix = "use a smaller model, or a smaller context_tokens for the profile"
	case fault.Status >= 500 && badNameRE.MatchString(fault.Message):
		fault.Kind = adapters.BadRequest
		fault.Fix = "correct the model's name: ollama list"
	case fault.Status >= 500 && fault.Kind == adapters.Overloaded && diedRE.MatchString(fault.Message):
		fault.Kind = adapters.MalformedReply
		fault.Fix = "the process that runs the model ends: the server's log says why; a smaller model, or a smaller " +
			"context_tokens, may do"
	}
	return c.explainError(fault, model)
}
