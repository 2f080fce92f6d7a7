package gitops

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/remotetest"
	"company/internal/lib/safedir"
	"company/internal/lib/safedir/foldertest"
)

func mustParse(t *testing.T, url string) Address {
	t.Helper()
	at, err := ParseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func mustClone(t *testing.T, cfg Config, in *safedir.Folder, url, branch string) string {
	t.Helper()
	path, err := OpenClone(t.Context(), cfg, in, mustParse(t, url), branch)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// headOf is what a task in a checkout would start from, and whether something there is not
// part of it.
func headOf(t *testing.T, checkout, branch string) (company.OID, bool) {
	t.Helper()
	_, info, done, err := View(t.Context(), checkout, "origin", branch)
	if err != nil {
		t.Fatal(err)
	}
	done()
	return info.OID, info.Dirty
}

// SUB-4: a clone is made once and follows its remote from then on; what a person made in
// it is never lost.
func TestOpenClone(t *testing.T) {
	t.Parallel()
	origin := newCheckout(
		t, map[string]string{"README": "hello\n", "a/b.txt": "b\n", "run.sh": "#!/bin/sh\n",
			".gitattributes": "* text eol=lf filter=evil\n"})
	gitexectest.Git(t, origin, "switch", "-q", "-c", "side")
	commitFiles(t, origin, "side", map[string]string{"side.txt": "1\n"})
	gitexectest.Git(t, origin, "switch", "-q", "main")
	in, cfg := foldertest.Open(t, t.TempDir()), Config{Root: filepath.Join(t.TempDir(), "git")}
	url := "file://" + origin
	path := mustClone(t, cfg, in, url, "")
	if filepath.Base(path) != "project" || !strings.HasPrefix(path, in.Path()+"/") {
		t.Errorf("%s", path)
	}
	check := func(branch, want string) {
		t.Helper()
		if head, dirty := headOf(t, path, branch); string(head) != want || dirty {
			t.Errorf("%q is at %s (dirty: %v), want %s", branch, head, dirty, want)
		}
	}
	check("", gitexectest.Git(t, origin, "rev-parse", "main"))
	if text, err := os.ReadFile(filepath.Join(path, "a/b.txt")); err != nil || string(text) != "b\n" {
		t.Errorf("%q %v", text, err)
	}
	if got := gitexectest.Git(t, path, "remote", "get-url", "origin"); got != url {
		t.Errorf("%s", got)
	}

	// The remote moves on, a file goes and another comes, and its history is rewritten.
	gitexectest.Git(t, origin, "rm", "-q", "a/b.txt")
	moved := commitFiles(t, origin, "second", map[string]string{"c.txt": "c\n"})
	if again := mustClone(t, cfg, in, url+"/", "side"); again != path {
		t.Errorf("a second clone at %s", again)
	}
	check("", string(moved))
	check("side", gitexectest.Git(t, origin, "rev-parse", "side"))
	if _, err := os.Stat(filepath.Join(path, "a/b.txt")); !os.IsNotExist(err) {
		t.Errorf("a file that is gone stays: %v", err)
	}
	gitexectest.Git(t, origin, "commit", "-q", "--amend", "-m", "rewritten")
	mustClone(t, cfg, in, url, "")
	check("", gitexectest.Git(t, origin, "rev-parse", "main"))
	_, err := OpenClone(t.Context(), cfg, in, mustParse(t, url), "nowhere")
	requireCode(t, err, company.ENotFound, "nowhere")

	// A person's commit and a person's change stay.
	writeFiles(t, path, map[string]string{"README": "mine\n"})
	commitFiles(t, origin, "third", map[string]string{"README": "theirs\n"})
	_, err = OpenClone(t.Context(), cfg, in, mustParse(t, url), "")
	requireCode(t, err, company.EConflict, "the clone cannot be updated")
	mine := commitFiles(t, path, "mine", nil)
	_, err = OpenClone(t.Context(), cfg, in, mustParse(t, url), "")
	requireCode(t, err, company.EConflict, "its own commits on main")
	if head, _ := headOf(t, path, ""); head != mine {
		t.Errorf("a person's commit is gone: %s", head)
	}
	gitexectest.Git(t, path, "remote", "set-url", "origin", "file:///elsewhere")
	_, err = OpenClone(t.Context(), cfg, in, mustParse(t, url), "")
	requireCode(t, err, company.EConflict, "has another remote")
}

// Many at once make one clone, and each waits for it.
func TestClonesAtOnce(t *testing.T) {
	t.Parallel()
	origin := newCheckout(t, map[string]string{"README": "hello\n"})
	in, cfg := foldertest.Open(t, t.TempDir()), Config{Root: filepath.Join(t.TempDir(), "git")}
	at := mustParse(t, "file://"+origin)
	var paths sync.Map
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			path, err := OpenClone(t.Context(), cfg, in, at, "")
			if err != nil {
				t.Error(err)
			}
			info, err := os.Stat(filepath.Join(path, ".git", "HEAD"))
			if err != nil || info.Size() == 0 {
				t.Error(err)
			}
			paths.Store(path, true)
		})
	}
	wg.Wait()
	n := 0
	paths.Range(func(any, any) bool { n++; return true })
	if entries, err := in.List(at.key); n != 1 || err != nil || len(entries) != 1 {
		t.Errorf("%d clones, %v, %v", n, entries, err)
	}
	own, err := in.Sub(at.key)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	unlock, err := own.Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(company.E(company.EStopped, "no more patience"))
	if _, err := OpenClone(ctx, cfg, in, at, ""); company.CodeOf(err) != company.EStopped {
		t.Errorf("%v", err)
	}
}

