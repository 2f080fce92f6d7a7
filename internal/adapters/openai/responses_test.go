package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
	"company/internal/adapters/openai"
)

// forwardResponses sends a request of another client over the responses wire, to a server that answers with reply. It
// returns what was sent and what was copied.
func forwardResponses(t *testing.T, reply string, refuse func(map[string]any) string) (
	resp adapters.Response, sent []adaptertest.Sent, copied string, err error,
) {
	t.Helper()
	url, got := adaptertest.EchoServer(t, "/v1/responses", reply, refuse)
	client := adaptertest.Open(t, openai.New, adapters.Profile{Model: "m", BaseURL: url + "/v1", MaxOutput: 70},
		adapters.Deps{})
	var out bytes.Buffer
	resp, err = client.Forward(t.Context(), adapters.Request{MaxTokens: 50}, adapters.Forwarded{
		Wire: adapters.WireResponses,
		Body: map[string]json.RawMessage{"input": json.RawMessage(`"<hi>"`), "stream": json.RawMessage("true"),
			"text": json.RawMessage(`{"verbosity":"low"}`), "max_output_tokens": json.RawMessage("9")},
		Begin: func(string) io.Writer { return &out }, Learnt: &adapters.Learnt{}})
	return resp, got(), out.String(), err
}

const responsesUsage = `"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":10},"output_tokens":7}`

// A request of the responses wire goes to its own path with the profile's model and limit. Members that the server
// refuses are left out. The reply is copied whole.
func TestForwardedResponses(t *testing.T) {
	stream := `data: {"type":"response.created","response":{"status":"in_progress","error":null,"output":[]}}` +
		"\n\n" +
		`data: {"type":"response.output_item.added","item":{"type":"message"}}` + "\n\n" +
		`data: {"type":"response.output_text.delta","delta":"ok"}` + "\n\n" +
		`data: {"type":"response.output_item.done","item":{"type":"message","content":` +
		`[{"type":"output_text","text":"ok"}]}}` + "\n\n" +
		`data: {"type":"response.output_item.done","item":{"type":"custom_tool_call","call_id":"c","name":"f",` +
		`"input":"x"}}` + "\n\n" +
		`data: {"type":"response.completed","response":{"status":"completed","model":"m-1","error":null,"output":[],` +
		responsesUsage + `}}` + "\n\n"
	resp, sent, copied, err := forwardResponses(t, stream, func(body map[string]any) string {
		if body["text"] != nil {
			return "Unsupported parameter: 'text' is not supported with this model."
		}
		return ""
	})
	want := adapters.Usage{InputTokens: 30, CachedTokens: 10, OutputTokens: 7}
	if err != nil || resp.Message.Content != "ok" || len(resp.Message.ToolCalls) != 1 || resp.Usage != want ||
		resp.Model != "m-1" || copied != stream {
		t.Fatalf("%+v, %v, copied %q", resp, err, copied)
	}
	last := sent[len(sent)-1].Body
	if len(sent) != 2 || fmt.Sprint(last["max_output_tokens"]) != "50" || last["model"] != "m" || last["text"] != nil ||
		last["input"] != "<hi>" || last["max_tokens"] != nil || last["max_completion_tokens"] != nil {
		t.Errorf("%d requests, the last is %v", len(sent), last)
	}
}

// How replies over the responses wire end.
func TestEndsOfResponses(t *testing.T) {
	event := func(kind, response string) string {
		return `data: {"type":"response.` + kind + `","response":{` + response + "}}\n\n"
	}
	const delta = `data: {"type":"response.output_text.delta","delta":"ok"}` + "\n\n"
	const item = `[{"type":"message","content":[{"type":"output_text","text":"ok"}]}]`
	for name, x := range map[string]struct {
		reply  string
		kind   adapters.Kind // of the error, "" for none
		finish adapters.Finish
		tokens int // of the output
	}{
		"whole document": {reply: `{"object":"response","error":null,"output":` + item + `,` + responsesUsage + `}`,
			finish: adapters.FinishStop, tokens: 7},
		"items at the end": {reply: delta + event("completed", `"output":`+item+`,`+responsesUsage),
			finish: adapters.FinishStop, tokens: 7},
		"no usage": {reply: delta + delta + event("completed", `"output":`+item), finish: adapters.FinishStop,
			tokens: 50},
		"cut by the limit": {reply: delta + event("incomplete", `"status":"incomplete",`+
			`"incomplete_details":{"reason":"max_output_tokens"},"output":`+item+`,`+responsesUsage),
			finish: adapters.FinishLength, tokens: 7},
		"filtered": {reply: event("incomplete", `"status":"incomplete",`+
			`"incomplete_details":{"reason":"content_filter"},"output":`+item+`,`+
			responsesUsage), finish: adapters.FinishFilter, tokens: 7},
		"failed": {reply: delta + event("failed",
			`"status":"failed","error":{"code":"server_error","message":"boom"}`), kind: adapters.Overloaded},
		"over its limit": {reply: event("failed", `"status":"failed","error":{"code":"context_length_exceeded",`+
			`"message":"Your input exceeds the context window of this model."}`), kind: adapters.TooLong},
		"an error event": {reply: `data: {"type":"error","code":"rate_limit_exceeded","message":"slow down"}` + "\n\n",
			kind: adapters.Overloaded},
		"no end":   {reply: delta, kind: adapters.MalformedReply},
		"empty":    {reply: event("completed", `"output":[],`+responsesUsage), kind: adapters.MalformedReply},
		"not JSON": {reply: "data: {\"type\": }\n\n", kind: adapters.MalformedReply},
		"odd end":  {reply: event("incomplete", `"status":"incomplete","output":`+item), kind: adapters.MalformedReply},
	} {
		resp, _, _, err := forwardResponses(t, x.reply, nil)
		if adapters.KindOf(err) != x.kind || resp.Finish != x.finish || resp.Usage.OutputTokens != x.tokens ||
			err == nil && !strings.HasPrefix(resp.Message.Content, "ok") {
			t.Errorf("%s: %+v, %v", name, resp, err)
		}
	}
}
