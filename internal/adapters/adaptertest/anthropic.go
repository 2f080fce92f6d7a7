package adaptertest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
)

// Events of the protocol.
const (
	antStart   = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":30,"cache_read_input_tokens":8,"cache_creation_input_tokens":2,"output_tokens":1}}}`
	antUncount = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[]}}`
	antPing    = `{"type":"ping"}`
	antText    = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	antHello   = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`
	antStop0   = `{"type":"content_block_stop","index":0}`
	antOver    = `{"type":"message_stop"}`
)

func antEnd(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason +
		`","stop_sequence":null},"usage":{"output_tokens":7}}`
}

// antCall returns a call of read_file as the block with an index, its arguments in pieces.
func antCall(index int, id string, args ...string) []string {
	out := []string{
		fmt.Sprintf(
			`{"type":"content_block_start","index":%d,`+
				`"content_block":{"type":"tool_use","id":%q,"name":"read_file","input":{}}}`,
			index, id)}
	for _, a := range args {
		out = append(
			out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`,
				index, strconv.Quote(a)))
	}
	return append(out, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

// antReply serves a complete reply with these blocks.
func antReply(reason string, blocks ...string) http.HandlerFunc {
	return antEvents(append(append([]string{antStart, antPing}, blocks...), antEnd(reason), antOver)...)
}

// antEvents sends events with their names.
func antEvents(all ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range all {
			name, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
			_, _ = io.WriteString(w, "event: "+name+"\ndata: "+e+"\n\n")
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// repeatEvent repeats an event n times.
func repeatEvent(n int, event string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = event
	}
	return out
}

func concat(all ...[]string) []string {
	var out []string
	for _, a := range all {
		out = append(out, a...)
	}
	return out
}

// Anthropic returns the wire of the messages API.
func Anthropic() Wire {
	const aGo = `read_file({"path":"a.go"})`
	call := antCall(0, "toolu_1", `{"path":`, `"a.go"}`)
	hello := []string{antText, antHello, antStop0}
	thinking := []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}`, antStop0,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}`,
		`{"type":"content_block_stop","index":1}`,
	}
	second := strings.ReplaceAll(strings.Join(hello, "\n"), `"index":0`, `"index":2`)
	quoting := strings.Split(
		strings.NewReplacer(`"hm"`, encode(quotedCall), `"hello"`, encode(quotedCall)).Replace(
			strings.Join(thinking, "\n")+"\n"+second), "\n")
	return Wire{
		Name: "anthropic", ContentType: "text/event-stream", KeepAlive: "event: ping\ndata: " + antPing + "\n\n",
		Key: func(r *http.Request) string {
			return r.Header.Get("X-Api-Key")
		},
		Ask:   map[string]http.HandlerFunc{"/v1/models": serveStatus(200, `{"data":[{"id":"claude-a"},{"id":"claude-b"}]}`)},
		Begun: antEvents(antStart, antText, antHello), Whole: antReply("end_turn", hello...),
		Counted: func(input, output string) http.HandlerFunc {
			return antEvents(concat([]string{antUncount}, hello, []string{
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":` + input +
					`,"output_tokens":` + output + `}}`, antOver,
			})...)
		},
		Error: func(message, kind string) string {
			return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
		},
		Piece: func(text string) string {
			return "event: content_block_delta\ndata: " + strings.Replace(antHello, "hello", text, 1) + "\n\n"
		},
		Call: func(i int, id, name string) string {
			return fmt.Sprintf(
				"data: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{\"type\":\"tool_use\",\"id\":%q,\"name\":%q,\"input\":{}}}\n\n", i+1, id, name)
		},
		End: antEvents(antEnd("tool_use"), antOver),
		Pieces: func(n int, text string) http.HandlerFunc {
			many := servePieces(n, "event: content_block_delta\ndata: "+strings.Replace(antHello, "hello", text, 1)+"\n\n",
				antEvents(antStop0, antEnd("end_turn"), antOver))
			return func(w http.ResponseWriter, r *http.Request) {
				antEvents(antStart, antText)(w, r)
				many(w, r)
			}
		},
		Cases: []Case{
			{Name: "usage with the cache's", Serve: antReply("end_turn", hello...),
				Check: func(t *testing.T, response adapters.Response) {
					if response.Usage != (adapters.Usage{InputTokens: 40, CachedTokens: 8, WrittenTokens: 2, OutputTokens: 7}) {
						t.Errorf("usage = %+v", response.Usage)
					}
				}},
			{Name: "counts are missing",
				Serve: antEvents(
					append([]string{antUncount},
						append(hello, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, antOver)...)...),
				Check: wantEstimated},
			{Name: "no names of events",
				Serve: serveEvents(append([]string{antStart}, append(hello, antEnd("end_turn"), antOver)...)...),
				Check: wantText("hello")},
			{Name: "no end mark", Serve: antEvents(append([]string{antStart}, append(hello, antEnd("end_turn"))...)...),
				Check: wantText("hello")},
			{Name: "silence after a whole reply", Options: Idle,
				Serve: thenHang(antEvents(append([]string{antStart}, append(hello, antEnd("end_turn"))...)...)),
				Check: wantText("hello")},
			{Name: "a call in thoughts and text is none", Serve: antReply("end_turn", quoting...), Check: wantText(quotedCall)},
			{Name: "thinking is kept", Serve: antReply("end_turn", append(thinking, strings.Split(second, "\n")...)...),
				Check: func(t *testing.T, response adapters.Response) {
					wantText("hello")(t, response)
					want := `{"model":"m","blocks":[{"kind":"thinking","thinking":"hm","signature":"sig"},{"kind":"redacted","data":"xyz"},{"kind":"text","size":5}]}`
					if string(response.Message.Opaque) != want {
						t.Errorf("opaque = %s", response.Message.Opaque)
					}
				}},
			{Name: "a server that does not stream", Serve: serveStatus(200,
				`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"},`+
					`{"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path":"a.go"}}],"stop_reason":"tool_use",`+
					`"usage":{"input_tokens":30,"cache_read_input_tokens":8,"output_tokens":7}}`),
				Check: func(t *testing.T, response adapters.Response) {
					wantCalls(adapters.FinishStop, aGo)(t, response)
					if response.Message.Content != "hello" ||
						response.Usage != (adapters.Usage{InputTokens: 38, CachedTokens: 8, OutputTokens: 7}) {
						t.Errorf("%q, %+v", response.Message.Content, response.Usage)
					}
				}},
			{Name: "halves of a character", Serve: antReply("end_turn", antText,
				strings.Replace(antHello, "hello", `a \ud83d`, 1), strings.Replace(antHello, "hello", `\ude00`, 1), antStop0),
				Check: wantText("a \U0001F600")},
			{Name: "half a character in a call", Serve: antReply("tool_use", antCall(0, "toolu_1")[0],
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"\ud83d"}}`),
				Kind: adapters.MalformedReply, Says: "character"},
			{Name: "two replies in one", Serve: antEvents(concat([]string{antStart}, call[:2],
				[]string{strings.Replace(antStart, "msg_1", "msg_2", 1)}, call, []string{antEnd("tool_use"), antOver})...),
				Kind: adapters.MalformedReply, Says: "two replies"},
			{Name: "tool call", Serve: antReply("tool_use", call...), Check: wantCalls(adapters.FinishStop, aGo)},
			{Name: "tool call under end_turn", Serve: antReply("end_turn", call...), Check: wantCalls(adapters.FinishStop, aGo)},
			{Name: "two tool calls", Serve: antReply("tool_use", concat(call, antCall(1, "toolu_2", "{}"))...),
				Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
			{Name: "duplicate ids", Serve: antReply("tool_use", concat(call, antCall(1, "toolu_1", "{}"))...),
				Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
			{Name: "no arguments", Serve: antReply("tool_use", antCall(0, "toolu_1")...),
				Check: wantCalls(adapters.FinishStop, "read_file({})")},
			{Name: "arguments in one piece",
				Serve: antReply(
					"tool_use",
					`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"read_file","input":{"path":"a.go"}}}`, antStop0), Check: wantCalls(adapters.FinishStop, aGo)},
			{Name: "broken tool JSON is the agent's to see",
				Serve: antReply("tool_use", antCall(0, "toolu_1", `{path: a.go`)...),
				Check: wantCalls(adapters.FinishStop, "read_file({path: a.go)")},
			{Name: "tool JSON cut at max_tokens", Serve: antReply("max_tokens", antCall(0, "toolu_1", `{"path":`)...),
				Check: wantCalls(adapters.FinishLength, `read_file({"path":)`)},
			{Name: "a call cut before its arguments", Serve: antReply("max_tokens", antCall(0, "toolu_1")...),
				Check: wantCalls(adapters.FinishLength, `read_file({})`)},
			{Name: "refused", Serve: antReply("refusal", hello...), Check: wantFinish(adapters.FinishFilter, "hello")},
			{Name: "refused without a word", Serve: antReply("refusal"), Check: wantFinish(adapters.FinishFilter, "")},
			{Name: "a paused turn", Serve: antReply("pause_turn", hello...), Check: wantFinish(adapters.FinishStop, "hello")},
			{Name: "no room for an answer", Serve: antReply("max_tokens"), Check: wantFinish(adapters.FinishLength, "")},
			{Name: "an event of tomorrow",
				Serve: antReply(
					"end_turn",
					append([]string{`{"type":"weather","sun":true}`,
						`{"type":"content_block_start","index":9,"content_block":{"type":"hologram"}}`}, hello...)...),
				Check: wantText("hello")},
			{Name: "bad UTF-8", Serve: antReply("end_turn", antText, strings.Replace(antHello, "hello", "a\xff", 1), antStop0),
				Check: wantText("a\uFFFD")},

			{Name: "context exceeded",
				Serve: serveStatus(
					400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`), Kind: adapters.TooLong},
			{Name: "context exceeded with the reply",
				Serve: serveStatus(400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input "+
					"length and `max_tokens` exceed context limit: 199000 + 8192 > 200000\"}}"), Kind: adapters.TooLong},
			{Name: "context exceeded in the reply", Serve: antReply("model_context_window_exceeded", hello...),
				Kind: adapters.TooLong},
			{Name: "the bill is not paid",
				Serve: serveStatus(
					400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`), Kind: adapters.Quota},
			{Name: "no such model",
				Serve: serveStatus(404, `{"type":"error","error":{"type":"not_found_error","message":"model: m"}}`),
				Kind:  adapters.BadRequest, Says: "claude-a, claude-b"},
			{Name: "error in the stream",
				Serve: antEvents(antStart, antText, antHello,
					`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded $AUTH"}}`), Kind: adapters.Overloaded,
				Unanswered: true},
			{Name: "rate limit in the stream",
				Serve: antEvents(antStart, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`),
				Kind:  adapters.Overloaded, Unanswered: true, Says: "slow down"},
			{Name: "an error that no one knows",
				Serve: antEvents(antStart, `{"type":"error","error":{"type":"gremlins","message":"boo"}}`),
				Kind:  adapters.MalformedReply, Unanswered: true, Says: "boo"},
			{Name: "empty reply", Serve: antReply("end_turn"), Kind: adapters.MalformedReply, Says: "empty"},
			{Name: "end without a reason", Serve: antEvents(append([]string{antStart}, append(hello, antOver)...)...),
				Kind: adapters.MalformedReply, Unanswered: true},
			{Name: "not JSON", Serve: serveEvents(`{"type": [}`), Kind: adapters.MalformedReply, Unanswered: true},
			{Name: "a call without a name",
				Serve: antReply(
					"tool_use", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","input":{}}}`,
					antStop0), Kind: adapters.MalformedReply, Says: "name"},
			{Name: "10 MB line", Flood: true, Serve: func(w http.ResponseWriter, r *http.Request) {
				antReply("end_turn", antText, strings.Replace(antHello, "hello", strings.Repeat("x", 11<<20), 1), antStop0)(w, r)
			}, Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
			{Name: "signatures without an end", Flood: true,
				Serve: antReply(
					"end_turn",
					append(thinking[:1:1],
						repeatEvent(11<<4, strings.Replace(thinking[2], "sig\"", strings.Repeat("s", 64<<10)+"\"", 1))...)...),
				Kind: adapters.MalformedReply, Unanswered: true, Says: "larger"},
			{Name: "pieces behind the end", Options: Idle,
				Serve: thenDrip(antEvents(append([]string{antStart}, append(hello, antEnd("end_turn"))...)...),
					"data: "+antEnd("end_turn")+"\n\n", 10*time.Millisecond), Check: wantText("hello")},
			{Name: "keep-alives are not tokens", Options: Short, Serve: thenHang(antEvents(antPing, antPing)),
				Kind: adapters.TimedOut, Unanswered: true},
		},
	}
}
