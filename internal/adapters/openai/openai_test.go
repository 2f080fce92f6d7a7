package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
	"company/internal/adapters/openai"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/secret"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// TestServers: ADP-1, malformed replies.
func TestServers(t *testing.T) {
	adaptertest.Exercise(t, adaptertest.OpenAI(), openOptions)
}

// TestFloods: ADP-1, replies of a server that sends as much as it can.
func TestFloods(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine reads megabytes of each reply; shorter ones are raced")
	adaptertest.ExerciseFloods(t, adaptertest.OpenAI(), openOptions)
}

// TestSilence: ADP-2, a server that says nothing, or only that it is alive.
func TestSilence(t *testing.T) {
	adaptertest.ExerciseSilence(t, adaptertest.OpenAI(), openOptions)
}

func openOptions(t *testing.T, o adaptertest.Options) adapters.Model {
	t.Helper()
	return adaptertest.Open(t, openai.New, adapters.Profile{Model: "m", BaseURL: o.BaseURL, Key: o.Key}, o.Deps())
}

func newClient(t *testing.T, cfg adapters.Profile) *openai.Client {
	t.Helper()
	return adaptertest.Open(t, openai.New, cfg, adapters.Deps{})
}

// echoServer answers "ok" and keeps what it was sent; refuse, when it returns a
// text, answers 400 with it.
func echoServer(t *testing.T, refuse func(body map[string]any) string) (url string, got func() []adaptertest.Sent) {
	t.Helper()
	url, got = adaptertest.EchoServer(
		t, "/v1/chat/completions",
		`data: {"choices":[{"index":0,"delta":{"content":"ok","reasoning_content":"hm"},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n", refuse)
	return url + "/v1/", got
}

func TestWhatIsSent(t *testing.T) {
	url, bodies := echoServer(t, nil)
	zero := 0.0
	req := adaptertest.Request()
	req.Temperature = &zero
	req.Messages = append(req.Messages,
		adapters.Message{Role: adapters.Assistant, Opaque: json.RawMessage(`{"model":"m","message":{"reasoning_content":"hm"}}`),
			ToolCalls: []adapters.ToolCall{
				{ID: "c1", Name: "read_file", Arguments: `{"path":"a.go"}`}, {ID: "c2", Name: "read_file", Arguments: `{path`},
				{ID: "c3", Name: "read_file"},
			}},
		adapters.Message{Role: adapters.ToolRole, ToolCallID: "c1", ToolName: "read_file", Content: ""},
		adapters.Message{Role: adapters.ToolRole, ToolCallID: "c2", ToolName: "read_file", Content: "no JSON"},
		adapters.Message{Role: adapters.ToolRole, ToolCallID: "c3", ToolName: "read_file", Content: "no path"},
	)
	resp := adaptertest.Chat(t, newClient(t, adapters.Profile{Model: "m", BaseURL: url}), req)
	if string(resp.Message.Opaque) != `{"model":"m","message":{"reasoning_content":"hm"}}` {
		t.Errorf("opaque = %s", resp.Message.Opaque)
	}
	adaptertest.Chat(t, newClient(t, adapters.Profile{Model: "m", BaseURL: url, EchoReasoning: true}), req)
	adaptertest.Chat(t, newClient(t, adapters.Profile{Model: "gpt-5-mini", BaseURL: url}), req)
	adaptertest.Chat(t, newClient(t, adapters.Profile{Model: "gpt-6-sol", BaseURL: url}), req)
	plain, echo, gpt5, gpt6 := bodies()[0].Body, bodies()[1].Body, bodies()[2].Body, bodies()[3].Body
	messages := plain["messages"].([]any)
	assistant, result := messages[1].(map[string]any), messages[2].(map[string]any)
	if result["content"] != "(no output)" {
		t.Errorf("an empty answer of a tool travels as %v", result["content"])
	}
	if _, ok := assistant["reasoning_content"]; ok {
		t.Error("reasoning was sent back unasked")
	}
	if echo["messages"].([]any)[1].(map[string]any)["reasoning_content"] != "hm" {
		t.Error("reasoning was not sent back")
	}
	for i, want := range []string{`{"path":"a.go"}`, `{"malformed_arguments":"{path"}`, `{}`} {
		call := assistant["tool_calls"].([]any)[i].(map[string]any)
		_, indexed := call["index"]
		if got := call["function"].(map[string]any)["arguments"]; got != want || call["type"] != "function" || indexed {
			t.Errorf("call %d travels as %v, want arguments %s", i, call, want)
		}
	}
	if temperature, ok := plain["temperature"].(float64); !ok || temperature != 0 {
		t.Errorf("temperature 0 travels as %v", plain["temperature"])
	}
	if plain["max_tokens"] != 500.0 || plain["max_completion_tokens"] != nil {
		t.Errorf("a compatible server gets max_tokens %v, max_completion_tokens %v", plain["max_tokens"],
			plain["max_completion_tokens"])
	}
	if gpt5["max_completion_tokens"] != 500.0 || gpt5["max_tokens"] != nil || gpt5["temperature"] != nil {
		t.Errorf("gpt-5 gets %v", gpt5)
	}
	if gpt6["reasoning_effort"] != "none" {
		t.Errorf("gpt-6-sol with tools gets reasoning_effort %v", gpt6["reasoning_effort"])
	}
	if options := plain["stream_options"].(map[string]any); options["include_usage"] != true || plain["stream"] != true {
		t.Errorf("stream options = %v", options)
	}
}

func TestServersThatRefuseAParameter(t *testing.T) {
	half := 0.5
	withTemperature := func(r adapters.Request) adapters.Request {
		r.Temperature = &half
		return r
	}
	tests := []struct {
		name, model, field, refusal string
		sent                        func(adapters.Request) adapters.Request
	}{
		{"max_tokens", "m", "max_tokens",
			"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", nil},
		{"max_completion_tokens", "router/gpt-5", "max_completion_tokens",
			"Unrecognized request argument supplied: max_completion_tokens", nil},
		{"stream_options", "m", "stream_options", "extra fields not permitted: stream_options", nil},
		{"temperature", "m", "temperature", "Unsupported value: 'temperature' does not support 0.5 with this model",
			withTemperature},
		{"another temperature", "m", "temperature", "invalid temperature: only 1 is allowed for this model", withTemperature},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url, bodies := echoServer(t, func(body map[string]any) string {
				if _, ok := body[tt.field]; ok {
					return tt.refusal
				}
				return ""
			})
			c := newClient(t, adapters.Profile{Model: tt.model, BaseURL: url})
			req := adaptertest.Request()
			if tt.sent != nil {
				req = tt.sent(req)
			}
			adaptertest.Chat(t, c, req)
			adaptertest.Chat(t, c, req)
			if n := len(bodies()); n != 3 {
				t.Errorf("%d requests for two calls; the refusal should be met once", n)
			}
		})
	}
	t.Run("for good", func(t *testing.T) {
		url, bodies := echoServer(t, func(map[string]any) string {
			return "max_tokens and max_completion_tokens are not supported"
		})
		_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: url}).Chat(t.Context(), adaptertest.Request(), nil)
		if adapters.KindOf(err) != adapters.BadRequest || len(bodies()) != 2 {
			t.Errorf("%v after %d requests", err, len(bodies()))
		}
	})
}

// A model that gives shorter replies than were requested says how long they may be, once. Without a number, half is
// requested.
func TestOutputCapIsLearnt(t *testing.T) {
	for _, field := range []string{"max_tokens", "max_completion_tokens"} {
		for refusal, want := range map[string][]float64{
			field + " is too large: 32000. This model supports at most 5000 completion tokens.": {32000, 5000, 5000},
			"Invalid " + field + " value": {32000, 16000, 8000, 4000, 4000},
			"The maximum tokens you requested exceeds the model limit of 6000. Try again with a maximum tokens value that " +
				"is lower than 6000.": {32000, 5999, 5999},
		} {
			limit := 6000.0
			if len(want) == 3 {
				limit = want[1]
			}
			url, bodies := echoServer(t, func(body map[string]any) string {
				if body[field].(float64) > limit {
					return refusal
				}
				return ""
			})
			model := map[string]string{"max_tokens": "m", "max_completion_tokens": "router/gpt-5"}[field]
			c := newClient(t, adapters.Profile{Model: model, BaseURL: url})
			req := adaptertest.Request()
			req.MaxTokens = 32000
			adaptertest.Chat(t, c, req)
			adaptertest.Chat(t, c, req)
			var got []float64
			for _, body := range bodies() {
				got = append(got, body.Body[field].(float64))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", refusal, got, want)
			}
		}
	}
}

// Some servers want a model's reasoning back with its reply, others refuse it;
// what they say decides.
func TestReasoningIsEchoedAsTheServerWants(t *testing.T) {
	req := adaptertest.Request()
	req.Messages = append(req.Messages,
		adapters.Message{Role: adapters.Assistant, Content: "hm", Opaque: json.RawMessage(`{"model":"m","message":{"reasoning_content":"think"}}`)},
		adapters.Message{Role: adapters.User, Content: "go on"})
	for _, wants := range []bool{true, false} {
		url, bodies := echoServer(t, func(body map[string]any) string {
			_, has := body["messages"].([]any)[1].(map[string]any)["reasoning_content"]
			switch {
			case wants && !has:
				return "Missing `reasoning_content` field in the assistant message at message index 1"
			case !wants && has:
				return "reasoning_content: extra inputs are not permitted"
			}
			return ""
		})
		c := newClient(t, adapters.Profile{Model: "m", BaseURL: url, EchoReasoning: !wants})
		adaptertest.Chat(t, c, req)
		adaptertest.Chat(t, c, req)
		if n := len(bodies()); n != 3 {
			t.Errorf("wants %v: %d requests for two calls", wants, n)
		}
	}
	url, bodies := echoServer(t, func(map[string]any) string { return "reasoning_content is missing" })
	_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: url}).Chat(t.Context(), adaptertest.Request(), nil)
	if adapters.KindOf(err) != adapters.BadRequest || len(bodies()) != 2 {
		t.Errorf("for good: %v after %d requests", err, len(bodies()))
	}
}

// The server's word on how much the model holds, in the shapes that there are.
func TestContextIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		name, list      string
		status          int
		context, output int
		asked           int
	}{
		{"vLLM", `{"data":[{"id":"x","max_model_len":1},{"id":"m","max_model_len":8192}]}`, 200, 8192, 2048, 1},
		{"a router", `{"data":[{"id":"m","context_length":200000}]}`, 200, 200000, 8192, 1},
		{"untold", `{"data":[{"id":"m"}]}`, 200, 0, 8192, 1},
		{"no list", `nothing here`, 404, 0, 8192, 1},
		{"no JSON", `hello`, 200, 0, 8192, 1},
		{"away", `{}`, 503, 0, 8192, 2},
		{"nonsense", `{"data":[{"id":"m","context_length":-7}]}`, 200, 0, 8192, 1},
	} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.list)
		}))
		m := newClient(t, adapters.Profile{Model: "m", BaseURL: server.URL + "/v1"})
		adapters.Prepare(t.Context(), m)
		adapters.Prepare(t.Context(), m)
		if info := m.Info(); info.ContextTokens != c.context || info.MaxOutput != c.output || asked != c.asked {
			t.Errorf("%s: %+v after %d questions", c.name, info, asked)
		}
		own := newClient(t, adapters.Profile{Model: "m", BaseURL: server.URL + "/v1", ContextTokens: 5000, MaxOutput: 100})
		if adapters.Prepare(t.Context(), own); own.Info().ContextTokens != 5000 || own.Info().MaxOutput != 100 ||
			asked != c.asked {
			t.Errorf("%s: the profile's word does not count: %+v", c.name, own.Info())
		}
		server.Close()
	}
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String() + "/v1"
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = newClient(t, adapters.Profile{Model: "m", BaseURL: url}).Chat(t.Context(), adaptertest.Request(), nil)
	var e *adapters.Error
	if !errors.As(err, &e) || e.Kind != adapters.Unreachable || e.Unanswered {
		t.Errorf("err = %v; a refused connection cost nothing", err)
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
	_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: server.URL + "/v1"}).Chat(ctx, adaptertest.Request(), nil)
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
		if r.URL.Path != "/v1/models" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"a"},{"id":"b"}]}`)
	}))
	t.Cleanup(server.Close)
	if said, err := newClient(t, adapters.Profile{Model: "b", BaseURL: server.URL + "/v1"}).Available(
		t.Context()); err != nil || said.State != adapters.Listed {
		t.Errorf("%+v, %v", said, err)
	}
	// A name that is not in the list may be served all the same (ADP-5).
	said, err := newClient(t, adapters.Profile{Model: "c", BaseURL: server.URL + "/v1"}).Available(t.Context())
	if err != nil || said.State != adapters.Unlisted || said.Text != "answers, and lists a, b and not this one" {
		t.Errorf("%+v, %v", said, err)
	}
}

