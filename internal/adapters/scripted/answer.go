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

// protocol is one wire: it reads requests and writes answers.
type protocol struct {
	contentType string
	// read parses a request and checks it like a real server.
	read func(body []byte) (Exchange, error)
	// whole returns an answer in one piece.
	whole func(answer) any
	// events returns the pieces of a streamed answer, each as it is written.
	events func(answer) []string
	fail   func(w http.ResponseWriter, status int, kind, message string)
}

// writeStream writes an answer's events over the time took. With cut it writes half of them and no end. wait
// sleeps, and reports whether the client still reads.
func (p protocol) writeStream(
	w http.ResponseWriter, a answer, cut bool, took time.Duration, wait func(time.Duration) bool,
) {
	w.Header().Set("Content-Type", p.contentType)
	events := p.events(a)
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

// encodeOrEmpty returns the JSON of a value that always encodes, such as strings and numbers.
func encodeOrEmpty(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// formatEvent returns one server-sent event.
func formatEvent(name string, v any) string {
	text := "data: " + encodeOrEmpty(v) + "\n\n"
	if name != "" {
		text = "event: " + name + "\n" + text
	}
	return text
}

// answer is a reply in a form that every protocol can convert.
type answer struct {
	id, model string
	text      string
	calls     []adapters.ToolCall
	finish    string // OpenAI's finish reason
	usage     adapters.Usage
	withUsage bool // whether a stream ends with the usage
}

const bytesPerToken = 4

// newAnswer returns the answer for a reply. It is cut at the request's max_tokens, as on a real server.
func newAnswer(exchange Exchange, reply Reply) (answer, error) {
	a := answer{id: fmt.Sprintf("chatcmpl-%s-%d", exchange.Header.Run, exchange.Turn), model: exchange.Model,
		text:   reply.Text,
		finish: reply.Finish, withUsage: exchange.usage}
	for i, call := range reply.Calls {
		args, err := call.argumentsText()
		if err != nil {
			return answer{}, fmt.Errorf("arguments of %s: %w", call.Tool, err)
		}
		id := call.ID
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", exchange.Turn, i)
		}
		a.calls = append(a.calls, adapters.ToolCall{ID: id, Name: call.Tool, Arguments: args})
	}
	if a.finish == "" {
		a.finish = "stop"
		if len(a.calls) > 0 {
			a.finish = "tool_calls"
		}
	}
	size := len(a.text)
	for _, c := range a.calls {
		size += len(c.Name) + len(c.Arguments)
	}
	tokens := size/bytesPerToken + 1
	if exchange.MaxTokens > 0 && tokens > exchange.MaxTokens {
		tokens = exchange.MaxTokens
		a.truncate(exchange.MaxTokens * bytesPerToken)
	}
	a.usage = adapters.Usage{InputTokens: exchange.byteSize()/bytesPerToken + 1, OutputTokens: tokens}
	if reply.Usage != nil {
		a.usage = *reply.Usage
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

// truncate keeps the first bytes of the answer: the text, then the calls in order.
func (a *answer) truncate(room int) {
	a.finish = "length"
	a.text = safetext.Head(a.text, room)
	room -= len(a.text)
	for i := range a.calls {
		toolCall := &a.calls[i]
		room -= len(toolCall.Name)
		if room <= 0 {
			a.calls = a.calls[:i]
			return
		}
		toolCall.Arguments = safetext.Head(toolCall.Arguments, room)
		room -= len(toolCall.Arguments)
	}
}

// pieceSize limits the bytes of text or arguments in one event.
const pieceSize = 1024

// splitText splits s between characters for streaming.
func splitText(s string) []string {
	var out []string
	for len(s) > 0 {
		piece := safetext.Head(s, pieceSize)
		piece = cmp.Or(piece, s) // invalid UTF-8 is sent unchanged
		out = append(out, piece)
		s = s[len(piece):]
	}
	return out
}
