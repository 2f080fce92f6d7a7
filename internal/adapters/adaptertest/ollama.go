package adaptertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"company/internal/adapters"
)

// Lines of the protocol.
const (
	ollamaHello = `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"hello"},"done":false}`
	ollamaDone  = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":40,"eval_count":7}`
	ollamaCut   = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"length","prompt_eval_count":40,"eval_count":7}`
)

// ollamaCalls returns a line with tool calls.
func ollamaCalls(calls string) string {
	return `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[` + calls + `]},"done":false}`
}

// OllamaShow is the reply of /api/show for a model with tool support.
const OllamaShow = `{"capabilities":["completion","tools"],"parameters":"stop \"<|eot|>\"","model_info":{"general.architecture":"llama","llama.context_length":131072}}`

// Ollama returns the wire of Ollama's own protocol.
func Ollama() Wire {
	const aGo = `read_file({"path":"a.go"})`
	first := `{"id":"c1","function":{"index":0,"name":"read_file","arguments":{"path":"a.go"}}}`
	return Wire{
		Name: "ollama", Key: bearerToken, ContentType: "application/x-ndjson",
		Ask: map[string]http.HandlerFunc{"/api/show": serveStatus(200, OllamaShow),
			"/api/tags": serveStatus(200, `{"models":[{"name":"a:latest"},{"name":"b:7b"}]}`)},
		Begun: serveLines(ollamaHello), Whole: serveLines(ollamaHello, ollamaDone),
		Counted: func(input, output string) http.HandlerFunc {
			return serveLines(ollamaHello,
				strings.NewReplacer("_count\":40", "_count\":"+input, "_count\":7", "_count\":"+output).Replace(ollamaDone))
		},
		Error: func(message, _ string) string {
			b, err := json.Marshal(map[string]string{"error": message})
			if err != nil {
				panic(err) // unreachable: a map of strings always encodes
			}
			return string(b)
		},
		Piece: func(text string) string { return strings.Replace(ollamaHello, "hello", text, 1) + "\n" },
		Call: func(i int, id, name string) string {
			return ollamaCalls(fmt.Sprintf(`{"id":%q,"function":{"index":%d,"name":%q,"arguments":{}}}`, id, i, name)) + "\n"
		},
		End: serveLines(ollamaDone),
		Pieces: func(n int, text string) http.HandlerFunc {
			return servePieces(n, strings.Replace(ollamaHello, "hello", text, 1)+"\n", serveLines(ollamaDone))
		},
		Cannot: map[string]string{
			"refused":                      "the protocol knows no refusal",
			"tool JSON cut at max_tokens":  "the server parses calls and sends none that is cut",
			"key refused, and half echoed": "the server itself knows no keys",
		},
		Cases: []Case{
			{Name: "a call in thoughts and text is none",
				Serve: serveLines(`{"model":"m","message":{"role":"assistant","thinking":`+encode(quotedCall)+`,"content":`+
					encode(quotedCall)+`},"done":false}`, ollamaDone), Check: wantText(quotedCall)},
			{Name: "tool call", Serve: serveLines(ollamaCalls(first), ollamaDone), Check: wantCalls(adapters.FinishStop, aGo)},
			{Name: "two tool calls",
				Serve: serveLines(ollamaCalls(first), ollamaCalls(`{"id":"c2","function":{"name":"read_file","arguments":{}}}`),
					ollamaDone), Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
			{Name: "no ids, from servers before 0.12.10",
				Serve: serveLines(
					ollamaCalls(
						`{"function":{"name":"read_file","arguments":{"path":"a.go"}}},{"function":{"name":"read_file","arguments":{}}}`),
					ollamaDone), Check: wantCalls(adapters.FinishStop, aGo, "read_file({})")},
			{Name: "duplicate ids", Serve: serveLines(ollamaCalls(first+","+first), ollamaDone),
				Check: wantCalls(adapters.FinishStop, aGo, aGo)},
			{Name: "the order of arguments is the model's",
				Serve: serveLines(ollamaCalls(`{"function":{"name":"f","arguments":{"z":1,"a":2}}}`), ollamaDone),
				Check: wantCalls(adapters.FinishStop, `f({"z":1,"a":2})`)},
			{Name: "arguments in a text",
				Serve: serveLines(ollamaCalls(`{"function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`), ollamaDone),
				Check: wantCalls(adapters.FinishStop, aGo)},
			{Name: "no arguments", Serve: serveLines(ollamaCalls(`{"function":{"name":"read_file"}}`), ollamaDone),
				Check: wantCalls(adapters.FinishStop, "read_file({})")},
			{Name: "broken tool JSON is the agent's to see",
				Serve: serveLines(ollamaCalls(`{"function":{"name":"read_file","arguments":"{path: a.go"}}`), ollamaDone),
				Check: wantCalls(adapters.FinishStop, "read_file({path: a.go)")},
			{Name: "one document", Serve: serveStatus(200, strings.Replace(ollamaDone, `"content":""`, `"content":"hello"`, 1)),
				Check: wantText("hello")},
			{Name: "one document in lines",
				Serve: serveStatus(200, strings.ReplaceAll(strings.Replace(ollamaDone, `"content":""`, `"content":"hello"`, 1),
					",", ",\n")),
				Check: wantText("hello")},
			{Name: "halves of a character", Serve: serveLines(strings.Replace(ollamaHello, "hello", `a \ud83d`, 1),
				strings.Replace(ollamaHello, "hello", `\ude00`, 1), ollamaDone), Check: wantText("a \U0001F600")},
			{Name: "counts are missing",
				Serve: serveLines(ollamaHello,
					`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`),
				Check: wantEstimated},
			{Name: "an error of no words in each piece",
				Serve: serveLines(strings.Replace(ollamaHello, "{", `{"error":"",`, 1),
					strings.Replace(ollamaDone, "{", `{"error":null,`, 1)), Check: wantText("hello")},
			{Name: "cut at num_predict", Serve: serveLines(ollamaHello, ollamaCut),
				Check: wantFinish(adapters.FinishLength, "hello")},
			{Name: "bad UTF-8", Serve: serveLines(strings.Replace(ollamaHello, "hello", "a\xff", 1), ollamaDone),
				Check: wantText("a\uFFFD")},

			{Name: "a tool call that the server cannot read",
				Serve: serveStatus(
					500, `{"error":"error parsing tool call: raw='{\"path\": \"a.go}', err=unexpected end of JSON input"}`),
				Kind: adapters.MalformedReply, Unanswered: true, Says: "parsing tool call"},
			{Name: "its parser's own words",
				Serve: serveStatus(500, `{"error":"invalid character 'x' after object key:value pair"}`),
				Kind:  adapters.MalformedReply, Unanswered: true},
			{Name: "a tool call that it cannot read, in the stream",
				Serve: serveLines(ollamaHello, `{"error":"XML syntax error on line 3: unexpected EOF"}`),
				Kind:  adapters.MalformedReply, Unanswered: true, Says: "XML"},
			{Name: "the queue is full",
				Serve: serveStatus(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`),
				Kind:  adapters.Overloaded, Says: "busy"},
			{Name: "no such model", Serve: serveStatus(404, `{"error":"model 'm' not found"}`), Kind: adapters.BadRequest,
				Says: "not found"},
			{Name: "the machine is too small",
				Serve: serveStatus(500, `{"error":"model requires more system memory (40.0 GiB) than is available (8.0 GiB)"}`),
				Kind:  adapters.BadRequest, Says: "memory"},
			{Name: "a model that cannot be loaded",
				Serve: serveStatus(
					500, `{"error":"llama runner process has terminated: error loading model: missing tensor 'blk.1.ffn_up.weight'"}`),
				Kind: adapters.BadRequest, Says: "missing tensor"},
			{Name: "a model's process that ended",
				Serve: serveStatus(500, `{"error":"llama runner process has terminated: signal: killed"}`),
				Kind:  adapters.MalformedReply, Says: "killed"},
			{Name: "a model's process that ended in the reply",
				Serve: serveLines(ollamaHello, `{"error":"an error was encountered while running the model: unexpected EOF"}`),
				Kind:  adapters.MalformedReply, Unanswered: true, Says: "unexpected EOF"},
			{Name: "a name that is none",
				Serve: serveStatus(500, `{"error":"unqualified name: registry.ollama.ai/library/bad name!!:latest"}`),
				Kind:  adapters.BadRequest, Says: "unqualified"},
			{Name: "context exceeded", Serve: serveStatus(400, `{"error":"the input length exceeds the context length"}`),
				Kind: adapters.TooLong},
			{Name: "error in the stream",
				Serve: serveLines(ollamaHello, `{"error":"llama runner process has terminated: overloaded"}`),
				Kind:  adapters.Overloaded, Unanswered: true},
			{Name: "empty reply", Serve: serveLines(ollamaDone), Kind: adapters.MalformedReply, Says: "empty"},
			{Name: "empty reply, not counted",
				Serve: serveLines(`{"done":true,"done_reason":"stop","message":{"role":"assistant"}}`),
				Kind:  adapters.MalformedReply, Unanswered: true, Says: "empty"},
			{Name: "a call without a name", Serve: serveLines(ollamaCalls(`{"function":{"arguments":{}}}`), ollamaDone),
				Kind: adapters.MalformedReply, Says: "name"},
			{Name: "not JSON", Serve: serveLines(`{"message": [}`), Kind: adapters.MalformedReply, Unanswered: true},
			{Name: "not an object", Serve: serveLines(`[1,2]`), Kind: adapters.MalformedReply, Unanswered: true},
			{Name: "half a line", Serve: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, ollamaDone[:60])
			}, Kind: adapters.MalformedReply, Unanswered: true},
		},
	}
}
