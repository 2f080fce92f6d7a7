package gitops

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// A push rewrites a branch if its new commit does not contain the old one.
func TestRewrittenBranches(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n"})
	first := company.OID(gitexectest.Git(t, b.checkout, "rev-parse", "HEAD"))
	commitFiles(t, b.checkout, "second", map[string]string{"g": "g\n"})
	b.fetch(t)
	q := b.quarantine(t, run1)
	tree := gitexectest.Git(t, q.Dir(), "--git-dir=.", "rev-parse", string(b.base.OID)+"^{tree}")
	one := plant(t, q, tree, b.base.OID)
	two := plant(t, q, mktree(t, q, "100644 blob "+blob(t, q, "2")+"\ttwo"), one)
	side := plant(t, q, mktree(t, q, "100644 blob "+blob(t, q, "3")+"\tside"), b.base.OID)
	merge := plant(t, q, tree, two, side)
	for name, c := range map[string]struct {
		old, new  OID
		rewritten bool
	}{
		"on top": {one, two, false}, "merged": {side, merge, false}, "the same": {two, two, false},
		"left out": {side, two, true}, "taken back": {two, one, true}, "the base": {b.base.OID, merge, false},
		"below the base": {first, one, false},
	} {
		got, err := q.isRewritten(b.ctx, nil, RefUpdate{Old: c.old, New: c.new})
		if err != nil || got != c.rewritten {
			t.Errorf("%s: rewritten %v, %v", name, got, err)
		}
	}
}

// GIT-2: the branches of a run are those of its ticket, also where git has packed them.
func TestBranches(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n"})
	q := b.quarantine(t, run1)
	require := func(want map[string]OID) {
		t.Helper()
		if got, err := q.Branches(b.ctx); err != nil || !maps.Equal(got, want) {
			t.Errorf("got %v, want %v, %v", got, want, err)
		}
	}
	require(map[string]OID{})
	want := map[string]OID{"refs/heads/agent/t1-01-a": b.base.OID, "refs/heads/agent/t1-01-b.c_d": b.base.OID}
	for ref := range want {
		gitexectest.Git(t, q.Dir(), "--git-dir=.", "update-ref", ref, string(b.base.OID))
	}
	for _, ref := range []string{CheckpointRef(run1), "refs/heads/agent/t2-01-other", "refs/heads/agent/t1-01-dir/x"} {
		gitexectest.Git(t, q.Dir(), "--git-dir=.", "update-ref", ref, string(b.base.OID))
	}
	require(want)
	gitexectest.Git(t, q.Dir(), "--git-dir=.", "pack-refs", "--all", "--prune")
	require(want)
}

// Files that are read ahead come whole and in order, beyond as many as are asked for at
// once; an error of the reader ends it, and an object that is not a file is named.
func TestReadFilesAhead(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 3 * maxAhead {
		files[fmt.Sprintf("f%03d", i)] = strings.Repeat(fmt.Sprintf("%d\n", i), 20*i)
	}
	b := setup(t, files)
	entries, err := b.mirror.List(b.ctx, b.base.OID)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	err = b.mirror.ReadFiles(b.ctx, entries, func(e Entry, text []byte) error {
		if e.Path != entries[read].Path || string(text) != files[e.Path] {
			t.Errorf("%s has %d bytes, want %d", e.Path, len(text), len(files[e.Path]))
		}
		read++
		return nil
	})
	if err != nil || read != len(files) {
		t.Errorf("%d files, %v", read, err)
	}
	enough := errors.New("enough")
	if err := b.mirror.ReadFiles(b.ctx, entries, func(Entry, []byte) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
	for id, code := range map[OID]company.Code{b.base.OID: company.ENotFound,
		OID(strings.Repeat("1", 40)): company.ENotFound} {
		entries[2].OID = id
		requireCode(t, b.mirror.ReadFiles(b.ctx, entries, func(Entry, []byte) error { return nil }), code, string(id))
	}
}
