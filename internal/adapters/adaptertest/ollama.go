package adaptertest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"company/internal/adapters"
)

// Lines of the wire.
const (
	ollamaHello = `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"hello"},"done":false}`
	ollamaDone  = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":40,"eval_count":7}`
	ollamaCut   = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"length","prompt_eval_count":40,"eval_count":7}`
)

// ollamaCalls is a line with tool calls.
func ollamaCalls(calls string) string {
	return `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[` + calls + `]},"done":false}`
}

// OllamaShow is what /api/show tells of a model that can call tools.
const OllamaShow = `{"capabilities":["completion","tools"],"parameters":"stop \"<|eot|>\"","model_info":{"general.architecture":"llama","llama.context_length":131072}}`

// Ollama is the wire of Ollama's own protocol.
func Ollama() Wire {
	const aGo = `read_file({"path":"a.go"})`
	first := `{"id":"c1","function":{"index":0,"name":"read_file","arguments":{"path":"a.go"}}}`
	return Wire{
		Name: "ollama", Key: bearer, Ask: map[string]http.HandlerFunc{"/api/show": status(200, OllamaShow), "/api/tags": status(200, `{"models":[{"name":"a:latest"},{"name":"b:7b"}]}`)},
		Begun: lines(ollamaHello), Whole: lines(ollamaHello, ollamaDone),
		Counted: func(input, output string) http.HandlerFunc {
			return lines(ollamaHello, strings.NewReplacer("_count\":40", "_count\":"+input, "_count\":7", "_count\":"+output).Replace(ollamaDone))
		},
		Error: func(message, _ string) string {
			b, err := json.Marshal(map[string]string{"error": message})
			if err != nil {
				panic(err) // a map of strings always encodes
			}
			return string(b)
		},
		Pieces: func(n int, text string) http.HandlerFunc {
			return pieces(n, strings.Replace(ollamaHello, "hello", text, 1)+"\n", lines(ollamaDone))
		},
		Cannot: map[string]string{
			"refused":                      "the protocol knows no refusal",
			"tool JSON cut at max_tokens":  "the server parses calls and sends none that is cut",
			"key refused, and half echoed": "the server itself knows no keys",
		},
		Cases: []Case{
			{Name: "tool call", Serve: lines(ollamaCalls(first), ollamaDone), Check: calls(adapters.FinishStop, aGo)},
			{Name: "two tool calls", Serve: lines(ollamaCalls(first), ollamaCalls(`{"id":"c2","function":{"name":"read_file","arguments":{}}}`), ollamaDone), Check: calls(adapters.FinishStop, aGo, "read_file({})")},
			{Name: "no ids, from servers before 0.12.10", Serve: lines(ollamaCalls(`{"function":{"name":"read_file","arguments":{"path":"a.go"}}},{"function":{"name":"read_file","arguments":{}}}`), ollamaDone), Check: calls(adapters.FinishStop, aGo, "read_file({})")},
			{Name: "duplicate ids", Serve: lines(ollamaCalls(first+","+first), ollamaDone), Check: calls(adapters.FinishStop, aGo, aGo)},
			{Name: "the order of arguments is the model's", Serve: lines(ollamaCalls(`{"function":{"name":"f","arguments":{"z":1,"a":2}}}`), ollamaDone), Check: calls(adapters.FinishStop, `f({"z":1,"a":2})`)},
			{Name: "arguments in a text", Serve: lines(ollamaCalls(`{"function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`), ollamaDone), Check: calls(adapters.FinishStop, aGo)},
			{Name: "no arguments", Serve: lines(ollamaCalls(`{"function":{"name":"read_file"}}`), ollamaDone), Check: calls(adapters.FinishStop, "read_file({})")},
			{Name: "broken tool JSON is the agent's to see", Serve: lines(ollamaCalls(`{"function":{"name":"read_file","arguments":"{path: a.go"}}`), ollamaDone), Check: calls(adapters.FinishStop, "read_file({path: a.go)")},
			{Name: "one document", Serve: status(200, strings.Replace(ollamaDone, `"content":""`, `"content":"hello"`, 1)), Check: text("hello")},
			{Name: "counts are missing", Serve: lines(ollamaHello, `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`), Check: estimated},
			{Name: "an error of no words in each piece", Serve: lines(strings.Replace(ollamaHello, "{", `{"error":"",`, 1), strings.Replace(ollamaDone, "{", `{"error":null,`, 1)), Check: text("hello")},
			{Name: "cut at num_predict", Serve: lines(ollamaHello, ollamaCut), Check: finish(adapters.FinishLength, "hello")},
			{Name: "bad UTF-8", Serve: lines(strings.Replace(ollamaHello, "hello", "a\xff", 1), ollamaDone), Check: text("a\uFFFD")},

			{Name: "a tool call that the server cannot read", Serve: status(500, `{"error":"error parsing tool call: raw='{\"path\": \"a.go}', err=unexpected end of JSON input"}`), Kind: adapters.Garbage, Unanswered: true, Says: "parsing tool call"},
			{Name: "its parser's own words", Serve: status(500, `{"error":"invalid character 'x' after object key:value pair"}`), Kind: adapters.Garbage, Unanswered: true},
			{Name: "a tool call that it cannot read, in the stream", Serve: lines(ollamaHello, `{"error":"XML syntax error on line 3: unexpected EOF"}`), Kind: adapters.Garbage, Unanswered: true, Says: "XML"},
			{Name: "the queue is full", Serve: status(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), Kind: adapters.Overloaded, Says: "busy"},
			{Name: "no such model", Serve: status(404, `{"error":"model 'm' not found"}`), Kind: adapters.BadRequest, Says: "not found"},
			{Name: "the machine is too small", Serve: status(500, `{"error":"model requires more system memory (40.0 GiB) than is available (8.0 GiB)"}`), Kind: adapters.BadRequest, Says: "memory"},
			{Name: "a model that cannot be loaded", Serve: status(500, `{"error":"llama runner process has terminated: error loading model: missing tensor 'blk.1.ffn_up.weight'"}`), Kind: adapters.BadRequest, Says: "missing tensor"},
			{Name: "a model's process that ended", Serve: status(500, `{"error":"llama runner process has terminated: signal: killed"}`), Kind: adapters.Garbage, Says: "killed"},
			{Name: "a model's process that ended in the reply", Serve: lines(ollamaHello, `{"error":"an error was encountered while running the model: unexpected EOF"}`), Kind: adapters.Garbage, Unanswered: true, Says: "unexpected EOF"},
			{Name: "a name that is none", Serve: status(500, `{"error":"unqualified name: registry.ollama.ai/library/bad name!!:latest"}`), Kind: adapters.BadRequest, Says: "unqualified"},
			{Name: "context exceeded", Serve: status(400, `{"error":"the input length exceeds the context length"}`), Kind: adapters.TooLong},
			{Name: "error in the stream", Serve: lines(ollamaHello, `{"error":"llama runner process has terminated: overloaded"}`), Kind: adapters.Overloaded, Unanswered: true},
			{Name: "empty reply", Serve: lines(ollamaDone), Kind: adapters.Garbage, Says: "empty"},
			{Name: "empty reply, not counted", Serve: lines(`{"done":true,"done_reason":"stop","message":{"role":"assistant"}}`), Kind: adapters.Garbage, Unanswered: true, Says: "empty"},
			{Name: "a call without a name", Serve: lines(ollamaCalls(`{"function":{"arguments":{}}}`), ollamaDone), Kind: adapters.Garbage, Says: "name"},
			{Name: "not JSON", Serve: lines(`{"message": [}`), Kind: adapters.Garbage, Unanswered: true},
			{Name: "not an object", Serve: lines(`[1,2]`), Kind: adapters.Garbage, Unanswered: true},
			{Name: "half a line", Serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, ollamaDone[:60]) }, Kind: adapters.Garbage, Unanswered: true},
		},
	}
}