func TestConfiguration(t *testing.T) {
	for name, cfg := range map[string]adapters.Profile{
		"no model":    {BaseURL: "http://h/v1"},
		"no scheme":   {Model: "m", BaseURL: "localhost:11434"},
		"a file":      {Model: "m", BaseURL: "file:///etc/passwd"},
		"a password":  {Model: "m", BaseURL: "https://me:hunter2@host/v1"},
		"a query":     {Model: "m", BaseURL: "https://host/v1?api-key=hunter2"},
		"a split key": {Model: "m", Key: secret.New("hunter2\nX-Evil: 1")},
	} {
		_, err := openai.New(cfg, adapters.Deps{})
		if code := company.CodeOf(err); code != company.EConfig && code != company.EModelAuth ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	_, err := openai.Factory(adapters.Profile{Name: "strong", Model: "gpt-5", KeyEnv: "MY_KEY"}, adapters.Deps{})
	if company.CodeOf(err) != company.EModelAuth || !strings.Contains(err.Error(), "MY_KEY is NOT SET") {
		t.Errorf("without a key: %v", err)
	}
	info := newClient(t, adapters.Profile{Model: "gpt-4o", Key: secret.New("k")}).Info()
	if info.ContextTokens != 128_000 || info.MaxOutput != 16_384 {
		t.Errorf("info = %+v", info)
	}
	if info := newClient(t, adapters.Profile{Model: "x", BaseURL: "http://h/v1", ContextTokens: 4096}).
		Info(); info.MaxOutput != 1024 {
		t.Errorf("a small context leaves %d tokens for the reply", info.MaxOutput)
	}
}

// TestKeyIsNotLogged: ADP-8, T21.
func TestKeyIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	url, _ := echoServer(t, func(body map[string]any) string {
		if body["stream_options"] != nil {
			return "unknown parameter stream_options, key " + adaptertest.Canary
		}
		return ""
	})
	cfg := adapters.Profile{Model: "m", BaseURL: url, Key: secret.New(adaptertest.Canary)}
	adaptertest.Chat(t, adaptertest.Open(t, openai.New, cfg, adapters.Deps{Log: slog.New(slog.NewTextHandler(&log, nil))}),
		adaptertest.Request())
	slog.New(slog.NewTextHandler(&log, nil)).Info("config", "cfg", cfg)
	if log.Len() == 0 || strings.Contains(log.String(), "canary") {
		t.Errorf("log: %s", log.String())
	}
}

// FuzzReply answers with changed replies.
func FuzzReply(f *testing.F) {
	adaptertest.Fuzz(f, adaptertest.OpenAI(), func(o adaptertest.Options) (adapters.Model, error) {
		return openai.New(adapters.Profile{Model: "m", BaseURL: o.BaseURL, Key: o.Key}, o.Deps())
	})
}

// A list of models without an end is no longer than a reply may be.
func TestEndlessListOfModels(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"a"}`)
		for n := 0; n < 256<<20; {
			m, err := io.WriteString(w, strings.Repeat(`,{"id":"`+strings.Repeat("x", 1000)+`"}`, 100))
			if n += m; err != nil {
				break
			}
			sent.Add(int64(m))
		}
	}))
	defer server.Close()
	c := newClient(t, adapters.Profile{Model: "m", BaseURL: server.URL})
	_, err := c.Chat(t.Context(), adaptertest.Request(), nil)
	if adapters.KindOf(err) != adapters.BadRequest || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v", err)
	}
	if _, err := c.Available(t.Context()); err == nil {
		t.Error("a list without an end is one")
	}
	server.Close()
	if n := sent.Load(); n > 2*(32<<20) {
		t.Errorf("%d MiB of two lists were read", n>>20)
	}
}
