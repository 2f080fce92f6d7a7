package gitops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

func newOrigin(t testing.TB, checkout string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "origin.git")
	gitexectest.Git(t, filepath.Dir(dir), "init", "-q", "--bare", "-b", "main", dir)
	gitexectest.Git(t, checkout, "remote", "add", "origin", dir)
	gitexectest.Git(t, checkout, "push", "-q", "origin", "main")
	return dir
}

func TestFetchBase(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	first := b.base
	if first.Branch != "main" || first.Dirty || first.RemoteHasBranch || first.RemoteURL != "" ||
		first.AheadOfRemote != 0 || first.DefaultBranch != "main" {
		t.Errorf("%+v", first)
	}
	origin := newOrigin(t, b.checkout)
	next := commitFiles(t, b.checkout, "second", map[string]string{"x": "x"})
	b.fetch(t)
	if b.base.OID != next || b.base.AheadOfRemote != 1 || !b.base.RemoteHasBranch || b.base.RemoteURL != origin {
		t.Errorf("%+v", b.base)
	}
	if at, err := b.mirror.Ref(b.ctx, "refs/remotes/origin/main"); err != nil || at != next {
		t.Error(at, err)
	}
	gitexectest.Git(t, b.checkout, "switch", "-q", "-c", "feature/x")
	info, err := b.mirror.FetchBase(b.ctx, nil, Source{Path: filepath.Join(b.checkout, "a", "b")}, "") // a folder inside
	if err != nil || info.Branch != "feature/x" || info.RemoteHasBranch || info.AheadOfRemote != 1 ||
		info.DefaultBranch != "main" {
		t.Errorf("%+v, %v", info, err)
	}
	// A linked work tree is a checkout as well; a rewound branch is followed.
	linked := filepath.Join(t.TempDir(), "linked")
	gitexectest.Git(t, b.checkout, "worktree", "add", "-q", "-b", "side", linked, string(first.OID))
	gitexectest.Git(t, b.checkout, "branch", "-f", "main", string(first.OID))
	if info, err = b.mirror.FetchBase(b.ctx, nil, Source{Path: linked}, ""); err != nil || info.Branch != "side" ||
		info.Dirty {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err = b.mirror.FetchBase(b.ctx, nil, Source{Path: linked}, "main"); err != nil || info.OID != first.OID {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err = b.mirror.FetchBase(b.ctx, nil, Source{URL: "file://" + origin}, ""); err != nil ||
		info.Branch != "main" || info.OID != first.OID {
		t.Errorf("%+v, %v", info, err)
	}
	_, err = b.mirror.FetchBase(b.ctx, nil, Source{Path: linked}, "nope")
	requireCode(t, err, company.ENotFound, "nope")
	_, err = b.mirror.FetchBase(b.ctx, nil, Source{Path: linked}, "--upload-pack=x")
	requireCode(t, err, company.EInvalid)
	if out := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "for-each-ref", "refs/heads"); out != "" {
		t.Errorf("the base must not become a branch of ours: %s", out)
	}
}

// A dirty tree is reported.
func TestDirty(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n", "run": "x", ".gitignore": "*.log\n"})
	for _, c := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"clean", func() {}, false},
		{"ignored file", func() { writeFiles(t, b.checkout, map[string]string{"x.log": "1"}) }, false},
		{"touched only", func() { writeFiles(t, b.checkout, map[string]string{"f": "f\n"}) }, false},
		{"same size", func() { writeFiles(t, b.checkout, map[string]string{"f": "g\n"}) }, true},
		{"deleted", func() { _ = os.Remove(filepath.Join(b.checkout, "f")) }, true},
		{"mode", func() { _ = os.Chmod(filepath.Join(b.checkout, "run"), 0o755) }, true},
		{"the office's own config", func() {
			writeFiles(t, b.checkout, map[string]string{"company.yaml": "version: 1\n"})
		}, false},
		{"that and more", func() {
			writeFiles(t, b.checkout, map[string]string{"company.yaml": "version: 1\n", "new": "1"})
		}, true},
		{"untracked", func() { writeFiles(t, b.checkout, map[string]string{"new": "1"}) }, true},
		{"staged", func() {
			writeFiles(t, b.checkout, map[string]string{"new": "1"})
			gitexectest.Git(t, b.checkout, "add", "new")
			_ = os.Remove(filepath.Join(b.checkout, "new"))
		}, true},
	} {
		gitexectest.Git(t, b.checkout, "reset", "-q", "--hard")
		gitexectest.Git(t, b.checkout, "clean", "-qfdx")
		c.change()
		b.fetch(t)
		if b.base.Dirty != c.want {
			t.Errorf("%s: dirty = %v", c.name, b.base.Dirty)
		}
	}
}

