// Package adapters connects the company to language models. It owns the wire-neutral form of a conversation:
// Request, Message, ToolCall, Response, Usage. It also owns the registry of adapters, and the wrappers of every
// adapter (retry, fallback). Drivers are in subpackages, one per wire protocol. Prompts and tools come from the
// agents.
package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"company/internal/company"
)

// Model is one model behind one endpoint. Chat is safe for concurrent use.
type Model interface {
	// Chat sends the whole conversation and returns the model's one reply. onEvent may be nil. It receives pieces
	// of text, and waits, while the reply comes in. Errors are *Error, or the cause of ctx if the caller cancelled.
	// A Response is returned only when it is complete.
	Chat(ctx context.Context, req Request, onEvent func(Event)) (Response, error)
	// Info describes the model without a request.
	Info() Info
}

// Info describes a model for budgets and for the management of its context.
type Info struct {
	Adapter       string // openai, scripted, ...
	Model         string
	ContextTokens int   // 0 if unknown
	MaxOutput     int   // maximum tokens to request for one reply, never 0
	Price         Price // the zero value means unknown

	// KeyEnv and SetIn are those of the Profile, only for hints.
	KeyEnv, SetIn string
}

// The roles of a Message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	ToolRole  = "tool"
)

// Message is one entry of the conversation.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content,omitempty"`
	Images     []Image    `json:"images,omitempty"`       // of a user's message
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // of an assistant's message
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool's answer
	ToolName   string     `json:"tool_name,omitempty"`    // of a tool's answer
	// Opaque holds data that the server needs back unchanged, such as thinking signatures.
	Opaque json.RawMessage `json:"opaque,omitempty"`
	// CallBytes is the size of the call at the end of Content, in the text protocol. 0 means that the calls came
	// over the wire.
	CallBytes int `json:"call_bytes,omitempty"`
}

// Image is an image in a message. Records refer to it by its digest.
type Image struct {
	company.Attachment
	Data []byte `json:"-"`
}

// TextBeforeCall returns the text of a reply without the call at its end.
func (m Message) TextBeforeCall() string {
	if m.CallBytes <= 0 || m.CallBytes > len(m.Content) {
		return m.Content
	}
	return strings.TrimRight(m.Content[:len(m.Content)-m.CallBytes], " \t\r\n")
}

// ToolCall is a call that the model requests. Arguments is the text from the model, which need not be JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// WireName makes a text the name of a tool, or the id of a call, that every server accepts. It replaces other
// characters than a-z, A-Z, 0-9, _ and -, and cuts it to 64 bytes. A text that suits stays as it is.
func WireName(name string) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if s == "" {
		return "unnamed"
	}
	return s[:min(len(s), 64)]
}

// Tool describes a tool to the model. Schema is a JSON Schema object.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// WireSchema returns the schema, or an empty object schema if the tool has none.
func (t Tool) WireSchema() json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

// PairCalls gives each call a unique id if the server did not. Answers are matched with their calls by id.
func (r Request) PairCalls(calls []ToolCall) {
	seen := map[string]bool{}
	for i := range calls {
		id := &calls[i].ID
		for n := i; *id == "" || seen[*id]; n++ {
			*id = fmt.Sprintf("call_%d_%d", len(r.Messages), n)
		}
		seen[*id] = true
	}
}

// Limit returns the maximum tokens of the reply.
func (r Request) Limit(info Info) int {
	if r.MaxTokens > 0 {
		return r.MaxTokens
	}
	return info.MaxOutput
}

// Request is one call of a model.
type Request struct {
	Messages    []Message `json:"messages"`
	Tools       []Tool    `json:"tools,omitempty"`
	MaxTokens   int       `json:"max_tokens"` // explicit, so that the worst case is known; 0 means Info().MaxOutput
	Temperature *float64  `json:"temperature,omitempty"`
	// Textual lists models that an earlier process found to accept no tools over the wire (see Response.Textual).
	// They get their tools as text from the start.
	Textual []string `json:"textual,omitempty"`
}

// Response is one complete reply.
type Response struct {
	Message Message
	Finish  Finish
	Usage   Usage
	Model   string // as the server named it
	// Served is the model that answered. Behind a fallback it may not be the first one. Its price settles the call.
	Served Info
	// Textual reports that the model got its tools as text, because it accepts none over the wire.
	Textual bool
	// FirstByte is the time from the request to the first piece of the reply, 0 if unknown.
	FirstByte time.Duration
}

// Finish is the reason for the end of a reply.
type Finish string

const (
	FinishStop   Finish = "stop"   // complete, or with tool calls
	FinishLength Finish = "length" // cut at max_tokens: do not run its tool calls
	FinishFilter Finish = "filter" // refused or filtered
)

// Event is progress during a reply.
type Event struct {
	Text    string        // a piece of the reply's text
	Waiting time.Duration // if > 0, the next attempt begins after this time
	Longest time.Duration // with Waiting: the limit of all such waits of the call
	Asked   bool          // the server requested the wait in Waiting
	Reason  string
	Attempt int // from 1; text of earlier attempts is void
}

// Kind classifies an Error by the reaction that it needs.
type Kind string

const (
	Unreachable    Kind = "unreachable"  // refused, reset, no route: the fallback, or back off like Overloaded
	UnknownHost    Kind = "unknown_host" // DNS knows no such host: a person must act, unless it has answered before
	Overloaded     Kind = "overloaded"   // 408, 429, 5xx, 529: back off, up to limits.model_wait
	TimedOut       Kind = "timed_out"    // no first token, or silence in the stream
	Auth           Kind = "auth"         // 401, 403: a person must act
	BadRequest     Kind = "bad_request"  // 400, 404, 422 and other errors that are never retried
	Quota          Kind = "quota"        // insufficient_quota: a person must act
	TooLong        Kind = "too_long"     // the context does not fit
	MalformedReply Kind = "garbage"      // an unusable reply: cut, empty, not JSON
)

// Error is the error of a failed Chat.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 without one
	RetryAfter time.Duration // as the server requested, 0 without a request
	Message    string        // the server's message, bounded to 1 KiB
	Err        error
	// Unanswered means that the server may have done work without reporting its count. A budget charges the worst
	// case, or an estimate if Err contains an Unfinished.
	Unanswered bool
	// Endless means that a reply began but did not end in time. Another try would take as long.
	Endless bool
	// Usage is the server's count for the failed reply, or nil without one.
	Usage *Usage
	// Fix suggests a remedy to a person, if the adapter knows a better one than the kind implies.
	Fix string
}

// Unfinished describes a call that ended without an answer, and its progress, from which the possible cost is
// estimated (docs/decisions/money.md). Cause is the reason for the end.
type Unfinished struct {
	Cause error
	// Unsent means that no byte of the request left this machine.
	Unsent bool
	// Received is the number of bytes of the reply that came, without framing and keep-alives.
	Received int
}

// mayCost reports whether the server may have worked on the request.
func (e *Error) mayCost() bool {
	unfinished := new(Unfinished)
	return e.Unanswered && !(errors.As(e.Err, &unfinished) && unfinished.Unsent)
}

func (e *Unfinished) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *Unfinished) Unwrap() error { return e.Cause }

func (e *Error) Error() string {
	s := "model: " + string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of err, or "" if it contains no *Error.
func KindOf(err error) Kind {
	var fault *Error
	if errors.As(err, &fault) {
		return fault.Kind
	}
	return ""
}
