package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/gitops/gitexec/gitexectest"
)

const run1 company.RunID = "t1-01.1"

func (b *bundle) quarantine(t testing.TB, run company.RunID, extra ...company.OID) *Quarantine {
	t.Helper()
	q, err := b.store.Quarantine(b.ctx, b.mirror, run, b.base.OID, extra)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// plant puts a commit with tree into the quarantine behind the back of the
// push checks, as a hole in them would.
func plant(t testing.TB, q *Quarantine, tree string, parents ...company.OID) company.OID {
	t.Helper()
	args := []string{"--git-dir=.", "commit-tree", tree, "-m", "planted"}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	id := gitexectest.Git(t, q.Dir(), args...)
	gitexectest.Git(t, q.Dir(), "--git-dir=.", "update-ref", "refs/heads/agent/t1-01-x", id)
	return company.OID(id)
}

// mktree writes a tree object from "mode kind id TAB name" lines, unchecked.
func mktree(t testing.TB, q *Quarantine, entries ...string) string {
	t.Helper()
	return gitexectest.GitWith(t, q.Dir(), strings.Join(entries, "\x00")+"\x00", "--git-dir=.", "-c",
		"core.protectNTFS=false", "mktree", "-z", "--missing")
}

func blob(t testing.TB, q *Quarantine, content string) string {
	t.Helper()
	return gitexectest.GitWith(t, q.Dir(), content, "--git-dir=.", "hash-object", "-w", "--stdin")
}

func TestQuarantineAndTake(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n", "d/g": "g\n"})
	q := b.quarantine(t, run1)
	if _, ok, err := q.Head(b.ctx, ""); ok || err != nil {
		t.Error(ok, err)
	}
	if _, ok, err := q.Checkpoint(b.ctx); ok || err != nil {
		t.Error(ok, err)
	}
	head := plant(t, q, mktree(t, q, "100644 blob "+blob(t, q, "new\n")+"\tf", "100755 blob "+blob(t, q, "x\n")+"\tnew"),
		b.base.OID)
	if got, ok, err := q.Head(b.ctx, ""); !ok || err != nil || got != head {
		t.Error(got, ok, err)
	}
	if got, ok, err := q.Head(b.ctx, "agent/t1-01-x"); !ok || err != nil || got != head {
		t.Error(got, ok, err)
	}
	for range 2 { // again, as after a crash
		taken, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1))
		if err != nil || taken.OID != head || taken.Base != b.base.OID {
			t.Fatalf("%+v, %v", taken, err)
		}
		if want := []company.Change{{Path: "d/g", Action: "deleted"}, {Path: "f", Action: "modified",
			Hash: company.OID(blob(t, q, "new\n"))},
			{Path: "new", Action: "created", Hash: company.OID(blob(t, q, "x\n"))}}; !slices.Equal(taken.Changes,
			want) {
			t.Errorf("%+v", taken.Changes)
		}
		if at, err := b.mirror.Ref(b.ctx, ResultRef(run1)); err != nil || at != head {
			t.Error(at, err)
		}
	}
	_, err := b.mirror.Take(b.ctx, q, head, "refs/heads/develop-t1-k3fq")
	requireCode(t, err, company.EProtected)
	_, err = b.mirror.Take(b.ctx, q, company.OID(strings.Repeat("1", 40)), ResultRef(run1))
	requireCode(t, err, company.EObjects)

	// Reopened, not made again; not for another base.
	if again := b.quarantine(t, run1); again.Dir() != q.Dir() {
		t.Error(again.Dir())
	} else if got, ok, _ := again.Head(b.ctx, ""); !ok || got != head {
		t.Error("the pushed branch is gone")
	}
	_, err = b.store.Quarantine(b.ctx, b.mirror, run1, head, nil)
	requireCode(t, err, company.EConflict)

	// The next run gets what was taken, and only that.
	next := b.quarantine(t, "t1-01.2", head)
	if refs := gitexectest.Git(t, next.Dir(), "--git-dir=.", "for-each-ref",
		"--format=%(refname)"); refs != "refs/company/taken/"+string(head)+"\nrefs/heads/base" {
		t.Error(refs)
	}
	if got := gitexectest.Git(t, next.Dir(), "--git-dir=.", "symbolic-ref", "HEAD"); got != BaseBranch {
		t.Error(got)
	}
	if err := b.store.DropQuarantine(b.ctx, run1); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(q.Dir()); err == nil {
		t.Error("still there")
	}
}

