package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
	"company/internal/adapters/openai"
)

// These tests send the forms of vendors, each in miniature.

// serveReply returns a client of model m whose server sends these events, or this one document, to each request, and
// the requests.
func serveReply(t *testing.T, deps adapters.Deps, events ...string) (*openai.Client, *[]map[string]any) {
	t.Helper()
	var sent []map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("request is not JSON: %v", err)
		}
		sent = append(sent, body)
		if len(events) == 1 {
			_, _ = io.WriteString(w, events[0])
			return
		}
		for _, event := range events {
			_, _ = io.WriteString(w, "data: "+event+"\n\n")
		}
	}))
	t.Cleanup(server.Close)
	return adaptertest.Open(t, openai.New, adapters.Profile{Model: "m", BaseURL: server.URL + "/v1"}, deps), &sent
}

// delta returns an event with a piece of a message, and whole a reply in one document.
func delta(members string) string {
	return `{"model":"m","choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
}

func whole(members, rest string) string {
	return `{"model":"m","choices":[{"index":0,"message":{"role":"assistant",` + members + `}` + rest + `}]}`
}

const (
	stops = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	over  = `[DONE]`
)

func TestShapesOfReplies(t *testing.T) {
	call := func(args string) string {
		return `"tool_calls":[{"index":0,"id":"c","function":{"name":"read_file","arguments":` + args + `}}]`
	}
	counted := func(usage string) string {
		return `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,` + usage + `}}`
	}
	for _, c := range []struct {
		name          string
		events        []string
		text, args    string // of the reply and of its one call
		output, cache int    // tokens, 0 if they do not matter
	}{
		{name: "content in typed parts", text: "Hello.", events: []string{
			delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]`),
			delta(`"content":[{"type":"text","text":"Hel"}]`), delta(`"content":"lo."`), stops, over}},
		{name: "parts in a document", text: "Hello.", events: []string{
			whole(`"content":["Hel",{"text":"lo."},{"type":"hologram","text":"x"}]`, `,"finish_reason":"stop"`)}},
		{name: "a document without a reason for its end", text: "hello", events: []string{
			whole(`"content":"hello"`, `,"finish_reason":""`)}},
		{name: "an end mark behind a count", text: "hello", output: 3, events: []string{
			delta(`"content":"hello"`), counted(`"total_tokens":13`), over}},
		{name: "halves of a character", text: "a 😀 ü", args: `{"path":"😀"}`, events: []string{
			delta(`"content":"a \ud83d"`), delta(`"content":"\ude00"`), delta("\"content\":\" \xc3\""),
			delta("\"content\":\"\xbc\""), delta(call(`"{\"path\":\"\ud83d"`)),
			delta(`"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]`), stops, over}},
		{name: "a pair that was escaped", text: `\ud83d and 😀`, events: []string{
			delta(`"content":"\\ud83d"`), delta(`"content":" and \ud83d\ude00"`), stops, over}},
		{name: "arguments as an object", args: `{"path":"a"}`, events: []string{delta(call(`{"path":"a"}`)), stops, over}},
		{name: "one call without a list", args: `{"path":"a"}`, events: []string{
			whole(`"content":null,"tool_calls":{"id":7,"function":{"name":"read_file","arguments":{"path":"a"}}}`, "")}},
		{name: "thinking beside the output", text: "hello", output: 25, events: []string{
			delta(`"content":"hello"`), stops, counted(`"total_tokens":35`), over}},
		{name: "counts as texts", text: "hello", output: 3, events: []string{
			delta(`"content":"hello"`), stops, counted(`"total_tokens":"13"`), over}},
		{name: "cached, by DeepSeek's name", text: "hello", cache: 4, events: []string{
			delta(`"content":"hello"`), stops, counted(`"prompt_cache_hit_tokens":4`), over}},
		{name: "cached, by Moonshot's name, in the choice", text: "hello", cache: 5, events: []string{
			delta(`"content":"hello"`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":` +
				`{"prompt_tokens":10,"completion_tokens":3,"cached_tokens":5}}]}`, over}},
		{name: "an event in lines", text: "hello", events: []string{
			strings.ReplaceAll(delta(`"content":"hello"`), ",", ",\ndata: "), stops, over}},
		{name: "an event in lines that are JSON themselves", text: "hello", events: []string{
			"{\ndata: \"choices\":\ndata: [\ndata: {\"index\":0,\"delta\":{\"content\":\"hello\"}}\ndata: ]\ndata: }", stops, over}},
		{name: "a greeting that is not JSON", text: "hello", events: []string{"connected", delta(`"content":"hello"`), stops, over}},
		{name: "an empty error in each piece", text: "hello", events: []string{
			`{"error":{},` + delta(`"content":"hello"`)[1:], stops, over}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, _ := serveReply(t, adapters.Deps{}, c.events...)
			var told strings.Builder
			resp, err := client.Chat(t.Context(), adaptertest.Request(), func(e adapters.Event) { told.WriteString(e.Text) })
			if err != nil {
				t.Fatal(err)
			}
			if resp.Message.Content != c.text || told.String() != c.text || resp.Finish != adapters.FinishStop {
				t.Errorf("text %q, told %q, finish %s", resp.Message.Content, told.String(), resp.Finish)
			}
			if calls := resp.Message.ToolCalls; len(calls) > 1 || (len(calls) == 1) != (c.args != "") ||
				c.args != "" && calls[0].Arguments != c.args {
				t.Errorf("calls %+v", calls)
			}
			if c.output > 0 && resp.Usage.OutputTokens != c.output || resp.Usage.CachedTokens != c.cache {
				t.Errorf("usage %+v", resp.Usage)
			}
		})
	}
}

