package gitops

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

func (b *bundle) commit(t testing.TB, tree company.OID, msg string, parents ...company.OID) company.OID {
	t.Helper()
	id, err := b.mirror.CommitTree(
		b.ctx, CommitSpec{Tree: tree, Parents: parents, Message: msg, When: time.Unix(1700000000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestReading(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"README": "hello\n", "a/b/c.txt": "c\n"})
	m := b.mirror
	if got, err := m.ReadFile(b.ctx, b.base.OID, "a/b/c.txt"); err != nil || string(got) != "c\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, p := range []string{"", "a", "a/b", "nope", "README/x", "../README", "/README", "a//b/c.txt",
		"a/b/c.txt\nHEAD"} {
		_, err := m.ReadFile(b.ctx, b.base.OID, p)
		requireCode(t, err, company.ENotFound)
	}
	tree, err := m.Tree(b.ctx, b.base.OID)
	if err != nil {
		t.Fatal(err)
	}
	list, err := m.List(b.ctx, tree)
	if err != nil || len(list) != 2 || list[1].Path != "a/b/c.txt" || list[1].Size != 2 || list[1].Mode != ModeFile {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = m.Resolve(b.ctx, strings.Repeat("1", 40))
	requireCode(t, err, company.ENotFound)
	for _, rev := range []string{"--all", "main", "HEAD~1", "refs/heads/x^", "@{u}"} {
		_, err = m.Resolve(b.ctx, rev)
		requireCode(t, err, company.EInvalid)
	}
	log, err := m.Log(b.ctx, "", b.base.OID, 5)
	if err != nil || len(log) != 1 || log[0].Subject() != "first" || log[0].Author.Email != "ann@example.org" ||
		log[0].Tree != tree {
		t.Errorf("%+v, %v", log, err)
	}
}

// Odd names, symlinks, modes and bytes are kept as they are.
func TestOddPathsAreKept(t *testing.T) {
	t.Parallel()
	files := map[string]string{"crlf.txt": "a\r\nb\r\n", "new\nline": "x", "tab\t\"quote\"": "y", "\xff\xfe": "z",
		"run.sh": "#!/bin/sh\n"}
	dir := newCheckout(t, files)
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{".gitattributes": "crlf.txt text eol=lf export-ignore\nrun.sh export-subst\n"})
	gitexectest.Git(t, dir, "-c", "core.autocrlf=false", "add", "-A", "--", "loop", "run.sh")
	gitexectest.Git(t, dir, "commit", "-q", "-m", "link")
	b := setup(t, nil)
	info, err := b.mirror.FetchBase(b.ctx, nil, Source{Path: dir}, "")
	if err != nil {
		t.Fatal(err)
	}
	var buf, again bytes.Buffer
	if err := b.mirror.Tar(b.ctx, info.OID, &buf); err != nil {
		t.Fatal(err)
	}
	if err := b.mirror.Tar(b.ctx, info.OID, &again); err != nil || !bytes.Equal(buf.Bytes(), again.Bytes()) {
		t.Errorf("the same tree gave other bytes (%v)", err)
	}
	got := map[string]string{}
	eachEntry(t, &buf, func(h *tar.Header, text string) {
		got[h.Name] = text
		switch h.Name {
		case "loop":
			if h.Typeflag != tar.TypeSymlink || h.Linkname != "loop" {
				t.Errorf("%+v", h)
			}
			delete(got, h.Name)
		case "run.sh":
			if h.Mode != 0o755 {
				t.Errorf("mode %o", h.Mode)
			}
		}
	})
	for name, want := range files {
		if got[name] != want {
			t.Errorf("%q: got %q, want %q", name, got[name], want)
		}
	}
	if len(got) != len(files) {
		t.Errorf("%d files, want %d: %q", len(got), len(files), got)
	}
}

// T13: a reference moves by compare-and-set; of many movers one wins.
func TestUpdateRefRace(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	tree, err := b.mirror.Tree(b.ctx, b.base.OID)
	if err != nil {
		t.Fatal(err)
	}
	const n = 6
	var ids []company.OID
	for i := range n {
		ids = append(ids, b.commit(t, tree, strings.Repeat("x", i+1), b.base.OID))
	}
	const ref = "refs/heads/develop-t1-k3fq"
	for _, old := range []company.OID{"", b.base.OID} {
		if old != "" {
			now, err := b.mirror.Ref(b.ctx, ref)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.mirror.UpdateRef(b.ctx, ref, old, now); err != nil {
				t.Fatal(err)
			}
		}
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { errs[i] = b.mirror.UpdateRef(b.ctx, ref, ids[i], old) })
		}
		wg.Wait()
		won := -1
		for i, err := range errs {
			switch {
			case err == nil && won >= 0:
				t.Errorf("%d and %d both won from %q", won, i, old)
			case err == nil:
				won = i
			default:
				requireCode(t, err, company.EConflict)
			}
		}
		if won < 0 {
			t.Fatal("nobody won")
		}
		if at, err := b.mirror.Ref(b.ctx, ref); err != nil || at != ids[won] {
			t.Errorf("at %s, %v; want %s", at, err, ids[won])
		}
	}
}