// What git status calls clean is clean, whatever the settings of the checkout are.
func TestDirtyAsGitSeesIt(t *testing.T) {
	t.Parallel()
	files := map[string]string{"f": "f\n", "run": "x\n", "in/a": "a\n", "out/b": "b\n", "out/deep/c": "c\n"}
	cone := []string{"sparse-checkout", "set", "--cone", "in"}
	remove := func(name string) func(string) {
		return func(dir string) { _ = os.Remove(filepath.Join(dir, name)) }
	}
	write := func(name, text string) func(string) {
		return func(dir string) { writeFiles(t, dir, map[string]string{name: text}) }
	}
	crlf := func(dir string) { // as a checkout with that setting
		gitexectest.Git(t, dir, "rm", "-rq", "--cached", ".")
		gitexectest.Git(t, dir, "reset", "-q", "--hard")
	}
	inTurn := func(changes ...func(string)) func(string) {
		return func(dir string) {
			for _, change := range changes {
				change(dir)
			}
		}
	}
	executable := func(dir string) { _ = os.Chmod(filepath.Join(dir, "run"), 0o755) }
	newFile := func(dir string) { gitexectest.Git(t, dir, "add", "--intent-to-add", "new") }
	autocrlf, noLinks := []string{"config", "core.autocrlf", "true"}, []string{"config", "core.symlinks", "false"}
	filter := [][]string{
		{"config", "filter.up.smudge", "sed s/f/smudged/"}, {"config", "filter.up.clean", "sed s/smudged/f/"},
	}
	for name, c := range map[string]struct {
		git    [][]string
		change func(dir string)
		want   bool
	}{
		"sparse":                    {[][]string{cone}, nil, false},
		"sparse, with folders":      {[][]string{append(cone, "--sparse-index")}, nil, false},
		"sparse by patterns":        {[][]string{{"sparse-checkout", "set", "--no-cone", "/f"}}, nil, false},
		"sparse, changed":           {[][]string{cone}, write("in/a", "b\n"), true},
		"sparse, deleted":           {[][]string{cone}, remove("in/a"), true},
		"sparse, staged":            {[][]string{cone, {"rm", "-q", "--cached", "in/a"}}, nil, true},
		"sparse, there and changed": {[][]string{cone}, write("out/b", "changed\n"), true},
		"skip-worktree":             {[][]string{{"update-index", "--skip-worktree", "f"}}, write("f", "mine\n"), false},
		"assume-unchanged":          {[][]string{{"update-index", "--assume-unchanged", "f"}}, write("f", "mine\n"), false},
		"intent to add":             {nil, inTurn(write("new", "n\n"), newFile), true},
		"modes do not count":        {[][]string{{"config", "core.fileMode", "false"}}, executable, false},
		"a file for a link":         {[][]string{noLinks}, inTurn(remove("link"), write("link", "f")), false},
		"another file for a link":   {[][]string{noLinks}, inTurn(remove("link"), write("link", "g")), true},
		"line ends":                 {[][]string{autocrlf}, crlf, false},
		"line ends, touched":        {[][]string{autocrlf}, inTurn(crlf, write("f", "f\r\n")), false},
		"line ends, changed":        {[][]string{autocrlf}, inTurn(crlf, write("f", "g\r\n")), true},
		"line ends, not by git":     {nil, write("f", "f\r\n"), true},
		"a filter":                  {filter, inTurn(write(".git/info/attributes", "f filter=up\n"), crlf), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, files)
			if err := os.Symlink("f", filepath.Join(b.checkout, "link")); err != nil {
				t.Fatal(err)
			}
			commitFiles(t, b.checkout, "a link", nil)
			for _, args := range c.git {
				gitexectest.Git(t, b.checkout, args...)
			}
			if c.change != nil {
				c.change(b.checkout)
			}
			_, info, done, err := View(t.Context(), b.checkout, "origin", "")
			if err != nil {
				t.Fatal(err)
			}
			done()
			status := gitexectest.Git(t, b.checkout, "status", "--porcelain")
			if info.Dirty != c.want || (status != "") != c.want {
				t.Errorf("dirty = %v, want %v; git says %q", info.Dirty, c.want, status)
			}
		})
	}
}

