package toolserver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
)

// What is read from git's files is what git answers, and where git keeps it in another
// form, git is asked.
func TestFilesAnswerAsGit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command             string
		head, parents, refs bool // read from files
		empty               bool
	}{
		"fresh":    {"true", true, false, true, true},
		"a commit": {"echo x > x; git add x; git commit -qm x", true, true, true, true},
		"a merge": {"git checkout -qb o; git commit -q --allow-empty -m o; git checkout -q -; git merge -q " +
			"--no-ff -m m o; git branch -qD o", true, true, true, true},
		"packed": {"echo x > x; git add x; git commit -qm x; git pack-refs --all; git repack -adq", true, false,
			true, true},
		"detached":          {"git checkout -q --detach", true, false, false, true},
		"another branch":    {"git branch other", true, false, false, true},
		"a packed branch":   {"git branch other; git pack-refs --all", true, false, false, true},
		"a tag":             {"git tag v1", true, false, false, true},
		"a stash":           {"echo x > a.txt; git stash -q", true, false, false, true},
		"an odd storage":    {"git config extensions.worktreeConfig true", false, false, false, true},
		"an empty folder":   {"mkdir -p sub/empty", true, false, true, false},
		"an ignored one":    {"mkdir -p ignored/empty", true, false, true, false},
		"a folder of links": {"mkdir links; ln -s ../a.txt links/a", true, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, base := newOrigin(t)
			b := newBench(t)
			b.prepare(t, origin, base)
			if r := b.run(t, toolproto.RunRequest{Command: c.command}); r.ExitCode != 0 {
				t.Fatal(r.Text())
			}
			head, ok := b.server.readHead()
			if ok != c.head || ok && head != gitexectest.Git(t, b.dir, "rev-parse", "HEAD") {
				t.Errorf("HEAD is %q, read %v", head, ok)
			}
			if c.head {
				parents, ok := b.server.readLooseParents(head)
				if want := strings.Fields(gitexectest.Git(t, b.dir, "log", "-1", "--format=%P")); c.parents && !ok ||
					ok && !slices.Equal(parents, want) {
					t.Errorf("the parents are %v, read %v; git says %v", parents, ok, want)
				}
			}
			if got := b.server.hasNoRefBeside("refs/heads/" + branch); got != c.refs && name != "detached" {
				t.Errorf("no other reference: %v", got)
			}
			if got := b.server.hasNoEmptyFolder(); got != c.empty {
				t.Errorf("no empty folder: %v", got)
			}
		})
	}
}

// A commit that is made without git is the one that git makes; people whose names git
// would change are left to it.
func TestWrittenCommitIsGits(t *testing.T) {
	t.Parallel()
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	tree := gitexectest.Git(t, b.dir, "rev-parse", "HEAD^{tree}")
	for _, c := range []struct {
		name, email string
		plain       bool
	}{
		{"Agent", "agent@company", true}, {"Jürgen O. Müller-Lüdenscheidt", "j.m+x@müller.example", true},
		{"公司", "a@b", true},
		{" Agent", "agent@company", false}, {"Agent.", "a@b", false}, {"A <b>", "a@b", false}, {"A", "<a@b>", false},
		{"A\nB", "a@b", false}, {"", "a@b", false}, {"A", "", false},
	} {
		b.server.repo.identity.Store(&[]string{
			"GIT_AUTHOR_NAME=" + c.name, "GIT_AUTHOR_EMAIL=" + c.email, "GIT_COMMITTER_NAME=" + c.name,
			"GIT_COMMITTER_EMAIL=" + c.email,
		})
		for _, message := range []string{"one\n", "checkpoint\n\n{\"a\":\"ü\"}\n\nSigned-off-by: x\n"} {
			oid, ok := b.server.writeCommit(tree, []string{base}, message)
			if ok != c.plain {
				t.Errorf("%q <%s>: written %v", c.name, c.email, ok)
			}
			if !ok {
				continue
			}
			when := gitexectest.Git(t, b.dir, "log", "-1", "--format=%ad", "--date=raw", oid)
			want := fmt.Sprintf("tree %s\nparent %s\nauthor %s <%s> %s\ncommitter %s <%s> %s\n\n%s", tree, base, c.name, c.email,
				when, c.name, c.email, when, message)
			if got := gitexectest.Git(t, b.dir, "cat-file", "commit", oid) + "\n"; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		}
	}
	gitexectest.Git(t, b.dir, "fsck", "--strict", "--no-dangling")
	left, err := filepath.Glob(filepath.Join(b.dir, ".git/objects/*/tmp_obj_*"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// A second question about the same index starts no git; another index or another HEAD
// is asked about.
func TestIndexIsComparedOnce(t *testing.T) {
	t.Parallel()
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	describe := func(want int) {
		t.Helper()
		var at described
		if err := b.server.describeIndex(t.Context(), &at); err != nil || len(at.Index) != want {
			t.Errorf("%v, %v; want %d", at.Index, err, want)
		}
	}
	describe(0)
	b.server.repo.staged.entries = []string{"kept"}
	describe(1)
	b.run(t, toolproto.RunRequest{Command: "echo s > s.txt; git add s.txt"})
	describe(1)
	b.run(t, toolproto.RunRequest{Command: "echo t > t.txt; git add t.txt"})
	describe(2)
	b.run(t, toolproto.RunRequest{Command: "git commit -qm c"})
	describe(0)
	b.run(t, toolproto.RunRequest{Command: "git reset -q --soft HEAD~1"})
	describe(2)
	if err := os.Remove(filepath.Join(b.dir, ".git/index")); err != nil {
		t.Fatal(err)
	}
	describe(3) // git tells of each file that is gone from it
}