// T7: a quarantine holds the base's history and nothing else of the mirror.
func TestQuarantineHoldsNothingForeign(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	secret := b.side(t, "secret", func(dir string) { writeFiles(t, dir, map[string]string{"secret": "s"}) })
	b.quarantine(t, run1)
	second := commitFiles(t, b.checkout, "second", map[string]string{"x": "x"})
	b.fetch(t)
	q := b.quarantine(t, "t1-02.1") // from a seed that grew out of the first
	objects := gitexectest.Git(t, q.Dir(), "--git-dir=.", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	reach := gitexectest.Git(t, q.Dir(), "--git-dir=.", "rev-list", "--objects", "--no-object-names", string(second))
	if len(strings.Fields(objects)) != len(strings.Fields(reach)) || strings.Contains(objects, string(secret)) {
		t.Errorf("objects:\n%s\nreachable:\n%s", objects, reach)
	}
	if _, err := os.Stat(filepath.Join(q.Dir(), "objects/info/alternates")); err == nil {
		t.Error("there are alternates")
	}
	if n, err := q.pushedBytes(); err != nil || n != 0 {
		t.Errorf("base packs count as pushed: %d, %v", n, err)
	}
	if err := b.store.DropSeeds(b.ctx); err != nil {
		t.Fatal(err)
	}
	if n, err := q.pushedBytes(); err != nil || n != 0 {
		t.Errorf("base packs count as pushed: %d, %v", n, err)
	}
	gitexectest.Git(t, q.Dir(), "--git-dir=.", "fsck", "--full", "--strict")
}

// T10: poisoned trees, one fixture each.
func TestPoisonedTreesAreRefused(t *testing.T) {
	b := setup(t, map[string]string{"f": "f\n", "Dir/g": "g\n", "d/e/h": "h\n"})
	q := b.quarantine(t, run1)
	file := blob(t, q, "x\n")
	link := func(target string) string { return "120000 blob " + blob(t, q, target) + "\t" }
	sub := mktree(t, q, "100644 blob "+file+"\tx")
	in := func(name, entry string) string { return "040000 tree " + mktree(t, q, entry) + "\t" + name }
	base := strings.Split(
		strings.TrimSuffix(gitexectest.Git(t, q.Dir(), "--git-dir=.", "ls-tree", "-z", string(b.base.OID)), "\x00"), "\x00")
	for _, c := range []struct{ name, entry, say string }{
		{"gitlink", "160000 commit " + string(b.base.OID) + "\tsub", "submodule"},
		{"absolute link", link("/etc/passwd") + "l", "absolute"},
		{"link out", link("../x") + "l", "leaves the tree"},
		{"link out, deeper", in("z", link("../../x")+"l"), "leaves the tree"},
		{"link out by a name", link("d/../../x") + "l", "leaves the tree"},
		{"link through a name", link("d/../f") + "l", "leaves the tree"},
		{"link into .git", link(".GIT/hooks") + "l", "into .git"},
		{"empty link", link("") + "l", "to nothing"},
		{"huge link", link(strings.Repeat("a/", 5000)) + "l", "cannot be read"},
		{".git", "040000 tree " + sub + "\t.git", "looks like .git"},
		{".GIT", "040000 tree " + sub + "\t.GIT", "looks like .git"},
		{"git~1", "040000 tree " + sub + "\tgit~1", "looks like .git"},
		{".git with a blank", "040000 tree " + sub + "\t.git ", "looks like .git"},
		{".git with a dot", "040000 tree " + sub + "\t.git.", "looks like .git"},
		{".git stream", "040000 tree " + sub + "\t.git::$INDEX_ALLOCATION", "looks like .git"},
		{".git hidden", "040000 tree " + sub + "\t.g\u200cit", "invisible"},
		{".git wide", "040000 tree " + sub + "\t.ｇit", "looks like .git"},
		{".company", "040000 tree " + sub + "\t.company", "looks like the folder of company's own files"},
		{".Company with a dot", "040000 tree " + sub + "\t.Company.", "looks like the folder of company's own files"},
		{"nested .company", in("z", "100644 blob "+file+"\t.company"), "looks like the folder of company's own files"},
		{".company short", "040000 tree " + sub + "\tCOMPAN~1", "looks like the folder of company's own files"},
		{"company.yaml short", "100644 blob " + file + "\tCOMPAN~1.YAM", "looks like the folder of company's own files"},
		{"nested .git", in("z", "100644 blob "+file+"\t.Git"), "looks like .git"},
		{"dot dot", "040000 tree " + sub + "\t..", "not a file name"},
		{"gitmodules link", link("f") + ".gitmodules", "special file"},
		{"gitattributes link", link("f") + ".gitattributes", "special file"},
		{"backslash", "100644 blob " + file + "\ta\\b", "backslash"},
		{"newline", "100644 blob " + file + "\ta\nb", "control"},
		{"escape", "100644 blob " + file + "\ta\x1b[31m", "control"},
		{"bidi", "100644 blob " + file + "\ta\u202eb", "invisible"},
		{"not UTF-8", "100644 blob " + file + "\ta\xff", "UTF-8"},
		{"case clash with the base", "100644 blob " + file + "\tF", "same name"},
		{"case clash of folders", "040000 tree " + sub + "\tdir", "same name"},
		{"normal form clash", in("z", "100644 blob "+file+"\t\u00e9\x00100644 blob "+file+"\te\u0301"), "same name"},
		{"long path", "100644 blob " + file + "\t" + strings.Repeat("a", 1025), "longer than"},
	} {
		entries := append([]string{c.entry}, base...)
		head := plant(t, q, mktree(t, q, entries...), b.base.OID)
		_, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1))
		if company.CodeOf(err) != company.EObjects || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", c.name, err)
		}
		// Bad only on the way to the head is bad, too.
		later := plant(t, q, mktree(t, q, base...), head)
		if _, err = b.mirror.Take(b.ctx, q, later, ResultRef(run1)); company.CodeOf(err) != company.EObjects {
			t.Errorf("%s, in the history: %v", c.name, err)
		}
	}
	// Positive controls: what looks similar and is fine.
	fine := append([]string{
		link("f") + "l", in("z", link("../d/e")+"l"), "100644 blob " + file + "\t.gitignore",
		"100644 blob " + file + "\t.github", "100644 blob " + file + "\té 日本",
	}, base...)
	if _, err := b.mirror.Take(b.ctx, q, plant(t, q, mktree(t, q, fine...), b.base.OID), ResultRef(run1)); err != nil {
		t.Errorf("an honest tree: %v", err)
	}
	if _, err := b.mirror.Ref(b.ctx, ResultRef(run1)); err != nil {
		t.Error(err)
	}
}

