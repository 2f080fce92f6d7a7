package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
)

const maxMessage = 1 << 10

// keyRE matches what servers print of a key with its middle left out: a part
// of a key is not shown either.
var keyRE = regexp.MustCompile(`\bsk-[A-Za-z0-9_*.-]{4,}`)

// The causes with which a call's own clock ends it.
var (
	errFirstToken = errors.New("no first piece of the reply in time")
	errIdle       = errors.New("the reply fell silent")
	errTail       = errors.New("a whole reply, and then silence")
)

// serverError is what a server said was wrong, in whichever shape.
type serverError struct {
	message string
	code    string // its code and type, lower case
	number  int    // a code that is a number, as some give the HTTP status
	html    bool
}

// errorIn finds the error in a 200: {"error": ...} or {"object":"error"}. It is
// nil when there is none.
func errorIn(data []byte) *serverError {
	var doc struct {
		Error  json.RawMessage `json:"error"`
		Object string          `json:"object"`
	}
	if json.Unmarshal(data, &doc) != nil {
		return nil
	}
	if len(doc.Error) > 0 && string(doc.Error) != "null" || doc.Object == "error" {
		return parseError(data)
	}
	return nil
}

// parseError reads an error body: {"error":{...}}, {"error":"text"},
// {"detail":...}, {"message":...}, HTML or plain text.
func parseError(body []byte) *serverError {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") {
		return &serverError{message: "an HTML page instead of an answer", html: true}
	}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		return &serverError{message: text}
	}
	said := &serverError{}
	inner := outer
	if raw, ok := outer["error"]; ok {
		inner = nil
		if json.Unmarshal(raw, &inner) != nil {
			_ = json.Unmarshal(raw, &said.message) // a string, or stays empty
		}
	}
	for _, key := range []string{"message", "detail", "msg"} {
		if said.message != "" || len(inner[key]) == 0 {
			continue
		}
		if json.Unmarshal(inner[key], &said.message) != nil {
			said.message = string(inner[key])
		}
	}
	for _, key := range []string{"code", "type", "status"} {
		var word string
		var number int
		switch {
		case json.Unmarshal(inner[key], &number) == nil:
			said.number = number
		case json.Unmarshal(inner[key], &word) == nil:
			said.code += " " + strings.ToLower(word)
			if n, err := strconv.Atoi(word); err == nil {
				said.number = n
			}
		}
	}
	if said.message == "" {
		said.message = text
	}
	return said
}

// failure makes the one error of a call from what the transport saw and what
// go-openai returned.
func (c *Client) failure(ctx context.Context, ex *exchange, err error) error {
	e := c.classify(ctx, ex, err)
	var known *adapters.Error
	if errors.As(e, &known) {
		known.Message = clip(keyRE.ReplaceAllString(c.cfg.Key.Redact(known.Message), "[key]"))
	}
	return e
}

func (c *Client) classify(ctx context.Context, ex *exchange, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errFirstToken):
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.status, Message: fmt.Sprintf("nothing came within %s", c.cfg.FirstToken), Err: cause, Unanswered: true}
	case errors.Is(cause, errIdle):
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.status, Message: fmt.Sprintf("the stream was silent for %s", c.cfg.Idle), Err: cause, Unanswered: true}
	case cause != nil:
		return cause // the caller gave up
	case ex.said != nil && ex.status == http.StatusOK:
		e := &adapters.Error{Kind: kindInStream(ex.said), Status: ex.status, Message: ex.said.message, Unanswered: true}
		return e
	case ex.status != 0 && ex.status != http.StatusOK:
		e := &adapters.Error{Kind: kindOfStatus(ex.status, ex.said), Status: ex.status, RetryAfter: ex.retryAfter}
		if ex.said != nil {
			e.Message = ex.said.message
		}
		// A gateway's time-out says nothing about the model behind it.
		e.Unanswered = ex.status == http.StatusGatewayTimeout || ex.status == http.StatusRequestTimeout
		return e
	case errors.Is(err, errTooBig):
		return &adapters.Error{Kind: adapters.Garbage, Status: ex.status, Message: fmt.Sprintf("the reply is larger than %d bytes", c.cfg.MaxReply), Err: errTooBig, Unanswered: true}
	case errors.Is(err, sdk.ErrReasoningToolsRequireResponses):
		return &adapters.Error{Kind: adapters.BadRequest, Message: "this model takes tools over the Responses API only; name another model in the profile", Err: err}
	case ex.status == http.StatusOK:
		return &adapters.Error{Kind: adapters.Garbage, Status: ex.status, Message: "the reply was cut or is not in the protocol", Err: err, Unanswered: true}
	}
	var op *net.OpError
	var dns *net.DNSError
	e := &adapters.Error{Kind: adapters.Unreachable, Message: err.Error(), Err: errors.New(c.cfg.Key.Redact(err.Error()))}
	if errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) {
		return e
	}
	// Refused by go-openai before anything was sent.
	for _, refused := range []error{sdk.ErrReasoningModelMaxTokensDeprecated, sdk.ErrReasoningModelLimitationsOther, sdk.ErrReasoningSamplingUnsupported, sdk.ErrReasoningEffortUnsupported, sdk.ErrChatCompletionInvalidModel} {
		if errors.Is(err, refused) {
			e.Kind = adapters.BadRequest
			return e
		}
	}
	e.Unanswered = true // a connection that broke after the request may have been sent
	return e
}

