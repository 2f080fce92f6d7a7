package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// The wire, as far as it is used.
type (
	request struct {
		Model    string         `json:"model"`
		Messages []message      `json:"messages"`
		Tools    []tool         `json:"tools,omitempty"`
		Stream   bool           `json:"stream"`
		Options  map[string]any `json:"options"`
		// Without these the server drops the oldest messages without a word.
		Truncate bool `json:"truncate"`
		Shift    bool `json:"shift"`
	}
	message struct {
		Role       string `json:"role"`
		Content    string `json:"content"`
		Thinking   string `json:"thinking,omitempty"`
		ToolCalls  []call `json:"tool_calls,omitempty"`
		ToolName   string `json:"tool_name,omitempty"`    // of a result, for servers before 0.12.10
		ToolCallID string `json:"tool_call_id,omitempty"` // of a result
	}
	call struct {
		ID       string `json:"id,omitempty"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	// piece is one line of a reply.
	piece struct {
		Model   string  `json:"model"`
		Message message `json:"message"`
		Done    bool    `json:"done"`
		Reason  string  `json:"done_reason"`
		Input   count   `json:"prompt_eval_count"`
		Output  count   `json:"eval_count"`
	}
	// opaque is what Message.Opaque holds for this wire.
	opaque struct {
		Thinking string `json:"thinking"`
	}
)

// count is a number of tokens, -1 for what is none: the reply is good all the
// same.
type count int

// UnmarshalJSON reads a number, or anything.
func (c *count) UnmarshalJSON(raw []byte) error {
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		n = -1
	}
	*c = count(n)
	return nil
}

// Chat sends the conversation and returns the model's whole reply.
func (c *Client) Chat(ctx context.Context, req adapters.Request, onEvent func(adapters.Event)) (adapters.Response, error) {
	if onEvent == nil {
		onEvent = func(adapters.Event) {}
	}
	f, err := c.learn(ctx)
	if err != nil {
		return adapters.Response{}, err
	}
	ctx, ex := c.http.Begin(ctx)
	defer ex.End()
	resp, err := c.http.Do(ctx, c.cfg.BaseURL+"/api/chat", c.header(), c.wire(req, f))
	if err != nil {
		return adapters.Response{}, c.failure(ex, err, f.model)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return adapters.Response{}, c.failure(ex, nil, f.model)
	}
	r := reply{}
	lines := bufio.NewReaderSize(resp.Body, 32<<10)
	for !r.last.Done && err == nil {
		var line []byte
		line, err = lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			break // half a line is no line
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if ex.Said = exchange.ErrorIn(line); ex.Said != nil {
			break
		}
		text, perr := r.add(line)
		if perr != nil {
			ex.Said, err = exchange.Parse(line), perr
			if !strings.HasPrefix(string(line), "<") { // a page says what it is
				ex.Said = nil
			}
			break
		}
		ex.Grew()
		if text != "" {
			onEvent(adapters.Event{Text: text})
		}
	}
	if ended := ex.Stop(); !ended || !r.last.Done {
		return adapters.Response{}, c.failure(ex, errors.Join(err, errNotDone), f.model)
	}
	return r.response(c, req)
}

var errNotDone = errors.New("the server did not say that the reply is done")

// wire translates a request.
func (c *Client) wire(req adapters.Request, f facts) request {
	out := request{Model: f.model, Stream: true, Options: map[string]any{"num_ctx": f.context, "num_predict": c.maxTokens(req)}}
	if req.Temperature != nil {
		out.Options["temperature"] = *req.Temperature
	}
	for _, m := range req.Messages {
		w := message{Role: m.Role, Content: m.Content, ToolName: m.ToolName, ToolCallID: m.ToolCallID}
		for _, tc := range m.ToolCalls {
			var wc call
			wc.ID, wc.Function.Name, wc.Function.Arguments = tc.ID, tc.Name, json.RawMessage(tc.WireArguments())
			w.ToolCalls = append(w.ToolCalls, wc)
		}
		var o opaque
		if m.Role == adapters.Assistant && json.Unmarshal(m.Opaque, &o) == nil {
			w.Thinking = o.Thinking
		}
		out.Messages = append(out.Messages, w)
	}
	for _, t := range req.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, tool{"function", function{t.Name, t.Description, schema}})
	}
	return out
}

func (c *Client) maxTokens(req adapters.Request) int {
	if req.MaxTokens > 0 {
		return req.MaxTokens
	}
	return c.Info().MaxOutput
}

// reply gathers the pieces of a reply.
type reply struct {
	text, thinking strings.Builder
	calls          []call
	last           piece
}

// add takes one line, and returns the text in it.
func (r *reply) add(line []byte) (string, error) {
	var p piece
	if err := json.Unmarshal(line, &p); err != nil {
		return "", err
	}
	r.text.WriteString(p.Message.Content)
	r.thinking.WriteString(p.Message.Thinking)
	r.calls = append(r.calls, p.Message.ToolCalls...)
	r.last = p
	return p.Message.Content, nil
}

// response makes the reply that the company sees, or a Garbage error for one
// that says nothing.
func (r *reply) response(c *Client, req adapters.Request) (adapters.Response, error) {
	resp := adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant, Content: r.text.String()},
		Finish:  adapters.FinishStop, Model: r.last.Model, Served: c.Info(),
	}
	if r.last.Reason == "length" {
		resp.Finish = adapters.FinishLength
	}
	resp.Usage = adapters.Usage{InputTokens: int(r.last.Input), OutputTokens: int(r.last.Output)}
	counted := resp.Usage.Believable(req, c.maxTokens(req), r.size())
	if !counted {
		resp.Usage = adapters.Estimate(req, c.maxTokens(req), r.size())
	}
	garbage := func(why string) (adapters.Response, error) {
		e := &adapters.Error{Kind: adapters.Garbage, Status: http.StatusOK, Message: why, Unanswered: !counted}
		if counted {
			e.Usage = &resp.Usage
		}
		return adapters.Response{}, e
	}
	seen := map[string]bool{}
	for i, tc := range r.calls {
		if tc.Function.Name == "" {
			return garbage("a tool call without a name")
		}
		id := tc.ID
		for n := i; id == "" || seen[id]; n++ {
			id = fmt.Sprintf("call_%d_%d", len(req.Messages), n)
		}
		seen[id] = true
		args := string(tc.Function.Arguments)
		var text string // some proxies send the arguments as OpenAI does
		if json.Unmarshal(tc.Function.Arguments, &text) == nil && args != "null" {
			args = text
		}
		if args == "null" {
			args = ""
		}
		resp.Message.ToolCalls = append(resp.Message.ToolCalls, adapters.ToolCall{ID: id, Name: tc.Function.Name, Arguments: args})
	}
	if resp.Finish == adapters.FinishStop && len(resp.Message.ToolCalls) == 0 && strings.TrimSpace(resp.Message.Content) == "" {
		return garbage("the reply is empty")
	}
	if r.thinking.Len() > 0 {
		raw, err := json.Marshal(opaque{r.thinking.String()})
		if err != nil {
			return garbage(err.Error())
		}
		resp.Message.Opaque = raw
	}
	return resp, nil
}

// size of the reply in bytes, of which a token has at least one.
func (r *reply) size() int {
	n := r.text.Len() + r.thinking.Len()
	for _, tc := range r.calls {
		n += len(tc.Function.Name) + len(tc.Function.Arguments)
	}
	return n
}

var (
	// badCallRE matches what the server says when the model wrote a tool call
	// that it cannot read: its parser's own words, under status 500.
	badCallRE = regexp.MustCompile(`(?i)error parsing tool call|invalid character .* (?:looking for|in |after )|unexpected end of json|xml syntax error|failed to parse tool`)
	// tooLargeRE matches a model that this machine cannot hold.
	tooLargeRE = regexp.MustCompile(`(?i)requires more system memory|unable to allocate|insufficient memory|cudamalloc failed|out of memory`)
)

// failure makes the one error of a call. A tool call that the server could not
// read is a bad sample and no failure of the server's: it is asked for again.
func (c *Client) failure(ex *exchange.Exchange, err error, model string) error {
	err = ex.Failure(err)
	var e *adapters.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Status >= 500 && badCallRE.MatchString(e.Message), e.Status == http.StatusOK && badCallRE.MatchString(e.Message):
		e.Kind, e.Unanswered = adapters.Garbage, true
	case e.Status >= 500 && tooLargeRE.MatchString(e.Message):
		e.Kind = adapters.BadRequest
		e.Fix = "use a smaller model, or a smaller context_tokens for the profile"
	}
	return c.explain(e, model)
}
