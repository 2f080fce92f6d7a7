package scripted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"company/internal/adapters"
	"company/internal/lib/safetext"
)

// Protocol is one wire: it reads requests and writes answers.
type Protocol struct {
	ContentType string
	// Read parses a request and checks it like a real server.
	Read func(body []byte) (Exchange, error)
	// Whole returns an answer in one piece.
	Whole func(Answer) any
	// Events returns the pieces of a streamed answer, each as it is written.
	Events func(Answer) []string
	Fail   func(w http.ResponseWriter, status int, kind, message string)
}

// writeStream writes an answer's events over the time took. With cut it writes half of them and no end. wait
// sleeps, and reports whether the client still reads.
func (p Protocol) writeStream(
	w http.ResponseWriter, a Answer, cut bool, took time.Duration, wait func(time.Duration) bool,
) {
	w.Header().Set("Content-Type", p.ContentType)
	events := p.Events(a)
	pause := took / time.Duration(len(events))
	if cut {
		events = events[:max(1, (len(events)-1)/2)]
	}
	for _, e := range events {
		if _, err := io.WriteString(w, e); err != nil {
			return
		}
		if pause > 0 && (http.NewResponseController(w).Flush() != nil || !wait(pause)) {
			return
		}
	}
	_ = http.NewResponseController(w).Flush()
}

// EncodeJSON returns the JSON of a value that always encodes, such as strings and numbers.
func EncodeJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// FormatEvent returns one server-sent event.
func FormatEvent(name string, v any) string {
	text := "data: " + EncodeJSON(v) + "\n\n"
	if name != "" {
		text = "event: " + name + "\n" + text
	}
	return text
}

// Answer is a reply in a form that every protocol can convert.
type Answer struct {
	ID, Model string
	Text      string
	Calls     []adapters.ToolCall
	Finish    string // OpenAI's finish reason
	Usage     adapters.Usage
	withUsage bool // whether a stream ends with the usage
}

const bytesPerToken = 4

// newAnswer returns the answer for a reply. It is cut at the request's max_tokens, as on a real server.
func newAnswer(exchange Exchange, reply Reply) (Answer, error) {
	a := Answer{ID: fmt.Sprintf("chatcmpl-%s-%d", exchange.Header.Run, exchange.Turn), Model: exchange.Model,
		Text: reply.Text, Finish: reply.Finish, withUsage: exchange.usage}
	for i, call := range reply.Calls {
		args, err := call.argumentsText()
		if err != nil {
			return Answer{}, fmt.Errorf("arguments of %s: %w", call.Tool, err)
		}
		id := call.ID
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", exchange.Turn, i)
		}
		a.Calls = append(a.Calls, adapters.ToolCall{ID: id, Name: call.Tool, Arguments: args})
	}
	if a.Finish == "" {
		a.Finish = "stop"
		if len(a.Calls) > 0 {
			a.Finish = "tool_calls"
		}
	}
	size := len(a.Text)
	for _, c := range a.Calls {
		size += len(c.Name) + len(c.Arguments)
	}
	tokens := size/bytesPerToken + 1
	if exchange.MaxTokens > 0 && tokens > exchange.MaxTokens {
		tokens = exchange.MaxTokens
		a.truncateContent(exchange.MaxTokens * bytesPerToken)
	}
	a.Usage = adapters.Usage{InputTokens: exchange.byteSize()/bytesPerToken + 1, OutputTokens: tokens}
	if reply.Usage != nil {
		a.Usage = *reply.Usage
	}
	return a, nil
}

// byteSize returns the size of the conversation and the tools in bytes.
func (x Exchange) byteSize() int {
	n := 0
	for _, message := range x.Messages {
		n += len(message.Content)
		for _, c := range message.ToolCalls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range x.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// truncateContent keeps the first bytes of the answer: the text, then the calls in order.
func (a *Answer) truncateContent(room int) {
	a.Finish = "length"
	a.Text = safetext.Head(a.Text, room)
	room -= len(a.Text)
	for i := range a.Calls {
		toolCall := &a.Calls[i]
		room -= len(toolCall.Name)
		if room <= 0 {
			a.Calls = a.Calls[:i]
			return
		}
		toolCall.Arguments = safetext.Head(toolCall.Arguments, room)
		room -= len(toolCall.Arguments)
	}
}

// pieceSize limits the bytes of text or arguments in one event.
const pieceSize = 1024

// SplitText splits s between characters for streaming.
func SplitText(s string) []string {
	var out []string
	for len(s) > 0 {
		piece := safetext.Head(s, pieceSize)
		piece = cmp.Or(piece, s) // invalid UTF-8 is sent unchanged
		out = append(out, piece)
		s = s[len(piece):]
	}
	return out
}