// REV-1
func TestUpdateRefNeverMain(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for _, ref := range []string{"refs/heads/main", "refs/heads/master", "refs/heads/MAIN", "main", "HEAD", "refs/tags/v1",
		"refs/heads/feature"} {
		requireCode(t, b.mirror.UpdateRef(b.ctx, ref, b.base.OID, ""), company.EProtected)
	}
	if out := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "for-each-ref", "refs/heads"); out != "" {
		t.Errorf("references appeared: %s", out)
	}
}

// ART-2, REV-1 review key: the patch id stays while the base moves elsewhere, and
// changes when a file of the diff changed.
// A patch has as many unchanged lines around a change as are asked for.
func TestDiffAround(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("same\n", 20)
	b := setup(t, map[string]string{"a": lines + "old\n" + lines})
	head := b.side(t, "work", func(dir string) { writeFiles(t, dir, map[string]string{"a": lines + "new\n" + lines}) })
	for around, want := range map[int]int{1: 2, 3: 6, 10: 20, 100_000: 40} {
		d, err := b.mirror.DiffAround(b.ctx, b.base.OID, head, 1<<20, around)
		if got := bytes.Count(d.Patch, []byte("\n same")); err != nil || got != want {
			t.Errorf("%d lines around: %d, want %d (%v)\n%s", around, got, want, err, d.Patch)
		}
	}
	if d, err := b.mirror.Diff(b.ctx, b.base.OID, head, 1<<20); err != nil ||
		bytes.Count(d.Patch, []byte("\n same")) != 6 {
		t.Errorf("%v\n%s", err, d.Patch)
	}
}

// A patch of some paths leaves the others out. A path is a name, whatever it looks like.
func TestPatchOfPaths(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"a": "1\n", "b*": "1\n", "bc": "1\n"})
	head := b.side(t, "work", func(dir string) {
		writeFiles(t, dir, map[string]string{"a": "in a\n", "b*": "in b*\n", "bc": "in bc\n"})
	})
	for want, paths := range map[string][]string{"a": {"a"}, "b*": {"b*"}, "a, b*, bc": nil} {
		patch, truncated, err := b.mirror.PatchOf(b.ctx, b.base.OID, head, paths, 1<<20)
		var got []string
		for _, name := range []string{"a", "b*", "bc"} {
			if bytes.Contains(patch, []byte("+in "+name+"\n")) {
				got = append(got, name)
			}
		}
		if strings.Join(got, ", ") != want || truncated || err != nil {
			t.Errorf("%v: changes in %v, %v", paths, got, err)
		}
	}
	if patch, truncated, err := b.mirror.PatchOf(b.ctx, b.base.OID, head, nil, 10); len(patch) != 10 || !truncated {
		t.Errorf("%d bytes, %v, %v", len(patch), truncated, err)
	}
}

