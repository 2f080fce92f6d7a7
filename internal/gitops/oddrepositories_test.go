package gitops

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// oddTree stages, in the checkout, what is in repositories in the wild.
func oddTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	blobs := map[string]string{
		".gitattributes": "* text=auto eol=crlf ident\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.u16 " +
			"working-tree-encoding=UTF-16 text\nexport export-ignore\nsubst export-subst\n",
		".gitmodules": "[submodule \"vendor/sub\"]\n\tpath = vendor/sub\n\turl = https://example.invalid/sub.git\n",
		"dos.txt":     "one\r\ntwo\r\n", "unix.txt": "one $Id$\n", "wide.u16": "plain\n", "export": "kept\n",
		"subst":   "$Format:%H$\n",
		"big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("ab", 32) + "\nsize 12345\n",
		"-rf":     "dash\n", "a b\"c'd": "quotes\n", "line\nend": "newline\n", "tab\tbed": "tab\n", "caf\xe9": "latin1\n",
		"cafe\u0301": "nfd\n", "caf\u00e9": "nfc\n",
		"\U0001F600": "emoji\n", "[glob]*?": "glob\n", "README": "one\n", "readme": "two\n", ":(top)x": "magic\n",
		"empty": "",
	}
	for name, content := range blobs {
		p := filepath.Join(t.TempDir(), "blob")
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		gitexectest.Git(t, dir, "update-index", "--add", "--cacheinfo",
			"100644,"+gitexectest.Git(t, dir, "hash-object", "-w", "--no-filters", p)+","+name)
	}
	for name, target := range map[string]string{"loop-a": "loop-b", "loop-b": "loop-a", "self": "self",
		"out": "../../etc/passwd", "abs": "/etc/passwd"} {
		gitexectest.Git(t, dir, "update-index", "--add", "--cacheinfo",
			"120000,"+gitexectest.GitWith(t, dir, target, "hash-object", "-w", "--stdin")+","+name)
		blobs[name] = target
	}
	gitexectest.Git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("12", 20)+",vendor/sub")
	return blobs
}

// Odd trees go through fetch, tar, merge and push as they are, byte for byte;
// no attribute has a say. What is new is held to more (see
// TestPoisonedTreesAreRefused).
func TestOddTreesAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"work.txt": "1\n"})
	want := oddTree(t, b.checkout)
	gitexectest.Git(t, b.checkout, "commit", "-q", "-m", "odd")
	b.fetch(t)
	listing := gitexectest.Git(t, b.checkout, "ls-tree", "-r", "-z", "HEAD")
	if got := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "ls-tree", "-r", "-z",
		string(b.base.OID)); got != listing {
		t.Fatal("the fetch changed the tree")
	}
	for name, text := range want {
		if got, err := b.mirror.ReadFile(b.ctx, b.base.OID, name); err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	var archive bytes.Buffer
	if err := b.mirror.Tar(b.ctx, b.base.OID, &archive); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	eachEntry(t, &archive, func(h *tar.Header, text string) { seen[h.Name] = text + h.Linkname })
	if _, ok := seen["vendor/sub/"]; !ok || len(seen) != len(want)+2 {
		t.Errorf("%d entries for %d: %q", len(seen), len(want)+2, seen)
	}
	for name, text := range want {
		if seen[name] != text {
			t.Errorf("tar: %q is %q, want %q", name, seen[name], text)
		}
	}
	// Somebody edits another file; it is merged and pushed.
	side := func(name, text string) company.OID {
		t.Helper()
		index := "GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")
		git := func(stdin string, args ...string) string {
			t.Helper()
			out, err := gitWith(b.checkout, stdin, index, args...)
			if err != nil {
				t.Fatalf("%v: %v %s", args, err, out)
			}
			return out
		}
		git("", "read-tree", "HEAD")
		git("", "update-index", "--add", "--cacheinfo", "100644,"+git(text, "hash-object", "-w", "--stdin")+","+name)
		commit := git("", "commit-tree", git("", "write-tree"), "-p", "HEAD", "-m", "x")
		git("", "branch", "-f", "side", commit)
		info, err := b.mirror.FetchBase(b.ctx, nil, Source{}, "side")
		if err != nil {
			t.Fatal(err)
		}
		return info.OID
	}
	ours, theirs := side("work.txt", "2\n"), side("other.txt", "3\n")
	r, err := b.mirror.MergeTree(b.ctx, ours, theirs)
	if err != nil || !r.Clean {
		t.Fatalf("%+v, %v", r, err)
	}
	merge, err := b.mirror.CommitTree(
		b.ctx, CommitSpec{Tree: r.Tree, Parents: []company.OID{ours, theirs}, Message: "merge",
			When: time.Unix(1700000000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	origin := filepath.Join(t.TempDir(), "origin.git")
	gitexectest.Git(t, b.checkout, "init", "-q", "--bare", "-b", "main", origin)
	if err := b.push(nil, Remote{URL: origin}, "refs/heads/develop-t1-k3fq", merge, ""); err != nil {
		t.Fatal(err)
	}
	changed := gitexectest.Git(t, origin, "diff-tree", "-r", "--name-status", string(b.base.OID), "develop-t1-k3fq")
	if changed != "A\tother.txt\nM\twork.txt" {
		t.Errorf("changed on the way: %s", changed)
	}
	// In a run, too: the gitlink and the names that it finds are no fault of it.
	q := b.quarantine(t, run1)
	tree := gitexectest.Git(t, q.Dir(), "--git-dir=.", "ls-tree", "-z", string(b.base.OID))
	tree = strings.Replace(tree, gitexectest.GitWith(t, q.Dir(), "1\n", "--git-dir=.", "hash-object", "-w", "--stdin"),
		blob(t, q, "mine\n"), 1)
	head := plant(t, q, gitexectest.GitWith(t, q.Dir(), tree, "--git-dir=.", "mktree", "-z", "--missing"), b.base.OID)
	taken, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1))
	if err != nil || len(taken.Changes) != 1 || taken.Changes[0] != (company.Change{
		Path: "work.txt", Action: "modified", Hash: company.OID(blob(t, q, "mine\n"))}) {
		t.Errorf("%+v, %v", taken, err)
	}
}

