// Package scripted is a scripted model: a loopback server that speaks OpenAI's chat completions protocol,
// streaming and not, with tools and usage. (scriptedtest has the protocols of Ollama and Anthropic.) It asks a
// Responder for each reply. `adapter: scripted` runs it on a script file and drives it with the openai adapter, so that
// all code except the model is real.
//
// A reply depends only on the request: the conversation identifies the run and its progress. A repeated request
// gets the same reply, so the second try of a killed company is comparable with its first. The only exception is
// a fault with a number of times.
package scripted

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"company/internal/adapters"
)

// Responder answers requests. It must be safe for concurrent use, and should depend only on the exchange.
type Responder interface {
	Reply(Exchange) Reply
}

// BrainFunc is a function that is a Responder.
type BrainFunc func(Exchange) Reply

// Reply calls f.
func (f BrainFunc) Reply(x Exchange) Reply { return f(x) }

// Exchange is one request as a Responder sees it.
type Exchange struct {
	Header    adapters.Header // from the first user message
	HasHeader bool
	Model     string
	Messages  []adapters.Message // answers of tools have their tool's name
	Tools     []adapters.Tool    // offered
	Turn      int                // number of replies in the conversation so far
	MaxTokens int                // 0 if the request has no limit
	Stream    bool
	Fence     string // name of the fence for a call in the text protocol

	usage bool // a stream must end with the usage
}

// Brief returns the first user message: the header and the role's prompt.
func (x Exchange) Brief() string {
	for _, message := range x.Messages {
		if message.Role == adapters.User {
			return message.Content
		}
	}
	return ""
}

// itemRE matches an item of a bulleted or numbered list.
var itemRE = regexp.MustCompile(`^\s*(?:-|\d+\.) (.*\S)`)

// Listed returns the items of the list below a second-level heading in the first user message.
func (x Exchange) Listed(heading string) []string {
	_, rest, _ := strings.Cut("\n"+x.Brief(), "\n## "+heading+"\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	var out []string
	for line := range strings.Lines(text) {
		if m := itemRE.FindStringSubmatch(line); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}

// Results returns the answers of the named tool so far, oldest first.
func (x Exchange) Results(tool string) []string {
	var out []string
	for _, message := range x.Messages {
		if message.Role == adapters.ToolRole && message.ToolName == tool {
			out = append(out, message.Content)
		}
	}
	return out
}

// LastResult returns the newest answer of the named tool.
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
	Args any    // encoded as JSON, nil as {}
	Raw  string // sent instead of Args if not empty, need not be JSON
	ID   string // by default made from the turn and the position
}

// argumentsText returns the arguments as sent on the wire.
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

// Reply describes the answer of the server.
type Reply struct {
	Text    string
	Calls   []Call
	Finish  string          // by default tool_calls or stop
	Usage   *adapters.Usage // nil means a quarter of the bytes
	Delay   time.Duration   // before the first byte
	Writing time.Duration   // between the first byte and the last of a stream
	Fault   *Fault          // sent instead of the answer
	Err     string          // if not empty, an HTTP 400 with this message is sent
}

// Fault is a failing reply. Exactly one of Status, Cut, Hang and Garbage should be set.
type Fault struct {
	Status  int               // status of an HTTP error
	Headers map[string]string // sent with Status
	Body    string            // by default an OpenAI error object
	Cut     bool              // half of the reply, then the connection breaks
	Hang    bool              // no byte until the client or the server gives up
	Garbage bool              // status 200 with an invalid reply
	// Times is the number of requests of the same run and turn that get the fault before the real reply. 0 means
	// all of them.
	Times int
}
