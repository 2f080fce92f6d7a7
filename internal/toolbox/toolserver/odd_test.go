package toolserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
)

// oddOrigin is a bare repository with what repositories in the wild have:
// line ends and encodings that attributes would convert, an LFS pointer, a
// submodule, odd names, links in a circle. It returns the tree's listing.
func oddOrigin(t *testing.T) (origin, base, listing string) {
	t.Helper()
	dir := t.TempDir()
	work, origin := filepath.Join(dir, "work"), filepath.Join(dir, "origin.git")
	gitexectest.Git(t, dir, "init", "-q", "-b", "main", work)
	blob := func(content string) string {
		p := filepath.Join(dir, "blob")
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return gitexectest.Git(t, work, "hash-object", "-w", "--no-filters", p)
	}
	lfs := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("ab", 32) + "\nsize 12345\n"
	for name, content := range map[string]string{
		".gitattributes": "* text=auto eol=crlf ident\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.u16 " +
			"working-tree-encoding=UTF-16 text\n*.forced text eol=lf\n",
		".gitmodules": "[submodule \"vendor/sub\"]\n\tpath = vendor/sub\n\turl = https://example.invalid/sub.git\n\tupdate " +
			"= checkout\n",
		"unix.txt": "one\ntwo $Id$\n", "dos.txt": "one\r\ntwo\r\n", "mixed.forced": "one\r\ntwo\n", "wide.u16": "plain\n",
		"big.bin": lfs,
		"-rf":     "dash\n", "a b\"c'd": "quotes\n", "line\nend": "newline\n", "caf\xe9": "latin1\n", "cafe\u0301": "nfd\n",
		"\U0001F600": "emoji\n", "[glob]*?": "glob\n",
	} {
		gitexectest.Git(t, work, "update-index", "--add", "--cacheinfo", "100644,"+blob(content)+","+name)
	}
	gitexectest.Git(t, work, "update-index", "--add", "--cacheinfo", "120000,"+blob("loop-b")+",loop-a")
	gitexectest.Git(t, work, "update-index", "--add", "--cacheinfo", "120000,"+blob("loop-a")+",loop-b")
	gitexectest.Git(t, work, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("12", 20)+",vendor/sub")
	gitexectest.Git(t, work, "commit", "-q", "-m", "odd")
	gitexectest.Git(t, dir, "clone", "-q", "--bare", work, origin)
	return origin, gitexectest.Git(t, origin, "rev-parse", "main"),
		gitexectest.Git(t, origin, "ls-tree", "-r", "-z", "main")
}

