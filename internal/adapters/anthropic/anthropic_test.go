package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
	"company/internal/adapters/anthropic"
	"company/internal/company"
	"company/internal/lib/secret"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// TestServers: ADP-1, malformed replies.
func TestServers(t *testing.T) {
	adaptertest.Exercise(t, adaptertest.Anthropic(), openOptions)
}

// TestFloods: ADP-1, replies of a server that sends as much as it can.
func TestFloods(t *testing.T) {
	adaptertest.ExerciseFloods(t, adaptertest.Anthropic(), openOptions)
}

// TestSilence: ADP-2, a server that says nothing, or only that it is alive.
func TestSilence(t *testing.T) {
	adaptertest.ExerciseSilence(t, adaptertest.Anthropic(), openOptions)
}

func openOptions(t *testing.T, o adaptertest.Options) adapters.Model {
	t.Helper()
	return adaptertest.Open(t, anthropic.New, adapters.Profile{Model: "m", BaseURL: o.BaseURL, Key: o.Key}, o.Deps())
}

func newClient(t *testing.T, cfg adapters.Profile) *anthropic.Client {
	t.Helper()
	return adaptertest.Open(t, anthropic.New, cfg, adapters.Deps{})
}

const ok = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
	"event: content_block_start\ndata: " +
	"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"ok\"}}\n\n" +
	"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n" +
	"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

// echoServer answers "ok" and keeps what it was sent; refuse, when it returns a
// text, answers 400 with it.
func echoServer(t *testing.T, refuse func(body map[string]any) string) (url string, got func() []adaptertest.Sent) {
	t.Helper()
	return adaptertest.EchoServer(t, "/v1/messages", ok, refuse)
}

// shape writes the messages of a request in short: roles and kinds of blocks, *
// for a mark of the cache.
func shape(body map[string]any) string {
	var out []string
	for _, m := range body["messages"].([]any) {
		m := m.(map[string]any)
		var kinds []string
		for _, b := range m["content"].([]any) {
			b := b.(map[string]any)
			kind := b["type"].(string)
			for _, key := range []string{"text", "thinking", "data", "id", "tool_use_id"} {
				if s, ok := b[key].(string); ok && len(s) < 20 {
					kind += ":" + s
				}
			}
			if b["cache_control"] != nil {
				kind += "*"
			}
			kinds = append(kinds, kind)
		}
		out = append(out, m["role"].(string)+"("+strings.Join(kinds, " ")+")")
	}
	return strings.Join(out, " ")
}

