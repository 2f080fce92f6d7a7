package ollama_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ollama/ollama/envconfig"
	"golang.org/x/crypto/ssh"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
	"company/internal/adapters/ollama"
	"company/internal/company"
	"company/internal/lib/secret"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// TestServers: ADP-1, malformed replies.
func TestServers(t *testing.T) {
	adaptertest.Exercise(t, adaptertest.Ollama(), openOptions)
}

// TestFloods: ADP-1, replies of a server that sends as much as it can.
func TestFloods(t *testing.T) {
	adaptertest.ExerciseFloods(t, adaptertest.Ollama(), openOptions)
}

// TestSilence: ADP-2, a server that says nothing, or only that it is alive.
func TestSilence(t *testing.T) {
	adaptertest.ExerciseSilence(t, adaptertest.Ollama(), openOptions)
}

func openOptions(t *testing.T, o adaptertest.Options) adapters.Model {
	t.Helper()
	return adaptertest.Open(t, ollama.New, adapters.Profile{Model: "m", BaseURL: o.BaseURL, Key: o.Key}, o.Deps())
}

func newClient(t *testing.T, cfg adapters.Profile) *ollama.Client {
	t.Helper()
	return adaptertest.Open(t, ollama.New, cfg, adapters.Deps{})
}

// library is a server with these models: what /api/show tells by name.
type library struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	chats []map[string]any
}

func newLibrary(t *testing.T, names []string, shown map[string]string) *library {
	t.Helper()
	l := &library{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Errorf("%s: %v", r.URL.Path, err)
			}
		}
		name, _ := body["model"].(string)
		l.mu.Lock()
		l.asked = append(l.asked, strings.TrimSpace(r.URL.Path+" "+name))
		l.mu.Unlock()
		switch r.URL.Path {
		case "/api/tags":
			var models []map[string]string
			for _, n := range names {
				models = append(models, map[string]string{"name": n})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"models": models})
		case "/api/show":
			if told, ok := shown[name]; ok {
				_, _ = io.WriteString(w, told)
				return
			}
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `{"error":"model '%s' not found"}`, name)
		case "/api/chat":
			l.mu.Lock()
			l.chats = append(l.chats, body)
			l.mu.Unlock()
			_, _ = io.WriteString(
				w, `{"model":"m","message":{"role":"assistant","content":"ok","thinking":"hm"},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}`+"\n")
		}
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *library) log() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.asked, ", ")
}

const (
	withTools = `{"capabilities":["completion","tools"],"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`
	noTools   = `{"capabilities":["completion"],"model_info":{"general.architecture":"llama","llama.context_length":8192}}`
	embedding = `{"capabilities":["embedding"],"model_info":{}}`
)

