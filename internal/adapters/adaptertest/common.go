package adaptertest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
)

// Wire describes one protocol by the answers of its servers.
type Wire struct {
	Name string
	Path string                      // path of the base_url after the server's address
	Key  func(*http.Request) string  // returns the key of a request
	Ask  map[string]http.HandlerFunc // answers to a driver's requests before a chat, by path

	ContentType string // content type of a streamed reply
	KeepAlive   string // keep-alives of a server at work, besides ": wait"

	Begun, Whole http.HandlerFunc // the first piece of a reply; a complete reply "hello" with counts
	// Counted serves a complete reply "hello" with these counts, written into its JSON unchanged.
	Counted func(input, output string) http.HandlerFunc
	// Error returns the body of an error with a message and the protocol's type.
	Error func(message, kind string) string
	// Pieces serves a complete reply that repeats this text n times, each in its own piece.
	Pieces func(n int, text string) http.HandlerFunc
	// Piece returns a piece of a reply with this text.
	Piece func(text string) string
	// Call returns a piece with a tool call without arguments, the i-th of its reply.
	Call func(i int, id, name string) string
	End  http.HandlerFunc // the end of a reply with tool calls

	Cases []Case // only for this wire; a case replaces a common one of the same name
	// Cannot maps required cases that the protocol cannot express to the reason.
	Cannot map[string]string
}

// Short, Idle and Whole are the timeouts of cases in which a server is silent or slow.
var (
	Short = Options{FirstToken: 300 * time.Millisecond}
	Idle  = Options{Idle: 300 * time.Millisecond}
	Whole = Options{Whole: 300 * time.Millisecond}
	// Patient is for servers that send much at once, because a busy machine reads a large line slowly.
	Patient = Options{Idle: 30 * time.Second}
)

// Required lists the cases that every wire has, common ones or its own.
var Required = []string{
	"whole reply", "tool call", "two tool calls", "duplicate ids", "broken tool JSON is the agent's to see",
	"tool JSON cut at max_tokens",
	"429", "429 with Retry-After", "500", "529", "key refused, and echoed", "403", "context exceeded", "no such model",
	"error in a 200", "error in the stream", "empty reply", "not JSON", "bad UTF-8", "refused",
	"counts that cannot be", "more input than was sent",
	"hang before the reply", "hang in the reply", "cut stream", "reset in the stream", "reset before the reply",
	"10 MB reply", "many small pieces", "redirect",
	"junk", "junk after a beginning", "a reply that drips", "calls without an end", "a million calls",
	"names of calls without an end", "ids that were made for others", "10 MB, compressed", "a flood of headers",
	"pieces of nothing without an end", "bytes without an end of the line",
}

