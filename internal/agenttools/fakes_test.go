package agenttools

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/mux"
	"company/internal/toolproto"
	"company/internal/toolserver"
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
	git(t, dir, "init", "-q", "-b", "main", seed)
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "bin": "\x00\x01", "dos.txt": "a\r\nb\r\n"} {
		if err := os.WriteFile(filepath.Join(seed, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, seed, "add", ".")
	git(t, seed, "commit", "-qm", "base")
	git(t, dir, "clone", "-q", "--bare", seed, b.origin)
	b.start = company.OID(git(t, seed, "rev-parse", "HEAD"))

	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := toolserver.New(toolserver.Config{
		Root: b.dir, Temp: filepath.Join(dir, "logs"), Grace: time.Second,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	host, err := mux.Host(near)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := mux.Guest(far)
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() { defer close(done); _ = web.Serve(guest) }()
	b.client = toolproto.New(host)
	t.Cleanup(func() {
		b.client.Close()
		_ = host.Close()
		_ = web.Close()
		_ = guest.Close()
		<-done
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = b.client.Prepare(ctx(t), toolproto.PrepareRequest{
		CloneURL: b.origin, BaseOID: string(b.start), Branch: "agent/t1-01-x", AuthorName: "agent", AuthorEmail: "a@example.org",
	})
	if err != nil {
		t.Fatal(err)
	}
	b.config = Config{Toolbox: b.client, Ticket: "t1-01", Start: b.start, Branch: "agent/t1-01-x", Security: func(d Denial) {
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

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
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