func TestWhatIsSent(t *testing.T) {
	l := newLibrary(t, []string{"m"}, map[string]string{"m": withTools})
	c := newClient(t, adapters.Profile{Model: "m", BaseURL: l.URL + "/v1/"})
	zero := 0.0
	req := adaptertest.Request()
	req.Temperature = &zero
	req.Messages = append(req.Messages,
		adapters.Message{Role: adapters.Assistant, Opaque: json.RawMessage(`{"thinking":"hm"}`),
			ToolCalls: []adapters.ToolCall{
				{ID: "c1", Name: "read_file", Arguments: `{"z":1,"path":"a.go"}`},
				{ID: "c2", Name: "read_file", Arguments: `{path`},
			}},
		adapters.Message{Role: adapters.ToolRole, ToolCallID: "c1", ToolName: "read_file", Content: "x"},
		adapters.Message{Role: adapters.ToolRole, ToolCallID: "c2", ToolName: "read_file", Content: "no JSON"},
	)
	resp, err := c.Chat(t.Context(), req, nil)
	if err != nil || string(resp.Message.Opaque) != `{"thinking":"hm"}` {
		t.Fatalf("%+v, %v", resp, err)
	}
	sent := l.chats[0]
	options := sent["options"].(map[string]any)
	// The server would drop the oldest messages without a word else.
	if options["num_ctx"] != 32768.0 || options["num_predict"] != 500.0 || options["temperature"] != 0.0 ||
		sent["truncate"] != false || sent["shift"] != false || sent["stream"] != true {
		t.Errorf("sent %v", sent)
	}
	messages := sent["messages"].([]any)
	assistant, result := messages[1].(map[string]any), messages[2].(map[string]any)
	if assistant["thinking"] != "hm" || result["tool_name"] != "read_file" || result["tool_call_id"] != "c1" ||
		result["role"] != "tool" {
		t.Errorf("assistant %v, result %v", assistant, result)
	}
	args := assistant["tool_calls"].([]any)[1].(map[string]any)["function"].(map[string]any)["arguments"].(map[string]any)
	if args["malformed_arguments"] != "{path" {
		t.Errorf("malformed arguments travel as %v", args)
	}
	function := sent["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)
	if got := function["parameters"].(map[string]any)["type"]; got != "object" {
		t.Errorf("tools %v", sent["tools"])
	}
	if got := l.log(); got != "/api/show m, /api/chat m" {
		t.Errorf("asked %s", got)
	}
}

// What Info tells: the server's word where the profile has none.
func TestSizes(t *testing.T) {
	own := strings.Replace(withTools, `"model_info"`,
		`"parameters":"stop x\nnum_ctx                        16384","model_info"`, 1)
	for _, c := range []struct {
		name, shown       string
		context, output   int
		wantCtx, wantMost int
	}{
		{"the model's limit", noTools, 0, 0, 8192, 2048},
		{"a common machine's", withTools, 0, 0, 32768, 8192},
		{"the profile's", withTools, 20000, 3000, 20000, 3000},
		{"no more than the model's", noTools, 20000, 0, 8192, 2048},
		{"the model file's", own, 0, 0, 16384, 4096},
		{"untold", `{}`, 0, 0, 8192, 2048},
		{"nonsense", `{"model_info":{"general.architecture":"x","x.context_length":-5}}`, 0, 0, 8192, 2048},
	} {
		l := newLibrary(t, nil, map[string]string{"m": c.shown})
		m := newClient(t, adapters.Profile{Model: "m", BaseURL: l.URL, ContextTokens: c.context, MaxOutput: c.output})
		if got := m.Info().ContextTokens; got != max(c.context, 8192) && got != c.context {
			t.Errorf("%s: %d before the server told", c.name, got)
		}
		adapters.Prepare(t.Context(), m)
		if got := m.Info(); got.ContextTokens != c.wantCtx || got.MaxOutput != c.wantMost || got.Price.Known {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Nobody chose a model: llama3 where it is installed, else the first that can
// call tools, else the first that can chat. A chosen name is asked for as it is.
func TestUnchosen(t *testing.T) {
	for _, c := range []struct {
		name  string
		names []string
		shown map[string]string
		want  string
		tools bool
	}{
		{"llama3", []string{"qwen3:8b", "llama3:latest"}, map[string]string{"qwen3:8b": withTools, "llama3": noTools},
			"llama3", false},
		{"the first with tools", []string{"nomic:latest", "gemma:2b", "qwen3:8b", "z"},
			map[string]string{"nomic:latest": embedding, "gemma:2b": noTools, "qwen3:8b": withTools, "z": withTools},
			"qwen3:8b", true},
		{"none with tools", []string{"nomic:latest", "gemma:2b"},
			map[string]string{"nomic:latest": embedding, "gemma:2b": noTools}, "gemma:2b", false},
	} {
		l := newLibrary(t, c.names, c.shown)
		m := newClient(t, adapters.Profile{Model: ollama.Preferred, BaseURL: l.URL, Unchosen: true})
		tools, err := m.Tools(t.Context())
		if err != nil || m.Info().Model != c.want || tools != c.tools {
			t.Errorf("%s: %s, tools %v, %v", c.name, m.Info().Model, tools, err)
		}
		if got, err := ollama.Default(t.Context(), l.URL); err != nil || got != c.want {
			t.Errorf("%s: Default is %q, %v", c.name, got, err)
		}
	}
	l := newLibrary(t, []string{"nomic:latest"}, map[string]string{"nomic:latest": embedding})
	if _, err := ollama.Default(t.Context(), l.URL); company.CodeOf(err) != company.EModel ||
		!strings.Contains(err.Error(), "no other model") {
		t.Errorf("nothing that can chat: %v", err)
	}
	chosen := newClient(t, adapters.Profile{Model: ollama.Preferred, BaseURL: l.URL})
	list, err := chosen.Available(t.Context())
	if err != nil || list.State != adapters.Unlisted || list.Fix != "ollama pull llama3" ||
		!strings.Contains(list.Text, "nomic:latest") {
		t.Errorf("a chosen model that is not there: %+v, %v", list, err)
	}
}

// The newest model stands in for none, to the fraction of a second.
func TestNewestIsChosen(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			_, _ = io.WriteString(
				w, `{"models":[{"name":"old","modified_at":"2026-01-01T00:00:00.1Z"},{"name":"new","modified_at":"2026-01-01T01:00:00.7+01:00"},{"name":"older","modified_at":"2025-01-01T00:00:00Z"}]}`)
			return
		}
		_, _ = io.WriteString(w, withTools)
	}))
	t.Cleanup(server.Close)
	if got, err := ollama.Default(t.Context(), server.URL); err != nil || got != "new" {
		t.Errorf("%q, %v", got, err)
	}
}

