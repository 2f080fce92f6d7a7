package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"company/internal/adapters/exchange"
)

// wrapEvents wraps the bodies of streamed replies.
func wrapEvents(req *http.Request, body exchange.Body, ex *exchange.Exchange) exchange.Body {
	if !strings.HasSuffix(req.URL.Path, "/v1/messages") {
		return body
	}
	b := &eventBody{}
	b.Rewriter = exchange.NewRewriter(body, ex, b.next)
	return b
}

// eventBody converts the reply into the JSON documents of its events, without their framing. Some servers send
// events without names, or an error that is not an event. An error ends the body.
type eventBody struct {
	*exchange.Rewriter
	started bool
}

// next processes one line of the body.
func (b *eventBody) next() {
	line, err := b.Ex.ReadLine(b.Lines)
	b.Err = err
	if err != nil && !errors.Is(err, io.EOF) {
		return // ignore an incomplete line
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case isData:
	case line[0] == ':':
		b.started = true
		b.Ex.KeptAlive(len(line))
		return
	case bytes.HasPrefix(line, []byte("event:")), bytes.HasPrefix(line, []byte("id:")),
		bytes.HasPrefix(line, []byte("retry:")):
		b.started = true
		return
	case b.started:
		return
	default: // not a stream of events
		rest, rerr := b.Ex.ReadRest(b.Lines)
		if rerr != nil {
			b.Err = rerr
			return
		}
		if doc := append(line, rest...); doc[0] == '<' || exchange.ErrorIn(doc) != nil {
			b.Ex.Said = exchange.Parse(doc)
		}
		b.Err = io.EOF
		return
	}
	b.started = true
	var e struct {
		Type string `json:"type"`
	}
	data = bytes.ToValidUTF8(bytes.TrimSpace(data), []byte("\uFFFD"))
	if json.Unmarshal(data, &e) != nil {
		return // not an event: the reply stays without an end and is refused
	}
	if e.Type == "ping" {
		b.Ex.KeptAlive(len("event: ping") + len(line))
		return
	}
	if e.Type == "error" {
		b.Ex.Said, b.Err = exchange.Parse(data), io.EOF
		return
	}
	b.Out = append(data, '\n')
}
