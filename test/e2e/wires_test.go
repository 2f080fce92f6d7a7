package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/adapters/scriptedtest"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// oneByOne is a worker with one call in each reply, as a model without tools
// has: it gets a call wrong first, in JSON that is broken.
func oneByOne() func(scripted.Exchange) scripted.Reply {
	write := func(path, content string) scripted.Reply {
		return call("write_file", m{"path": path, "content": content})
	}
	return replyInSteps(
		scripted.Reply{Text: "I write it.", Calls: []scripted.Call{{Tool: "write_file", Raw: `{path: farewell.sh}`}}},
		write("farewell.sh", "echo goodbye\n"),
		scripted.Reply{Text: "Now I would commit."}, // and calls nothing
		write("checks/farewell.sh", "test \"$(sh farewell.sh)\" = goodbye\n"),
		call("git_commit", m{"message": "Add a farewell"}), call("finish", m{"summary": "Add a farewell"}))
}

// TestWires: a whole task over each model protocol, to its pull request: Ollama
// and Anthropic by their own, Ollama unasked where nothing is configured, and a
// model that refuses tools with a 400, over each of the three (ADP-1, ADP-7).
// Changing the protocol is one line of config.
func TestWires(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	const key, anthropicKey = "TEST_MODEL_KEY", "ANTHROPIC_API_KEY"
	for _, w := range []struct {
		name, profile string // %s is the server's address
		path          string // what the protocol asks
		toolless      bool
		again         bool // others show the same together
	}{
		{"ollama", "{adapter: ollama, model: scripted, base_url: %q}", "num_ctx", false, true},
		{"nothing configured", "none", "num_ctx", false, false},
		{"anthropic", "{adapter: anthropic, model: scripted, base_url: %q, api_key_env: " + key + "}", "cache_control",
			false, false},
		{"no tools, openai", "{adapter: openai, model: scripted, base_url: \"%s/v1\", api_key_env: " + key + "}",
			"[result of write_file]", true, false},
		{"no tools, anthropic", "{adapter: anthropic, model: scripted, base_url: %q, api_key_env: " + key + "}",
			"[result of write_file]", true, true},
	} {
		t.Run(w.name, func(t *testing.T) {
			if w.again {
				hosttest.Long(t, "a protocol and a model that others have")
			}
			t.Parallel()
			brain := farewells()
			var opts []scripted.Option
			if w.toolless {
				brain.worker = oneByOne()
				opts = append(opts, scriptedtest.WithoutTools())
			}
			h := testenv.New(t, brain, tinyProject(), opts...)
			address := strings.TrimSuffix(h.Model.URL(), "/v1")
			h.Env = append(h.Env, "OLLAMA_HOST="+address, anthropicKey+"=not-for-this-address")
			if h.Profile = w.profile; w.profile != "none" {
				h.Profile = fmt.Sprintf(w.profile, address)
			}
			h.Config(tinyGates)
			p := h.Start("submit", "--no-input", "add a farewell")
			if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" || sum.Tokens == 0 {
				t.Fatalf("summary: %+v", sum)
			}
			checkDelivered(t, h, 1, 1, 1)
			if body := requestText(t, h, "t1-01.1", 3); !strings.Contains(body, w.path) {
				t.Errorf("the third request of the worker does not hold %q: %.2000s", w.path, body)
			}
			keepRequests(t, h, w.name)
			if w.toolless {
				saysText(t, h, p)
			}
		})
	}
}