func TestDiffAndPatchID(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"a": "1\n", "b": "1\n", "c": "1\n"})
	head := b.side(t, "work", func(dir string) {
		writeFiles(t, dir, map[string]string{"a": "2\n", "new\nname": "n\n"})
		if err := os.Remove(filepath.Join(dir, "c")); err != nil {
			t.Fatal(err)
		}
	})
	d, err := b.mirror.Diff(b.ctx, b.base.OID, head, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var got []company.Change
	for _, c := range d.Changes {
		got = append(got, c.Change)
	}
	content := func(name string) company.OID {
		return company.OID(gitexectest.Git(t, b.mirror.Dir(), "rev-parse", string(head)+":"+name))
	}
	want := []company.Change{{Path: "a", Action: "modified", Hash: content("a")}, {Path: "c", Action: "deleted"},
		{Path: "new\nname", Action: "created", Hash: content("new\nname")}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if !bytes.Contains(d.Patch, []byte("-1\n+2\n")) || d.Truncated {
		t.Errorf("%s", d.Patch)
	}
	if d, err = b.mirror.Diff(b.ctx, b.base.OID, head, 10); err != nil || len(d.Patch) != 10 || !d.Truncated {
		t.Errorf("%d bytes, %v, %v", len(d.Patch), d.Truncated, err)
	}
	id, err := b.mirror.PatchID(b.ctx, b.base.OID, head)
	if err != nil || len(id) != 64 {
		t.Fatal(id, err)
	}
	for name, same := range map[string]bool{"b": true, "a": false} {
		moved := b.side(t, "base-"+name, func(dir string) { writeFiles(t, dir, map[string]string{name: "1\n\nlast\n"}) })
		res, err := b.mirror.MergeTree(b.ctx, moved, head)
		if err != nil {
			t.Fatal(err)
		}
		other, err := b.mirror.PatchID(b.ctx, moved, res.Tree)
		if err != nil || (other == id) != same {
			t.Errorf("base moved in %s: patch id same = %v, want %v (%v)", name, other == id, same, err)
		}
	}
}

func TestAncestry(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	one := b.side(t, "one", func(dir string) { writeFiles(t, dir, map[string]string{"1": "1"}) })
	two := b.side(t, "two", func(dir string) { writeFiles(t, dir, map[string]string{"2": "2"}) })
	if ok, err := b.mirror.IsAncestor(b.ctx, b.base.OID, one); err != nil || !ok {
		t.Error(ok, err)
	}
	if ok, err := b.mirror.IsAncestor(b.ctx, one, two); err != nil || ok {
		t.Error(ok, err)
	}
	if id, err := b.mirror.MergeBase(b.ctx, one, two); err != nil || id != b.base.OID {
		t.Error(id, err)
	}
	alien := b.commit(t, emptyTreeIn(t, b), "alien")
	_, err := b.mirror.MergeBase(b.ctx, one, alien)
	requireCode(t, err, company.ENotFound)
	_, err = b.mirror.IsAncestor(b.ctx, company.OID(strings.Repeat("1", 40)), one)
	requireCode(t, err, company.EGit)
}

// emptyTreeIn makes sure that the mirror has the empty tree as an object.
func emptyTreeIn(t testing.TB, b *bundle) company.OID {
	t.Helper()
	return company.OID(
		gitexectest.GitWith(t, b.mirror.Dir(), "", "--git-dir=.", "hash-object", "-t", "tree", "-w", "--stdin"))
}

// GIT-3
func TestEveryOperationIsLogged(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	path := filepath.Join(t.TempDir(), "git.log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	log := NewOpLog(file)
	if _, err := b.mirror.List(WithSubject(WithLog(b.ctx, log), "t1", "t1-01.1"), b.base.OID); err != nil {
		t.Fatal(err)
	}
	pushErr := b.push(log, Remote{URL: "https://ann:s3cret@127.0.0.1:1/x.git"}, "refs/heads/develop-t1-k3fq",
		b.base.OID, "")
	requireCode(t, pushErr, company.EGit)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var ops []Operation
	for line := range strings.Lines(string(raw)) {
		var o Operation
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Time.IsZero() || o.TookUS <= 0 {
			t.Errorf("%q: %v", line, err)
		}
		ops = append(ops, o)
	}
	if len(ops) != 3+len(networkPause) || ops[0].Op != "ls-tree" || !slices.Equal(ops[0].Runs, []string{"t1-01.1"}) ||
		ops[0].Task != "t1" || ops[1].Task != "" || ops[0].Exit != 0 || len(ops[0].Args) == 0 ||
		ops[2].Op != "ls-remote" || ops[2].Exit != 128 || ops[2].Stderr == "" {
		t.Errorf("%+v", ops)
	}
	for _, s := range []string{string(raw), pushErr.Error(), b.log.String()} {
		if strings.Contains(s, "s3cret") {
			t.Errorf("a credential shows in %q", s)
		}
	}
	if masked := Mask("fatal: unable to access 'https://ann:s3cret@h/x'"); !strings.Contains(masked, "[MASKED:") ||
		strings.Contains(masked, "s3cret") {
		t.Error(masked)
	}
}

// A long history is not read to its end to count the newest of it: here it cannot be.
func TestCountUpTo(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	tree := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "mktree")
	head := strings.Repeat("1", 40) // a commit that is not there
	for range 5 {
		text := "tree " + tree + "\nparent " + head + "\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n"
		head = gitexectest.GitWith(t, b.mirror.Dir(), text, "--git-dir=.", "hash-object", "-t", "commit", "-w", "--stdin")
	}
	if n, err := b.mirror.CountUpTo(b.ctx, company.OID(head), 2); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := b.mirror.CountUpTo(b.ctx, b.base.OID, 5); err != nil || n != 1 {
		t.Errorf("of one commit: %d, %v", n, err)
	}
	_, err := b.mirror.CountUpTo(b.ctx, "main", 2)
	requireCode(t, err, company.EInvalid)
}