// kindOfStatus sorts an HTTP status, with a look at the words where one status
// stands for several things.
func kindOfStatus(status int, said *serverError) adapters.Kind {
	kind := kindOfWords(said)
	switch {
	case status == http.StatusPaymentRequired:
		return adapters.Quota
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		if kind == adapters.Quota {
			return kind
		}
		return adapters.Auth
	case status == http.StatusRequestEntityTooLarge:
		return adapters.TooLong
	case status == http.StatusTooManyRequests:
		// OpenAI answers 429 to a spent account, too: that never gets better.
		if kind == adapters.Quota {
			return kind
		}
		return adapters.Overloaded
	case status == http.StatusRequestTimeout || status >= 500:
		if kind == adapters.TooLong {
			return kind
		}
		return adapters.Overloaded
	case kind == adapters.TooLong || kind == adapters.Quota:
		return kind
	}
	return adapters.BadRequest
}

// kindInStream sorts an error that came under status 200.
func kindInStream(said *serverError) adapters.Kind {
	if said.number >= 400 && said.number < 600 {
		return kindOfStatus(said.number, said)
	}
	if kind := kindOfWords(said); kind != "" {
		return kind
	}
	return adapters.Garbage // asked again twice, and no more
}

// wordKinds are looked for in a server's code first and its message second;
// the first hit counts.
var wordKinds = []struct {
	kind  adapters.Kind
	codes []string
	texts []string
}{
	{adapters.TooLong, []string{"context_length_exceeded", "string_above_max_length"},
		[]string{"context length", "context window", "maximum context", "prompt is too long", "input is too long", "exceeds the context", "reduce the length of the messages", "too many tokens in the prompt"}},
	{adapters.Quota, []string{"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"},
		[]string{"exceeded your current quota", "insufficient balance", "billing hard limit"}},
	{adapters.Auth, []string{"invalid_api_key", "authentication_error", "permission_error"},
		[]string{"incorrect api key", "invalid api key"}},
	{adapters.Overloaded, []string{"rate_limit", "overloaded", "server_error", "internal_error", "unavailable", "timeout", "resource_exhausted"},
		[]string{"overloaded", "rate limit", "try again later", "temporarily unavailable", "had an error while processing"}},
	{adapters.BadRequest, []string{"invalid_request", "model_not_found", "not_found", "bad_request"},
		[]string{"model not found", "does not exist"}},
}

// kindOfWords is "" where the words tell nothing.
func kindOfWords(said *serverError) adapters.Kind {
	if said == nil || said.html {
		return ""
	}
	text := strings.ToLower(said.message)
	for _, w := range wordKinds {
		if slices.ContainsFunc(w.codes, func(c string) bool { return strings.Contains(said.code, c) }) {
			// invalid_request is the type of nearly every refusal: the message
			// knows better when it speaks of length.
			if w.kind != adapters.BadRequest || !strings.Contains(said.code, "invalid_request") {
				return w.kind
			}
		}
		if slices.ContainsFunc(w.texts, func(t string) bool { return strings.Contains(text, t) }) {
			return w.kind
		}
	}
	if strings.Contains(said.code, "invalid_request") {
		return adapters.BadRequest
	}
	return ""
}

// clip bounds a server's words to 1 KiB, whole characters, one line.
func clip(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= maxMessage {
		return s
	}
	s = s[:maxMessage-3]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
