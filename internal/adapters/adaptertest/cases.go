package adaptertest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
)

// Pieces of the wire.
const (
	roleChunk  = `{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	helloChunk = `{"model":"m","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}`
	stopChunk  = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	callsChunk = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	cutChunk   = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`
	usageChunk = `{"model":"m","choices":[],"usage":{"prompt_tokens":40,"completion_tokens":7,"total_tokens":47,"prompt_tokens_details":{"cached_tokens":8}}}`
	done       = `[DONE]`
)

// toolChunk is a delta with tool calls.
func toolChunk(calls string) string {
	return `{"model":"m","choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]},"finish_reason":null}]}`
}

func events(chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			_, _ = io.WriteString(w, "data: "+c+"\n\n")
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// thenHang, thenReset go on where the events end.
func thenHang(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { h(w, r); hang(r) }
}

func thenReset(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { h(w, r); panic(http.ErrAbortHandler) }
}

func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		// Some servers echo what they were sent, the key with it.
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "$AUTH", r.Header.Get("Authorization")))
	}
}

func text(want string) func(*testing.T, adapters.Response) {
	return func(t *testing.T, r adapters.Response) {
		t.Helper()
		if r.Message.Content != want || r.Finish != adapters.FinishStop || len(r.Message.ToolCalls) != 0 {
			t.Errorf("reply = %+v", r)
		}
	}
}

// calls wants these tool calls, written as name(arguments), with ids that
// differ.
func calls(finish adapters.Finish, want ...string) func(*testing.T, adapters.Response) {
	return func(t *testing.T, r adapters.Response) {
		t.Helper()
		var got []string
		ids := map[string]bool{}
		for _, c := range r.Message.ToolCalls {
			got = append(got, c.Name+"("+c.Arguments+")")
			ids[c.ID] = true
		}
		if strings.Join(got, " ") != strings.Join(want, " ") || r.Finish != finish {
			t.Errorf("calls = %q, finish %s; want %q, %s", got, r.Finish, want, finish)
		}
		if len(ids) != len(want) || ids[""] {
			t.Errorf("ids are not one of each: %+v", r.Message.ToolCalls)
		}
	}
}

