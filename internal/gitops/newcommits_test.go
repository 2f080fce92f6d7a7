package gitops

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// openBatch is a process that reads the objects of a quarantine.
func openBatch(t *testing.T, q *Quarantine) *batch {
	t.Helper()
	b, err := q.s.startBatch(t.Context(), q.dir, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	return b
}

// T7: the commits that are walked one by one are those that git lists; where they may
// not be, git is asked.
func TestWalkedCommitsAreThoseOfGit(t *testing.T) {
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
	around := plant(t, q, tree, first, b.base.OID)
	long := merge
	for range maxWalked {
		long = plant(t, q, tree, long)
	}
	reader := openBatch(t, q)
	for name, c := range map[string]struct {
		tips   []OID
		walked bool
	}{
		"the base": {[]OID{b.base.OID}, true}, "one": {[]OID{one}, true}, "a line": {[]OID{two}, true},
		"a merge":  {[]OID{merge}, true},
		"two tips": {[]OID{two, side}, true}, "one of them twice": {[]OID{two, one}, true},
		"behind the base": {[]OID{around}, false}, "the past": {[]OID{first}, false}, "many": {[]OID{long}, false},
	} {
		walked, ok := q.walkNewCommits(reader, c.tips)
		listed, err := q.listNewCommits(b.ctx, reader, nil, c.tips)
		if err != nil || ok != c.walked {
			t.Errorf("%s: walked %v, %v", name, ok, err)
		}
		ids := func(commits []Commit) (out []OID) {
			for _, c := range commits {
				out = append(out, c.OID)
			}
			slices.Sort(out)
			return out
		}
		if ok && !slices.Equal(ids(walked), ids(listed)) {
			t.Errorf("%s: walked %v, git lists %v", name, ids(walked), ids(listed))
		}
	}
	known := b.quarantine(t, run1)
	known.known = []OID{one}
	if _, ok := known.walkNewCommits(reader, []OID{two}); ok {
		t.Error("walked although the run knows a commit")
	}
	for name, c := range map[string]struct {
		old, new  OID
		rewritten bool
	}{
		"on top": {one, two, false}, "merged": {side, merge, false}, "far on top": {one, long, false},
		"the same": {two, two, false},
		"left out": {side, two, true}, "taken back": {two, one, true}, "the base": {b.base.OID, merge, false},
		"below the base": {first, one, false},
	} {
		got, err := q.isRewritten(b.ctx, reader, nil, RefUpdate{Old: c.old, New: c.new})
		if err != nil || got != c.rewritten {
			t.Errorf("%s: rewritten %v, %v", name, got, err)
		}
	}
}

// GIT-2: the branches that are read from files are those that git lists, also where
// git has packed them.
func TestBranchesAreThoseOfGit(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n"})
	q := b.quarantine(t, run1)
	compare := func(want map[string]OID, fromFiles bool) {
		t.Helper()
		if _, ok, err := q.readBranches(); err != nil || ok != fromFiles {
			t.Errorf("read from files: %v, %v", ok, err)
		}
		got, err := q.Branches(b.ctx)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("got %v, want %v, %v", got, want, err)
		}
	}
	// A container is sent all references, those of the company too.
	compareAll := func(count int) {
		t.Helper()
		got, ok, err := q.readRefs("refs/heads/", "refs/company/")
		if err != nil || !ok {
			t.Fatalf("read from files: %v, %v", ok, err)
		}
		want, err := q.askRefs(b.ctx, "refs/heads/", "refs/company/")
		if err != nil || !maps.Equal(got, want) || len(want) != count {
			t.Errorf("got %v, want %d: %v, %v", got, count, want, err)
		}
	}
	compare(map[string]OID{}, true)
	compareAll(1)
	for _, ref := range []string{takenSpace + string(b.base.OID), CheckpointRef(run1)} {
		gitexectest.Git(t, q.Dir(), "--git-dir=.", "update-ref", ref, string(b.base.OID))
	}
	compareAll(3)
	want := map[string]OID{"refs/heads/agent/t1-01-a": b.base.OID, "refs/heads/agent/t1-01-b.c_d": b.base.OID}
	for ref := range want {
		gitexectest.Git(t, q.Dir(), "--git-dir=.", "update-ref", ref, string(b.base.OID))
	}
	gitexectest.Git(t, q.Dir(), "--git-dir=.", "update-ref", "refs/heads/agent/t2-01-other", string(b.base.OID))
	writeFiles(t, q.Dir(), map[string]string{"refs/heads/agent/t1-01-a.lock": "", "refs/heads/agent/t1-01-dir/x": "x"})
	compare(want, false) // a folder where a branch should be
	gitexectest.Git(t, q.Dir(), "--git-dir=.", "pack-refs", "--all", "--prune")
	compare(want, false)
	if h := historyFor(t, b, q, b.base.OID); len(h.Refs) != 6 || h.Whole {
		t.Errorf("of packed references: %+v", h)
	}
	writeFiles(t, q.Dir(), map[string]string{"refs/heads/agent/t1-01-a": strings.Repeat("z", 40) + "\n"})
	if _, ok, _ := q.readBranches(); ok {
		t.Error("an odd file was read")
	}
}

// Files that are read ahead come whole and in order, beyond as many as are asked for at
// once; an error of the reader ends it, and an object that is no file is named.
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
