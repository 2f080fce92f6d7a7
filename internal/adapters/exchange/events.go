package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// ReadEvents reads a reply of server-sent events and passes the data of each to read, until read returns false. A
// server may answer with one JSON document instead, which is passed with whole set. Keep-alives are not passed. An
// error of the server ends the reply and is in ex.Said. The returned error is one of the connection.
//
// It also accepts events without the empty line between them, and JSON whose lines have one `data:` each.
func (ex *Exchange) ReadEvents(body io.Reader, read func(data []byte, whole bool) bool) error {
	lines := bufio.NewReaderSize(body, 32<<10)
	var name string // of the event whose data follows
	var open []byte // data that is not JSON yet
	looked := 0
	for started := false; !ex.tooBig.Load(); {
		line, err := ex.readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		text := bytes.TrimSpace(line)
		if !started {
			text = bytes.TrimPrefix(text, []byte("\uFEFF"))
		}
		field, value := cutField(text)
		switch {
		case field == "" && len(text) > 0 && !started:
			return ex.readDocument(lines, text, read)
		case field == "comment":
			ex.KeptAlive(len(text))
		case field == "data" && (name == "ping" || isPing(value)):
			ex.KeptAlive(len("event: ping") + len(text))
		case field == "event":
			name = string(value)
		case field == "data":
			// A line of its own behind one that is cut: the cut one is passed, and makes the reply one with a hole.
			if joined := joinLines(open, value); len(open) > 0 && isWhole(value, &looked) && !mayGrow(joined, &looked) {
				read(open, false)
				open, looked = value, 0
			} else {
				open = joined
			}
			if isTooLong(open, looked) {
				return ex.markTooBig()
			}
		}
		started = started || len(text) > 0
		if len(open) > 0 && (len(text) == 0 || isWhole(open, &looked)) {
			data := open
			open, looked = nil, 0
			if data[0] != '{' && data[0] != '[' {
				ex.KeptAlive(len(data)) // a greeting, or another word of a proxy
			} else if ex.noteError(data, name == "error") || !read(data, false) {
				return nil
			}
		}
		if len(text) == 0 {
			name = ""
		}
		if err != nil {
			return nil
		}
	}
	return errTooBig
}

// cutField splits a line of a stream of events. The field of a comment is "comment", and that of another line "".
func cutField(line []byte) (field string, value []byte) {
	if len(line) > 0 && line[0] == ':' {
		return "comment", nil
	}
	for _, field := range []string{"data", "event", "id", "retry"} {
		if value, ok := bytes.CutPrefix(line, []byte(field+":")); ok {
			return field, bytes.TrimSpace(value)
		}
	}
	return "", nil
}

// joinLines adds a line to the data of an event.
func joinLines(open, line []byte) []byte {
	if len(open) == 0 {
		return line
	}
	return append(append(open, '\n'), line...)
}

// isWhole reports whether data is complete: JSON, or the mark of the end. It adds what it scans to looked.
func isWhole(data []byte, looked *int) bool {
	switch {
	case len(data) == 0:
		return false
	case string(data) == "[DONE]":
		return true
	case data[len(data)-1] != '}' && data[len(data)-1] != ']':
		return false
	}
	*looked += len(data)
	return json.Valid(data)
}

// mayGrow reports whether data is JSON, or the beginning of some. It adds what it scans to looked.
func mayGrow(data []byte, looked *int) bool {
	*looked += len(data)
	err := json.Unmarshal(data, new(json.RawMessage))
	var syntax *json.SyntaxError
	return err == nil || errors.As(err, &syntax) && syntax.Offset >= int64(len(data))
}

// isTooLong reports whether a document that is not complete exceeds a limit.
func isTooLong(data []byte, looked int) bool { return len(data) > maxLine || looked > maxLooked }

func isPing(data []byte) bool {
	var event struct{ Type string }
	return bytes.Contains(data, []byte(`"ping"`)) && json.Unmarshal(data, &event) == nil && event.Type == "ping"
}

// noteError records an error of the server that came with status 200. isError tells that data can be nothing else.
func (ex *Exchange) noteError(data []byte, isError bool) bool {
	said := findError(data)
	if said == nil && isError {
		said = ParseServerError(data)
	}
	if said != nil {
		ex.Said = said
	}
	return said != nil
}

// readDocument reads the rest of the body as one JSON document. Another text is an error of the server.
func (ex *Exchange) readDocument(lines io.Reader, first []byte, read func(data []byte, whole bool) bool) error {
	rest, err := ex.readRest(lines)
	if err != nil {
		return err
	}
	if doc := append(append(first, '\n'), rest...); !ex.noteError(doc, !json.Valid(doc)) {
		read(doc, true)
	}
	return nil
}

// ReadLines reads a reply with one JSON document per line, and passes each to read until read returns false. A document
// may take several lines. Empty lines and comments are a proxy's keep-alives. An error of the server ends the reply
// and is in ex.Said.
func (ex *Exchange) ReadLines(body io.Reader, read func(doc []byte) bool) error {
	lines := bufio.NewReaderSize(body, 32<<10)
	var open []byte // a document that is not complete
	looked := 0
	for !ex.tooBig.Load() {
		line, err := ex.readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if text := bytes.TrimSpace(line); err == nil && (len(text) == 0 || text[0] == ':') {
			ex.KeptAlive(len(text))
			continue
		}
		if open = append(open, line...); isTooLong(open, looked) {
			return ex.markTooBig()
		}
		switch doc := bytes.TrimSpace(open); {
		case bytes.HasPrefix(doc, []byte("<")): // an HTML page
			ex.Said = ParseServerError(doc)
			return nil
		case isWhole(doc, &looked):
			if ex.noteError(doc, false) || !read(doc) {
				return nil
			}
			open, looked = nil, 0
		}
		if err != nil {
			return nil
		}
	}
	return errTooBig
}
