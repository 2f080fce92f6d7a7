package relay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

const (
	aTool    = `{"type":"function","function":{"name":"f"}}`
	oneHello = `"messages":[{"content":"hi","role":"user"}]`
)

// inItems returns a request of the responses wire with items, and other members.
func inItems(items string, members ...string) string {
	return `{` + strings.Join(append(members, `"input":[`+items+`]`), ",") + `}`
}

// inParts returns a request whose one message has parts.
func inParts(parts string) string { return `{"messages":[{"role":"user","content":[` + parts + `]}]}` }

// TestWhatMayPass: what is sent of a request, what is left out, and what is refused. want is a part of what is sent, or
// of the refusal.
func TestWhatMayPass(t *testing.T) {
	for name, x := range map[string]struct {
		wire       adapters.Wire
		body, want string
		left       string
		refused    bool
	}{
		"a stream": {body: `{` + oneHello + `,"stream":true,"temperature":0.5}`, want: `"temperature":0.5`},
		"unknown members": {body: `{` + oneHello + `,"store":true,"service_tier":"priority","metadata":{}}`,
			want: `{` + oneHello + `}`, left: "metadata, service_tier, store"},
		"one twice":       {body: `{` + oneHello + `,"n":1,"n":9}`, want: `has "n" twice`, refused: true},
		"several replies": {body: `{` + oneHello + `,"n":2}`, want: "n cannot be more than 1", refused: true},
		"an odd number":   {body: `{` + oneHello + `,"n":"many"}`, want: "n cannot be more than 1", refused: true},
		"one reply":       {body: `{` + oneHello + `,"n":1}`, want: `"n":1`},
		"a stored one": {body: `{` + oneHello + `,"previous_response_id":"r"}`, want: "previous_response_id",
			refused: true},
		"no stored one":     {body: `{` + oneHello + `,"previous_response_id":null}`, want: `{` + oneHello + `}`},
		"in the background": {body: `{` + oneHello + `,"background":true}`, want: "background", refused: true},
		"no JSON":           {body: `{"messages":`, want: "is not JSON", refused: true},
		"a list":            {body: `[]`, want: "is not a JSON object", refused: true},
		"two documents":     {body: `{` + oneHello + `}{}`, want: "is not one JSON object", refused: true},
		"no messages":       {body: `{"messages":[]}`, want: "has no messages", refused: true},
		"a text for one":    {body: `{"messages":["hi"]}`, want: "a message is not an object", refused: true},
		"hosted tools": {body: `{` + oneHello + `,"tools":[` + aTool +
			`,{"type":"web_search"},{"type":"mcp","server_url":"x"}]}`,
			want: `"tools":[{"function":{"name":"f"},"type":"function"}]`, left: "the tool web_search, the tool mcp"},
		"hosted tools alone": {body: `{` + oneHello + `,"tools":[{"type":"code_interpreter"}]}`,
			want: "none of the tools that it offers can be used here: code_interpreter", refused: true},
		"a tool of two types": {body: `{` + oneHello +
			`,"tools":[{"type":"web_search","type":"function","function":{"name":"f"}}]}`,
			want: `"tools":[{"function":{"name":"f"},"type":"function"}]`},
		"an image": {body: inParts(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}`),
			want: "base64,AA"},
		"an address": {body: inParts(`{"type":"image_url","image_url":{"url":"https://x/y.png"}}`),
			want: "an image must be in the request itself", refused: true},
		"an address in a part of no type": {body: inParts(`{"image_url":{"url":"https://x"}}`),
			want: `a part of type ""`, refused: true},
		"an address in a text": {body: inParts(`{"type":"text","text":"a","image_url":{"url":"https://x"}}`),
			want: `[{"text":"a","type":"text"}]`, left: "image_url of a part"},
		"two addresses": {body: inParts(`{"type":"image_url","image_url":{"url":"https://x",` +
			`"url":"data:image/png;base64,AA"}}`), want: `"image_url":{"url":"data:image/png;base64,AA"}`},
		"files of a message": {body: `{"messages":[{"role":"user","content":"hi","file_ids":["f"],"attachments":[]}]}`,
			want: `{` + oneHello + `}`, left: "attachments of a message, file_ids of a message"},
		"more in a tool": {body: `{` + oneHello +
			`,"tools":[{"type":"function","function":{"name":"f"},"web_search":{}}]}`,
			want: `"tools":[{"function":{"name":"f"},"type":"function"}]`, left: "web_search of a tool"},
		"a file": {body: inParts(`{"type":"file","file":{"file_id":"f"}}`),
			want: `a part of type \"file\"`, refused: true},
		"a sound": {body: inParts(`{"type":"input_audio","input_audio":{}}`),
			want: `a part of type \"input_audio\"`, refused: true},
		"an earlier sound": {body: `{"messages":[{"role":"assistant","audio":{"id":"a"}}]}`, want: "audio",
			refused: true},
		"an hour of cache": {body: inParts(`{"type":"text","text":"<a>","cache_control":` +
			`{"type":"ephemeral","ttl":"1h"}}`),
			want: `{"cache_control":{"type":"ephemeral"},"text":"<a>","type":"text"}`},

		"messages": {wire: adapters.WireMessages, body: `{` + oneHello +
			`,"system":[{"type":"text","text":"s","cache_control":` +
			`{"type":"ephemeral","ttl":"1h"}}],"max_tokens":5}`,
			want: `"system":[{"cache_control":{"type":"ephemeral"},"text":"s","type":"text"}]`},
		"a fast one": {wire: adapters.WireMessages, body: `{` + oneHello + `,"speed":"fast","inference_geo":"us"}`,
			want: `{` + oneHello + `}`, left: "inference_geo, speed"},
		"its client tools": {wire: adapters.WireMessages, body: `{` + oneHello +
			`,"tools":[{"name":"f"},{"type":"bash_20250124","name":"bash"},` +
			`{"type":"web_fetch_20250910","name":"w"},{"type":"computer_20250124","name":"c"}]}`,
			want: `"tools":[{"name":"f"},{"name":"bash","type":"bash_20250124"}]`,
			left: "the tool web_fetch_20250910, the tool computer_20250124"},
		"its servers": {wire: adapters.WireMessages, body: `{` + oneHello + `,"mcp_servers":[{"url":"x"}]}`,
			want:    "mcp_servers",
			refused: true},
		"no servers": {wire: adapters.WireMessages, body: `{` + oneHello + `,"mcp_servers":[]}`, want: `{` + oneHello +
			`}`},
		"a PDF": {wire: adapters.WireMessages,
			body: inParts(`{"type":"document","source":` +
				`{"type":"base64","data":"AA"}}`), want: "document from base64", refused: true},
		"a PDF in a result": {wire: adapters.WireMessages,
			body: inParts(`{"type":"tool_result",` +
				`"content":[{"type":"document","source":{"type":"url"}}]}`), want: "document from url", refused: true},
		"a text document": {wire: adapters.WireMessages,
			body: inParts(`{"type":"document","source":` +
				`{"type":"text","data":"a"}}`), want: `"data":"a"`},
		"an image of two kinds": {wire: adapters.WireMessages,
			body: inParts(`{"type":"image","source":` +
				`{"type":"url","url":"x","type":"base64","data":"AA"}}`),
			want: `"source":{"data":"AA","type":"base64"}`,
			left: "url of a source"},
		"an image by id": {wire: adapters.WireMessages,
			body: inParts(`{"type":"image","source":` +
				`{"type":"file","file_id":"x"}}`), want: "as base64", refused: true},
		"a container": {wire: adapters.WireMessages, body: `{` + oneHello + `,"container":{"skills":[]}}`,
			want:    "container",
			refused: true},
		"edits": {wire: adapters.WireMessages, body: `{` + oneHello +
			`,"context_management":{"edits":[{"type":"clear_tool_uses_20250919"},` +
			`{"type":"compact_20260112"}]}}`, want: `{"edits":[{"type":"clear_tool_uses_20250919"}]}`,
			left: "the context edit compact_20260112"},

		"a text as input": {wire: adapters.WireResponses, body: `{"input":"hi","store":true,"instructions":"be kind"}`,
			want: `{"input":"hi","instructions":"be kind","store":false}`},
		"its thoughts": {wire: adapters.WireResponses, body: inItems(`{"type":"reasoning","id":"r","summary":[],`+
			`"encrypted_content":"AA"}`, `"include":["reasoning.encrypted_content","web_search_call.action.sources"]`),
			want: `{"include":["reasoning.encrypted_content"],"input":[{"encrypted_content":"AA","id":"r",` +
				`"summary":[],"type":"reasoning"}],"store":false}`,
			left: `include "web_search_call.action.sources"`},
		"calls and results": {wire: adapters.WireResponses, body: inItems(
			`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"}]}`),
			want: `"output":[{"text":"a","type":"input_text"}]`},
		"groups of tools": {wire: adapters.WireResponses, body: inItems(`{"role":"user","content":"hi"}`,
			`"tools":[{"type":"namespace","name":"n","url":"x","tools":[{"type":"function","name":"f","defer":1},`+
				`{"type":"web_search"}]},{"type":"custom","name":"c"},{"type":"image_generation"}]`),
			want: `"tools":[{"name":"n","tools":[{"name":"f","type":"function"}],"type":"namespace"},` +
				`{"name":"c","type":"custom"}]`,
			left: "url of a namespace, defer of a tool, the tool web_search, the tool image_generation"},
		"a group of hosted tools": {wire: adapters.WireResponses, body: inItems(`{"role":"user","content":"hi"}`,
			`"tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp"}]}]`),
			want: "none of the tools that it offers can be used here: mcp", refused: true},
		"groups of groups": {wire: adapters.WireResponses, body: inItems(`{"role":"user","content":"hi"}`,
			`"tools":[{"type":"namespace","tools":[{"type":"namespace","tools":[{"type":"mcp"}]}]}]`),
			want: "a namespace of tools cannot hold another one", refused: true},
		"a result in a result": {wire: adapters.WireMessages,
			body: inParts(`{"type":"tool_result","content":[{"type":"tool_result","content":"a"}]}`),
			want: "a result cannot hold another one", refused: true},
		"a stored response": {wire: adapters.WireResponses, body: `{"input":"hi","previous_response_id":"r"}`,
			want: "previous_response_id", refused: true},
		"a stored conversation": {wire: adapters.WireResponses, body: `{"input":"hi","conversation":{"id":"c"}}`,
			want: "conversation", refused: true},
		"a stored prompt": {wire: adapters.WireResponses, body: `{"input":"hi","prompt":{"id":"p"}}`, want: "prompt",
			refused: true},
		"a reference": {wire: adapters.WireResponses, body: inItems(`{"type":"item_reference","id":"i"}`),
			want: `a part of type \"item_reference\"`, refused: true},
		"a hosted call": {wire: adapters.WireResponses, body: inItems(`{"type":"web_search_call","id":"i"}`),
			want: `a part of type \"web_search_call\"`, refused: true},
		"an image of its own": {wire: adapters.WireResponses, body: inItems(`{"role":"user","content":[` +
			`{"type":"input_image","image_url":"data:image/png;base64,AA","file_id":"f"}]}`),
			want: `{"image_url":"data:image/png;base64,AA","type":"input_image"}`, left: "file_id of a part"},
		"an image elsewhere": {wire: adapters.WireResponses, body: inItems(
			`{"type":"function_call_output","output":[{"type":"input_image","image_url":"https://x"}]}`),
			want: "an image must be in the request itself", refused: true},
		"an image of an id": {wire: adapters.WireResponses, body: inItems(`{"role":"user","content":` +
			`{"type":"input_image","file_id":"f"}}`), want: "an image must be in the request itself", refused: true},
		"a file of input": {wire: adapters.WireResponses, body: inItems(`{"role":"user","content":[` +
			`{"type":"input_file","file_url":"https://x"}]}`), want: `a part of type \"input_file\"`, refused: true},
		"no input": {wire: adapters.WireResponses, body: `{"input":[]}`, want: "has no input", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			if x.wire == "" {
				x.wire = adapters.WireChat
			}
			got, err := rewriteRequest(x.wire, []byte(x.body), nil)
			text := ""
			if err != nil {
				text = err.Error()
			} else if data, err := encodeJSON(got.body); err == nil {
				text = string(data)
			}
			want := strings.ReplaceAll(x.want, `\"`, `"`)
			if (err != nil) != x.refused || !strings.Contains(text, want) || strings.Join(got.left, ", ") != x.left {
				t.Errorf("%s, left out %q, %v; want %s", text, got.left, err, want)
			}
		})
	}
}

