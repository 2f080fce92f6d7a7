package toolserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/mux/muxtest"
	"company/internal/toolbox/toolproto"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const patience = 60 * time.Second

// bench is a toolbox in a temporary folder and a client at the other end of a
// pipe in memory.
type bench struct {
	*toolproto.Client
	server *Server
	dir    string // the workspace
}

func newBench(t testing.TB, change ...func(*Config)) *bench {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	c := Config{
		Root: filepath.Join(dir, "repo"), Temp: filepath.Join(dir, "logs"), Grace: time.Second,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + dir},
	}
	for _, f := range change {
		f(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	client := toolproto.New(muxtest.Serve(t, s.Handler()))
	t.Cleanup(client.Close)
	return &bench{Client: client, server: s, dir: s.dir}
}

// file puts a file into the workspace behind the tools' back.
func (b *bench) file(t testing.TB, path, content string) {
	t.Helper()
	full := filepath.Join(b.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func requireRefusal(t testing.TB, err error, kind toolproto.Kind, says string) {
	t.Helper()
	var r *toolproto.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal (%s)", err, kind)
	}
	if r.Kind != kind || !strings.Contains(r.Message, says) {
		t.Fatalf("got %s: %s; want %s that says %q", r.Kind, r.Message, kind, says)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newOrigin is a bare repository with one commit on main: a.txt, .gitignore.
func newOrigin(t testing.TB) (path string, base string) {
	t.Helper()
	dir := t.TempDir()
	work, bare := filepath.Join(dir, "work"), filepath.Join(dir, "origin.git")
	gitexectest.Git(t, dir, "init", "-q", "-b", "main", work)
	for name, content := range map[string]string{"a.txt": "one\ntwo\n", ".gitignore": "ignored/\n*.log\n",
		"sub/b.txt": "b\n"} {
		full := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitexectest.Git(t, work, "add", "-A")
	gitexectest.Git(t, work, "commit", "-q", "-m", "base")
	gitexectest.Git(t, dir, "clone", "-q", "--bare", work, bare)
	return bare, gitexectest.Git(t, bare, "rev-parse", "main")
}

const branch = "agent/t1-01-x"

func (b *bench) prepare(
	t testing.TB, origin string, base string, change ...func(*toolproto.PrepareRequest),
) toolproto.PrepareResult {
	t.Helper()
	r := toolproto.PrepareRequest{CloneURL: origin, BaseOID: base, Branch: branch, AuthorName: "Agent",
		AuthorEmail: "agent@company"}
	for _, f := range change {
		f(&r)
	}
	return must[toolproto.PrepareResult](t)(b.Prepare(t.Context(), r))
}