// A repository that cannot be taken over is refused, with what to do.
func TestSourcesRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	commitFiles(t, b.checkout, "second", map[string]string{"x": "x"})
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	gitexectest.Git(t, temp, "init", "-q", "-b", "main", at("unborn"))
	gitexectest.Git(t, temp, "clone", "-q", "--bare", b.checkout, at("bare"))
	gitexectest.Git(t, temp, "clone", "-q", "--depth=1", "file://"+b.checkout, at("shallow"))
	gitexectest.Git(t, at("shallow"), "remote", "remove", "origin")
	gitexectest.Git(t, b.checkout, "config", "uploadpack.allowFilter", "true")
	gitexectest.Git(t, temp, "clone", "-q", "--filter=blob:none", "file://"+b.checkout, at("partial"))
	gitexectest.Git(t, temp, "init", "-q", "--object-format=sha256", at("sha256"))
	commitFiles(t, at("sha256"), "one", map[string]string{"x": "x"})
	gitexectest.Git(t, temp, "clone", "-q", b.checkout, at("detached"))
	gitexectest.Git(t, at("detached"), "switch", "-q", "--detach")
	gitexectest.Git(t, at("detached"), "branch", "-q", "-m", "main", "trunk")
	gitexectest.Git(t, at("detached"), "remote", "remove", "origin")
	gitexectest.Git(t, temp, "clone", "-q", b.checkout, at("foreign"))
	gitexectest.Git(t, temp, "clone", "-q", "--no-local", b.checkout, at("corrupt"))
	packs, err := filepath.Glob(at("corrupt/.git/objects/pack/*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	if err := os.Chmod(packs[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(packs[0], 20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("none"), 0o755); err != nil {
		t.Fatal(err)
	}
	// As an archive may bring them: what is read in a git folder never ends.
	gitexectest.Git(t, temp, "clone", "-q", b.checkout, at("pipe"))
	if err := errors.Join(syscall.Mkfifo(at("pipe/.git/commondir"), 0o600), os.Mkdir(at("linked"), 0o700),
		os.WriteFile(at("linked/.git"), nil, 0o600),
		os.Truncate(at("linked/.git"), 1<<30)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		code company.Code
		say  string
		hint string
	}{
		{"none", company.ENotFound, "not in a git repository", "git init"},
		{"missing", company.ENotFound, "cannot open", ""},
		{"unborn", company.EGit, "no commit yet", "commit first"},
		{"bare", company.EGit, "bare", "clone"},
		{"shallow", company.EGit, "shallow", "git fetch --unshallow"},
		{"partial", company.EGit, "partial", "full clone"},
		{"sha256", company.EGit, "SHA-256", "sha1"},
		{"detached", company.EInvalid, "not on a branch", "--base"},
		{"pipe", company.EGit, "not a regular file of at most 16 MiB", ""},
		{"linked", company.EGit, "not a regular file of at most 16 MiB", ""},
		{"corrupt", company.EGit, "", ""},
	} {
		info, err := b.mirror.FetchBase(b.ctx, nil, Source{Path: at(c.name)}, "")
		if company.CodeOf(err) == company.ENotFound && c.name == "corrupt" {
			continue // the head commit itself is what got lost
		}
		requireCode(t, err, c.code, c.say)
		var e *company.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: hint of %#v", c.name, err)
		}
		if info.Detached != (c.name == "detached") {
			t.Errorf("%s: %+v", c.name, info)
		}
	}
	if os.Geteuid() == 0 { // only root can make another user's repository
		if err := os.Chown(at("foreign/.git"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
		_, err := b.mirror.FetchBase(b.ctx, nil, Source{Path: at("foreign")}, "")
		requireCode(t, err, company.EGit, "another user", "12345")
	}
}

// GIT-9
func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ask := func(want string) {
		t.Helper()
		c, err := b.store.openCheckout(b.ctx, b.checkout)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.defaultBranch(b.ctx)
		if want == "" {
			requireCode(t, err, company.ENotFound, "DEFAULT_BRANCH_NOT_FOUND")
		} else if err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	ask("main")
	gitexectest.Git(t, b.checkout, "branch", "-m", "main", "master")
	ask("master")
	gitexectest.Git(t, b.checkout, "branch", "-m", "master", "trunk")
	ask("")
	origin := filepath.Join(t.TempDir(), "o.git")
	gitexectest.Git(t, b.checkout, "init", "-q", "--bare", "-b", "trunk", origin)
	gitexectest.Git(t, b.checkout, "remote", "add", "origin", origin)
	gitexectest.Git(t, b.checkout, "push", "-q", "origin", "trunk")
	gitexectest.Git(t, b.checkout, "remote", "set-head", "origin", "trunk")
	ask("trunk")
}

// T11: no command that a repository's configuration or attributes name is
// ever run by what the host does with it.
func TestCanariesNeverFire(t *testing.T) {
	t.Parallel()
	canary := filepath.Join(t.TempDir(), "fired")
	cmd := "touch " + canary + " #"
	attributes := "* diff=x merge=x filter=x text ident\n"
	b := setup(t, map[string]string{"f": lines, ".gitattributes": attributes})
	hooks := filepath.Join(b.checkout, ".git", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"post-checkout", "pre-push", "post-index-change", "reference-transaction",
		"fsmonitor-watchman", "pre-receive", "post-update", "proc-receive"} {
		if err := os.WriteFile(filepath.Join(hooks, h), []byte("#!/bin/sh\n"+cmd+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ours := b.side(t, "ours", func(dir string) { writeFiles(t, dir, map[string]string{"f": "ours\n" + lines}) })
	theirs := b.side(t, "theirs", func(dir string) { writeFiles(t, dir, map[string]string{"f": "theirs\n" + lines}) })
	_ = os.Remove(canary) // the president's own git ran hooks just now
	for _, kv := range [][2]string{
		{"core.fsmonitor", cmd}, {"core.sshCommand", cmd}, {"core.gitProxy", cmd}, {"core.pager", cmd}, {"core.editor", cmd},
		{"core.hooksPath", hooks}, {"core.askPass", cmd}, {"core.alternateRefsCommand", cmd}, {"diff.external", cmd},
		{"diff.x.command", cmd}, {"diff.x.textconv", cmd}, {"merge.x.driver", cmd}, {"filter.x.clean", cmd},
		{"filter.x.smudge", cmd}, {"filter.x.process", cmd}, {"credential.helper", "!" + cmd},
		{"uploadpack.packObjectsHook", cmd},
		{"gpg.program", cmd}, {"remote.origin.uploadpack", cmd}, {"remote.origin.receivepack", cmd},
		{"remote.origin.url", "ext::sh -c " + cmd},
		{"remote.origin.vcs", "x"}, {"alias.rev-parse", "!" + cmd}, {"alias.ls-files", "!" + cmd}, {"sequence.editor", cmd},
		{"receive.procReceiveRefs", "refs"},
	} {
		gitexectest.Git(t, b.checkout, "config", kv[0], kv[1])
	}
	writeFiles(t, b.checkout, map[string]string{"f": "dirty " + lines})
	info, err := b.mirror.FetchBase(b.ctx, nil, Source{}, "")
	if err != nil || !info.Dirty {
		t.Fatalf("%+v, %v", info, err)
	}
	if _, err := b.mirror.MergeTree(b.ctx, ours, theirs); err != nil {
		t.Fatal(err)
	}
	if d, err := b.mirror.Diff(b.ctx, ours, theirs, 1<<20); err != nil || len(d.Patch) == 0 {
		t.Fatal(err)
	}
	if err := b.mirror.Tar(b.ctx, ours, &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	// The remote of that checkout is a command, too.
	requireCode(t, b.push(nil, Remote{URL: info.RemoteURL}, "refs/heads/develop-t1-k3fq", ours, ""), company.EInvalid)

	// Somebody gets at the mirror itself: it is not used any more.
	for name, content := range map[string]string{
		"info/attributes": attributes, "config": repoConfig + "[merge \"x\"]\n\tdriver = " + cmd + "\n",
		"objects/info/alternates": b.checkout + "/.git/objects\n",
	} {
		p := filepath.Join(b.mirror.Dir(), name)
		old, readErr := os.ReadFile(p)
		writeFiles(t, b.mirror.Dir(), map[string]string{name: content})
		_, err := b.mirror.MergeTree(b.ctx, ours, theirs)
		requireCode(t, err, company.EGit, "was changed")
		_, err = b.mirror.ReadFile(b.ctx, ours, "f")
		requireCode(t, err, company.EGit, "was changed")
		if readErr == nil {
			err = os.WriteFile(p, old, 0o600)
		} else {
			err = os.Remove(p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a command of the repository was run")
	}
	// The canary works: plain git fires it.
	_, _ = gitexectest.TryGit(b.checkout, "", "status")
	if _, err := os.Stat(canary); err != nil {
		t.Error("the canary would never have fired")
	}
}

// The store of a zero-config office lies inside the checkout that it looks at.
func TestAStoreInsideTheCheckout(t *testing.T) {
	t.Parallel()
	dir := newCheckout(t, map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n", ".gitignore": ".company/\n"})
	s, err := Open(Config{Root: filepath.Join(dir, ".company", "state", "git")})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Mirror(t.Context(), "p", dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, dirty := range []bool{false, true} {
		if dirty {
			if err := os.WriteFile(filepath.Join(dir, "sub", "b.txt"), []byte("changed\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		info, err := m.FetchBase(t.Context(), nil, Source{Path: dir}, "")
		if err != nil {
			t.Fatal(err)
		}
		if info.Dirty != dirty {
			t.Errorf("dirty = %v, want %v", info.Dirty, dirty)
		}
	}
}