// saysText: the feed tells once per model that it takes no tools, and the run's
// log shows that what it got wrong was put right.
func saysText(t *testing.T, h *testenv.House, p *testenv.Process) {
	t.Helper()
	told := 0
	for _, it := range p.Items() {
		if strings.Contains(it.Text, "takes no tools: it is given them in text") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the feed tells %d times that tools are text:\n%s", told, p.Tell())
	}
	log := h.MustRun(patience, "logs", "--full", "t1-01").Stdout
	for _, want := range []string{"The arguments of write_file are not valid JSON", "called no tool", "+ git_commit"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
}

// keepRequests writes what the company sent where COMPANY_TEST_REQUESTS names a
// folder, so that the requests can be read with a vendor's own types.
func keepRequests(t *testing.T, h *testenv.House, name string) {
	t.Helper()
	dir := os.Getenv("COMPANY_TEST_REQUESTS")
	if dir == "" {
		return
	}
	for _, r := range h.Model.Requests() {
		if !json.Valid(r.Body) {
			continue // longer than what is logged
		}
		file := fmt.Sprintf("%s-%03d.json", strings.ReplaceAll(name, " ", "-"), r.N)
		if err := os.WriteFile(filepath.Join(dir, file), r.Body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoModelAtAll: nothing configured and no Ollama: one screen that tells what
// was looked for and where, and what to do; nothing is begun (ADP-3).
func TestNoModelAtAll(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := testenv.New(t, nil, tinyProject())
	h.Env = append(h.Env, "OLLAMA_HOST=127.0.0.1:9")
	h.Config(tinyGates)
	said := runRefused(t, h, 1, "E_MODEL", "submit", "--no-input", "add a farewell")
	for _, want := range []string{"ollama llama3", "http://127.0.0.1:9", "ollama serve", "ollama pull llama3",
		"company config set", "make demo"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing:\n%s", want, said)
		}
	}
	if _, err := os.Stat(filepath.Join(h.Repo, ".company")); err == nil {
		t.Error("an office was made")
	}
}

// TestFallback: where a server has not the model, the work is done by its fallback, and the feed
// says so. Without one the first request tells what it met and what to do (ADP-3, ADP-5: the name
// goes out as it stands in the config).
func TestFallback(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, farewells())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			_, _ = io.WriteString(w, `{"data":[{"id":"small-1"},{"id":"large-2"}]}`)
			return
		}
		var asked struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Model != "Large 3:x" {
			t.Errorf("asked for %q, %v", asked.Model, err)
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(
			w, `{"error":{"message":"The model does not exist","type":"invalid_request_error","code":"model_not_found"}}`)
	}))
	t.Cleanup(server.Close)
	missing := fmt.Sprintf(`{adapter: openai, model: "Large 3:x", base_url: "%s/v1", api_key_env: TEST_MODEL_KEY`,
		server.URL)
	h.Profile = missing + ", fallback: [spare]}\n" +
		fmt.Sprintf("  spare: {adapter: openai, model: scripted, base_url: %q, api_key_env: TEST_MODEL_KEY}", h.Model.URL())
	h.Config(tinyGates)
	p := h.Start("submit", "--no-input", "add a farewell")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	p.Until(patience, "a line that tells of the fallback", func(it feed.Item) bool {
		return strings.Contains(it.Text, "falling back from Large 3:x to scripted")
	})

	h.Profile = missing + "}"
	h.Config(tinyGates)
	r := h.Run(patience, "submit", "--no-input", "add a farewell")
	if said := r.Stdout + r.Stderr; r.Code != 2 || !strings.Contains(said, "failed 1 time: ask the model: Large 3:x") ||
		!strings.Contains(said, "Fix: ") {
		t.Errorf("exit %d, the first request does not say what it met and what to do:\n%s", r.Code, said)
	}
}

// TestOllamaWithoutTheModel: a server that is there and has not the model is
// told with the command that gets it, and nothing that it says steers the
// terminal; doctor tells what a model that is there can do (ADP-3, T18).
func TestOllamaWithoutTheModel(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			t.Error(err)
		case r.URL.Path == "/api/tags":
			_, _ = io.WriteString(w, `{"models":[{"name":"small\u001b]0;owned\u0007:1b"}]}`)
		case strings.Contains(string(body), `"llama3"`):
			_, _ = io.WriteString(
				w, `{"capabilities":["completion"],"model_info":{"general.architecture":"llama","llama.context_length":8192}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"model not found"}`)
		}
	}))
	t.Cleanup(server.Close)
	h := testenv.New(t, nil, tinyProject())
	h.Profile = fmt.Sprintf("{adapter: ollama, model: big, base_url: %q}", server.URL)
	h.Config(tinyGates)
	for code, command := range map[int][]string{2: {"submit", "--no-input", "add a farewell"}, 1: {"doctor"}} {
		r := h.Run(patience, command...)
		said := r.Stdout + r.Stderr
		if r.Code != code || !strings.Contains(said, "owned") || strings.ContainsAny(said, "\x1b\x07") {
			t.Errorf("%s, exit %d: %q", command[0], r.Code, said)
		}
		if !strings.Contains(said, "ollama pull big") {
			t.Errorf("%s does not say how to get it:\n%s", command[0], said)
		}
	}
	h.Profile = fmt.Sprintf("{adapter: ollama, model: llama3, base_url: %q}", server.URL)
	h.Config(tinyGates)
	runAndExpect(t, h, []string{"ollama llama3, at " + server.URL + ", has llama3, 8192 tokens of context, tools in text"},
		"doctor", "--all")
}
