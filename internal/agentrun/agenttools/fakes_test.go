package agenttools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
	"company/internal/toolbox/toolserver/toolservertest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// bench holds the tools on a real toolbox over a real stream, with a clone of a
// real repository; only the container around it is missing.
type bench struct {
	client *toolproto.Client
	dir    string
	origin string
	start  company.OID
	config Config

	mu      sync.Mutex
	denials []Denial
}

func newBench(t testing.TB) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{dir: filepath.Join(dir, "repo"), origin: filepath.Join(dir, "origin.git")}
	seed := filepath.Join(dir, "seed")
	gitexectest.Git(t, dir, "init", "-q", "-b", "main", seed)
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "bin": "\x00\x01", "dos.txt": "a\r\nb\r\n"} {
		if err := os.WriteFile(filepath.Join(seed, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitexectest.Git(t, seed, "add", ".")
	gitexectest.Git(t, seed, "commit", "-qm", "base")
	gitexectest.Git(t, dir, "clone", "-q", "--bare", seed, b.origin)
	b.start = company.OID(gitexectest.Git(t, seed, "rev-parse", "HEAD"))

	b.client = toolservertest.Start(t, dir)
	_, err := b.client.Prepare(ctx(t), toolproto.PrepareRequest{
		CloneURL: b.origin, BaseOID: string(b.start), Branch: "agent/t1-01-x", AuthorName: "agent",
		AuthorEmail: "a@example.org",
	})
	if err != nil {
		t.Fatal(err)
	}
	b.config = Config{Toolbox: b.client, Ticket: "t1-01", Start: b.start, Branch: "agent/t1-01-x",
		Security: func(d Denial) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.denials = append(b.denials, d)
		}}
	return b
}

func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return c
}

// call calls one tool of a set and fails on a broken runtime.
func call(t testing.TB, tools []agent.Tool, name, args string) agent.Result {
	t.Helper()
	for _, tool := range tools {
		if tool.Spec.Name == name {
			res, err := tool.Run(ctx(t), json.RawMessage(args))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return res
		}
	}
	t.Fatalf("no tool %s", name)
	return agent.Result{}
}

func requireText(t testing.TB, res agent.Result, isError bool, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(res.Text, p) {
			t.Errorf("answer lacks %q:\n%s", p, res.Text)
		}
	}
	if res.IsError != isError {
		t.Errorf("error %v, want %v:\n%s", res.IsError, isError, res.Text)
	}
}