// What the base has already is not held against a run.
func TestBaseIsExempt(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"odd\nname": "1", "A": "1", "a": "1", "w\xff": "1"})
	if err := os.Symlink("/etc/passwd", filepath.Join(b.checkout, "abs")); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, b.checkout, map[string]string{"big": strings.Repeat("x", maxBlobBytes+1)})
	gitexectest.Git(t, b.checkout, "update-index", "--add", "--cacheinfo", "160000,"+string(b.base.OID)+",sub")
	gitexectest.Git(t, b.checkout, "add", "abs", "big")
	gitexectest.Git(t, b.checkout, "commit", "-q", "-m", "odd")
	b.fetch(t)
	q := b.quarantine(t, run1)
	base := gitexectest.Git(t, q.Dir(), "--git-dir=.", "ls-tree", "-z", string(b.base.OID))
	// A file with an odd name is changed; everything else stays.
	old := gitexectest.Git(t, q.Dir(), "--git-dir=.", "rev-parse", string(b.base.OID)+":odd\nname")
	tree := mktree(
		t, q, strings.Split(
			strings.TrimSuffix(strings.Replace(base, old+"\todd\nname", blob(t, q, "2")+"\todd\nname", 1), "\x00"), "\x00")...)
	taken, err := b.mirror.Take(b.ctx, q, plant(t, q, tree, b.base.OID), ResultRef(run1))
	if err != nil || len(taken.Changes) != 1 || taken.Changes[0].Path != "odd\nname" {
		t.Errorf("%+v, %v", taken, err)
	}
}

// Special files that git refuses in what is transferred are exempt, too, where the base has
// them: each commit makes a new tree with them. A new one is refused as ever.
func TestSpecialFilesOfTheBaseAreExempt(t *testing.T) {
	t.Parallel()
	const modules = "[submodule \"a\"]\n\tpath = a\n\turl = -u./payload\n\tupdate = !touch here\n"
	b := setup(t, map[string]string{"work": "1", ".gitmodules": modules, "ignored": "*.o\n"})
	for _, name := range []string{".gitignore", ".mailmap"} {
		if err := os.Symlink("ignored", filepath.Join(b.checkout, name)); err != nil {
			t.Fatal(err)
		}
		gitexectest.Git(t, b.checkout, "add", name)
	}
	gitexectest.Git(t, b.checkout, "commit", "-q", "-m", "odd")
	b.fetch(t)
	q := b.quarantine(t, run1)
	lines := strings.Split(
		strings.TrimSuffix(gitexectest.Git(t, q.Dir(), "--git-dir=.", "ls-tree", "-z", string(b.base.OID)), "\x00"), "\x00")
	with := func(name, content string) OID {
		entries := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasSuffix(l, "\t"+name) })
		return plant(t, q, mktree(t, q, append(entries, "100644 blob "+blob(t, q, content)+"\t"+name)...), b.base.OID)
	}
	if taken, err := b.mirror.Take(b.ctx, q, with("work", "2"), ResultRef(run1)); err != nil || len(taken.Changes) != 1 {
		t.Errorf("%+v, %v", taken, err)
	}
	if _, err := b.mirror.Take(b.ctx, q, with(".gitmodules", modules+"\n"), ResultRef(run1)); company.CodeOf(
		err) != company.EObjects {
		t.Errorf("a new one: %v", err)
	}
}

