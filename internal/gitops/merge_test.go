package gitops

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

func rename(t testing.TB, dir, from, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
		t.Fatal(err)
	}
}

// loseObject damages a repository: everything but one object is there.
func loseObject(t testing.TB, dir, id string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packs {
		away := filepath.Join(t.TempDir(), "p")
		if err := os.Rename(p, away); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(strings.TrimSuffix(p, "pack") + "idx"); err != nil {
			t.Fatal(err)
		}
		pack, err := os.ReadFile(away)
		if err != nil {
			t.Fatal(err)
		}
		gitexectest.GitWith(t, dir, string(pack), "--git-dir=.", "unpack-objects", "-q")
	}
	if err := os.Remove(filepath.Join(dir, "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
}

const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

func TestMergeClean(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": lines, "g": "g\n"})
	ours := b.side(t, "ours", func(dir string) { writeFiles(t, dir, map[string]string{"f": "ours\n" + lines}) })
	theirs := b.side(t, "theirs", func(dir string) { writeFiles(t, dir, map[string]string{"f": lines + "theirs\n"}) })
	res, err := b.mirror.MergeTree(b.ctx, ours, theirs)
	if err != nil || !res.Clean || len(res.Conflicts) != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if got, err := b.mirror.ReadFile(b.ctx, res.Tree, "f"); err != nil || string(got) != "ours\n"+lines+"theirs\n" {
		t.Errorf("%q, %v", got, err)
	}
	// The same intent gives the same merge commit.
	spec := CommitSpec{Tree: res.Tree, Parents: []company.OID{ours, theirs}, Message: "[t1-01] merge\n",
		When:   time.Unix(1700000123, 0),
		Author: Person{"Eve <x>\nparent 0", "e@x"}}
	one, err := b.mirror.CommitTree(b.ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.mirror.CommitTree(b.ctx, spec)
	if err != nil || one != two {
		t.Errorf("%s, then %s (%v)", one, two, err)
	}
	log, err := b.mirror.Log(b.ctx, ours, one, 10)
	if err != nil || len(log) != 2 || len(log[0].Parents) != 2 || log[0].Committer.Name != "company" ||
		!log[0].When.Equal(spec.When) {
		t.Errorf("%+v, %v", log, err)
	}
	if log, err = b.mirror.LogWithout(b.ctx, one, []company.OID{ours, theirs}, 10); err != nil || len(log) != 1 ||
		log[0].OID != one {
		t.Errorf("without both sides: %+v, %v", log, err)
	}
	if _, err := b.mirror.LogWithout(b.ctx, one, []company.OID{"--all"}, 10); company.CodeOf(err) != company.EInvalid {
		t.Errorf("an option for an id: %v", err)
	}
}

// Kinds of conflicts and odd names.
func TestMergeConflicts(t *testing.T) {
	t.Parallel()
	odd := "dir/a\nb \"c\"\t\xff.txt"
	b := setup(t, map[string]string{odd: lines, "gone": lines, "bin": "\x00base"})
	ours := b.side(t, "ours", func(dir string) {
		writeFiles(t, dir, map[string]string{odd: "ours\n" + lines, "bin": "\x00ours"})
		rename(t, dir, "gone", "moved")
	})
	theirs := b.side(t, "theirs", func(dir string) {
		writeFiles(t, dir, map[string]string{odd: "theirs\n" + lines, "bin": "\x00theirs"})
		if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
			t.Fatal(err)
		}
	})
	res, err := b.mirror.MergeTree(b.ctx, ours, theirs)
	if err != nil || res.Clean {
		t.Fatalf("%+v, %v", res, err)
	}
	found := map[string][]string{}
	for _, c := range res.Conflicts {
		found[c.Type] = append(found[c.Type], c.Paths...)
		if c.Message == "" {
			t.Errorf("no message: %+v", c)
		}
	}
	if p := found["CONFLICT (rename/delete)"]; len(p) != 2 || p[0] != "moved" || p[1] != "gone" {
		t.Errorf("rename/delete: %q", p)
	}
	if p := found["CONFLICT (contents)"]; !slices.Contains(p, odd) {
		t.Errorf("contents: %q", found)
	}
	if !strings.Contains(strings.Join(res.Files, "|"), odd) || !strings.Contains(strings.Join(res.Files, "|"), "bin") {
		t.Errorf("%q", res.Files)
	}
}

// Exit code 1 is not a conflict when a side is not a commit, or an object is
// missing, or the histories are unrelated.
func TestMergeRefusesNonsense(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": lines, "d/g": "g\n"})
	ours := b.side(t, "ours", func(dir string) { writeFiles(t, dir, map[string]string{"f": "ours\n", "d/g": "h\n"}) })
	theirs := b.side(t, "theirs", func(dir string) {
		writeFiles(t, dir, map[string]string{"f": "theirs\n", "d/x": "x\n"})
	})
	tree, err := b.mirror.Tree(b.ctx, ours)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.mirror.MergeTree(b.ctx, ours, tree)
	requireCode(t, err, company.ENotFound)
	_, err = b.mirror.MergeTree(b.ctx, ours, company.OID(strings.Repeat("1", 40)))
	requireCode(t, err, company.ENotFound)
	_, err = b.mirror.MergeTree(b.ctx, ours, "main")
	requireCode(t, err, company.EInvalid)
	alien := b.commit(t, emptyTreeIn(t, b), "alien")
	_, err = b.mirror.MergeTree(b.ctx, ours, alien)
	requireCode(t, err, company.EGit, "unrelated")

	sub := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "rev-parse", string(theirs)+":d")
	loseObject(t, b.mirror.Dir(), sub)
	_, err = b.mirror.MergeTree(b.ctx, ours, theirs)
	requireCode(t, err, company.EGit, sub)
}

func TestCommitTreeRefusesNonsense(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	tree, err := b.mirror.Tree(b.ctx, b.base.OID)
	if err != nil {
		t.Fatal(err)
	}
	ok := CommitSpec{Tree: tree, Message: "m", When: time.Unix(1, 0)}
	for name, change := range map[string]func(*CommitSpec){
		"no time":          func(s *CommitSpec) { s.When = time.Time{} },
		"no message":       func(s *CommitSpec) { s.Message = " \n" },
		"commit as a tree": func(s *CommitSpec) { s.Tree = b.base.OID },
		"tree as a parent": func(s *CommitSpec) { s.Parents = []company.OID{tree} },
	} {
		spec := ok
		change(&spec)
		if _, err := b.mirror.CommitTree(b.ctx, spec); company.CodeOf(err) != company.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseMergeGarbage(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a", 40)
	for _, out := range []string{"", "abc\x00", id, id + "\x00x", id + "\x00\x00", id + "\x00no tab\x00\x00",
		id + "\x00\x00-1\x00", id + "\x00\x00999\x00a\x00", id + "\x00\x001\x00a\x00t"} {
		if _, err := parseMerge(out, false); err == nil {
			t.Errorf("%q was taken", out)
		}
	}
}