// A reply with a hole in it is no reply.
func TestBrokenPieces(t *testing.T) {
	for name, events := range map[string][]string{
		"an event that is cut":    {delta(`"content":"a"`), `{"choices":[{"index":0,"delta":{"content":"b`, stops, over},
		"cut, without a gap":      {delta(`"content":"a"`), `{"choices":[{"index":0,"delta":{"content":"b` + "\ndata: " + delta(`"content":"c"`), stops, over},
		"a call with half a face": {delta(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":\"\ud83d"}}]`), stops, over},
	} {
		client, _ := serveReply(t, adapters.Deps{}, events...)
		if resp, err := client.Chat(t.Context(), adaptertest.Request(), nil); adapters.KindOf(err) != adapters.MalformedReply {
			t.Errorf("%s: %+v, %v", name, resp.Message, err)
		}
	}
}

// What a server hung on its reply goes back to the same model, whole, and to no other.
func TestWhatIsKeptGoesBack(t *testing.T) {
	events := []string{
		delta(`"name":"Vendor AI","partial":true,"reasoning":"Let me",` +
			`"reasoning_details":[{"type":"reasoning.text","text":"Let me","signature":null,"index":0,"format":"f"}]`),
		delta(`"reasoning":" see.","reasoning_details":[{"type":"reasoning.text","text":" see.","index":0,"format":"f"}]`),
		delta(`"reasoning_details":[{"type":"reasoning.text","signature":"signed","index":0,"format":"f"}]`),
		delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"sealed","index":0},{"type":"reasoning.encrypted","data":"too","index":1}]`),
		delta(`"name":"Vendor AI","partial":true,"vendor":{"deep":{"a":1}}`),
		delta(`"vendor":{"deep":{"b":2},"state":"s"},"nothing":null,"tool_calls":[{"index":0,"id":"functions.read_file:0","type":"function",` +
			`"extra_content":{"vendor":{"signature":"of the call"}},"function":{"name":"read_file","arguments":"{}"}}]`), stops, over}
	client, sent := serveReply(t, adapters.Deps{}, events...)
	req := adaptertest.Request()
	resp := adaptertest.Chat(t, client, req)
	resp.Message.ToolCalls[0].ID = "functions_read_file_0" // as the agent writes it
	req.Messages = append(req.Messages, resp.Message, adapters.Message{
		Role: adapters.ToolRole, ToolCallID: resp.Message.ToolCalls[0].ID, ToolName: "read_file", Content: "text"})
	adaptertest.Chat(t, client, req)

	back := (*sent)[1]["messages"].([]any)[1].(map[string]any)
	details, err := json.Marshal(back["reasoning_details"])
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"format":"f","index":0,"signature":"signed","text":"Let me see.","type":"reasoning.text"},` +
		`{"data":"sealed","index":0,"type":"reasoning.encrypted"},{"data":"too","index":1,"type":"reasoning.encrypted"}]`
	if string(details) != want {
		t.Errorf("reasoning_details = %s", details)
	}
	call := back["tool_calls"].([]any)[0].(map[string]any)
	if fmt.Sprint(call["extra_content"]) != "map[vendor:map[signature:of the call]]" ||
		call["id"] != "functions.read_file:0" || fmt.Sprint(back["vendor"]) != "map[deep:map[a:1 b:2] state:s]" ||
		back["name"] != "Vendor AI" || back["partial"] != true {
		t.Errorf("message = %v", back)
	}
	if result := (*sent)[1]["messages"].([]any)[2].(map[string]any); result["tool_call_id"] != call["id"] {
		t.Errorf("result = %v", result)
	}
	if _, has := back["nothing"]; has || back["reasoning"] != nil {
		t.Errorf("unasked: %v", back)
	}

	other, bodies := serveReply(t, adapters.Deps{}, events...)
	foreign := adapters.Profile{Model: "another", BaseURL: other.Address()}
	adaptertest.Chat(t, newClient(t, foreign), req)
	if text := fmt.Sprint((*bodies)[0]); regexp.MustCompile("signed|sealed|of the call|state").MatchString(text) {
		t.Errorf("another model gets %s", text)
	}
}

// An object that comes in thousands of pieces is put together once. Numbers stay as they are written, and an empty
// value replaces none.
func TestObjectInManyPieces(t *testing.T) {
	const pieces = 20_000
	events := []string{delta(`"vendor":{"seal":"s","big":12345678901234567890,"list":[1],"in":{"a":{"b":1}}}`)}
	for i := range pieces {
		events = append(events, delta(fmt.Sprintf(`"vendor":{"seal":"","list":[],"in":{"a":null,"k%d":%d}}`, i, i)))
	}
	client, sent := serveReply(t, adapters.Deps{}, append(events, delta(`"content":"fine"`), stops, over)...)
	req := adaptertest.Request()
	req.Messages = append(req.Messages, adaptertest.Chat(t, client, req).Message,
		adapters.Message{Role: adapters.User, Content: "Go on."})
	adaptertest.Chat(t, client, req)
	back := (*sent)[1]["messages"].([]any)[1].(map[string]any)["vendor"].(map[string]any)
	inner := back["in"].(map[string]any)
	if back["seal"] != "s" || back["big"] != 12345678901234567890.0 || len(asList(back["list"])) != 1 ||
		len(inner) != pieces+1 || fmt.Sprint(inner["a"]) != "map[b:1]" || inner["k19999"] != 19999.0 {
		t.Errorf("vendor = %.300v", back)
	}
}

// Rules of strict servers, in the words of a refusal. Each is met once at most.
func TestStrictServers(t *testing.T) {
	conversation := func(id string) adapters.Request {
		req := adaptertest.Request()
		req.Messages = append(req.Messages,
			adapters.Message{Role: adapters.Assistant, ToolCalls: []adapters.ToolCall{{ID: id, Name: "read_file"}}},
			adapters.Message{Role: adapters.ToolRole, ToolCallID: id, ToolName: "read_file", Content: "text"},
			adapters.Message{Role: adapters.User, Content: "Reminder."},
			adapters.Message{Role: adapters.Assistant, Content: "Said by another model."},
			adapters.Message{Role: adapters.User, Content: "Go on."})
		return req
	}
	messages := func(body map[string]any) (all []map[string]any) {
		for _, m := range body["messages"].([]any) {
			all = append(all, m.(map[string]any))
		}
		return all
	}
	ids := func(body map[string]any) (all []string) {
		for _, m := range messages(body) {
			for _, call := range asList(m["tool_calls"]) {
				all = append(all, call.(map[string]any)["id"].(string))
			}
			if id, ok := m["tool_call_id"].(string); ok {
				all = append(all, id)
			}
		}
		return all
	}
	for _, c := range []struct {
		name, id, says string
		tries          int // for two calls
		breaks         func(body map[string]any) bool
	}{
		{"ids of nine letters or digits", "call_of_somebody", "Tool call id must be nine characters", 2, func(b map[string]any) bool {
			all := ids(b)
			return len(all) != 2 || all[0] != all[1] || !regexp.MustCompile(`^[a-zA-Z0-9]{9}$`).MatchString(all[0])
		}},
		{"content beside calls", "c", "missing field `content`", 2, func(b map[string]any) bool {
			for _, m := range messages(b) {
				if _, ok := m["content"]; !ok {
					return true
				}
			}
			return false
		}},
		{"reasoning with each reply", "c", "`reasoning_content` must be passed back to the API", 3, func(b map[string]any) bool {
			for _, m := range messages(b) {
				if text, _ := m["reasoning_content"].(string); m["role"] == "assistant" && text == "" {
					return true
				}
			}
			return false
		}},
		{"no user behind a tool's result", "c", "Unexpected role 'user' after role 'tool'", 3, func(b map[string]any) bool {
			all := messages(b)
			for i := 1; i < len(all); i++ {
				if all[i]["role"] == "user" && all[i-1]["role"] == "tool" {
					return true
				}
			}
			return !strings.Contains(fmt.Sprint(all), "Reminder.")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, bodies := echoServer(t, func(body map[string]any) string {
				if c.breaks(body) {
					return c.says
				}
				return ""
			})
			client := newClient(t, adapters.Profile{Model: "m", BaseURL: url})
			adaptertest.Chat(t, client, conversation(c.id))
			adaptertest.Chat(t, client, conversation(c.id))
			if n := len(bodies()); n != c.tries {
				t.Errorf("%d requests for two calls, want %d", n, c.tries)
			}
		})
	}
	// Ids of this model's own calls are left alone until its server refuses them.
	url, bodies := echoServer(t, func(body map[string]any) string {
		if all := ids(body); all[0] == "of.this:model" {
			return "Invalid 'messages[1].tool_calls[0].id': string too long."
		}
		return ""
	})
	req := conversation("of.this:model")
	req.Messages[1].Opaque = json.RawMessage(`{"model":"m"}`)
	adaptertest.Chat(t, newClient(t, adapters.Profile{Model: "m", BaseURL: url}), req)
	if n := len(bodies()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// Each refusal is met once: no request is sent again unchanged.
func TestRefusalsEnd(t *testing.T) {
	url, bodies := echoServer(t, func(body map[string]any) string {
		return "max_completion_tokens is not supported, nor are stream_options and vendor"
	})
	req := adaptertest.Request()
	req.Messages = append(req.Messages, adapters.Message{Role: adapters.Assistant, Content: "a",
		Opaque: json.RawMessage(`{"model":"m","message":{"max_completion_tokens":5,"vendor":1}}`)},
		adapters.Message{Role: adapters.User, Content: "go on"})
	_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: url}).Chat(t.Context(), req, nil)
	if n := len(bodies()); adapters.KindOf(err) != adapters.BadRequest || n != 5 {
		t.Errorf("%v after %d requests", err, n)
	}
}

// A document that is no reply is the server's word about why.
func TestDocumentsThatAreErrors(t *testing.T) {
	for doc, want := range map[string]adapters.Kind{
		`{"message":"insufficient balance"}`: adapters.Quota, `{"detail":"Invalid API key"}`: adapters.Auth,
		`{"choices":null,"detail":"your prompt is too long"}`: adapters.TooLong, `{"answer":1}`: adapters.MalformedReply,
	} {
		client, _ := serveReply(t, adapters.Deps{}, doc)
		if _, err := client.Chat(t.Context(), adaptertest.Request(), nil); adapters.KindOf(err) != want {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// What cannot be read is stored as it came, and named. The rest of the reply counts.
func TestUnreadRepliesAreStored(t *testing.T) {
	dir := t.TempDir()
	deps := adapters.Deps{Store: func(name string, data []byte) (string, error) {
		path := filepath.Join(dir, name)
		return path, os.WriteFile(path, data, 0o600)
	}}
	stored := func() (text string) {
		files, err := filepath.Glob(filepath.Join(dir, "reply-127.0.0.1-*.txt"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text += string(data)
		}
		return text
	}
	client, _ := serveReply(t, deps, delta(`"content":"fine"`), stops, over)
	adaptertest.Chat(t, client, adaptertest.Request())
	if text := stored(); text != "" {
		t.Errorf("a reply that was understood is stored: %s", text)
	}
	client, _ = serveReply(t, deps, delta(`"content":[{"type":"text","text":"fine"},{"type":"hologram"}]`), stops, over)
	if resp := adaptertest.Chat(t, client, adaptertest.Request()); resp.Message.Content != "fine" ||
		!strings.Contains(stored(), "hologram") {
		t.Errorf("%+v, stored %s", resp.Message, stored())
	}
	client, _ = serveReply(t, deps, delta(`"content":"half a face: \ud83d"`), stops, over)
	if resp := adaptertest.Chat(t, client, adaptertest.Request()); resp.Message.Content != "half a face: " ||
		!strings.Contains(stored(), "half a face") {
		t.Errorf("%+v, stored %s", resp.Message, stored())
	}
	client, _ = serveReply(t, deps, `{"answer":"of tomorrow"}`)
	_, err := client.Chat(t.Context(), adaptertest.Request(), nil)
	if err == nil || !strings.Contains(stored(), "of tomorrow") || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v, stored %s", err, stored())
	}
}
