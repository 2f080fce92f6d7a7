package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"company/internal/adapters"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// ServerError is a server's description of a failure, in any form.
type ServerError struct {
	Message string
	Code    string // its code and type, lower case
	Number  int    // a numeric code, often the HTTP status
	html    bool
}

// ErrorIn finds an error in a 200 reply: {"error": ...}, or an object or type of "error". It returns nil if
// there is none.
func ErrorIn(data []byte) *ServerError {
	var doc struct {
		Error  json.RawMessage `json:"error"`
		Object string          `json:"object"`
	}
	// This runs for every piece of a stream, so decode only candidates.
	if !bytes.Contains(data, []byte(`"error"`)) || json.Unmarshal(data, &doc) != nil {
		return nil
	}
	switch string(doc.Error) {
	case "", "null", `""`: // some servers send an empty error with every piece
		if doc.Object != "error" {
			return nil
		}
	}
	return Parse(data)
}

// Parse parses an error body: {"error":{...}}, {"error":"text"}, {"detail":...}, {"message":...}, HTML or plain
// text.
func Parse(body []byte) *ServerError {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") {
		return &ServerError{Message: "an HTML page instead of an answer", html: true}
	}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		return &ServerError{Message: text}
	}
	said := &ServerError{}
	inner := outer
	if raw, ok := outer["error"]; ok {
		inner = nil
		if json.Unmarshal(raw, &inner) != nil {
			_ = json.Unmarshal(raw, &said.Message) // a string, otherwise it stays empty
		}
	}
	for _, key := range []string{"message", "detail", "msg"} {
		if said.Message != "" || len(inner[key]) == 0 {
			continue
		}
		if json.Unmarshal(inner[key], &said.Message) != nil {
			said.Message = string(inner[key])
		}
	}
	for _, key := range []string{"code", "type", "status"} {
		var word string
		var number int
		switch {
		case json.Unmarshal(inner[key], &number) == nil:
			said.Number = number
		case json.Unmarshal(inner[key], &word) == nil:
			said.Code += " " + strings.ToLower(word)
			if n, err := strconv.Atoi(word); err == nil {
				said.Number = n
			}
		}
	}
	said.Message = cmp.Or(said.Message, text)
	return said
}

// KindOfStatus classifies an HTTP status, using the message if the status is ambiguous.
func KindOfStatus(status int, said *ServerError) adapters.Kind {
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
		// OpenAI sends 429 for a spent account, too, which never recovers.
		if kind == adapters.Quota {
			return kind
		}
		return adapters.Overloaded
	case status == http.StatusRequestTimeout || status >= 500:
		switch {
		case kind == adapters.TooLong:
			return kind
		case said.isUnloadable():
			return adapters.BadRequest // waiting does not repair the file
		}
		return adapters.Overloaded
	case kind == adapters.TooLong || kind == adapters.Quota:
		return kind
	}
	return adapters.BadRequest
}

// kindInStream classifies an error that came with status 200.
func kindInStream(said *ServerError) adapters.Kind {
	if said.Number >= 400 && said.Number < 600 {
		return KindOfStatus(said.Number, said)
	}
	if said.isUnloadable() {
		return adapters.BadRequest
	}
	if kind := kindOfWords(said); kind != "" {
		return kind
	}
	return adapters.MalformedReply // retried twice at most
}

// unloadableRE matches messages about a model that the server cannot load: its file is broken, or of an unknown
// kind. It does not match "loading model", which is temporary.
var unloadableRE = lazyregexp.New(
	`(?i)(?:unable to|can ?not|could not|couldn't|failed to|error) load(?:ing)? (?:the )?model|model (?:failed|could not|cannot)(?: to)?(?: be)? load|(?:unknown|unsupported) model (?:architecture|format)|missing tensor|(?:invalid|bad) gguf|not a (?:valid )?gguf`)

// isUnloadable reports whether the server cannot load the model that it has.
func (s *ServerError) isUnloadable() bool {
	return s != nil && !s.html && unloadableRE.MatchString(s.Message)
}

// wordKinds classifies errors by terms, first in the server's code and then in its message. The first match
// counts.
var wordKinds = []struct {
	kind  adapters.Kind
	codes []string
	texts []string
}{
	{adapters.TooLong, []string{"context_length_exceeded", "string_above_max_length"},
		[]string{"context length", "context window", "maximum context", "prompt is too long", "input is too long",
			"exceeds the context", "reduce the length of the messages", "too many tokens in the prompt", "context limit",
			"context size"}},
	{adapters.Quota, []string{"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"},
		[]string{"exceeded your current quota", "insufficient balance", "billing hard limit", "credit balance is too low"}},
	{adapters.Auth, []string{"invalid_api_key", "authentication_error", "permission_error"},
		[]string{"incorrect api key", "invalid api key"}},
	{adapters.Overloaded,
		[]string{"rate_limit", "overloaded", "server_error", "internal_error", "unavailable", "timeout",
			"resource_exhausted"},
		[]string{"overloaded", "rate limit", "try again later", "temporarily unavailable", "had an error while processing"}},
	{adapters.BadRequest, []string{"invalid_request", "model_not_found", "not_found", "bad_request"},
		[]string{"model not found", "does not exist"}},
}

// kindOfWords classifies an error by its code and message. It returns "" if that is not possible.
func kindOfWords(said *ServerError) adapters.Kind {
	if said == nil || said.html {
		return ""
	}
	text := strings.ToLower(said.Message)
	for _, w := range wordKinds {
		if slices.ContainsFunc(w.codes, func(c string) bool { return strings.Contains(said.Code, c) }) {
			// invalid_request is the type of almost every refusal, so a message about length takes precedence.
			if w.kind != adapters.BadRequest || !strings.Contains(said.Code, "invalid_request") {
				return w.kind
			}
		}
		if slices.ContainsFunc(w.texts, func(t string) bool { return strings.Contains(text, t) }) {
			return w.kind
		}
	}
	if strings.Contains(said.Code, "invalid_request") {
		return adapters.BadRequest
	}
	return ""
}

// Clip shortens a server's message to 1 KiB of whole characters on one line.
func Clip(s string) string {
	return safetext.Cut(safetext.StripLine(s), maxMessage)
}
