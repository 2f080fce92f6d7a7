package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters/exchange"
)

// wrapEvents wraps the bodies of streamed replies.
func wrapEvents(req *http.Request, body exchange.Body, ex *exchange.Exchange) exchange.Body {
	if !strings.HasSuffix(req.URL.Path, "/chat/completions") {
		return body
	}
	b := &eventBody{}
	b.Rewriter = exchange.NewRewriter(body, ex, b.next)
	return b
}

// eventBody converts the reply for go-openai into data lines only. It drops comments, blank lines and event
// names, and an error ends it. If a server answers with one document instead of a stream, it is converted into
// events.
type eventBody struct {
	*exchange.Rewriter
	started bool
	event   string // name of the event whose data follows
}

// next processes one line of the body.
func (b *eventBody) next() {
	line, err := b.Ex.ReadLine(b.Lines)
	b.Err = err
	if err != nil && !errors.Is(err, io.EOF) {
		return // ignore an incomplete line
	}
	text := bytes.TrimSpace(line)
	if !b.started && len(text) > 0 && !isEventLine(text) {
		b.readDocument(line)
		return
	}
	b.started = b.started || len(text) > 0
	if name, ok := bytes.CutPrefix(text, []byte("event:")); ok {
		b.event = string(bytes.TrimSpace(name))
		return
	}
	if len(text) == 0 {
		b.event = ""
		return
	}
	data, ok := bytes.CutPrefix(text, []byte("data:"))
	if text[0] == ':' || ok && b.event == "ping" {
		b.Ex.KeptAlive(len(text))
		return
	}
	if !ok {
		return
	}
	data = bytes.TrimSpace(data)
	if b.event == "error" || bytes.Contains(data, []byte(`"error"`)) {
		if said := exchange.ErrorIn(data); said != nil || b.event == "error" {
			if said == nil {
				said = exchange.Parse(data)
			}
			b.Ex.Said, b.Err = said, io.EOF
			return
		}
	}
	b.Out = append(append([]byte("data: "), sanitizePiece(data)...), '\n')
}

// sanitizePiece removes invalid token counts from a piece. Otherwise go-openai would refuse the piece, and with
// it the whole reply.
func sanitizePiece(data []byte) []byte {
	var counted struct {
		Usage json.RawMessage `json:"usage"`
	}
	if !bytes.Contains(data, []byte(`"usage"`)) || json.Unmarshal(data, &counted) != nil ||
		json.Unmarshal(counted.Usage, new(sdk.Usage)) == nil {
		return data
	}
	var piece map[string]json.RawMessage
	if json.Unmarshal(data, &piece) != nil {
		return data
	}
	delete(piece, "usage")
	out, err := json.Marshal(piece)
	if err != nil {
		return data
	}
	return out
}

// isEventLine reports whether a body with this first line is a stream of events.
func isEventLine(line []byte) bool {
	if line[0] == ':' {
		return true
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(field)) {
			return true
		}
	}
	return false
}

// readDocument reads the rest of the body as one JSON document: an error, or a reply that was not streamed. Any
// other document is recorded as the server's error and yields no events.
func (b *eventBody) readDocument(first []byte) {
	rest, err := b.Ex.ReadRest(b.Lines)
	if err != nil {
		b.Err = err
		return
	}
	b.Err = io.EOF
	doc := append(first, rest...)
	if said := exchange.ErrorIn(doc); said != nil {
		b.Ex.Said = said
		return
	}
	var reply map[string]json.RawMessage
	var choices []map[string]json.RawMessage
	if json.Unmarshal(doc, &reply) != nil || json.Unmarshal(reply["choices"], &choices) != nil {
		b.Ex.Said = exchange.Parse(doc)
		return
	}
	for _, choice := range choices {
		choice["delta"] = choice["message"]
		delete(choice, "message")
	}
	var chunk []byte
	if reply["choices"], err = json.Marshal(choices); err == nil {
		chunk, err = json.Marshal(reply)
	}
	if err != nil {
		b.Err = err
		return
	}
	b.Out = append(append([]byte("data: "), sanitizePiece(chunk)...), "\ndata: [DONE]\n"...)
}
