package gitops

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// cloneOf lays a history out as a container does, beside what it had baked in, and
// lists the objects that came.
func cloneOf(t testing.TB, h *History, baked string) (dir string, came []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "clone")
	gitexectest.Git(t, filepath.Dir(dir), "init", "-q", "--bare", dir)
	for _, p := range h.Packs {
		f, size, err := p.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil || int64(len(data)) != size {
			t.Fatalf("%s has %d bytes and is said to have %d: %v", p.Name, len(data), size, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "objects/pack", p.Name), data, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	came = strings.Fields(
		gitexectest.Git(t, dir, "--git-dir=.", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	if baked != "" {
		if err := os.WriteFile(filepath.Join(dir, "objects/info/alternates"), []byte(filepath.Join(baked, "objects")+"\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, id := range h.Refs {
		gitexectest.Git(t, dir, "--git-dir=.", "update-ref", name, string(id))
	}
	gitexectest.Git(t, dir, "--git-dir=.", "fsck", "--full", "--strict")
	return dir, came
}

func openFile(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// objectsSince are the objects that commits hold and others do not.
func objectsSince(t testing.TB, dir string, revs ...string) []string {
	t.Helper()
	out := strings.Fields(
		gitexectest.Git(t, dir, append([]string{"--git-dir=.", "rev-list", "--objects", "--no-object-names"}, revs...)...))
	slices.Sort(out)
	return out
}

func historyFor(t testing.TB, b *bundle, q *Quarantine, baked company.OID) *History {
	t.Helper()
	h, err := q.History(b.ctx, baked)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A container is sent what it lacks of the base's history and of the commits that
// the run may see, and no more.
func TestHistoryIsWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	first := b.base.OID
	commitFiles(t, b.checkout, "second", map[string]string{"x": "x"})
	b.fetch(t)
	second := b.base.OID
	q := b.quarantine(t, run1)
	baked := filepath.Join(t.TempDir(), "baked.git")
	gitexectest.Git(t, filepath.Dir(baked), "clone", "-q", "--bare", b.checkout, baked)

	all := historyFor(t, b, q, "")
	_, came := cloneOf(t, all, "")
	if want := objectsSince(t, q.Dir(), string(second)); !slices.Equal(came, want) || !all.Whole || len(all.Refs) != 1 ||
		all.Refs[BaseBranch] != second {
		t.Errorf("came %v, want %v; %+v", came, want, all)
	}
	if none := historyFor(t, b, q, second); len(none.Packs) != 0 || !none.Whole {
		t.Errorf("nothing is missing: %+v", none)
	}
	for range 2 { // made, and found
		_, came = cloneOf(t, historyFor(t, b, q, first), baked)
		if want := objectsSince(t, q.Dir(), string(second), "^"+string(first)); !slices.Equal(came, want) || len(want) == 0 {
			t.Errorf("came %v, want %v", came, want)
		}
	}
	// The next run that begins there finds the pack.
	next := b.quarantine(t, "t1-02.1")
	if p, again := historyFor(t, b, q, first).Packs, historyFor(t, b, next, first).Packs; !slices.Equal(p, again) {
		t.Errorf("two runs have %v and %v", p, again)
	}
	// A file that was put in the place of a pack goes nowhere.
	if _, err := checkPackFile(openFile(t, filepath.Join(baked, "HEAD")), "pack-1.pack"); company.CodeOf(
		err) != company.EGit {
		t.Error(err)
	}
	// What a container names is only a hint.
	for _, odd := range []company.OID{company.OID(strings.Repeat("1", 40)), "no id"} {
		if h := historyFor(t, b, q, odd); !slices.Equal(h.Packs, all.Packs) {
			t.Errorf("for a container with %q: %+v", odd, h)
		}
	}
}

// T7: what a run pushed is in no pack that goes into a container, nor is what other
// runs or branches have.
func TestHistoryHoldsNothingForeign(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n"})
	b.side(t, "secret", func(dir string) { writeFiles(t, dir, map[string]string{"secret": "s"}) })
	b.fetch(t)
	q := b.quarantine(t, run1)
	head := plant(t, q, mktree(t, q, "100644 blob "+blob(t, q, "new\n")+"\tf"), b.base.OID)
	gitexectest.Git(t, q.Dir(), "--git-dir=.", "repack", "-dq") // pushes leave packs
	pushed := historyFor(t, b, q, "")
	clone, came := cloneOf(t, &History{Packs: pushed.Packs, Refs: map[string]OID{BaseBranch: b.base.OID}}, "")
	if want := objectsSince(t, clone, string(b.base.OID)); !slices.Equal(came, want) || pushed.Whole ||
		pushed.Refs["refs/heads/agent/t1-01-x"] != head {
		t.Errorf("came %v, want %v; %+v", came, want, pushed)
	}

	// The next run may see what was taken of this one: it is sent, checked as it is.
	if _, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1)); err != nil {
		t.Fatal(err)
	}
	next := b.quarantine(t, "t1-01.2", head)
	for _, has := range []company.OID{"", b.base.OID} {
		h := historyFor(t, b, next, has)
		revs := []string{string(b.base.OID), string(head)}
		baked := ""
		if has != "" {
			revs, baked = append(revs, "^"+string(has)), q.Dir()
		}
		_, came := cloneOf(t, h, baked)
		if want := objectsSince(t, next.Dir(), revs...); !slices.Equal(came, want) || !h.Whole || len(h.Refs) != 2 {
			t.Errorf("to a container with %q came %v, want %v; %+v", has, came, want, h)
		}
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
