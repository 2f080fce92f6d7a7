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

// wrapReplies wraps the bodies of replies below Ollama's module.
func wrapReplies(req *http.Request, body exchange.Body, ex *exchange.Exchange) exchange.Body {
	b := &watched{stream: strings.HasSuffix(req.URL.Path, "/api/chat")}
	b.Rewriter = exchange.NewRewriter(body, ex, b.next)
	return b
}

// watched converts a reply for the module: one document, or a stream with one document per line. The module
// takes an error in a document for an answer. It also refuses a whole reply because of an invalid count or a
// call's invalid arguments. Both are handled here.
type watched struct {
	*exchange.Rewriter
	stream bool
}

// next processes one document of the body.
func (b *watched) next() {
	var doc []byte
	if b.stream {
		doc, b.Err = b.Ex.ReadLine(b.Lines)
	} else if doc, b.Err = b.Ex.ReadRest(b.Lines); b.Err == nil {
		b.Err = io.EOF
	}
	doc = bytes.TrimSpace(doc)
	if b.stream && b.Err == nil && (len(doc) == 0 || doc[0] == ':') {
		b.Ex.KeptAlive(len(doc)) // from a proxy; the server's own protocol has no keep-alives
		return
	}
	if len(doc) == 0 || b.Err != nil && !errors.Is(b.Err, io.EOF) {
		return // ignore an incomplete line
	}
	if said := exchange.ErrorIn(doc); said != nil || doc[0] == '<' {
		if said == nil {
			said = exchange.Parse(doc) // an HTML page
		}
		b.Ex.Said, b.Err = said, io.EOF
		return
	}
	if b.stream {
		doc = append(sanitizeLine(doc), '\n')
	}
	b.Out = doc
}

// malformed is the key under which invalid arguments are wrapped in an object.
const malformed = "malformed_arguments"

// sanitizeLine returns a line that the module can read. An invalid count becomes -1, which Believable refuses,
// and arguments that are not an object are wrapped in one.
func sanitizeLine(line []byte) []byte {
	var piece map[string]json.RawMessage
	if !bytes.Contains(line, []byte(`eval_count"`)) && !bytes.Contains(line, []byte(`"tool_calls"`)) ||
		json.Unmarshal(line, &piece) != nil {
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

// readableMessage converts the arguments of calls in a line's message into objects. ok reports whether any
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

// toObject converts arguments into an object. Some proxies send them as a string, as OpenAI does.
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

// encodeChanged returns the JSON of v if it was changed, otherwise as.
func encodeChanged(v any, changed bool, as []byte) []byte {
	if !changed {
		return as
	}
	data, err := json.Marshal(v)
	if err != nil { // unreachable: decoded JSON always encodes
		return as
	}
	return data
}
