// Package scripted is a model that is a program: a loopback server that speaks
// OpenAI's chat completions protocol (and those of Ollama and Anthropic, for
// tests of their adapters), streaming and not, with tools and usage, and asks a
// Brain for each reply. `adapter: scripted` runs it on a script
// file and drives it with the openai adapter, so that everything but the
// thinking is the real path.
//
// A reply is made from the request alone: the conversation says which run it
// is and how far it has come. A repeated request gets the same reply, whatever
// happened in between, which is what makes a killed company's second try
// comparable with its first. The one exception is a fault that is asked for a
// number of times.
package scripted

import (
	"encoding/json"
	"strings"
	"time"

	"company/internal/adapters"
)

// Responder answers requests. It is called by many goroutines at once and should
// depend on nothing but the exchange.
type Responder interface {
	Reply(Exchange) Reply
}

// BrainFunc is a Responder that is one function.
type BrainFunc func(Exchange) Reply

// Reply calls f.
func (f BrainFunc) Reply(x Exchange) Reply { return f(x) }

// Exchange is one request as a Responder sees it.
type Exchange struct {
	Header    adapters.Header // of the first user message
	HasHeader bool
	Model     string
	Messages  []adapters.Message // tools' answers carry their tool's name
	Tools     []adapters.Tool    // offered
	Turn      int                // replies that the conversation holds so far
	MaxTokens int                // 0: the request names no limit
	Stream    bool
	Fence     string // the name that a call of this reply has in the text protocol

	usage bool // a stream is to end with it
}

// Brief is the first user message: the header and the role's prompt.
func (x Exchange) Brief() string {
	for _, m := range x.Messages {
		if m.Role == adapters.User {
			return m.Content
		}
	}
	return ""
}

// Listed are the items of the list that follows a heading of the second level
// in the first user message.
func (x Exchange) Listed(heading string) []string {
	_, rest, _ := strings.Cut("\n"+x.Brief(), "\n## "+heading+"\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	var out []string
	for line := range strings.Lines(text) {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			out = append(out, item)
		}
	}
	return out
}

// Results are the answers of the named tool so far, oldest first.
func (x Exchange) Results(tool string) []string {
	var out []string
	for _, m := range x.Messages {
		if m.Role == adapters.ToolRole && m.ToolName == tool {
			out = append(out, m.Content)
		}
	}
	return out
}

// LastResult is the newest answer of the named tool.
func (x Exchange) LastResult(tool string) (string, bool) {
	all := x.Results(tool)
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

// Offers reports whether the request offers the named tool.
func (x Exchange) Offers(tool string) bool {
	for _, t := range x.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// Call is a tool call of a Reply.
type Call struct {
	Tool string
	Args any    // encoded as JSON; nil is {}
	Raw  string // sent instead of Args when not empty, JSON or not
	ID   string // empty: made from the turn and the position
}

// argumentsText is the call's text on the wire.
func (c Call) argumentsText() (string, error) {
	if c.Raw != "" {
		return c.Raw, nil
	}
	if c.Args == nil {
		return "{}", nil
	}
	b, err := json.Marshal(c.Args)
	return string(b), err
}

// Reply is what the server answers.
type Reply struct {
	Text    string
	Calls   []Call
	Finish  string          // empty: tool_calls or stop
	Usage   *adapters.Usage // nil: a quarter of the bytes
	Delay   time.Duration   // before the first byte
	Writing time.Duration   // between the first byte and the last of a stream
	Fault   *Fault          // something else than an answer
	Err     string          // the brain has no answer: an HTTP 400 with this message
}

// Fault is a reply that goes wrong. Exactly one of Status, Cut, Hang and
// Garbage should be set.
type Fault struct {
	Status  int               // an HTTP error
	Headers map[string]string // with it
	Body    string            // empty: an OpenAI error object
	Cut     bool              // half of the reply, then the connection is gone
	Hang    bool              // no byte until the client or the server gives up
	Garbage bool              // 200 and text that is no reply
	// Times is how many requests of the same run and turn get the fault before
	// the reply itself; 0 means all of them.
	Times int
}
