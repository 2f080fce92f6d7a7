package scripted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"company/internal/adapters"
	"company/internal/safetext"
)

// protocol is one wire: how a request is read and an answer is written.
type protocol struct {
	contentType string
	// read checks a request as a real server does, and reads it.
	read func(body []byte) (Exchange, error)
	// whole is an answer in one piece.
	whole func(answer) any
	// events are the pieces of a streamed one, each as it is written.
	events func(answer) []string
	fail   func(w http.ResponseWriter, status int, kind, message string)
}

// writeStream writes an answer's events; half of them, and no end, when cut. took is the time that
// all of them take; wait waits, and reports whether the client still reads.
func (p protocol) writeStream(w http.ResponseWriter, a answer, cut bool, took time.Duration, wait func(time.Duration) bool) {
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

// encodeOrEmpty is JSON of what always encodes: strings and numbers.
func encodeOrEmpty(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// formatEvent is one server-sent event.
func formatEvent(name string, v any) string {
	text := "data: " + encodeOrEmpty(v) + "\n\n"
	if name != "" {
		text = "event: " + name + "\n" + text
	}
	return text
}

// answer is a reply in a form that each protocol translates.
type answer struct {
	id, model string
	text      string
	calls     []adapters.ToolCall
	finish    string // OpenAI's name of it
	usage     adapters.Usage
	withUsage bool // whether a stream ends with it
}

const bytesPerToken = 4

// newAnswer makes the answer, cut at the request's max_tokens as a real
// server's is.
func newAnswer(x Exchange, reply Reply) (answer, error) {
	a := answer{id: fmt.Sprintf("chatcmpl-%s-%d", x.Header.Run, x.Turn), model: x.Model, text: reply.Text, finish: reply.Finish, withUsage: x.usage}
	for i, c := range reply.Calls {
		args, err := c.argumentsText()
		if err != nil {
			return answer{}, fmt.Errorf("arguments of %s: %w", c.Tool, err)
		}
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", x.Turn, i)
		}
		a.calls = append(a.calls, adapters.ToolCall{ID: id, Name: c.Tool, Arguments: args})
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
	if x.MaxTokens > 0 && tokens > x.MaxTokens {
		tokens = x.MaxTokens
		a.truncate(x.MaxTokens * bytesPerToken)
	}
	a.usage = adapters.Usage{InputTokens: x.byteSize()/bytesPerToken + 1, OutputTokens: tokens}
	if reply.Usage != nil {
		a.usage = *reply.Usage
	}
	return a, nil
}

// byteSize of the conversation and the tools in bytes.
func (x Exchange) byteSize() int {
	n := 0
	for _, m := range x.Messages {
		n += len(m.Content)
		for _, c := range m.ToolCalls {
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
		f := &a.calls[i]
		room -= len(f.Name)
		if room <= 0 {
			a.calls = a.calls[:i]
			return
		}
		f.Arguments = safetext.Head(f.Arguments, room)
		room -= len(f.Arguments)
	}
}

// pieceSize is how many bytes of text or arguments one event carries.
const pieceSize = 1024

// splitText splits s for streaming, between characters.
func splitText(s string) []string {
	var out []string
	for len(s) > 0 {
		piece := safetext.Head(s, pieceSize)
		piece = cmp.Or(piece, s) // not text: invalid bytes travel as they are
		out = append(out, piece)
		s = s[len(piece):]
	}
	return out
}
