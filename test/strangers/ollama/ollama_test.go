//go:build strangers

package ollama

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"company/test/testenv"
)

var (
	bin     = flag.String("server", "", "the Ollama server")
	version = flag.String("version", "", "its version")
	table   = flag.String("table", "", "write the table to this file")
)

// most is how long one command may take: a machine without a GPU reads long
// prompts, and a worker image may have to be made.
const most = 20 * time.Minute

// row is a line of the table.
type row struct{ what, command, exit, said string }

// look is one thing that is tried: a command with a profile, and the words that
// must be in what it says.
type look struct {
	what    string
	profile string // %s is the server's address
	env     string // OLLAMA_HOST, where it is not the plain address
	args    []string
	code    int
	words   []string
	not     []string
	during  func(*server) // while the command runs
}

// TestOllama: the company's own program against a real server.
func TestOllama(t *testing.T) {
	s := serve(t, *bin)
	s.models()
	profile := func(model, more string) string { return "{adapter: ollama, model: " + model + more + "}" }
	// Replies of a random model are cut short: nothing in them is of use.
	short := ", max_output: 32, context_tokens: 65536"
	submit := []string{"submit", "--no-input", "-o", "json", "--set", "workers.run_timeout=10m", "add a farewell"}
	looks := []look{
		{what: "a model with tools", profile: profile("tiny", ""), args: []string{"doctor", "--all"}, code: -1,
			words: []string{"ollama tiny", "has tiny, 32768 tokens of context, tools"}, not: []string{"tools in text"}},
		{what: "its name with a tag, in capitals", profile: profile("TINY:latest", ""), args: []string{"doctor", "--all"},
			code: -1, words: []string{"has TINY:latest, 32768 tokens of context, tools"}},
		{what: "a model without tools", profile: profile("plain", ""), args: []string{"doctor", "--all"}, code: -1,
			words: []string{"has plain, 32768 tokens of context, tools in text"}},
		{what: "`tools: yes` for it", profile: profile("plain", ", tools: yes"), args: []string{"doctor", "--all"}, code: -1,
			words: []string{"does not support tools", "take `tools: yes` out"}},
		{what: "a model that is not there", profile: profile("nosuch", ""), args: []string{"doctor", "--all"}, code: -1,
			words: []string{"'nosuch' not found; the server has: tiny:latest", "ollama pull nosuch"}},
		{what: "nothing configured", profile: "none", args: []string{"doctor", "--all"}, code: -1,
			words: []string{"has tiny:latest, 32768 tokens of context, tools"}},
		{what: "nothing configured", profile: "none", args: []string{"init", "--dry-run"}, code: -1,
			words: []string{"Found: Ollama at http://" + s.addr + " with tiny:latest"}},
	}
	for _, form := range []string{"http://%s", `"%s"`, `'http://%s/'`, " %s "} {
		looks = append(
			looks, look{what: "OLLAMA_HOST=" + fmt.Sprintf(form, "HOST:PORT"), env: fmt.Sprintf(form, s.addr), profile: "none",
				args: []string{"doctor", "--all"}, code: -1, words: []string{"at http://" + s.addr + ", has tiny:latest"}})
	}
	looks = append(looks,
		look{what: "work, by a model that writes noise", profile: profile("tiny", short), args: submit, code: 2,
			words: []string{"INCOMPLETE"}},
		look{what: "work, with tools in text", profile: profile("plain", short), args: submit, code: 2,
			words: []string{"INCOMPLETE"}},
		look{what: "a cap of 30k tokens", profile: profile("tiny", short),
			args: append([]string{"--budget-tokens", "30k"}, submit...), code: 2, words: []string{"30k tokens"}},
		look{what: "a model that is not there", profile: profile("nosuch", ""), args: submit, code: 2,
			words: []string{"'nosuch' not found; the server has: tiny:latest"}},
		look{what: "a model that cannot be loaded", profile: profile("broken", short), args: submit, code: 2,
			words: []string{"missing tensor", "cannot load it"}},
		look{what: "an architecture that the server does not know", profile: profile("strange", short), args: submit, code: 2,
			words: []string{"unable to load model"}},
		look{what: "`tools: yes` for a model without tools", profile: profile("plain", short+", tools: yes"), args: submit,
			code: 2, words: []string{"does not support tools", "`tools: yes`"}},
		look{what: "a context that is too small", profile: profile("tiny", ", max_output: 32, context_tokens: 2048"),
			args: submit, code: 2, words: []string{"does not fit"}},
		look{what: "the server dies in a reply", profile: profile("tiny", ", max_output: 8000, context_tokens: 65536"),
			args: submit, code: 2, words: []string{"no Ollama server at"}, during: func(s *server) {
				s.replying()
				s.kill()
			}},
	)
	var rows []row
	for _, l := range looks {
		rows = append(rows, s.try(l))
	}
	if *table != "" && !t.Failed() {
		if err := os.WriteFile(*table, []byte(page(rows)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// try runs one command and looks at what it says.
func (s *server) try(l look) row {
	var out row
	s.t.Run(strings.ReplaceAll(l.what+", "+l.args[0], "/", "-"), func(t *testing.T) {
		if s.cmd == nil {
			s.start()
		}
		h := testenv.New(t, nil, map[string]string{"README.md": "# a stranger\n", "Makefile": "test:\n\ttest -s README.md\n"})
		host := l.env
		if host == "" {
			host = s.addr
		}
		h.Env = append(h.Env, "OLLAMA_HOST="+host)
		h.Profile = l.profile
		h.Config("gates: {test: 'make test'}\n")
		done := make(chan struct{})
		if l.during != nil {
			s.log.Reset()
			go func() {
				defer close(done)
				l.during(s)
			}()
		} else {
			close(done)
		}
		began := time.Now()
		r := h.Run(most, l.args...)
		<-done
		said := r.Stdout + r.Stderr
		for _, w := range l.words {
			if !strings.Contains(said, w) {
				t.Errorf("%q is not said: exit %d\n%s", w, r.Code, said)
			}
		}
		for _, w := range l.not {
			if strings.Contains(said, w) {
				t.Errorf("%q is said:\n%s", w, said)
			}
		}
		if l.code >= 0 && r.Code != l.code {
			t.Errorf("exit %d, want %d\n%s", r.Code, l.code, said)
		}
		t.Logf("%s: exit %d after %s\n%s", l.what, r.Code, time.Since(began).Round(time.Second), said)
		out = row{what: l.what, command: strings.Join(l.args, " "), exit: fmt.Sprint(r.Code),
			said: strings.NewReplacer(s.addr, "HOST:PORT", s.dir, "DIR").Replace(findMessage(l, r.Stdout, r.Stderr))}
	})
	return out
}

// findMessage returns the line of the output that holds the first expected
// word, or the summary's reason.
func findMessage(l look, stdout, stderr string) string {
	var sum struct {
		Result, Why string
		Tokens      int64
	}
	if json.Unmarshal([]byte(stdout), &sum) == nil && sum.Result != "" {
		return fmt.Sprintf("%s, %d tokens: %s", sum.Result, sum.Tokens, sum.Why)
	}
	for line := range strings.Lines(stdout + stderr) {
		if strings.Contains(line, l.words[0]) {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	return ""
}

// page returns bin/strangers-ollama.md.
func page(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Ollama

`+"`make strangers/ollama`"+` builds the real server from its Go module (%s, the
version of the module that the adapter uses), makes a tiny Llama with random
weights, and runs the company's own program against it. A random model writes
noise and can do no job: what is shown here is the wire, the errors, doctor and
the budget, and nothing of the work. Each line is what was really said.

| what | command | exit | said |
|---|---|---|---|
`, *version)
	cell := strings.NewReplacer("|", "\\|", "\n", " ")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", cell.Replace(r.what), cell.Replace(r.command), r.exit,
			cell.Replace(r.said))
	}
	return b.String()
}