// Ten thousand files and two thousand commits are no trouble; a history that
// shares nothing with the base is refused in words.
func TestLargeAndUnrelated(t *testing.T) {
	b := setup(t, nil)
	var in strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&in, "blob\nmark :%d\ndata %d\n%d\n\n", i+1, len(fmt.Sprint(i))+1, i)
	}
	commit := func(branch string, mark, from int) {
		fmt.Fprintf(&in, "commit refs/heads/%s\nmark :%d\ncommitter A <a@b> %d +0000\ndata 2\nx\n", branch, mark,
			1700000000+mark)
		if from > 0 {
			fmt.Fprintf(&in, "from :%d\n", from)
		}
	}
	commit("large", 20_000, 0)
	for i := range 10_000 {
		fmt.Fprintf(&in, "M 100644 :%d d%d/e%d/f%d\n", i+1, i%10, i%100, i)
	}
	for i := 1; i < 2000; i++ {
		commit("large", 20_000+i, 20_000+i-1)
		fmt.Fprintf(&in, "M 100644 :%d counter\n", i)
	}
	gitexectest.GitWith(t, b.checkout, in.String(), "fast-import", "--quiet")
	info, err := b.mirror.FetchBase(b.ctx, nil, Source{}, "large")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := b.mirror.List(b.ctx, info.OID)
	if err != nil || len(entries) != 10_001 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	if _, err := b.store.Quarantine(b.ctx, b.mirror, "t1-01.9", info.OID, nil); err != nil {
		t.Fatal(err)
	}
	if r, err := b.mirror.MergeTree(b.ctx, info.OID, info.OID); err != nil || !r.Clean {
		t.Fatal(err)
	}
	_, err = b.mirror.MergeTree(b.ctx, b.base.OID, info.OID)
	requireCode(t, err, company.EGit, "cannot merge", "unrelated histories")
	_, err = b.mirror.MergeBase(b.ctx, b.base.OID, info.OID)
	requireCode(t, err, company.ENotFound, "share no history")
}

// Many at once on one mirror, some of them stopped in the middle: nobody sees
// a half-made thing, and what was stopped works the next time.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	history(t, b.checkout, 5)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	for i := range 12 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(b.ctx)
			defer cancel()
			stop := i%3 == 0
			if stop {
				time.AfterFunc(time.Duration(5+10*i)*time.Millisecond, cancel)
			}
			_, err := b.mirror.FetchBase(ctx, nil, Source{}, "")
			if err == nil {
				err = b.mirror.Keep(ctx, []company.OID{b.base.OID})
			}
			if err == nil {
				_, err = b.store.Quarantine(ctx, b.mirror, company.RunID(fmt.Sprintf("t1-01.%d", 1+i%4)), b.base.OID, nil)
			}
			if err != nil && !stop {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		t.Error(errors.Join(failed...))
	}
	b.fetch(t)
	gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "fsck", "--no-dangling")
	if err := b.store.verifyRepo(b.mirror.Dir()); err != nil {
		t.Error(err)
	}
}