func conversation() adapters.Request {
	zero := 0.0
	req := adaptertest.Request()
	req.Temperature = &zero
	req.Messages = append([]adapters.Message{{Role: adapters.System, Content: "You work."}}, req.Messages...)
	req.Messages = append(req.Messages,
		adapters.Message{Role: adapters.Assistant, Content: "I look.",
			Opaque: json.RawMessage(
				`{"model":"m","blocks":[{"kind":"thinking","thinking":"hm","signature":"sig"},{"kind":"redacted","data":"xyz"},{"kind":"text","size":7},{"kind":"call"},{"kind":"call"}]}`),
			ToolCalls: []adapters.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"z":1,"path":"a.go"}`},
				{ID: "c2", Name: "read_file", Arguments: `{path`}, {ID: "c3", Name: "read_file"}}},
		adapters.Message{Role: adapters.ToolRole, ToolCallID: "c2", ToolName: "read_file", Content: "no JSON"},
		adapters.Message{Role: adapters.ToolRole, ToolCallID: "c1", ToolName: "read_file", Content: ""},
		adapters.Message{Role: adapters.User, Content: "go on"},
	)
	return req
}

func TestWhatIsSent(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "another-key")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "another-token")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	url, got := echoServer(t, nil)
	adaptertest.Chat(t, newClient(t, adapters.Profile{Model: "m", BaseURL: url + "/v1/", Key: secret.New("mine")}),
		conversation())
	adaptertest.Chat(t, newClient(t, adapters.Profile{Model: "other", BaseURL: url}), conversation())
	first, other := got()[0], got()[1]
	if first.Header.Get("X-Api-Key") != "mine" || first.Header.Get("Authorization") != "" ||
		first.Header.Get("Anthropic-Version") != "2023-06-01" || other.Header.Get("X-Api-Key") != "" {
		t.Errorf("headers %v and %v", first.Header, other.Header)
	}
	// Results first, in the order of the calls, in one message, the missing one
	// padded; thinking as it came, for the model that thought it.
	want := "user(text:Read a.go.*) assistant(thinking:hm redacted_thinking:xyz text:I look. tool_use:c1 tool_use:c2 " +
		"tool_use:c3) user(tool_result:c1 tool_result:c2 tool_result:c3 text:go on*)"
	if s := shape(first.Body); s != want {
		t.Errorf("sent\n%s\nwant\n%s", s, want)
	}
	if s := shape(other.Body); s != strings.Replace(want, "thinking:hm redacted_thinking:xyz ", "", 1) {
		t.Errorf("another model is sent\n%s", s)
	}
	messages := first.Body["messages"].([]any)
	thought := messages[1].(map[string]any)["content"].([]any)
	if thought[0].(map[string]any)["signature"] != "sig" {
		t.Errorf("thinking goes back as %v", thought[0])
	}
	if input := fmt.Sprint(thought[4].(map[string]any)["input"]); input != "map[malformed_arguments:{path]" {
		t.Errorf("malformed arguments travel as %s", input)
	}
	results := messages[2].(map[string]any)["content"].([]any)
	if r := fmt.Sprint(results[0].(map[string]any)["content"]); !strings.Contains(r, "(no output)") {
		t.Errorf("an empty result travels as %s", r)
	}
	if r := results[2].(map[string]any); r["is_error"] != true ||
		!strings.Contains(fmt.Sprint(r["content"]), "not executed") {
		t.Errorf("a missing result travels as %v", r)
	}
	system := first.Body["system"].([]any)[0].(map[string]any)
	tool := first.Body["tools"].([]any)[0].(map[string]any)
	if first.Body["max_tokens"] != 500.0 || first.Body["stream"] != true || first.Body["temperature"] != 0.0 ||
		system["cache_control"] == nil || system["text"] != "You work." {
		t.Errorf("sent %v", first.Body)
	}
	if schema := fmt.Sprint(tool["input_schema"]); schema != "map[properties:map[path:map[type:string]] type:object]" ||
		tool["description"] != "read a file" {
		t.Errorf("tool %v", tool)
	}
}

// Ids of another vendor's calls travel in a form that the server takes, the same in the call and its result.
func TestIDsOfOtherVendors(t *testing.T) {
	url, bodies := echoServer(t, nil)
	req := adaptertest.Request()
	for _, id := range []string{"toolu_1-a", "functions.read_file:0", "call_" + strings.Repeat("x", 81)} {
		req.Messages = append(req.Messages,
			adapters.Message{Role: adapters.Assistant, ToolCalls: []adapters.ToolCall{{ID: id, Name: "read_file"}}},
			adapters.Message{Role: adapters.ToolRole, ToolCallID: id, ToolName: "read_file", Content: "text"})
	}
	adaptertest.Chat(t, newClient(t, adapters.Profile{Model: "m", BaseURL: url}), req)
	var ids []string
	for _, message := range bodies()[0].Body["messages"].([]any) {
		for _, block := range message.(map[string]any)["content"].([]any) {
			for _, key := range []string{"id", "tool_use_id"} {
				if id, ok := block.(map[string]any)[key].(string); ok {
					ids = append(ids, id)
				}
			}
		}
	}
	if len(ids) != 6 || ids[0] != "toolu_1-a" {
		t.Fatalf("ids = %q", ids)
	}
	for i, id := range ids {
		if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(id) || id != ids[i^1] {
			t.Errorf("ids = %q", ids)
		}
	}
}

// A reply whose text was shortened since, or whose calls are fewer, still goes
// back whole.
func TestChangedHistory(t *testing.T) {
	url, got := echoServer(t, nil)
	c := newClient(t, adapters.Profile{Model: "m", BaseURL: url})
	req := conversation()
	req.Messages[2].Content, req.Messages[2].ToolCalls = "I", req.Messages[2].ToolCalls[:1]
	adaptertest.Chat(t, c, req)
	req.Messages = append(req.Messages[:2:2], adapters.Message{Role: adapters.Assistant},
		adapters.Message{Role: adapters.ToolRole, ToolCallID: "zz", ToolName: "f", Content: "stray"})
	adaptertest.Chat(t, c, req)
	for i, want := range []string{
		"assistant(thinking:hm redacted_thinking:xyz text:I tool_use:c1) user(tool_result:c1 text text:go on*)",
		"assistant(text:(no output)) user(text*)",
	} {
		s := shape(got()[i].Body)
		s = strings.ReplaceAll(strings.ReplaceAll(s, "text:[result of f]\nstray", "text"),
			"text:[result of read_file]\nno JSON", "text")
		if !strings.HasSuffix(s, want) {
			t.Errorf("request %d is\n%s\nwant\n%s", i, s, want)
		}
	}
}

// The prefix of a conversation that grows is sent as it was, but for the marks
// themselves: the server's cache looks at content.
func TestPrefixIsStable(t *testing.T) {
	url, got := echoServer(t, nil)
	c := newClient(t, adapters.Profile{Model: "m", BaseURL: url})
	req := conversation()
	short := req
	short.Messages = req.Messages[:2]
	adaptertest.Chat(t, c, short)
	adaptertest.Chat(t, c, req)
	strip := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), `"cache_control":{"type":"ephemeral"},`, "")
	}
	a, b := got()[0].Body, got()[1].Body
	if strip(a["messages"].([]any)[0]) != strip(b["messages"].([]any)[0]) || strip(a["tools"]) != strip(b["tools"]) ||
		strip(a["system"]) != strip(b["system"]) {
		t.Error("the prefix changed")
	}
	if n := strings.Count(fmt.Sprint(b), "cache_control"); n > 4 {
		t.Errorf("%d marks, and the server takes 4", n)
	}
}

func TestServersThatRefuseAParameter(t *testing.T) {
	for field, refusal := range map[string]string{
		"temperature":   "`temperature` is deprecated for this model.",
		"cache_control": "system.0.cache_control: Extra inputs are not permitted",
	} {
		url, got := echoServer(t, func(body map[string]any) string {
			if strings.Contains(fmt.Sprint(body), field) {
				return refusal
			}
			return ""
		})
		c := newClient(t, adapters.Profile{Model: "m", BaseURL: url})
		adaptertest.Chat(t, c, conversation())
		adaptertest.Chat(t, c, conversation())
		if n := len(got()); n != 3 {
			t.Errorf("%s: %d requests for two calls; the refusal should be met once", field, n)
		}
	}
	url, got := echoServer(t, func(map[string]any) string { return "temperature and cache_control are not permitted" })
	_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: url}).Chat(t.Context(), conversation(), nil)
	if adapters.KindOf(err) != adapters.BadRequest || len(got()) != 3 {
		t.Errorf("%v after %d requests", err, len(got()))
	}
}

// A model that gives shorter replies than were requested says how long they may be, once. Without a number, half is
// requested.
func TestOutputCapIsLearnt(t *testing.T) {
	for refusal, want := range map[string][]float64{
		"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m": {64000, 8192, 8192},
		"max_tokens is above what this model supports":                                         {64000, 32000, 16000, 8000, 8000},
	} {
		url, got := echoServer(t, func(body map[string]any) string {
			if body["max_tokens"].(float64) > 8192 {
				return refusal
			}
			return ""
		})
		c := newClient(t, adapters.Profile{Model: "m", BaseURL: url, MaxOutput: 64000})
		req := conversation()
		req.MaxTokens = 0
		adaptertest.Chat(t, c, req)
		adaptertest.Chat(t, c, req)
		var sent []float64
		for _, one := range got() {
			sent = append(sent, one.Body["max_tokens"].(float64))
		}
		if !slices.Equal(sent, want) {
			t.Errorf("%s: %v, want %v", refusal, sent, want)
		}
	}
	const full = "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"
	url, got := echoServer(t, func(map[string]any) string { return full })
	_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: url}).Chat(t.Context(), conversation(), nil)
	if adapters.KindOf(err) != adapters.TooLong || len(got()) != 1 {
		t.Errorf("%v after %d requests", err, len(got()))
	}
}

func TestTheCallerGivesUp(t *testing.T) {
	started := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(started)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	stopped := company.E(company.EStopped, "stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; cancel(stopped) }()
	_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: server.URL}).Chat(ctx, adaptertest.Request(), nil)
	if !errors.Is(err, stopped) || adapters.KindOf(err) != "" {
		t.Errorf("err = %v, want the caller's cause", err)
	}
}

func TestTextIsToldAsItComes(t *testing.T) {
	url, _ := echoServer(t, nil)
	var told []string
	_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: url}).Chat(
		t.Context(), adaptertest.Request(), func(e adapters.Event) { told = append(told, e.Text) })
	if err != nil || strings.Join(told, "|") != "ok" {
		t.Errorf("told %q, err %v", told, err)
	}
}

// TestAvailable: ADP-1, ADP-3 (the available ones are reported).
func TestAvailable(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models/a":
			_, _ = io.WriteString(w, `{"id":"a","type":"model"}`)
		case "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"a"},{"id":"b"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	if said, err := newClient(t, adapters.Profile{Model: "a", BaseURL: server.URL}).Available(t.Context()); err != nil ||
		said.State != adapters.Listed {
		t.Errorf("%+v, %v", said, err)
	}
	// A name that is not in the list may be served all the same (ADP-5).
	if said, err := newClient(t, adapters.Profile{Model: "c", BaseURL: server.URL}).Available(t.Context()); err != nil ||
		said.State != adapters.Unlisted || said.Text != "answers, and lists a, b and not this one" {
		t.Errorf("%+v, %v", said, err)
	}
	bare := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(bare.Close)
	if said, err := newClient(t, adapters.Profile{Model: "c", BaseURL: bare.URL}).Available(t.Context()); err != nil ||
		said.State != adapters.NoList {
		t.Errorf("a server without a list: %+v, %v", said, err)
	}
}

func TestConfiguration(t *testing.T) {
	for name, cfg := range map[string]adapters.Profile{
		"no model":    {BaseURL: "http://h"},
		"no scheme":   {Model: "m", BaseURL: "localhost:1"},
		"a password":  {Model: "m", BaseURL: "https://me:hunter2@host"},
		"a split key": {Model: "m", Key: secret.New("hunter2\nX-Evil: 1")},
	} {
		_, err := anthropic.New(cfg, adapters.Deps{})
		if code := company.CodeOf(err); code != company.EConfig && code != company.EModelAuth ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	_, err := anthropic.Factory(adapters.Profile{Name: "strong", Model: "claude-sonnet-4-6"}, adapters.Deps{})
	if company.CodeOf(err) != company.EModelAuth || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY is NOT SET") {
		t.Errorf("without a key: %v", err)
	}
	info := newClient(t, adapters.Profile{Model: "m", Key: secret.New("k"), ContextTokens: 4096}).Info()
	if info.ContextTokens != 4096 || info.MaxOutput != 1024 {
		t.Errorf("info = %+v", info)
	}
}

// TestKeyIsNotLogged: ADP-8, T21.
func TestKeyIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	url, _ := echoServer(t, func(body map[string]any) string {
		if body["temperature"] != nil {
			return "temperature is not supported, key " + adaptertest.Canary
		}
		return ""
	})
	cfg := adapters.Profile{Model: "m", BaseURL: url, Key: secret.New(adaptertest.Canary)}
	adaptertest.Chat(
		t, adaptertest.Open(t, anthropic.New, cfg, adapters.Deps{Log: slog.New(slog.NewTextHandler(&log, nil))}),
		conversation())
	slog.New(slog.NewTextHandler(&log, nil)).Info("config", "cfg", cfg)
	if log.Len() == 0 || strings.Contains(log.String(), "canary") {
		t.Errorf("log: %s", log.String())
	}
}

// FuzzReply answers with changed replies.
func FuzzReply(f *testing.F) {
	adaptertest.Fuzz(f, adaptertest.Anthropic(), func(o adaptertest.Options) (adapters.Model, error) {
		return anthropic.New(adapters.Profile{Model: "m", BaseURL: o.BaseURL, Key: o.Key}, o.Deps())
	})
}