// commonCases returns cases that depend on HTTP rather than on the wire.
func commonCases(wire Wire) []Case {
	return append(append(countCases(wire), hostileCases(wire)...), []Case{
		{Name: "whole reply", Serve: wire.Whole, Check: func(t *testing.T, response adapters.Response) {
			wantText("hello")(t, response)
			if response.Usage.Estimated || response.Usage.InputTokens == 0 || response.Usage.OutputTokens == 0 {
				t.Errorf("usage = %+v", response.Usage)
			}
			if response.Model != "m" {
				t.Errorf("the server's name of the model is %q", response.Model)
			}
		}},
		{Name: "429", Serve: serveStatus(429, wire.Error("slow down", "rate_limit_error")), Kind: adapters.Overloaded,
			Says: "slow down"},
		{Name: "429 with Retry-After",
			Serve: serveStatus(429, wire.Error("slow down", "rate_limit_error"), "Retry-After", "7"),
			Kind:  adapters.Overloaded, RetryAfter: 7 * time.Second},
		{Name: "500", Serve: serveStatus(500, wire.Error("boom", "api_error")), Kind: adapters.Overloaded, Says: "boom"},
		{Name: "529", Serve: serveStatus(529, wire.Error("Overloaded", "overloaded_error")), Kind: adapters.Overloaded},
		{Name: "503 in HTML", Serve: serveStatus(503, `<html><body>nginx $AUTH</body></html>`, "Content-Type", "text/html"),
			Kind: adapters.Overloaded, Says: "HTML"},
		{Name: "504", Serve: serveStatus(504, ``), Kind: adapters.Overloaded, Unanswered: true},
		{Name: "key refused, and echoed", Serve: serveStatus(401, wire.Error("invalid key: $AUTH", "authentication_error")),
			Kind: adapters.Auth, Says: "[key]"},
		{Name: "key refused, and half echoed",
			Serve: serveStatus(401, wire.Error("Incorrect API key provided: sk-canar******rint.", "invalid_request_error")),
			Kind:  adapters.Auth, Says: "[key]"},
		{Name: "403", Serve: serveStatus(403, `forbidden for $AUTH`), Kind: adapters.Auth, Says: "forbidden"},
		{Name: "413", Serve: serveStatus(413, `too large`), Kind: adapters.TooLong},
		{Name: "redirect", Serve: serveStatus(302, ``, "Location", "http://127.0.0.1:1/v1"), Kind: adapters.BadRequest,
			Says: "redirects"},
		{Name: "a megabyte of error", Serve: serveStatus(500, strings.Repeat("x", 1<<20)), Kind: adapters.Overloaded},
		{Name: "error in a 200", Serve: serveStatus(200, wire.Error("the engine is overloaded", "overloaded_error")),
			Kind: adapters.Overloaded, Unanswered: true, Says: "engine"},
		{Name: "no body", Serve: serveStatus(200, ``), Kind: adapters.MalformedReply, Unanswered: true},
		{Name: "a page", Serve: serveStatus(200, "<html>login</html>"), Kind: adapters.MalformedReply, Unanswered: true,
			Says: "HTML"},
		{Name: "cut stream", Serve: wire.Begun, Kind: adapters.MalformedReply, Unanswered: true, Says: "cut"},
		{Name: "reset in the stream", Serve: thenReset(wire.Begun), Kind: adapters.MalformedReply, Unanswered: true},
		{Name: "10 MB reply", Flood: true, Serve: wire.Pieces(11<<4, strings.Repeat("x", 64<<10)),
			Kind:       adapters.MalformedReply,
			Unanswered: true, Says: "larger"},
		{Name: "hang before the reply", Options: Short,
			Serve: func(_ http.ResponseWriter, r *http.Request) {
				holdConnection(r)
			}, Kind: adapters.TimedOut, Unanswered: true},
		{Name: "hang in the reply", Options: Idle, Serve: thenHang(wire.Begun), Kind: adapters.TimedOut, Unanswered: true,
			Says: "silent"},
		{Name: "many small pieces", Flood: true, Serve: wire.Pieces(20_000, "xy"),
			Check: func(t *testing.T, response adapters.Response) {
				if len(response.Message.Content) != 40_000 || response.Finish != adapters.FinishStop {
					t.Errorf("%d bytes, finish %s", len(response.Message.Content), response.Finish)
				}
			}},
		{Name: "junk", Serve: serveStatus(200, junk(64<<10)), Kind: adapters.MalformedReply, Unanswered: true},
		{Name: "junk after a beginning", Serve: thenWrite(wire.Begun, junk(64<<10)), Kind: adapters.MalformedReply,
			Unanswered: true},
		{Name: "a reply that drips", Options: Whole, Serve: thenDrip(wire.Begun, wire.Piece("x"), 10*time.Millisecond),
			Kind: adapters.TimedOut, Unanswered: true, Says: "did not come to its end"},
		{Name: "pieces of nothing without an end", Options: Whole,
			Serve: thenDrip(wire.Begun, wire.Piece(""), time.Millisecond),
			Kind:  adapters.TimedOut, Unanswered: true, Says: "did not come to its end"},
		{Name: "bytes without an end of the line", Options: Options{FirstToken: Short.FirstToken, Idle: Idle.Idle},
			Serve: thenDrip(wire.Begun, "x", 10*time.Millisecond), Kind: adapters.TimedOut, Unanswered: true, Says: "silent"},
		{Name: "10 MB in many pieces", Flood: true, Serve: wire.Pieces(11<<10, strings.Repeat("x", 1<<10)),
			Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
		{Name: "reset before the reply", Serve: thenReset(func(http.ResponseWriter, *http.Request) {}),
			Kind: adapters.Unreachable, Unanswered: true},
	}...)
}

// countCases returns replies with counts that servers were seen to send, or could send.
func countCases(wire Wire) []Case {
	const most = "9223372036854775807"
	out := []Case{
		{Name: "more input than was sent", Serve: wire.Counted("50000", "7"),
			Check: func(t *testing.T, response adapters.Response) {
				wantText("hello")(t, response)
				if response.Usage != (adapters.Usage{InputTokens: 50000, OutputTokens: 7}) {
					t.Errorf("usage = %+v: a server may have a prompt of its own", response.Usage)
				}
			}},
		{Name: "counts that cannot be", Serve: wire.Counted(most, "7"), Check: wantEstimated},
	}
	for _, c := range [][2]string{{"40", most}, {most, most}, {"-" + most, "7"}, {"40", "-1"}, {"2000000000", "7"},
		{"40", "2000000000"}, {"1e30", "7"}, {"40", `"x"`}} {
		out = append(
			out, Case{Name: "counts that cannot be: " + c[0] + " and " + c[1], Serve: wire.Counted(c[0], c[1]),
				Check: wantEstimated})
	}
	return out
}

// allCases returns the cases of a wire: its own, and the common ones that it does not replace.
func (w Wire) allCases() []Case {
	own := map[string]bool{}
	for _, c := range w.Cases {
		own[c.Name] = true
	}
	out := w.Cases
	for _, c := range commonCases(w) {
		if !own[c.Name] {
			out = append(out, c)
		}
	}
	return out
}

func bearerToken(r *http.Request) string {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

// serveLines answers with complete lines.
func serveLines(all ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, l := range all {
			_, _ = io.WriteString(w, l+"\n")
		}
		_ = http.NewResponseController(w).Flush()
	}
}

func serveEvents(chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			_, _ = io.WriteString(w, "data: "+c+"\n\n")
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// servePieces sends a piece n times and then the end.
func servePieces(n int, piece string, end http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for range n {
			if _, err := io.WriteString(w, piece); err != nil {
				return // the client is gone
			}
		}
		end(w, r)
	}
}

// junk returns n bytes with all kinds of values, the same each time.
func junk(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*i>>3 + i*7)
	}
	return string(b)
}

