package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/auth"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// opaque is the content of Message.Opaque for this wire.
type opaque struct {
	Thinking string `json:"thinking"`
}

var errNotDone = errors.New("the stream ended without done")

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
	address, header, err := c.signRequest(ctx, http.MethodPost, "/api/chat")
	if err != nil {
		return adapters.Response{}, err
	}
	ctx, ex := c.http.Begin(ctx)
	defer ex.End()
	var r reply
	body, err := ex.Post(address, header, sent)
	if err == nil {
		defer body.Close()
		err = ex.ReadLines(body, func(doc []byte) bool {
			text := r.addPiece(exchange.MembersOf(doc))
			ex.Grew(r.currentSize())
			if text != "" {
				onEvent(adapters.Event{Text: text})
			}
			return !r.done // ignore the rest
		})
	}
	if ended := ex.Stop(); !ended || !r.done || ex.Status != http.StatusOK {
		err = ex.KeepUnread(c.callError(ex, errors.Join(err, errNotDone), facts.model), nil)
		var fault *adapters.Error
		if ctx.Err() == nil && errors.As(err, &fault) && fault.Status == http.StatusNotFound {
			err = c.explainError(c.modelMissing(ctx, fault, facts.model), facts.model)
		}
		return adapters.Response{}, err
	}
	whole := r.asReply()
	whole.FirstByte = ex.FirstPiece()
	out, err := exchange.Complete(whole, req, c.Info())
	return out, ex.KeepUnread(err, r.unread)
}

// signRequest returns the address and the header of a request, which is signed with the user's Ollama key if Ollama's
// own programs would sign it.
func (c *Client) signRequest(ctx context.Context, method, path string) (string, http.Header, error) {
	address, header := c.cfg.BaseURL+path, http.Header{}
	switch {
	case c.cfg.Key.Set(): // of a proxy, or of Ollama's own service
		header.Set("Authorization", "Bearer "+c.cfg.Key.Reveal())
		return address, header, nil
	case !c.signs:
		return address, header, nil
	}
	now := "?ts=" + strconv.FormatInt(time.Now().Unix(), 10)
	var token string
	home, err := os.UserHomeDir()
	if err == nil { // the module would report a missing key on the terminal, in its own way
		_, err = os.Stat(filepath.Join(home, ".ollama", "id_ed25519"))
	}
	if err == nil {
		token, err = auth.Sign(ctx, []byte(method+","+path+now))
	}
	if err != nil {
		return "", nil, &adapters.Error{Kind: adapters.Auth, Message: c.cfg.BaseURL + " requires a login, and none is configured",
			Err: err, Fix: "ollama signin, or name the variable of a key with api_key_env"}
	}
	header.Set("Authorization", token)
	return address + now, header, nil
}

// askServer sends a request that generates no tokens.
func (c *Client) askServer(ctx context.Context, method, path string, send, into any) error {
	address, header, err := c.signRequest(ctx, method, path)
	if err != nil {
		return err
	}
	return c.http.Ask(ctx, address, header, send, into)
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
				return nil, company.E(company.EInternal, "cannot encode an earlier call of "+tc.Name).Wrap(err)
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
			return nil, company.E(company.EInternal, "cannot encode the schema of "+tool.Name).Wrap(err)
		}
		out.Tools = append(out.Tools, w)
	}
	return out, nil
}

var (
	// tooLargeRE matches messages about a model that does not fit on this machine.
	tooLargeRE = lazyregexp.New(
		`(?i)requires more system memory|unable to allocate|insufficient memory|cudamalloc failed|out of memory`)
	// diedRE matches messages about a model's process that ended. The next request restarts it, so there is no need
	// to wait.
	diedRE = lazyregexp.New(
		`(?i)runner process (?:has terminated|no longer running)|runner has unexpectedly stopped|` +
			`timed out waiting for llama runner`)
	// badNameRE matches messages about an invalid model name.
	badNameRE = lazyregexp.New(`(?i)unqualified name|invalid model name`)
)

// callError returns the error of a call, with what Ollama's own words mean.
func (c *Client) callError(ex *exchange.Exchange, err error, model string) error {
	err = ex.Failure(err)
	var fault *adapters.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch {
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
