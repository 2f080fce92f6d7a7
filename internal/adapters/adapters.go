// Package adapters connects the company to language models. It owns the
// conversation's wire-neutral form (Request, Message, ToolCall, Response,
// Usage), the registry of adapters, and the wrappers (retry, fallback) that
// every adapter gets. Drivers live in subpackages, one per wire protocol. It
// does not know the questions: prompts and tools are the agents'.
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

// Model is one model behind one endpoint. Chat may be called by many
// goroutines at once.
type Model interface {
	// Chat sends the whole conversation and returns the model's one reply.
	// onEvent (nil allowed) gets pieces of text, and waits, while the reply
	// comes in. Errors are *Error, or ctx's own cause when the caller gave up;
	// a Response is only returned whole.
	Chat(ctx context.Context, req Request, onEvent func(Event)) (Response, error)
	// Info describes the model without asking it.
	Info() Info
}

// Info is what a budget and a context manager need to know of a model.
type Info struct {
	Adapter       string // openai, scripted, ...
	Model         string
	ContextTokens int   // 0: unknown
	MaxOutput     int   // tokens of one reply that are asked for at most; never 0
	Price         Price // zero value: unknown
}

// Roles of a Message.
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
	Images     []Image    `json:"images,omitempty"`       // of a user
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // of an assistant
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool's answer
	ToolName   string     `json:"tool_name,omitempty"`    // of a tool's answer
	// Opaque is what the wire protocol wants back unchanged (thinking
	// signatures and the like).
	Opaque json.RawMessage `json:"opaque,omitempty"`
	// CallBytes is how many bytes at the end of Content are the reply's call, which
	// came in the text protocol. 0: its calls came over the wire.
	CallBytes int `json:"call_bytes,omitempty"`
}

// Image is an image that a message shows. Records name it by its digest.
type Image struct {
	company.Attachment
	Data []byte `json:"-"`
}

// TextBeforeCall returns the text of a reply without a call that it ends with.
func (m Message) TextBeforeCall() string {
	if m.CallBytes <= 0 || m.CallBytes > len(m.Content) {
		return m.Content
	}
	return strings.TrimRight(m.Content[:len(m.Content)-m.CallBytes], " \t\r\n")
}

// ToolCall is what the model asks for. Arguments is what the model wrote,
// which need not be JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool describes a tool to the model. Schema is a JSON Schema object.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// WireSchema is the schema, also where the tool names none.
func (t Tool) WireSchema() json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

// PairCalls gives each call an id of its own where the server did not: an answer
// is paired with its call by the id.
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

// Limit is how many tokens the reply of a model may have.
func (r Request) Limit(m Info) int {
	if r.MaxTokens > 0 {
		return r.MaxTokens
	}
	return m.MaxOutput
}

// Request is one call of a model.
type Request struct {
	Messages    []Message `json:"messages"`
	Tools       []Tool    `json:"tools,omitempty"`
	MaxTokens   int       `json:"max_tokens"` // explicit, so that the worst case is known; 0: Info().MaxOutput
	Temperature *float64  `json:"temperature,omitempty"`
	// Textual names models that an earlier process found to take no tools over
	// the wire (Response.Textual): they are given them in text from the start.
	Textual []string `json:"textual,omitempty"`
}

// Response is one whole reply.
type Response struct {
	Message Message
	Finish  Finish
	Usage   Usage
	Model   string // as the server named it
	// Served is the model that answered, which behind a fallback need not be
	// the first one: its price settles the call.
	Served Info
	// Textual: the model was given its tools in text, since it takes none over
	// the wire.
	Textual bool
	// FirstByte is how long the server took to the first piece of the reply, from the
	// request on; 0: it is not known.
	FirstByte time.Duration
}

// Finish is why a reply ended.
type Finish string

const (
	FinishStop   Finish = "stop"   // the model had no more to say, or called tools
	FinishLength Finish = "length" // cut at max_tokens: its tool calls are not to be run
	FinishFilter Finish = "filter" // refused or filtered
)

// Event is progress while a reply is on its way.
type Event struct {
	Text    string        // a piece of the reply's text
	Waiting time.Duration // > 0: the next attempt begins after this long (shown as waiting)
	Asked   bool          // of Waiting: the server named the wait
	Reason  string
	Attempt int // from 1; text of an earlier attempt is void
}

// Kind says what to do about an Error.
type Kind string

const (
	Unreachable    Kind = "unreachable"  // refused, reset, no route: again 1, 2, 4 s, then the fallback
	UnknownHost    Kind = "unknown_host" // DNS says that there is no such host: a person must act
	Overloaded     Kind = "overloaded"   // 408, 429, 5xx, 529: back off, up to limits.model_wait
	TimedOut       Kind = "timed_out"    // no first token, or silence in the stream
	Auth           Kind = "auth"         // 401, 403: a person must act
	BadRequest     Kind = "bad_request"  // 400, 404, 422 and whatever else is never retried
	Quota          Kind = "quota"        // insufficient_quota: a person must act
	TooLong        Kind = "too_long"     // the context does not fit
	MalformedReply Kind = "garbage"      // a reply that is not one: cut, empty, not JSON
)

// Error is what Chat fails with.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // as the server asked, 0 if it did not
	Message    string        // the server's message, bounded to 1 KiB
	Err        error
	// Unanswered: the server may have worked for us without telling what it
	// counted. A budget counts the call as its worst case, or, where Err has an
	// Unfinished, as what that tells.
	Unanswered bool
	// Endless: a reply came, and did not come to its end in time. Another try would
	// take as long.
	Endless bool
	// Usage is what the server counted for the failed reply, nil when it did
	// not say.
	Usage *Usage
	// Fix is what a person can do about it, where the adapter knows better than
	// the kind does.
	Fix string
}

// Unfinished is the end of a call without an answer, and how far the call had come: what its
// server can have charged (decision 0233). Cause is why it ended.
type Unfinished struct {
	Cause error
	// Unsent: no byte of the request left this machine.
	Unsent bool
	// Received is how many bytes of the reply came, without framing and keep-alives.
	Received int
}

func (e *Unfinished) Error() string { return e.Cause.Error() }

// Unwrap is the cause.
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

// KindOf tells the kind of err; "" when it is no *Error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