// The bound of a request counts what is sent, its tools twice, and each image by its size.
func TestBoundOfARequest(t *testing.T) {
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 3000, 2000))); err != nil {
		t.Fatal(err)
	}
	picture := base64.StdEncoding.EncodeToString(drawn.Bytes()) + strings.Repeat("A", 100_000)
	plain, err := rewriteRequest(adapters.WireChat, []byte(`{`+oneHello+`,"max_tokens":70}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := rewriteRequest(adapters.WireChat,
		[]byte(`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":`+
			`{"url":"data:image/png;base64,`+picture+`"}}]}],"max_tokens":70}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	tooled, err := rewriteRequest(adapters.WireChat,
		[]byte(`{`+oneHello+`,"tools":[`+aTool+`],"max_completion_tokens":70}`),
		nil)
	if err != nil {
		t.Fatal(err)
	}
	base := adapters.InputBound(plain.request)
	if more := adapters.InputBound(shown.request) - base; more < 8000 || more > 8400 {
		t.Errorf("an image is %d tokens", more)
	}
	if more := adapters.InputBound(tooled.request) - base; more < 2*len(aTool) || more > 2*len(aTool)+100 {
		t.Errorf("a tool of %d bytes is %d tokens", len(aTool), more)
	}
	if plain.request.MaxTokens != 70 || tooled.request.MaxTokens != 70 || plain.tools || !tooled.tools {
		t.Errorf("%+v, %+v", plain, tooled)
	}
}

// FuzzRewrite: no tool, part or member passes that is not listed, and what passes is one JSON object.
func FuzzRewrite(f *testing.F) {
	wires := []adapters.Wire{adapters.WireChat, adapters.WireMessages, adapters.WireResponses}
	for _, body := range []string{`{` + oneHello + `,"tools":[` + aTool + `,{"type":"web_search"}]}`,
		inItems(`{"type":"item_reference"}`, `"tools":{"type":"namespace","tools":[{"type":"mcp"},`+aTool+`]}`),
		inParts(`{"type":"file"}`), `{"messages":{"role":"user"},"n":1}`,
		`{"messages":[{"content":{"type":"image","source":{"type":"url"}}}],"tools":{"type":"computer_1"}}`} {
		for wire := range wires {
			f.Add([]byte(body), uint8(wire))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, number uint8) {
		wire := wires[int(number)%len(wires)]
		got, err := rewriteRequest(wire, data, http.Header{"Anthropic-Beta": {string(data)}})
		if err != nil {
			return
		}
		encoded, err := encodeJSON(got.body)
		if err != nil || !json.Valid(encoded) {
			t.Fatalf("%s: %v", encoded, err)
		}
		for name := range got.body {
			if !wireRules[wire].members[name] {
				t.Errorf("%s passes", name)
			}
		}
		checkTools(t, wire, got.body)
	})
}

// checkTools fails for tools that the program does not run, also in groups.
func checkTools(t *testing.T, wire adapters.Wire, of exchange.Members) {
	t.Helper()
	for _, raw := range of.List("tools") {
		tool := exchange.MembersOf(raw)
		if !wireRules[wire].isOwn(tool) {
			t.Errorf("the tool %s passes", raw)
		}
		if tool.Word("type") == namespace {
			checkTools(t, wire, tool)
		}
	}
}