// Cases are the ways of answering (THREATS g, model replies; WORKER_LOOP 4).
func Cases() []Case {
	short := Options{FirstToken: 300 * time.Millisecond}
	idle := Options{Idle: 300 * time.Millisecond}
	call := `{"index":0,"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":"}}`
	rest := `{"index":0,"function":{"arguments":"\"a.go\"}"}}`
	const aGo = `read_file({"path":"a.go"})`

	return []Case{
		// Replies that are good, in all their shapes.
		{Name: "streamed text with usage", Serve: events(roleChunk, helloChunk, stopChunk, usageChunk, done), Check: func(t *testing.T, r adapters.Response) {
			text("hello")(t, r)
			if r.Usage != (adapters.Usage{InputTokens: 40, CachedTokens: 8, OutputTokens: 7}) || r.Model != "m" {
				t.Errorf("usage %+v, model %q", r.Usage, r.Model)
			}
		}},
		{Name: "no usage", Serve: events(helloChunk, stopChunk, done), Check: func(t *testing.T, r adapters.Response) {
			text("hello")(t, r)
			if !r.Usage.Estimated || r.Usage.InputTokens == 0 || r.Usage.OutputTokens == 0 {
				t.Errorf("usage is not an estimate: %+v", r.Usage)
			}
		}},
		{Name: "usage of zeros is no usage", Serve: events(helloChunk, stopChunk, `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":-1}}`, done), Check: func(t *testing.T, r adapters.Response) {
			if !r.Usage.Estimated {
				t.Errorf("usage = %+v", r.Usage)
			}
		}},
		{Name: "no end mark", Serve: events(helloChunk, stopChunk, usageChunk), Check: text("hello")},
		{Name: "silence after a whole reply", Options: idle, Serve: thenHang(events(helloChunk, stopChunk)), Check: text("hello")},
		{Name: "tool call in pieces", Serve: events(toolChunk(call), toolChunk(rest), callsChunk, done), Check: calls(adapters.FinishStop, aGo)},
		{Name: "tool call under stop", Serve: events(toolChunk(call), toolChunk(rest), stopChunk, done), Check: calls(adapters.FinishStop, aGo)},
		{Name: "nil index, pieces by id", Serve: events(
			toolChunk(`{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":"}}`),
			toolChunk(`{"id":"c1","function":{"arguments":"\"a.go\"}"}}`),
			toolChunk(`{"id":"c2","type":"function","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: calls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "nil index, no ids, whole calls", Serve: events(
			toolChunk(`{"type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`),
			toolChunk(`{"type":"function","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: calls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "all calls numbered 0", Serve: events(
			toolChunk(`{"index":0,"id":"c1","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`),
			toolChunk(`{"index":0,"id":"c2","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: calls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "a fresh id with each piece", Serve: events(toolChunk(call), toolChunk(`{"index":0,"id":"zz","function":{"arguments":"\"a.go\"}"}}`), callsChunk, done),
			Check: calls(adapters.FinishStop, aGo)},
		{Name: "duplicate ids", Serve: events(
			toolChunk(`{"index":0,"id":"c1","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`),
			toolChunk(`{"index":1,"id":"c1","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: calls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "duplicate ids without index", Serve: events(
			toolChunk(`{"id":"c1","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`),
			toolChunk(`{"id":"c1","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: calls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "broken tool JSON is the agent's to see", Serve: events(toolChunk(`{"index":0,"id":"c1","function":{"name":"read_file","arguments":"{path: a.go"}}`), callsChunk, done),
			Check: calls(adapters.FinishStop, "read_file({path: a.go)")},
		{Name: "tool JSON cut at max_tokens", Serve: events(toolChunk(call), cutChunk, usageChunk, done),
			Check: calls(adapters.FinishLength, `read_file({"path":)`)},
		{Name: "filtered", Serve: events(helloChunk, `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, done), Check: finish(adapters.FinishFilter, "hello")},
		{Name: "refused", Serve: events(`{"choices":[{"index":0,"delta":{"refusal":"I will not"},"finish_reason":null}]}`, stopChunk, done), Check: finish(adapters.FinishFilter, "I will not")},
		{Name: "no room for an answer", Serve: events(roleChunk, cutChunk, done), Check: finish(adapters.FinishLength, "")},
		{Name: "bad UTF-8", Serve: events("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xff\"}}]}", stopChunk, done), Check: text("a\uFFFD")},
		{Name: "400 keep-alive lines", Serve: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(": keep-alive\n\n", 400))
			events(helloChunk, stopChunk, usageChunk, done)(w, r)
		}, Check: text("hello")},
		{Name: "a server that does not stream", Serve: status(200,
			`{"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}]}}],`+"\n"+`"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
			"Content-Type", "application/json"), Check: calls(adapters.FinishStop, aGo)},

		// Refusals.
		{Name: "429", Serve: status(429, `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`), Kind: adapters.Overloaded, Says: "slow down"},
		{Name: "429 with Retry-After", Serve: status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "7"), Kind: adapters.Overloaded, RetryAfter: 7 * time.Second},
		{Name: "429 with milliseconds", Serve: status(429, `{}`, "Retry-After-Ms", "1500", "Retry-After", "2"), Kind: adapters.Overloaded, RetryAfter: 1500 * time.Millisecond},
		{Name: "429 of a spent account", Serve: status(429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`), Kind: adapters.Quota},
		{Name: "402", Serve: status(402, `{"error":{"message":"Insufficient Balance"}}`), Kind: adapters.Quota},
		{Name: "500", Serve: status(500, `{"error":{"message":"boom","type":"server_error"}}`), Kind: adapters.Overloaded, Says: "boom"},
		{Name: "529", Serve: status(529, `{"error":{"message":"Overloaded","type":"overloaded_error"}}`), Kind: adapters.Overloaded},
		{Name: "503 in HTML", Serve: status(503, `<html><body>nginx $AUTH</body></html>`, "Content-Type", "text/html"), Kind: adapters.Overloaded, Says: "HTML"},
		{Name: "504", Serve: status(504, ``), Kind: adapters.Overloaded, Unanswered: true},
		{Name: "string error", Serve: status(400, `{"error":"bad thing"}`), Kind: adapters.BadRequest, Says: "bad thing"},
		{Name: "detail", Serve: status(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`), Kind: adapters.BadRequest, Says: "field required"},
		{Name: "no such model", Serve: status(404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`), Kind: adapters.BadRequest, Says: "does not exist"},
		{Name: "key refused, and echoed", Serve: status(401, `{"error":{"message":"Incorrect API key provided: $AUTH","code":"invalid_api_key"}}`), Kind: adapters.Auth, Says: "[key]"},
		{Name: "key refused, and half echoed", Serve: status(401, `{"error":{"message":"Incorrect API key provided: sk-canar******rint."}}`), Kind: adapters.Auth, Says: "[key]"},
		{Name: "key echoed in plain text", Serve: status(403, `forbidden for $AUTH`), Kind: adapters.Auth, Says: "forbidden"},
		{Name: "context exceeded", Serve: status(400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`), Kind: adapters.TooLong},
		{Name: "context exceeded in other words", Serve: status(400, `{"error":"prompt is too long: 9000 tokens > 8192 maximum"}`), Kind: adapters.TooLong},
		{Name: "413", Serve: status(413, `too large`), Kind: adapters.TooLong},
		{Name: "redirect", Serve: status(302, ``, "Location", "http://127.0.0.1:1/v1"), Kind: adapters.BadRequest, Says: "redirects"},
		{Name: "a megabyte of error", Serve: status(500, strings.Repeat("x", 1<<20)), Kind: adapters.Overloaded},

		// Errors under status 200.
		{Name: "error in a 200", Serve: status(200, `{"error":{"message":"the engine is overloaded","type":"server_error"}}`), Kind: adapters.Overloaded, Unanswered: true, Says: "engine"},
		{Name: "string error in a 200", Serve: status(200, `{"error":"something broke"}`), Kind: adapters.Garbage, Unanswered: true, Says: "something broke"},
		{Name: "error in the stream", Serve: events(helloChunk, `{"error":{"message":"overloaded $AUTH","type":"overloaded_error"}}`), Kind: adapters.Overloaded, Unanswered: true},
		{Name: "error in the stream after keep-alives", Serve: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, ": ping\n\n: ping\n\n")
			events(`{"error":{"message":"no credit","code":"insufficient_quota"}}`)(w, r)
		}, Kind: adapters.Quota, Unanswered: true},
		{Name: "error event", Serve: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "event: error\ndata: {\"message\":\"rate limit\",\"code\":429}\n\n")
		}, Kind: adapters.Overloaded, Unanswered: true},

		// Replies that are none.
		{Name: "empty reply", Serve: events(roleChunk, stopChunk, done), Kind: adapters.Garbage, Unanswered: true, Says: "empty"},
		{Name: "empty reply, counted", Serve: events(roleChunk, stopChunk, usageChunk, done), Kind: adapters.Garbage, Says: "empty"},
		{Name: "no body", Serve: status(200, ``), Kind: adapters.Garbage, Unanswered: true},
		{Name: "no choices", Serve: status(200, `{"choices":[]}`), Kind: adapters.Garbage, Unanswered: true},
		{Name: "end mark without an end", Serve: events(helloChunk, done), Kind: adapters.Garbage, Unanswered: true},
		{Name: "cut stream", Serve: events(helloChunk), Kind: adapters.Garbage, Unanswered: true, Says: "cut"},
		{Name: "reset in the stream", Serve: thenReset(events(helloChunk)), Kind: adapters.Garbage, Unanswered: true},
		{Name: "not JSON", Serve: events(`{"choices": [}`), Kind: adapters.Garbage, Unanswered: true},
		{Name: "a page", Serve: status(200, "<html>login</html>"), Kind: adapters.Garbage, Unanswered: true, Says: "HTML"},
		{Name: "a call without a name", Serve: events(toolChunk(`{"index":0,"id":"c1","function":{"arguments":"{}"}}`), callsChunk, done), Kind: adapters.Garbage, Unanswered: true, Says: "name"},
		{Name: "malformed call", Serve: events(helloChunk, `{"choices":[{"index":0,"delta":{},"finish_reason":"malformed_function_call"}]}`, done), Kind: adapters.Garbage, Unanswered: true},
		{Name: "10 MB reply", Serve: big(false), Kind: adapters.Garbage, Unanswered: true, Says: "larger"},
		{Name: "10 MB line", Serve: big(true), Kind: adapters.Garbage, Unanswered: true, Says: "larger"},

		// Silence.
		{Name: "hang before the reply", Options: short, Serve: func(_ http.ResponseWriter, r *http.Request) { hang(r) }, Kind: adapters.TimedOut, Unanswered: true},
		{Name: "keep-alives are no tokens", Options: short, Serve: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, ": ping\n\n: ping\n\n")
			_ = http.NewResponseController(w).Flush()
			hang(r)
		}, Kind: adapters.TimedOut, Unanswered: true},
		{Name: "hang in the reply", Options: idle, Serve: thenHang(events(helloChunk)), Kind: adapters.TimedOut, Unanswered: true, Says: "silent"},
		{Name: "reset before the reply", Serve: thenReset(func(http.ResponseWriter, *http.Request) {}), Kind: adapters.Unreachable, Unanswered: true},
	}
}

func finish(f adapters.Finish, content string) func(*testing.T, adapters.Response) {
	return func(t *testing.T, r adapters.Response) {
		t.Helper()
		if r.Finish != f || r.Message.Content != content {
			t.Errorf("finish %s with %q, want %s with %q", r.Finish, r.Message.Content, f, content)
		}
	}
}

// big sends 11 MB of a reply that would be whole, in one line or in many.
func big(oneLine bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		piece, n := strings.Repeat("x", 64<<10), 11<<4
		if oneLine {
			piece, n = strings.Repeat("x", 11<<20), 1
		}
		for range n {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", piece)
		}
		_, _ = io.WriteString(w, "data: "+stopChunk+"\n\ndata: [DONE]\n\n")
	}
}
