package gitops

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// objects counts the files of a mirror's object store, and its bytes.
func objects(t *testing.T, m *Mirror) (files int, bytes int64) {
	t.Helper()
	err := filepath.Walk(filepath.Join(m.Dir(), "objects"), func(_ string, fi os.FileInfo, err error) error {
		if err == nil && fi.Mode().IsRegular() {
			files, bytes = files+1, bytes+fi.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, bytes
}

// The mirror of a project that is worked on for long stays small: it is packed
// when it has become untidy, and what nothing names any more goes. What a
// branch, a result or the state names stays.
func TestTheMirrorIsPacked(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if did, err := b.mirror.Pack(b.ctx, time.Now()); err != nil || did {
		t.Fatalf("a tidy mirror was packed: %v, %v", did, err)
	}
	// Some more tasks than a tidy mirror has packs: each a base, a merge, a result.
	const tasks = tooManyPacks + 5
	const ref = "refs/heads/develop-t1-k3fq"
	head := company.OID("")
	var bases, trees []company.OID
	for i := range tasks {
		files := map[string]string{}
		for j := range 10 {
			files[fmt.Sprintf("d%d/f%d", i%5, j)] = fmt.Sprintf("%d %d\n", i, j)
		}
		commitFiles(t, b.checkout, fmt.Sprint(i), files)
		b.fetch(t)
		bases = append(bases, b.base.OID)
		r, err := b.mirror.MergeTree(b.ctx, bases[0], b.base.OID)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, r.Tree)
		commit, err := b.mirror.CommitTree(
			b.ctx, CommitSpec{Tree: r.Tree, Parents: []company.OID{b.base.OID}, Message: "merge",
				When: time.Unix(int64(1700000000+i), 0)})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.mirror.UpdateRef(b.ctx, ref, commit, head); err != nil {
			t.Fatal(err)
		}
		head = commit
	}
	// A merge that waits: its tree is named by the state alone.
	waiting := gitexectest.GitWith(t, b.mirror.Dir(), "waiting\n", "--git-dir=.", "hash-object", "-w", "--stdin")
	tree := company.OID(
		gitexectest.GitWith(t, b.mirror.Dir(), "100644 blob "+waiting+"\twaiting\x00", "--git-dir=.", "mktree", "-z"))
	lost := gitexectest.GitWith(t, b.mirror.Dir(), "lost\n", "--git-dir=.", "hash-object", "-w", "--stdin")
	old := time.Now().Add(-2 * packGrace)
	err := filepath.Walk(filepath.Join(b.mirror.Dir(), "objects"), func(p string, fi os.FileInfo, err error) error {
		if err == nil && fi.Mode().IsRegular() {
			err = os.Chtimes(p, old, old)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	young := gitexectest.GitWith(t, b.mirror.Dir(), "young\n", "--git-dir=.", "hash-object", "-w", "--stdin")

	if err := b.mirror.Keep(b.ctx,
		[]company.OID{tree, bases[3], bases[3], company.OID("0123456789012345678901234567890123456789")}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.mirror.Ref(b.ctx, baseRef(bases[3])); err != nil {
		t.Error("a base that is needed was let go")
	}
	if _, err := b.mirror.Ref(b.ctx, baseRef(bases[4])); company.CodeOf(err) != company.ENotFound {
		t.Error("a base that nobody needs is kept", err)
	}
	before, bytes := objects(t, b.mirror)
	if did, err := b.mirror.Pack(b.ctx, time.Now()); err != nil || !did {
		t.Fatalf("%d files were not packed: %v", before, err)
	}
	after, less := objects(t, b.mirror)
	if after*20 > before || less > bytes {
		t.Errorf("%d files of %d bytes became %d of %d", before, bytes, after, less)
	}
	t.Logf("%d files of %d bytes became %d of %d", before, bytes, after, less)
	has := func(id string) bool {
		_, err := gitexectest.TryGit(b.mirror.Dir(), "", "--git-dir=.", "cat-file", "-e", id)
		return err == nil
	}
	for what, id := range map[string]string{"head": string(head), "waiting tree": string(tree), "its file": waiting,
		"base": string(bases[3]), "young": young, "tree": string(trees[7])} {
		if !has(id) {
			t.Errorf("%s is gone", what)
		}
	}
	if has(lost) {
		t.Error("what nothing names is kept for ever")
	}
	gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "fsck", "--no-dangling")
	if err := b.store.verifyRepo(b.mirror.Dir()); err != nil {
		t.Error(err)
	}
	// It goes on as before: a run, a fetch, a merge.
	b.quarantine(t, run1)
	commitFiles(t, b.checkout, "more", map[string]string{"more": "1"})
	b.fetch(t)
	if _, err := b.mirror.MergeTree(b.ctx, head, b.base.OID); err != nil {
		t.Error(err)
	}
	// The state lets go of the waiting tree.
	if err := b.mirror.Keep(b.ctx, nil); err != nil {
		t.Fatal(err)
	}
	if refs := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "for-each-ref", "refs/company/"); refs != "" {
		t.Error(refs)
	}
	if names, err := b.store.Mirrors(); err != nil || fmt.Sprint(names) != "[project]" {
		t.Error(names, err)
	}
}

// What a git that was killed left half written goes when it is old. Where the wall clock was set
// forward, what was made just before looks as old, and stays: the office's time has not moved.
func TestPackAfterKillAndClockStep(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	step := 2 * packGrace
	before := time.Now().Add(-step)
	left := filepath.Join(b.mirror.Dir(), "objects/pack/tmp_pack_k1LLed")
	if err := os.WriteFile(left, []byte("PACK"), 0o400); err != nil {
		t.Fatal(err)
	}
	object := gitexectest.GitWith(t, b.mirror.Dir(), "not named yet\n", "--git-dir=.", "hash-object", "-w", "--stdin")
	for _, file := range []string{left, filepath.Join(b.mirror.Dir(), "objects", object[:2], object[2:])} {
		if err := os.Chtimes(file, before, before); err != nil {
			t.Fatal(err)
		}
	}
	isThere := func(file string) bool {
		_, err := os.Lstat(file)
		return err == nil
	}
	has := func() bool {
		_, err := gitexectest.TryGit(b.mirror.Dir(), "", "--git-dir=.", "cat-file", "-e", object)
		return err == nil
	}
	if did, err := b.mirror.Pack(b.ctx, before.Add(time.Minute)); err != nil || did || !has() || !isThere(left) {
		t.Fatalf("after a step of the clock: packed %v, %v; the object is there: %v, and the pack: %v", did, err, has(),
			isThere(left))
	}
	// A step back: the office's time is ahead, and files are as old as they look.
	if did, err := b.mirror.Pack(b.ctx, time.Now().Add(100*packGrace)); err != nil || !did || has() || isThere(left) {
		t.Fatalf("two weeks later: packed %v, %v; the object is there: %v, and the pack: %v", did, err, has(), isThere(left))
	}
}