// A clone that breaks off leaves nothing half, what a killed process left is removed, and
// the login is the server's alone (T21).
func TestBrokenClones(t *testing.T) {
	t.Parallel()
	origin := newCheckout(t, map[string]string{"README": "hello\n"})
	server := remotetest.NewHTTP(t, "x-access-token", canaryToken)
	_, url := server.Repository(t, "acme/app.git", origin)
	in, cfg := foldertest.Open(t, t.TempDir()), Config{Root: filepath.Join(t.TempDir(), "git")}
	at := mustParse(t, url)
	_, err := OpenClone(t.Context(), cfg, in, at, "")
	requireCode(t, err, company.EAuth)
	cfg.Credential = func(context.Context, string) (string, string, error) { return "", canaryToken, nil }
	server.Refuse(200, 200, 200, 200, 200, 200, 200, 200) // a page of a proxy
	_, err = OpenClone(t.Context(), cfg, in, at, "")
	requireCode(t, err, company.EGit)
	if entries, err := in.List(at.key); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
	server.Refuse()
	if err := os.MkdirAll(in.Join(at.key+"/half-x/.git"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := mustClone(t, cfg, in, url, "")
	if entries, err := in.List(at.key); err != nil || len(entries) != 1 || filepath.Base(path) != "app" {
		t.Errorf("%v %v", entries, err)
	}
	if files := filesWith(t, in.Path(), canaryToken); len(files) > 0 {
		t.Errorf("the token is in %v", files)
	}
	server.Secret("another")
	_, err = OpenClone(t.Context(), cfg, in, at, "")
	requireCode(t, err, company.EAuth)
	if head, _ := headOf(t, path, ""); head == "" {
		t.Error("a refused login spoils the clone")
	}
}

// A hostile repository runs nothing where it is cloned, and has no file put beside it (T11).
func TestHostileAddressRunsNothing(t *testing.T) {
	t.Parallel()
	canary := filepath.Join(t.TempDir(), "ran")
	origin := newCheckout(t, map[string]string{
		".gitattributes":      "* filter=evil diff=evil merge=evil\n",
		".gitmodules":         "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% " + canary + "\n",
		"hooks/post-checkout": "#!/bin/sh\ntouch " + canary + "\n", "a.txt": "a\n",
	})
	gitexectest.Git(t, origin, "config", "filter.evil.smudge", "touch "+canary)
	if err := os.Symlink("/etc", filepath.Join(origin, "out")); err != nil {
		t.Fatal(err)
	}
	commitFiles(t, origin, "link", nil)
	in, cfg := foldertest.Open(t, t.TempDir()), Config{Root: filepath.Join(t.TempDir(), "git")}
	path := mustClone(t, cfg, in, "file://"+origin, "")
	if _, err := os.Stat(canary); err == nil {
		t.Error("something of the repository ran")
	}
	if target, err := os.Readlink(filepath.Join(path, "out")); err != nil || target != "/etc" {
		t.Errorf("%q %v", target, err)
	}
	// A tree with git's own folder in it is not checked out.
	blob, tree := gitexectest.Git(t, origin, "hash-object", "-w", "a.txt"),
		gitexectest.Git(t, origin, "rev-parse", "HEAD^{tree}")
	made := exec.Command("git", "-C", origin, "mktree")
	made.Stdin = strings.NewReader(fmt.Sprintf("040000 tree %s\t.git\n100644 blob %s\ta.txt\n", tree, blob))
	out, err := made.Output()
	if err != nil {
		t.Fatal(err)
	}
	commit := gitexectest.Git(t, origin, "commit-tree", "-m", "bad", "-p", "HEAD", strings.TrimSpace(string(out)))
	gitexectest.Git(t, origin, "update-ref", "refs/heads/main", commit)
	if _, err := OpenClone(t.Context(), cfg, in, mustParse(t, "file://"+origin), ""); err == nil {
		t.Error("a tree with .git in it is checked out")
	}
	if head, dirty := headOf(t, path, ""); string(head) == commit || dirty {
		t.Errorf("the clone is at %s (dirty: %v)", head, dirty)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	same := map[string]bool{}
	for _, s := range []string{"git@github.com:acme/app.git", "ssh://git@github.com/acme/app",
		"ssh://github.com/acme/app.git/"} {
		same[mustParse(t, s).key] = true
	}
	for _, s := range []string{"https://GitHub.com/acme/app.git", "https://github.com/acme/app/",
		"https://github.com/acme/app"} {
		same[mustParse(t, s).key] = true
	}
	if len(same) != 2 {
		t.Errorf("%d clones of two addresses", len(same))
	}
	if a, b := mustParse(t, "file:///srv/app.git"), mustParse(t, "file:///srv/App.git"); a.key == b.key ||
		a.name != "app" {
		t.Errorf("%+v %+v", a, b)
	}
	for s, name := range map[string]string{"https://x.com/a/we ird": "", "https://x.com/a/..": "project",
		"https://x.com/a/-o": "o", "https://x.com/a/ü.git": "project", "https://x.com/": "", "https://x.com/a?token=1": "",
		"https://u:p@x.com/a/b": "", "https://" + canaryToken + "@x.com/a/b": "", "ssh://git:pw@x.com/a/b": "",
		"/srv/app": "", "app": "", "https://x.com/a\n": "", "ext::sh -c x": ""} {
		at, err := ParseAddress(s)
		if name == "" && company.CodeOf(err) != company.EUsage || name != "" && (err != nil || at.name != name) {
			t.Errorf("%q: %+v %v", s, at, err)
		}
		if err != nil && strings.Contains(err.Error(), canaryToken) {
			t.Errorf("%v", err)
		}
	}
	for s, want := range map[string]string{
		"https://u:p@x.com/a/b.git?t=1#f": "https://x.com/a/b.git", "git@x.com:a/b": "x.com:a/b", "/srv/app": "/srv/app",
		"": "", "https://x.com/a\x1b[2J": "", "/srv/a b": "", "x:a?token=1": "",
	} {
		if got := WithoutLogin(s); got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
	dir := t.TempDir()
	if IsAddress(dir) || IsAddress(".") || !IsAddress("git@x.com:a/b") || !IsAddress("file:///x") || IsAddress("app") {
		t.Error("paths and addresses are mixed up")
	}
}
