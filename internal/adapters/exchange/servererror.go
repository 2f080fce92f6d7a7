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
	"company/internal/lazyregexp"
	"company/internal/safetext"
)

// ServerError is a server's description of a failure, in any of its shapes.
type ServerError struct {
	Message string
	Code    string // its code and type, lower case
	Number  int    // a code that is a number, as some give the HTTP status
	html    bool
}

// ErrorIn finds the error in a 200: {"error": ...} or an object or type of
// "error". It is nil when there is none.
func ErrorIn(data []byte) *ServerError {
	var doc struct {
		Error  json.RawMessage `json:"error"`
		Object string          `json:"object"`
	}
	// Every piece of a stream comes by here: most need not be decoded.
	if !bytes.Contains(data, []byte(`"error"`)) || json.Unmarshal(data, &doc) != nil {
		return nil
	}
	switch string(doc.Error) {
	case "", "null", `""`: // some send an empty one with every piece
		if doc.Object != "error" {
			return nil
		}
	}
	return Parse(data)
}

// Parse reads an error body: {"error":{...}}, {"error":"text"},
// {"detail":...}, {"message":...}, HTML or plain text.
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
			_ = json.Unmarshal(raw, &said.Message) // a string, or stays empty
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

// KindOfStatus sorts an HTTP status, with a look at the message where one
// status has several meanings.
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
		// OpenAI answers 429 to a spent account, too: that never gets better.
		if kind == adapters.Quota {
			return kind
		}
		return adapters.Overloaded
	case status == http.StatusRequestTimeout || status >= 500:
		switch {
		case kind == adapters.TooLong:
			return kind
		case said.isUnloadable():
			return adapters.BadRequest // waiting makes no file good
		}
		return adapters.Overloaded
	case kind == adapters.TooLong || kind == adapters.Quota:
		return kind
	}
	return adapters.BadRequest
}

// kindInStream sorts an error that came under status 200.
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
	return adapters.MalformedReply // asked again twice, and no more
}

// unloadableRE matches servers' messages about a model that they cannot load:
// its file is broken, or of an unknown kind. "Loading model", which ends, does
// not match.
var unloadableRE = lazyregexp.New(`(?i)(?:unable to|can ?not|could not|couldn't|failed to|error) load(?:ing)? (?:the )?model|model (?:failed|could not|cannot)(?: to)?(?: be)? load|(?:unknown|unsupported) model (?:architecture|format)|missing tensor|(?:invalid|bad) gguf|not a (?:valid )?gguf`)

// isUnloadable reports whether the server cannot load the model that it has.
func (s *ServerError) isUnloadable() bool {
	return s != nil && !s.html && unloadableRE.MatchString(s.Message)
}

// wordKinds are looked for in a server's code first and its message second;
// the first hit counts.
var wordKinds = []struct {
	kind  adapters.Kind
	codes []string
	texts []string
}{
	{adapters.TooLong, []string{"context_length_exceeded", "string_above_max_length"},
		[]string{"context length", "context window", "maximum context", "prompt is too long", "input is too long", "exceeds the context", "reduce the length of the messages", "too many tokens in the prompt", "context limit", "context size"}},
	{adapters.Quota, []string{"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"},
		[]string{"exceeded your current quota", "insufficient balance", "billing hard limit", "credit balance is too low"}},
	{adapters.Auth, []string{"invalid_api_key", "authentication_error", "permission_error"},
		[]string{"incorrect api key", "invalid api key"}},
	{adapters.Overloaded, []string{"rate_limit", "overloaded", "server_error", "internal_error", "unavailable", "timeout", "resource_exhausted"},
		[]string{"overloaded", "rate limit", "try again later", "temporarily unavailable", "had an error while processing"}},
	{adapters.BadRequest, []string{"invalid_request", "model_not_found", "not_found", "bad_request"},
		[]string{"model not found", "does not exist"}},
}

// kindOfWords sorts an error by its message; "" where that is not possible.
func kindOfWords(said *ServerError) adapters.Kind {
	if said == nil || said.html {
		return ""
	}
	text := strings.ToLower(said.Message)
	for _, w := range wordKinds {
		if slices.ContainsFunc(w.codes, func(c string) bool { return strings.Contains(said.Code, c) }) {
			// invalid_request is the type of nearly every refusal: the message
			// knows better when it speaks of length.
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

// Clip bounds a server's message to 1 KiB, whole characters, one line.
func Clip(s string) string {
	return safetext.Cut(safetext.StripLine(s), maxMessage)
}