// bombs are packs of a few kilobytes that unfold to far too much (T9).
func bombs(t testing.TB, q *Quarantine) map[string]string {
	wide := func(leaf string, levels int) string {
		for range levels {
			var e []string
			for i := range 10 {
				e = append(e, fmt.Sprintf("%s\t%d", leaf, i))
			}
			leaf = "040000 tree " + mktree(t, q, e...)
		}
		return strings.TrimPrefix(leaf, "040000 tree ")
	}
	small := "100644 blob " + blob(t, q, "x")
	deep := small
	for range 70 {
		deep = "040000 tree " + mktree(t, q, deep+"\td")
	}
	ten := "100644 blob " + blob(t, q, strings.Repeat("\x00", maxBlobBytes))
	return map[string]string{
		"a blob of 20 MB":        mktree(t, q, "100644 blob "+blob(t, q, strings.Repeat("\x00", 20<<20))+"\tbig"),
		"10^8 files":             wide(small, 8),
		"10^8 empty folders":     wide("040000 tree "+gitexec.EmptyTree, 8),
		"one blob many times":    wide(ten, 2),
		"70 folders deep":        strings.TrimPrefix(deep, "040000 tree "),
		"60,000 files in a tree": flat(t, q, small, 60_000),
	}
}

func flat(t testing.TB, q *Quarantine, entry string, n int) string {
	var e []string
	for i := range n {
		e = append(e, fmt.Sprintf("%s\t%d", entry, i))
	}
	return mktree(t, q, e...)
}

// T9: both bombs of the threat list and their relatives are refused, fast.
func TestBombsAreRefused(t *testing.T) {
	b := setup(t, nil)
	q := b.quarantine(t, run1)
	gitexectest.GitWith(t, q.Dir(), "", "--git-dir=.", "hash-object", "-t", "tree", "-w", "--stdin")
	for name, tree := range bombs(t, q) {
		head := plant(t, q, tree, b.base.OID)
		start := time.Now()
		_, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1))
		requireCode(t, err, company.EObjects)
		t.Logf("%s: %v after %v", name, err, time.Since(start))
		if _, err := b.mirror.Resolve(b.ctx, string(head)); company.CodeOf(err) != company.ENotFound {
			t.Errorf("%s is in the mirror: %v", name, err)
		}
	}
	// An honest large addition passes.
	fine := flat(t, q, "100644 blob "+blob(t, q, strings.Repeat("y", 5<<10)), 40_000)
	if _, err := b.mirror.Take(b.ctx, q, plant(t, q, fine, b.base.OID), ResultRef(run1)); err != nil {
		t.Errorf("40,000 files of 5 KiB: %v", err)
	}
	alien := plant(t, q, fine)
	_, err := b.mirror.Take(b.ctx, q, alien, ResultRef(run1))
	requireCode(t, err, company.EObjects, "no history")
}

// T9: messages of a megabyte each are small in a push, and take seconds each to be judged.
func TestLongMessagesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	q := b.quarantine(t, run1)
	tree := gitexectest.Git(t, q.Dir(), "--git-dir=.", "rev-parse", string(b.base.OID)+"^{tree}")
	for commits, take := range map[int]bool{1: true, 12: false, 80: false} {
		head := b.base.OID
		message := strings.Repeat("a long line of a message that says nothing\n", 900<<10/43)
		for range commits {
			head = company.OID(
				gitexectest.GitWith(t, q.Dir(), message, "--git-dir=.", "commit-tree", tree, "-p", string(head), "-F", "-"))
		}
		gitexectest.Git(t, q.Dir(), "--git-dir=.", "update-ref", "refs/heads/agent/t1-01-x", string(head))
		_, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1))
		if take && err != nil {
			t.Errorf("one of 900 KiB: %v", err)
		}
		if !take {
			requireCode(t, err, company.EObjects, "8 MiB")
		}
	}
}