// A model that the server does not list is asked for all the same: an alias, or
// a proxy's that lists nothing. Its name goes out as it stands.
func TestUnlisted(t *testing.T) {
	var chats, shows int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			shows++
			w.WriteHeader(http.StatusNotFound)
			return
		}
		var body struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Model != "Alias:latest" {
			t.Errorf("asked for %q, %v", body.Model, err)
		}
		chats++
		_, _ = io.WriteString(
			w, `{"model":"m","message":{"role":"assistant","content":"ok"},"done":true,"prompt_eval_count":1,"eval_count":1}`+
				"\n")
	}))
	t.Cleanup(server.Close)
	m := newClient(t, adapters.Profile{Model: "Alias:latest", BaseURL: server.URL, ContextTokens: 5000})
	adapters.Prepare(t.Context(), m)
	for range 2 {
		if resp, err := m.Chat(t.Context(), adaptertest.Request(), nil); err != nil || resp.Message.Content != "ok" {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	if got := m.Info(); got.ContextTokens != 5000 || chats != 2 {
		t.Errorf("%+v after %d chats", got, chats)
	}
	if list, err := m.Available(t.Context()); err != nil || list.State != adapters.Unlisted {
		t.Errorf("it is listed: %+v, %v", list, err)
	}
}

// With tools: yes a model that has none is told of before it is asked, and with
// what to change; without, it is given them in text.
func TestToolsAsked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/show" {
			_, _ = io.WriteString(w, noTools)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"registry.ollama.ai/library/m:latest does not support tools"}`)
	}))
	t.Cleanup(server.Close)
	registry := adapters.Registry{"ollama": ollama.Factory}
	profile := adapters.Profile{Name: "default", Adapter: "ollama", Model: "m", BaseURL: server.URL}
	for tools, want := range map[adapters.ToolUse]string{adapters.ToolsAuto: "tools in text",
		adapters.ToolsNo: "tools in text", "": "tools in text"} {
		profile.Tools = tools
		if found, err := registry.Probe(t.Context(), profile, adapters.Deps{}, adapters.ReachLocal); err != nil ||
			!strings.HasSuffix(found.Said, want) {
			t.Errorf("%q: %+v, %v", tools, found, err)
		}
	}
	profile.Tools = adapters.ToolsYes
	_, err := registry.Probe(t.Context(), profile, adapters.Deps{}, adapters.ReachLocal)
	var told *company.Error
	if !errors.As(err, &told) || !strings.Contains(told.Hint, "`tools: yes`") ||
		adapters.KindOf(err) != adapters.BadRequest {
		t.Errorf("tools: yes: %v", err)
	}
	m, err := registry.Open(profile, adapters.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = adapters.Close(m) }()
	_, err = m.Chat(t.Context(), adaptertest.Request(), nil)
	if !errors.As(adapters.Explain(err, m.Info()), &told) || !strings.Contains(told.Hint, "`tools: yes`") {
		t.Errorf("a request all the same: %v", err)
	}
}

// A server that is not there says where it was looked for, and what to do.
func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	m := newClient(t, adapters.Profile{Model: "llama3", BaseURL: "http://" + address, Unchosen: true})
	_, err = m.Chat(t.Context(), adaptertest.Request(), nil)
	var e *adapters.Error
	if !errors.As(err, &e) || e.Kind != adapters.Unreachable || e.Unanswered {
		t.Fatalf("%v", err)
	}
	var told *company.Error
	if !errors.As(adapters.Explain(err, m.Info()), &told) {
		t.Fatal(err)
	}
	said := told.Why + "; " + told.Hint
	for _, want := range []string{"no Ollama server at http://" + address, "ollama serve", "ollama pull llama3",
		"OLLAMA_HOST", "make demo"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
	if _, err := ollama.Default(t.Context(), address); company.CodeOf(err) != company.EModelAway {
		t.Errorf("Default: %v", err)
	}
}

// A server that comes up between two calls is learnt from then.
func TestServerComesLate(t *testing.T) {
	up := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, noTools)
	}))
	t.Cleanup(server.Close)
	m := newClient(t, adapters.Profile{Model: "m", BaseURL: server.URL})
	adapters.Prepare(t.Context(), m)
	if _, err := m.Tools(t.Context()); adapters.KindOf(err) != adapters.Overloaded {
		t.Errorf("%v", err)
	}
	up = true
	if tools, err := m.Tools(t.Context()); err != nil || tools {
		t.Errorf("tools %v, %v", tools, err)
	}
}

func TestTheCallerGivesUp(t *testing.T) {
	started := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/api/show" {
			_, _ = io.WriteString(w, withTools)
			return
		}
		close(started)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	stopped := company.E(company.EStopped, "stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; cancel(stopped) }()
	_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: server.URL}).Chat(ctx, adaptertest.Request(), nil)
	var unbegun *adapters.Unfinished
	if !errors.Is(err, stopped) || adapters.KindOf(err) != "" || !errors.As(err, &unbegun) {
		t.Errorf("err = %v, want the caller's cause, and that nothing came", err)
	}
}

func TestAvailable(t *testing.T) {
	l := newLibrary(t, []string{"m"}, map[string]string{"m": noTools})
	said, err := newClient(t, adapters.Profile{Model: "m", BaseURL: l.URL}).Available(t.Context())
	if err != nil || said.State != adapters.Listed || said.Text != "has m, 8192 tokens of context" {
		t.Errorf("%+v, %v", said, err)
	}
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(hung.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := newClient(t, adapters.Profile{Model: "m", BaseURL: hung.URL}).Available(ctx); adapters.KindOf(
		err) != adapters.TimedOut {
		t.Errorf("a server that hangs: %v", err)
	}
}

// Where the module signs, the key is the user's own of Ollama's; a profile's key
// stands in its place, and with neither nothing is asked.
func TestSigning(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, noTools)
	}))
	t.Cleanup(server.Close)
	ask := func(base, key string) error {
		sent = nil
		_, err := newClient(t, adapters.Profile{Model: "m", BaseURL: base, Key: secret.New(key)}).Available(t.Context())
		return err
	}
	if err := ask(server.URL, ""); err != nil || len(sent) != 1 || sent[0] != "" {
		t.Errorf("no key: sent %q, %v", sent, err)
	}
	if err := ask(server.URL, "k"); err != nil || len(sent) != 1 || sent[0] != "Bearer k" {
		t.Errorf("a key: sent %q, %v", sent, err)
	}
	var e *adapters.Error
	if err := ask("https://ollama.com", ""); !errors.As(err, &e) || e.Kind != adapters.Auth ||
		!strings.Contains(e.Fix, "ollama signin") {
		t.Errorf("nobody is signed in: %v", err)
	}
	t.Setenv("OLLAMA_AUTH", "1")
	if err := ask(server.URL, ""); !errors.As(err, &e) || e.Kind != adapters.Auth || len(sent) != 0 {
		t.Errorf("nobody is signed in: sent %q, %v", sent, err)
	}
	identify(t, home)
	if err := ask(server.URL, ""); err != nil || len(sent) != 1 || strings.HasPrefix(sent[0], "Bearer") ||
		len(sent[0]) < 80 {
		t.Errorf("signed: sent %q, %v", sent, err)
	}
	if err := ask(server.URL, "k"); err != nil || len(sent) != 1 || sent[0] != "Bearer k" {
		t.Errorf("a key where one would sign: sent %q, %v", sent, err)
	}
}

// identify makes a key as ollama signin does.
func identify(t *testing.T, home string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, ".ollama"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ollama", "id_ed25519"), pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAddressOf(t *testing.T) {
	for host, want := range map[string]string{
		"": ollama.Standard, "example.com": "http://example.com:11434", "1.2.3.4": "http://1.2.3.4:11434",
		"1.2.3.4:1234": "http://1.2.3.4:1234",
		":1234":        "http://127.0.0.1:1234", "0.0.0.0": ollama.Standard, "0.0.0.0:99": "http://127.0.0.1:99",
		"[::]:99": "http://127.0.0.1:99", "[::1]": "http://[::1]:11434", "[::1]:5": "http://[::1]:5",
		"http://1.2.3.4": "http://1.2.3.4:80", "https://1.2.3.4": "https://1.2.3.4:443",
		"https://1.2.3.4:8/x/": "https://1.2.3.4:8/x", "h:99999": "http://h:11434", " h ": "http://h:11434",
		`"http://h:5"`: "http://h:5", `'h'`: "http://h:11434", ` "h:5" `: "http://h:5", `""`: ollama.Standard,
		"ollama.com": "https://ollama.com:443", "https://ollama.com": "https://ollama.com:443",
		"http://ollama.com": "http://ollama.com:80",
	} {
		got := ollama.AddressOf(host)
		if got != want {
			t.Errorf("%q: %s, want %s", host, got, want)
		}
		// Ollama's own programs take an address to listen on for one to ask.
		t.Setenv("OLLAMA_HOST", host)
		if own := strings.TrimRight(
			strings.NewReplacer("//0.0.0.0:", "//127.0.0.1:", "//[::]:", "//127.0.0.1:", "//:", "//127.0.0.1:").Replace(
				envconfig.Host().String()), "/"); own != want {
			t.Errorf("%q: Ollama itself asks %s, want %s", host, own, want)
		}
	}
}

func TestConfiguration(t *testing.T) {
	for name, cfg := range map[string]adapters.Profile{
		"no model":    {BaseURL: "http://h"},
		"no scheme":   {Model: "m", BaseURL: "localhost:11434"},
		"a password":  {Model: "m", BaseURL: "https://me:hunter2@host"},
		"a split key": {Model: "m", Key: secret.New("hunter2\nX-Evil: 1")},
	} {
		_, err := ollama.New(cfg, adapters.Deps{})
		if code := company.CodeOf(err); code != company.EConfig && code != company.EModelAuth ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// FuzzReply answers with changed replies.
func FuzzReply(f *testing.F) {
	adaptertest.Fuzz(f, adaptertest.Ollama(), func(o adaptertest.Options) (adapters.Model, error) {
		return ollama.New(adapters.Profile{Model: "m", BaseURL: o.BaseURL, Key: o.Key}, o.Deps())
	})
}
