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

// Pieces of the protocol.
const (
	roleChunk  = `{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	helloChunk = `{"model":"m","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}`
	stopChunk  = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	callsChunk = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	cutChunk   = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`
	usageChunk = `{"model":"m","choices":[],"usage":{"prompt_tokens":40,"completion_tokens":7,"total_tokens":47,"prompt_tokens_details":{"cached_tokens":8}}}`
	done       = `[DONE]`
)

// toolChunk returns a delta with tool calls.
func toolChunk(calls string) string {
	return `{"model":"m","choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]},"finish_reason":null}]}`
}

// OpenAI returns the wire of chat completions.
func OpenAI() Wire {
	return Wire{
		Name: "openai", Path: "/v1", Key: bearerToken, ContentType: "text/event-stream",
		KeepAlive: ": OPENROUTER PROCESSING\n\n",
		Begun:     serveEvents(helloChunk), Whole: serveEvents(helloChunk, stopChunk, usageChunk, done),
		Counted: func(input, output string) http.HandlerFunc {
			usage := `"usage":{"prompt_tokens":` + input + `,"completion_tokens":` + output + `}}`
			// Some servers send the counts with the end of the reply, and some with every piece. The last ones are the
			// totals.
			return serveEvents(`{"choices":[{"index":0,"delta":{"content":"hello"}}],`+usage,
				`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+usage, done)
		},
		Error: func(message, kind string) string {
			return fmt.Sprintf(`{"error":{"message":%q,"type":%q}}`, message, kind)
		},
		Piece: func(text string) string { return "data: " + strings.Replace(helloChunk, "hello", text, 1) + "\n\n" },
		Call: func(i int, id, name string) string {
			return "data: " +
				toolChunk(fmt.Sprintf(`{"index":%d,"id":%q,"function":{"name":%q,"arguments":"{}"}}`, i, id, name)) + "\n\n"
		},
		End: serveEvents(callsChunk, done),
		Pieces: func(n int, text string) http.HandlerFunc {
			// With the frame size of real servers.
			frame := `{"id":"chatcmpl-0123456789012345678901234567","object":"chat.completion.chunk","created":1700000000,"system_fingerprint":"fp_0123456789",` + strings.Replace(helloChunk, "hello", text, 1)[1:]
			return servePieces(n, "data: "+frame+"\n\n", serveEvents(stopChunk, usageChunk, done))
		},
		Cases: openAICases(),
	}
}

func openAICases() []Case {
	call := `{"index":0,"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":"}}`
	rest := `{"index":0,"function":{"arguments":"\"a.go\"}"}}`
	const aGo = `read_file({"path":"a.go"})`

	thoughts := `{"model":"m","choices":[{"index":0,"delta":{"reasoning_content":` + encode(quotedCall) + `,"content":` +
		encode(quotedCall) + `},"finish_reason":null}]}`
	return []Case{
		{Name: "a call in thoughts and text is none", Serve: serveEvents(roleChunk, thoughts, stopChunk, usageChunk, done),
			Check: wantText(quotedCall)},
		// Good replies in all forms.
		{Name: "streamed text with usage", Serve: serveEvents(roleChunk, helloChunk, stopChunk, usageChunk, done),
			Check: func(t *testing.T, response adapters.Response) {
				wantText("hello")(t, response)
				if response.Usage != (adapters.Usage{InputTokens: 40, CachedTokens: 8, OutputTokens: 7}) || response.Model != "m" {
					t.Errorf("usage %+v, model %q", response.Usage, response.Model)
				}
			}},
		{Name: "no usage", Serve: serveEvents(helloChunk, stopChunk, done),
			Check: func(t *testing.T, response adapters.Response) {
				wantText("hello")(t, response)
				if !response.Usage.Estimated || response.Usage.InputTokens == 0 || response.Usage.OutputTokens == 0 {
					t.Errorf("usage is not an estimate: %+v", response.Usage)
				}
			}},
		{Name: "usage of zeros is not usage",
			Serve: serveEvents(helloChunk, stopChunk, `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":-1}}`, done),
			Check: func(t *testing.T, response adapters.Response) {
				if !response.Usage.Estimated {
					t.Errorf("usage = %+v", response.Usage)
				}
			}},
		{Name: "no end mark", Serve: serveEvents(helloChunk, stopChunk, usageChunk), Check: wantText("hello")},
		{Name: "silence after a whole reply", Options: Idle, Serve: thenHang(serveEvents(helloChunk, stopChunk)),
			Check: wantText("hello")},
		{Name: "tool call", Serve: serveEvents(toolChunk(call), toolChunk(rest), callsChunk, done),
			Check: wantCalls(adapters.FinishStop, aGo)},
		{Name: "tool call under stop", Serve: serveEvents(toolChunk(call), toolChunk(rest), stopChunk, done),
			Check: wantCalls(adapters.FinishStop, aGo)},
		{Name: "nil index, pieces by id", Serve: serveEvents(
			toolChunk(`{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":"}}`),
			toolChunk(`{"id":"c1","function":{"arguments":"\"a.go\"}"}}`),
			toolChunk(`{"id":"c2","type":"function","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "nil index, no ids, whole calls", Serve: serveEvents(
			toolChunk(`{"type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`),
			toolChunk(`{"type":"function","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "two tool calls", Serve: serveEvents( // both numbered 0
			toolChunk(`{"index":0,"id":"c1","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`),
			toolChunk(`{"index":0,"id":"c2","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "a fresh id with each piece",
			Serve: serveEvents(toolChunk(call), toolChunk(`{"index":0,"id":"zz","function":{"arguments":"\"a.go\"}"}}`),
				callsChunk, done),
			Check: wantCalls(adapters.FinishStop, aGo)},
		{Name: "duplicate ids", Serve: serveEvents(
			toolChunk(`{"index":0,"id":"c1","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`),
			toolChunk(`{"index":1,"id":"c1","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "duplicate ids without index", Serve: serveEvents(
			toolChunk(`{"id":"c1","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`),
			toolChunk(`{"id":"c1","function":{"name":"read_file","arguments":"{}"}}`), callsChunk, done),
			Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
		{Name: "broken tool JSON is the agent's to see",
			Serve: serveEvents(toolChunk(`{"index":0,"id":"c1","function":{"name":"read_file","arguments":"{path: a.go"}}`),
				callsChunk, done),
			Check: wantCalls(adapters.FinishStop, "read_file({path: a.go)")},
		{Name: "tool JSON cut at max_tokens", Serve: serveEvents(toolChunk(call), cutChunk, usageChunk, done),
			Check: wantCalls(adapters.FinishLength, `read_file({"path":)`)},
		{Name: "filtered",
			Serve: serveEvents(helloChunk, `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, done),
			Check: wantFinish(adapters.FinishFilter, "hello")},
		{Name: "refused",
			Serve: serveEvents(`{"choices":[{"index":0,"delta":{"refusal":"I will not"},"finish_reason":null}]}`, stopChunk,
				done), Check: wantFinish(adapters.FinishFilter, "I will not")},
		{Name: "no room for an answer", Serve: serveEvents(roleChunk, cutChunk, done),
			Check: wantFinish(adapters.FinishLength, "")},
		{Name: "bad UTF-8",
			Serve: serveEvents("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xff\"}}]}", stopChunk, done),
			Check: wantText("a\uFFFD")},
		{Name: "400 keep-alive lines", Serve: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(": keep-alive\n\n", 400))
			serveEvents(helloChunk, stopChunk, usageChunk, done)(w, r)
		}, Check: wantText("hello")},
		{Name: "a server that does not stream", Serve: serveStatus(200,
			`{"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}]}}],`+"\n"+`"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
			"Content-Type", "application/json"), Check: wantCalls(adapters.FinishStop, aGo)},

		// Refusals.
		{Name: "429 with milliseconds", Serve: serveStatus(429, `{}`, "Retry-After-Ms", "1500", "Retry-After", "2"),
			Kind: adapters.Overloaded, RetryAfter: 1500 * time.Millisecond},
		{Name: "429 of a spent account",
			Serve: serveStatus(
				429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`), Kind: adapters.Quota},
		{Name: "402", Serve: serveStatus(402, `{"error":{"message":"Insufficient Balance"}}`), Kind: adapters.Quota},
		{Name: "string error", Serve: serveStatus(400, `{"error":"bad thing"}`), Kind: adapters.BadRequest,
			Says: "bad thing"},
		{Name: "detail", Serve: serveStatus(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`),
			Kind: adapters.BadRequest, Says: "field required"},
		{Name: "no such model",
			Serve: serveStatus(404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`),
			Kind:  adapters.BadRequest, Says: "does not exist"},
		{Name: "context exceeded",
			Serve: serveStatus(
				400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`), Kind: adapters.TooLong},
		{Name: "context exceeded in other words",
			Serve: serveStatus(400, `{"error":"prompt is too long: 9000 tokens > 8192 maximum"}`), Kind: adapters.TooLong},

		// Errors with status 200.
		{Name: "error in a 200",
			Serve: serveStatus(200, `{"error":{"message":"the engine is overloaded","type":"server_error"}}`),
			Kind:  adapters.Overloaded, Unanswered: true, Says: "engine"},
		{Name: "string error in a 200", Serve: serveStatus(200, `{"error":"something broke"}`), Kind: adapters.MalformedReply,
			Unanswered: true, Says: "something broke"},
		{Name: "error in the stream",
			Serve: serveEvents(helloChunk, `{"error":{"message":"overloaded $AUTH","type":"overloaded_error"}}`),
			Kind:  adapters.Overloaded, Unanswered: true},
		{Name: "error in the stream after keep-alives", Serve: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, ": ping\n\n: ping\n\n")
			serveEvents(`{"error":{"message":"no credit","code":"insufficient_quota"}}`)(w, r)
		}, Kind: adapters.Quota, Unanswered: true},
		{Name: "error event", Serve: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "event: error\ndata: {\"message\":\"rate limit\",\"code\":429}\n\n")
		}, Kind: adapters.Overloaded, Unanswered: true},

		// Unusable replies.
		{Name: "empty reply", Serve: serveEvents(roleChunk, stopChunk, done), Kind: adapters.MalformedReply, Unanswered: true,
			Says: "empty"},
		{Name: "empty reply, counted", Serve: serveEvents(roleChunk, stopChunk, usageChunk, done),
			Kind: adapters.MalformedReply, Says: "empty"},
		{Name: "no choices", Serve: serveStatus(200, `{"choices":[]}`), Kind: adapters.MalformedReply, Unanswered: true},
		{Name: "end mark without an end", Serve: serveEvents(helloChunk, done), Kind: adapters.MalformedReply,
			Unanswered: true},
		{Name: "not JSON", Serve: serveEvents(`{"choices": [}`), Kind: adapters.MalformedReply, Unanswered: true},
		{Name: "a call without a name",
			Serve: serveEvents(toolChunk(`{"index":0,"id":"c1","function":{"arguments":"{}"}}`), callsChunk, done),
			Kind:  adapters.MalformedReply, Unanswered: true, Says: "name"},
		{Name: "malformed call",
			Serve: serveEvents(helloChunk, `{"choices":[{"index":0,"delta":{},"finish_reason":"malformed_function_call"}]}`,
				done), Kind: adapters.MalformedReply, Unanswered: true},
		{Name: "10 MB line", Flood: true, Serve: oneLine, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
		{Name: "10 MB behind the end", Flood: true,
			Serve: thenWrite(serveEvents(helloChunk, stopChunk),
				strings.Repeat("data: "+strings.Replace(helloChunk, "hello", strings.Repeat("x", 64<<10), 1)+"\n\n", 11<<4)),
			Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
		{Name: "pieces behind the end", Options: Idle,
			Serve: thenDrip(serveEvents(helloChunk, stopChunk), "data: "+roleChunk+"\n\n", 10*time.Millisecond),
			Check: wantText("hello")},
		{Name: "a million calls in one line", Serve: serveEvents(toolChunk(numberedCalls(600_000)), callsChunk, done),
			Options: Patient, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
		{Name: "arguments that are looked through again and again",
			Serve: serveEvents(
				toolChunk(`{"id":"c","function":{"name":"f","arguments":"[1`+strings.Repeat(",1", 2<<20)+`"}}`+
					strings.Repeat(`,{"id":"c","function":{"name":"f","arguments":",1"}}`, 80_000)), callsChunk, done),
			Options: Patient, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},

		// Silence.
		{Name: "keep-alives are not tokens", Options: Short, Serve: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, ": ping\n\n: ping\n\n")
			_ = http.NewResponseController(w).Flush()
			holdConnection(r)
		}, Kind: adapters.TimedOut, Unanswered: true},
	}
}

// numberedCalls returns n calls that have only an index.
func numberedCalls(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"index":%d},`, i)
	}
	return b.String()[:b.Len()-1]
}

// oneLine sends 11 MB of an otherwise valid reply in one line.
func oneLine(w http.ResponseWriter, r *http.Request) {
	serveEvents(strings.Replace(helloChunk, "hello", strings.Repeat("x", 11<<20), 1), stopChunk, done)(w, r)
}
