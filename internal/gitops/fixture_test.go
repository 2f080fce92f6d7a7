package gitops

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/test/goroutines"
)

// The waits between tries are short in all tests: some run side by side.
func TestMain(m *testing.M) {
	networkPause = []time.Duration{time.Millisecond, time.Millisecond}
	goroutines.Main(m)
}

// newCheckout is a president's repository with one commit on main.
func newCheckout(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	gitexectest.Git(t, dir, "init", "-q", "-b", "main")
	commitFiles(t, dir, "first", files)
	return dir
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// eachEntry reads an archive of a tree.
func eachEntry(t testing.TB, archive io.Reader, each func(h *tar.Header, text string)) {
	t.Helper()
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		each(h, string(text))
	}
}

// commitFiles writes files and commits them on the checked-out branch.
func commitFiles(t testing.TB, dir, msg string, files map[string]string) company.OID {
	t.Helper()
	writeFiles(t, dir, files)
	gitexectest.Git(t, dir, "add", "-A")
	gitexectest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", msg)
	return company.OID(gitexectest.Git(t, dir, "rev-parse", "HEAD"))
}

// bundle is a store with a mirror that has the base of a checkout.
type bundle struct {
	ctx      context.Context
	store    *Store
	mirror   *Mirror
	checkout string
	base     BaseInfo
	log      *bytes.Buffer
}

// push is Push for a test that does not ask where the branch stands then.
func (b *bundle) push(log *OpLog, remote Remote, ref string, new, expectOld company.OID) error {
	_, err := b.mirror.Push(b.ctx, log, remote, ref, new, expectOld)
	return err
}

func setup(t testing.TB, files map[string]string) *bundle {
	t.Helper()
	if files == nil {
		files = map[string]string{"README": "hello\n", "a/b/c.txt": "c\n"}
	}
	b := &bundle{ctx: t.Context(), checkout: newCheckout(t, files), log: &bytes.Buffer{}}
	var err error
	if b.store, err = Open(Config{Root: filepath.Join(t.TempDir(), "git"), Log: NewOpLog(b.log)}); err != nil {
		t.Fatal(err)
	}
	if b.mirror, err = b.store.Mirror(b.ctx, "project", b.checkout); err != nil {
		t.Fatal(err)
	}
	b.fetch(t)
	return b
}

func (b *bundle) fetch(t testing.TB) {
	t.Helper()
	var err error
	if b.base, err = b.mirror.FetchBase(b.ctx, nil, Source{}, ""); err != nil {
		t.Fatal(err)
	}
}

// side commits files on a new branch off main in the checkout and brings the
// commit into the mirror's object store.
func (b *bundle) side(t testing.TB, branch string, change func(dir string)) company.OID {
	t.Helper()
	gitexectest.Git(t, b.checkout, "switch", "-q", "-c", branch, "main")
	change(b.checkout)
	gitexectest.Git(t, b.checkout, "add", "-A")
	gitexectest.Git(t, b.checkout, "commit", "-q", "--allow-empty", "-m", branch)
	info, err := b.mirror.FetchBase(b.ctx, nil, Source{Path: b.checkout}, branch)
	if err != nil {
		t.Fatal(err)
	}
	gitexectest.Git(t, b.checkout, "switch", "-q", "main")
	return info.OID
}

func requireCode(t testing.TB, err error, want company.Code, words ...string) {
	t.Helper()
	if company.CodeOf(err) != want {
		t.Fatalf("got %v (%s), want %s", err, company.CodeOf(err), want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

// gitWith is git with one more variable.
func gitWith(dir, stdin, env string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append(gitexectest.Env(dir), env), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}
