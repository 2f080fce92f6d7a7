package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"company/internal/adapters/exchange"
)

// wrapReplies wraps the replies, below the module that reads them.
func wrapReplies(req *http.Request, body exchange.Body, ex *exchange.Exchange) exchange.Body {
	b := &watched{stream: strings.HasSuffix(req.URL.Path, "/api/chat")}
	b.Rewriter = exchange.NewRewriter(body, ex, b.next)
	return b
}

// watched is a reply as the module reads it: one document, or a stream of one a
// line. The module takes an error in a document for an answer, and gives up on
// a whole reply for a count or a call's arguments that it cannot hold; both are
// met here.
type watched struct {
	*exchange.Rewriter
	stream bool
}

// next takes one document of the body.
func (b *watched) next() {
	var doc []byte
	if b.stream {
		doc, b.Err = b.Ex.ReadLine(b.Lines)
	} else if doc, b.Err = b.Ex.ReadRest(b.Lines); b.Err == nil {
		b.Err = io.EOF
	}
	doc = bytes.TrimSpace(doc)
	if b.stream && b.Err == nil && (len(doc) == 0 || doc[0] == ':') {
		b.Ex.KeptAlive(len(doc)) // of a proxy: the server's own protocol has none
		return
	}
	if len(doc) == 0 || b.Err != nil && !errors.Is(b.Err, io.EOF) {
		return // half a line is no line
	}
	if said := exchange.ErrorIn(doc); said != nil || doc[0] == '<' {
		if said == nil {
			said = exchange.Parse(doc) // a page says what it is
		}
		b.Ex.Said, b.Err = said, io.EOF
		return
	}
	if b.stream {
		doc = append(sanitizeLine(doc), '\n')
	}
	b.Out = doc
}

// malformed is the key under which arguments that are no object travel in one.
const malformed = "malformed_arguments"

// sanitizeLine is a line that the module can read: a count that is no number of
// tokens becomes -1, which Believable refuses, and arguments that are no object
// become one.
func sanitizeLine(line []byte) []byte {
	var piece map[string]json.RawMessage
	if !bytes.Contains(line, []byte(`eval_count"`)) && !bytes.Contains(line, []byte(`"tool_calls"`)) || json.Unmarshal(line, &piece) != nil {
		return line
	}
	changed := false
	for _, key := range []string{"prompt_eval_count", "eval_count"} {
		if raw, ok := piece[key]; ok {
			if _, err := strconv.Atoi(string(raw)); err != nil {
				piece[key], changed = json.RawMessage("-1"), true
			}
		}
	}
	if message, ok := readableMessage(piece["message"]); ok {
		piece["message"], changed = message, true
	}
	return encodeChanged(piece, changed, line)
}

// readableMessage is readable for the message of a line. ok tells that it was
// changed.
func readableMessage(raw json.RawMessage) (_ json.RawMessage, ok bool) {
	var message map[string]json.RawMessage
	var calls []map[string]json.RawMessage
	if json.Unmarshal(raw, &message) != nil || json.Unmarshal(message["tool_calls"], &calls) != nil {
		return nil, false
	}
	for _, call := range calls {
		var function map[string]json.RawMessage
		if json.Unmarshal(call["function"], &function) != nil {
			continue
		}
		args, given := function["arguments"]
		if !given || bytes.HasPrefix(bytes.TrimSpace(args), []byte("{")) {
			continue
		}
		function["arguments"], ok = toObject(args), true
		call["function"] = encodeChanged(function, true, nil)
	}
	if !ok {
		return nil, false
	}
	message["tool_calls"] = encodeChanged(calls, true, nil)
	return encodeChanged(message, true, nil), true
}

// toObject makes an object of arguments that are none. Some proxies send them in
// a text, as OpenAI does.
func toObject(args json.RawMessage) json.RawMessage {
	var text string
	switch {
	case string(args) == "null":
		return json.RawMessage("{}")
	case json.Unmarshal(args, &text) != nil:
		text = string(args)
	case text == "":
		return json.RawMessage("{}")
	case strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return encodeChanged(map[string]string{malformed: text}, true, nil)
}

// encodeChanged is the JSON of v where it was changed, else what stood there.
func encodeChanged(v any, changed bool, as []byte) []byte {
	if !changed {
		return as
	}
	data, err := json.Marshal(v)
	if err != nil { // what came from JSON always encodes
		return as
	}
	return data
}
