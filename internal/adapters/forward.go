package adapters

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

// Wire names the protocol of a model's server.
type Wire string

const (
	WireChat      Wire = "chat"      // POST /v1/chat/completions, as OpenAI defined it
	WireResponses Wire = "responses" // POST /v1/responses, as OpenAI defined it
	WireMessages  Wire = "messages"  // POST /v1/messages, as Anthropic defined it
)

// Forwarder is a bare model that sends requests which another client wrote in its wire.
type Forwarder interface {
	// Wires lists the wires of requests that Forward sends. Not every server answers in all of them.
	Wires() []Wire
	// Forward sends a request once, with this model and with req.MaxTokens as the limit of the reply. It copies the
	// reply as it comes. Of req only that limit is sent: req stands in for the client's request when costs are bounded.
	// Errors are those of Model.Chat.
	Forward(ctx context.Context, req Request, f Forwarded) (Response, error)
}

// Forwarded is a request that another client wrote.
type Forwarded struct {
	Wire   Wire
	Body   map[string]json.RawMessage // members of the document
	Header http.Header                // sent in addition to the driver's own, nil for none
	// Begin is called when the server has accepted the request. The reply is written to what it returns.
	Begin func(contentType string) io.Writer
	// Learnt holds what the driver has learnt of its server by requests of the same client. What a client provokes is
	// kept from others.
	Learnt *Learnt
}

// Learnt holds what a driver has learnt. It is safe for concurrent use.
type Learnt struct {
	mu    sync.Mutex
	rules any
}

// Load returns what was stored, nil at first.
func (l *Learnt) Load() any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rules
}

// Store replaces it.
func (l *Learnt) Store(rules any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules = rules
}

// WantsStream reports whether the client wants the reply as a stream.
func (f Forwarded) WantsStream() bool { return string(f.Body["stream"]) == "true" }

// FindForwarder returns the Forwarder behind the wrappers of one bare model, or nil if it is none.
func FindForwarder(m Model) Forwarder {
	for {
		if f, ok := m.(Forwarder); ok {
			return f
		}
		w, ok := m.(interface{ Unwrap() []Model })
		if !ok {
			return nil
		}
		m = w.Unwrap()[0]
	}
}