// thenWrite continues a reply with text.
func thenWrite(h http.HandlerFunc, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h(w, r)
		_, _ = io.WriteString(w, text)
	}
}

// thenDrip continues a reply with text again and again, until the client leaves.
func thenDrip(h http.HandlerFunc, text string, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h(w, r)
		release, _ := r.Context().Value(releaseKey{}).(chan struct{})
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			if _, err := io.WriteString(w, text); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			case <-release:
				return
			}
		}
	}
}

// thenHang holds the connection after a reply. thenReset breaks it.
func thenHang(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { h(w, r); holdConnection(r) }
}

func thenReset(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { h(w, r); panic(http.ErrAbortHandler) }
}

func serveStatus(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		// Some servers echo the request, including the key.
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "$AUTH", r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")))
	}
}

func wantText(want string) func(*testing.T, adapters.Response) {
	return func(t *testing.T, response adapters.Response) {
		t.Helper()
		if response.Message.Content != want || response.Finish != adapters.FinishStop ||
			len(response.Message.ToolCalls) != 0 {
			t.Errorf("reply = %+v", response)
		}
	}
}

// wantCalls checks for these tool calls, written as name(arguments), with different ids.
func wantCalls(finish adapters.Finish, want ...string) func(*testing.T, adapters.Response) {
	return func(t *testing.T, response adapters.Response) {
		t.Helper()
		var got []string
		ids := map[string]bool{}
		for _, toolCall := range response.Message.ToolCalls {
			got = append(got, toolCall.Name+"("+toolCall.Arguments+")")
			ids[toolCall.ID] = true
		}
		if strings.Join(got, " ") != strings.Join(want, " ") || response.Finish != finish {
			t.Errorf("calls = %q, finish %s; want %q, %s", got, response.Finish, want, finish)
		}
		if len(ids) != len(want) || ids[""] {
			t.Errorf("ids are not one of each: %+v", response.Message.ToolCalls)
		}
	}
}

func wantFinish(finish adapters.Finish, content string) func(*testing.T, adapters.Response) {
	return func(t *testing.T, response adapters.Response) {
		t.Helper()
		if response.Finish != finish || response.Message.Content != content {
			t.Errorf("finish %s with %q, want %s with %q", response.Finish, response.Message.Content, finish, content)
		}
	}
}

// wantEstimated checks for a reply without a server's token count.
func wantEstimated(t *testing.T, response adapters.Response) {
	t.Helper()
	wantText("hello")(t, response)
	if !response.Usage.Estimated || response.Usage.InputTokens == 0 || response.Usage.OutputTokens == 0 {
		t.Errorf("usage = %+v, want an estimate", response.Usage)
	}
}