// Submodules, LFS pointers, line ends and odd names are as the base has them,
// in the files and in every commit, while another file is edited.
func TestOddRepositoriesAreKept(t *testing.T) {
	origin, base, listing := oddOrigin(t)
	b := newBench(t)
	p := b.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Signoff = true })
	if p.Head != base {
		t.Fatalf("%+v", p)
	}
	for name, want := range map[string]string{"unix.txt": "one\ntwo $Id$\n", "dos.txt": "one\r\ntwo\r\n",
		"mixed.forced": "one\r\ntwo\n", "wide.u16": "plain\n", "caf\xe9": "latin1\n"} {
		if got := b.content(t, name); got != want {
			t.Errorf("%q is %q", name, got)
		}
	}
	if got := b.content(t, "big.bin"); !strings.HasPrefix(got, "version https://git-lfs") {
		t.Errorf("the pointer became %q", got)
	}
	if s := must[toolproto.GitStatusResult](t)(b.GitStatus(t.Context())); !s.Clean {
		t.Errorf("dirty after the clone: %+v", s.Files)
	}
	// Touched: git looks at the contents again.
	if r := b.run(
		t, toolproto.RunRequest{Command: "find . -type f -not -path './.git/*' -exec touch {} +"}); r.ExitCode != 0 {
		t.Fatal(r.Text())
	}
	b.file(t, "work.txt", "new\r\n")
	check := func(where, commit string) {
		t.Helper()
		got := gitexectest.Git(t, origin, "ls-tree", "-r", "-z", commit)
		var rest []string
		for entry := range strings.SplitSeq(got, "\x00") {
			if !strings.HasSuffix(entry, "\twork.txt") {
				rest = append(rest, entry)
			}
		}
		if joined := strings.Join(rest, "\x00"); joined != listing || joined == got {
			t.Errorf("%s: %q\nbase: %q", where, got, listing)
		}
		if text := gitexectest.Git(t, origin, "cat-file", "-p", commit+":work.txt"); text != "new" && text != "new\r" {
			t.Errorf("%q", text)
		}
		if size := gitexectest.Git(t, origin, "cat-file", "-s", commit+":work.txt"); size != "5" {
			t.Errorf("%s: the new file has %s bytes", where, size)
		}
		if message := gitexectest.Git(t, origin, "log", "-1", "--format=%B", commit); !strings.HasSuffix(
			message, "\n\nSigned-off-by: Agent <agent@company>\n") {
			t.Errorf("%s: no sign-off: %q", where, message)
		}
	}
	saved := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
	check("checkpoint", saved.OID)
	check("commit", b.commit(t, "[t1-01] work").Commit)
	if s := must[toolproto.GitStatusResult](t)(b.GitStatus(t.Context())); !s.Clean {
		t.Errorf("dirty after the commit: %+v", s.Files)
	}
	// It goes on from a checkpoint in a new container.
	b2 := newBench(t)
	b.file(t, "more.txt", "more\r\n")
	saved = must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
	p = b2.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Resume = saved.OID })
	if s := must[toolproto.GitStatusResult](t)(b2.GitStatus(t.Context())); !p.Dirty || len(s.Files) != 1 ||
		s.Files[0].Path != "more.txt" || b2.content(t, "more.txt") != "more\r\n" {
		t.Errorf("%+v %+v", p, s)
	}
}

// Of a large repository the folders of the task are checked out; the rest is
// in every commit as it was, and cannot be lost by committing "all".
func TestPartOfALargeRepository(t *testing.T) {
	dir := t.TempDir()
	work, origin := filepath.Join(dir, "work"), filepath.Join(dir, "origin.git")
	gitexectest.Git(t, dir, "init", "-q", "-b", "main", work)
	for _, name := range []string{"README", "svc/Makefile", "svc/api/main.txt", "svc/api/deep/x.txt", "svc/web/main.txt",
		"lib/l.txt"} {
		if err := os.MkdirAll(filepath.Join(work, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitexectest.Git(t, work, "add", "-A")
	gitexectest.Git(t, work, "commit", "-q", "-m", "base")
	gitexectest.Git(t, dir, "clone", "-q", "--bare", work, origin)
	base := gitexectest.Git(t, origin, "rev-parse", "main")
	b := newBench(t)
	b.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Paths = []string{"svc/api"} })
	for name, there := range map[string]bool{"README": true, "svc/Makefile": true, "svc/api/deep/x.txt": true,
		"svc/web/main.txt": false, "lib/l.txt": false} {
		if _, err := os.Stat(filepath.Join(b.dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := must[toolproto.GitStatusResult](t)(b.GitStatus(t.Context())); !s.Clean {
		t.Errorf("%+v", s.Files)
	}
	b.file(t, "svc/api/new.txt", "new\n")
	saved := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
	if got := gitexectest.Git(t, origin, "diff-tree", "-r", "--name-status", base,
		saved.OID); got != "A\tsvc/api/new.txt" {
		t.Errorf("the checkpoint changes %q", got)
	}
	// A resumed run, and a file outside: that is for the push to refuse, not
	// for git add to trip over.
	b2 := newBench(t)
	p := b2.prepare(t, origin, base,
		func(r *toolproto.PrepareRequest) { r.Paths, r.Resume = []string{"svc/api"}, saved.OID })
	if !p.Dirty || b2.content(t, "svc/api/new.txt") != "new\n" {
		t.Errorf("%+v", p)
	}
	b2.file(t, "lib/outside.txt", "o\n")
	c := b2.commit(t, "[t1-01] work")
	if got := gitexectest.Git(t, origin, "diff-tree", "-r", "--name-status", base,
		c.Commit); got != "A\tlib/outside.txt\nA\tsvc/api/new.txt" {
		t.Errorf("the commit changes %q", got)
	}
}
