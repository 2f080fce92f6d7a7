package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxErrorBody bounds what is read of an error reply; whole HTML pages come.
const maxErrorBody = 64 << 10

var errTooBig = errors.New("the reply is larger than allowed")

// exchange is what the transport saw of one request. go-openai's errors lose
// the headers, take a cut stream for a finished one, know one shape of error
// only and lose an error that follows a keep-alive, so the facts are taken
// here, below it.
type exchange struct {
	status     int
	retryAfter time.Duration
	said       *serverError // the server's error, whatever its shape and status
	done       bool         // the stream's own end mark was seen
	bytes      int64        // of the reply's body
}

type exchangeKey struct{}

func withExchange(ctx context.Context) (context.Context, *exchange) {
	ex := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, ex), ex
}

// recorder is the RoundTripper that fills the exchange in.
type recorder struct {
	next     http.RoundTripper
	maxReply int64
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	ex, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if err != nil || !ok {
		return resp, err
	}
	ex.status = resp.StatusCode
	if resp.StatusCode != http.StatusOK {
		ex.retryAfter = retryAfter(resp.Header, time.Now())
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		if err != nil && len(body) == 0 {
			return nil, err
		}
		ex.said = parseError(body)
		if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
			ex.said = &serverError{message: "the server redirects to " + to + ": put that into base_url if it is right"}
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
	limited := &limitedBody{body: resp.Body, left: r.maxReply, ex: ex}
	if strings.HasSuffix(req.URL.Path, "/chat/completions") {
		resp.Body = &eventBody{body: limited, lines: bufio.NewReaderSize(limited, 32<<10), ex: ex}
	} else {
		resp.Body = limited
	}
	return resp, nil
}

// retryAfter reads the header as seconds, as a date, or in OpenAI's own
// milliseconds.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return bounded(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return bounded(seconds)
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// bounded keeps a server's number from overflowing a Duration.
func bounded(seconds float64) time.Duration {
	return time.Duration(min(seconds, 7*24*3600) * float64(time.Second))
}

// limitedBody counts a reply's bytes and fails beyond the limit.
type limitedBody struct {
	body io.ReadCloser
	left int64
	ex   *exchange
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooBig
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	b.ex.bytes += int64(n)
	if b.left < 0 {
		return 0, errTooBig
	}
	return n, err
}

func (b *limitedBody) Close() error { return b.body.Close() }

// eventBody is the reply as go-openai reads it: data lines only. Comments,
// blank lines and event names are dropped; errors end it; a server that
// answers a request for a stream with one document has it turned into events.
type eventBody struct {
	body  io.ReadCloser
	lines *bufio.Reader
	ex    *exchange

	started bool
	event   string // the name of the event whose data comes
	out     []byte // lines not yet read
	err     error
}

func (b *eventBody) Close() error { return b.body.Close() }

func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.next()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// next takes one line of the body.
func (b *eventBody) next() {
	line, err := b.lines.ReadBytes('\n')
	b.err = err
	if err != nil && err != io.EOF {
		return // half a line is no line
	}
	text := bytes.TrimSpace(line)
	if !b.started && len(text) > 0 && !isEventLine(text) {
		b.document(line)
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
	if !ok {
		return
	}
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		b.ex.done = true
	}
	if b.event == "error" || bytes.Contains(data, []byte(`"error"`)) {
		if said := errorIn(data); said != nil || b.event == "error" {
			if said == nil {
				said = parseError(data)
			}
			b.ex.said, b.err = said, io.EOF
			return
		}
	}
	b.out = append(append([]byte("data: "), data...), '\n')
}

// isEventLine reports whether a body that begins so is a stream of events.
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

// document takes the rest of the body as one JSON text: an error, or a reply
// that was not streamed. Anything else yields no events, which is no reply.
func (b *eventBody) document(first []byte) {
	rest, err := io.ReadAll(b.lines)
	if err != nil {
		b.err = err
		return
	}
	b.err = io.EOF
	doc := append(first, rest...)
	if said := errorIn(doc); said != nil {
		b.ex.said = said
		return
	}
	var reply map[string]json.RawMessage
	var choices []map[string]json.RawMessage
	if json.Unmarshal(doc, &reply) != nil || json.Unmarshal(reply["choices"], &choices) != nil {
		b.ex.said = parseError(doc)
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
		b.err = err
		return
	}
	b.ex.done = true
	b.out = append(append([]byte("data: "), chunk...), "\ndata: [DONE]\n"...)
}