// T7, T11: a quarantine that somebody tampered with is not used.
func TestTamperedQuarantine(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	q := b.quarantine(t, run1)
	writeFiles(t, q.Dir(), map[string]string{"objects/info/alternates": b.mirror.Dir() + "/objects\n"})
	_, err := b.mirror.Take(b.ctx, q, b.base.OID, ResultRef(run1))
	requireCode(t, err, company.EGit, "alternates")
	requireCode(t, q.Pack(b.ctx, PackRequest{Service: UploadPack, Advertise: true, Out: &strings.Builder{}}), company.EGit,
		"alternates")
}

// T14: a commit that goes back behind the base by two ways has two merge bases
// with it. Compared with the first, it would hide that merging it puts a file
// back to what it was before the second.
func TestHistoryAroundTheBaseIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"guard": "old\n", "f": "f\n"})
	first := gitexectest.Git(t, b.checkout, "rev-parse", "HEAD")
	left := string(commitFiles(t, b.checkout, "left", map[string]string{"left": "left\n"}))
	gitexectest.Git(t, b.checkout, "switch", "-q", "-c", "right", first)
	right := string(commitFiles(t, b.checkout, "right", map[string]string{"guard": "new\n"}))
	gitexectest.Git(t, b.checkout, "switch", "-q", "main")
	gitexectest.Git(t, b.checkout, "merge", "-q", "--no-edit", "right")
	b.fetch(t)
	q := b.quarantine(t, run1)
	tree := strings.Split(
		strings.TrimSuffix(gitexectest.Git(t, q.Dir(), "--git-dir=.", "ls-tree", "-z", string(b.base.OID)), "\x00"), "\x00")
	for i, e := range tree {
		if strings.HasSuffix(e, "\tguard") {
			tree[i] = "100644 blob " + blob(t, q, "old\n") + "\tguard"
		}
	}
	for _, parents := range [][]company.OID{{company.OID(left), company.OID(right)},
		{company.OID(right), company.OID(left)}} {
		head := plant(t, q, mktree(t, q, append([]string{"100644 blob " + blob(t, q, "x") + "\twork"}, tree...)...),
			parents...)
		_, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1))
		requireCode(t, err, company.EObjects, "bypasses the base")
	}
	// On top of the base the same tree shows what it does.
	head := plant(t, q, mktree(t, q, tree...), b.base.OID)
	taken, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1))
	if err != nil || len(taken.Changes) != 1 || taken.Changes[0].Path != "guard" {
		t.Errorf("%+v, %v", taken, err)
	}
}

// What git runs for us, or reads as settings, is looked at before each use: a
// checkout that tracks a file of that name replaces ours while we work.
func TestProgramsOfOthersAreNotRun(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(s *Store) error{
		"another hook": func(s *Store) error {
			return os.WriteFile(s.hookPath(), []byte("#!/bin/sh\ntouch /fired\n"), 0o700)
		},
		"a link as hook": func(s *Store) error {
			return errors.Join(os.Remove(s.hookPath()), os.Symlink("/bin/true", s.hookPath()))
		},
		"a hook of two":  func(s *Store) error { return os.Link(s.hookPath(), s.hookPath()+"2") },
		"no hook":        func(s *Store) error { return os.Remove(s.hookPath()) },
		"another helper": func(s *Store) error { return os.WriteFile(s.helperPath(), []byte("#!/bin/sh\n"), 0o700) },
		"another gitconfig": func(s *Store) error {
			return os.WriteFile(s.globalConfig(), []byte("[core]\n\tpager = touch /fired\n"), 0o600)
		},
		"a linked hooks": func(s *Store) error {
			return errors.Join(os.Rename(s.hooksDir(), s.hooksDir()+"2"), os.Symlink("hooks2", s.hooksDir()))
		},
		"a linked store": func(s *Store) error {
			return errors.Join(os.Rename(s.root, s.root+"2"), os.Symlink(s.root+"2", s.root))
		},
		"another store": func(s *Store) error { return errors.Join(os.Rename(s.root, s.root+"2"), os.Mkdir(s.root, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, nil)
			q := b.quarantine(t, run1)
			if err := tamper(b.store); err != nil {
				t.Fatal(err)
			}
			advertise := PackRequest{Service: ReceivePack, Advertise: true, Out: &strings.Builder{},
				Judge: func(context.Context, []RefUpdate) error { return nil }}
			if err := q.Pack(b.ctx, advertise); err == nil {
				t.Error("a push was served")
			}
			if _, err := b.mirror.List(b.ctx, b.base.OID); err == nil {
				t.Error("git was run")
			}
		})
	}
}
