package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"company/internal/adapters"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// ServerError is a server's description of a failure, in any form.
type ServerError struct {
	Message string
	Code    string        // its code and type, lower case
	Number  int           // a numeric code, often the HTTP status
	Wait    time.Duration // that it names, 0 if it names none
	html    bool
}

// findError finds an error in a 200 reply: {"error": ...}, or an object or type of "error". It returns nil if
// there is none.
func findError(data []byte) *ServerError {
	// This runs for every piece of a stream, so decode only candidates.
	if !bytes.Contains(data, []byte(`"error"`)) {
		return nil
	}
	doc := MembersOf(firstOf(data))
	// Some servers send an empty error with every piece.
	if IsEmpty(doc["error"]) && doc.Word("object") != "error" && doc.Word("type") != "error" {
		return nil
	}
	return ParseServerError(data)
}

// firstOf returns the first element of a list, as which Google sends its errors, and other documents as they are.
func firstOf(doc []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(doc, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return doc
}

// ParseServerError parses an error body: {"error":{...}}, {"error":"text"}, {"detail":...}, {"message":...}, a list of
// these, HTML or plain text. A message may again be such a document, which a router passes on.
func ParseServerError(body []byte) *ServerError {
	text := strings.TrimSpace(safetext.Head(string(body), maxErrorBody))
	if strings.HasPrefix(text, "<") {
		return &ServerError{Message: "an HTML page instead of an answer", html: true}
	}
	said := parseBody(body, 3)
	said.Message = safetext.Head(cmp.Or(said.Message, text), maxErrorBody)
	said.Wait = waitIn(text)
	return said
}

// parseBody parses an error body and what is nested in it, at most depth levels deep.
func parseBody(body []byte, depth int) *ServerError {
	said := &ServerError{}
	outer := MembersOf(firstOf(body))
	inner := outer
	if raw, ok := outer["error"]; ok {
		if inner = MembersOf(raw); inner == nil {
			said.Message = outer.Word("error")
		}
	}
	for _, members := range []Members{inner, outer} {
		for _, key := range []string{"message", "detail", "msg"} {
			if said.Message == "" && !IsEmpty(members[key]) {
				said.Message = cmp.Or(members.Word(key), string(members[key]))
			}
		}
		if words := members.Word("param"); strings.Contains(words, " ") { // some say there what is wrong
			said.Message += ": " + words
		}
		for _, key := range []string{"code", "type", "status"} {
			word := members.Word(key)
			if n, err := strconv.Atoi(word); err == nil {
				said.Number = cmp.Or(said.Number, n)
			}
			said.Code += " " + strings.ToLower(word)
		}
	}
	if nested := strings.TrimSpace(said.Message); depth > 0 && strings.HasPrefix(nested, "{") {
		if deeper := parseBody([]byte(nested), depth-1); deeper.Message != "" {
			said.Message, said.Code = deeper.Message, said.Code+deeper.Code
		}
	}
	return said
}

// kindOfStatus classifies an HTTP status, using the message if the status is ambiguous.
func kindOfStatus(status int, said *ServerError) adapters.Kind {
	kind := said.findKind()
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
		// A spent account never recovers, and a request over the whole limit of a minute is never taken.
		if kind == adapters.Quota || kind == adapters.TooLong {
			return kind
		}
		return adapters.Overloaded
	case status == http.StatusRequestTimeout || status >= 500:
		switch {
		case kind == adapters.TooLong, kind == adapters.MalformedReply:
			return kind
		case said.isLasting():
			return adapters.BadRequest
		}
		return adapters.Overloaded
	case kind == adapters.TooLong || kind == adapters.Quota || kind == adapters.MalformedReply:
		return kind
	}
	return adapters.BadRequest
}

// kindInStream classifies an error that came with status 200.
func kindInStream(said *ServerError) adapters.Kind {
	if said.Number >= 400 && said.Number < 600 {
		return kindOfStatus(said.Number, said)
	}
	if said.isLasting() {
		return adapters.BadRequest
	}
	return cmp.Or(said.findKind(), adapters.MalformedReply) // retried twice at most
}

// unloadableRE matches messages about a model that the server cannot load: its file is broken, or of an unknown
// kind. It does not match "loading model", which is temporary.
var unloadableRE = lazyregexp.New(
	`(?i)(?:unable to|can ?not|could not|couldn't|failed to|error) load(?:ing)? (?:the )?model|` +
		`model (?:failed|could not|cannot)(?: to)?(?: be)? load|` +
		`(?:unknown|unsupported) model (?:architecture|format)|missing tensor|(?:invalid|bad) gguf|not a (?:valid )?gguf`)

// isUnloadable reports whether the server cannot load the model that it has.
func (s *ServerError) isUnloadable() bool {
	return s != nil && !s.html && unloadableRE.MatchString(s.Message)
}

// templateRE matches messages of a chat template that cannot write the conversation.
var templateRE = lazyregexp.New(
	`(?i)roles must alternate|unexpected role|roles? (?:are|is) (?:not )?supported|raise_exception|` +
		`jinja|chat[ _]template|optional system message`)

// isLasting reports whether an error under a status of the server's own failures will come again. Waiting repairs
// neither a file of the model nor its template, and raises no cap.
func (s *ServerError) isLasting() bool {
	return s.isUnloadable() || s != nil && !s.html &&
		(templateRE.MatchString(s.Message) || namesOutputCap(strings.ToLower(s.Message)))
}

// Clip shortens a server's message to 1 KiB of whole characters on one line.
func Clip(s string) string {
	return safetext.Cut(safetext.StripLine(s), maxMessage)
}
