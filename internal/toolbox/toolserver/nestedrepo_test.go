package toolserver

import (
	"strings"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
)

// A folder that a scaffolder made a repository is named to the agent with the way out, and the way out works.
func TestNestedRepositoryIsNamed(t *testing.T) {
	const inside = "mkdir -p app && cd app && echo x >file && git init -q . && "
	const commit = "git -c user.name=a -c user.email=b commit -qm scaffold"
	for name, c := range map[string]struct{ command, folder string }{
		"with a commit":     {inside + "git add . && " + commit, "app"},
		"without a commit":  {inside + "true", "app"},
		"staged already":    {inside + "git add . && " + commit + " && cd .. && git add -A 2>/dev/null", "app"},
		"deep, with blanks": {"mkdir -p 'my apps' && cd 'my apps' && " + inside + "git add . && " + commit, "my apps/app"},
		"a work tree":       {"git worktree add -q --detach app && echo x >app/file", "app"},
	} {
		t.Run(name, func(t *testing.T) {
			origin, base := newOrigin(t)
			b := newBench(t)
			b.prepare(t, origin, base)
			if r := b.run(t, toolproto.RunRequest{Command: c.command}); r.ExitCode != 0 {
				t.Fatalf("%+v", r)
			}
			b.file(t, "other.txt", "o\n")
			_, err := b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "all"})
			requireRefusal(t, err, toolproto.KindGit, `"`+c.folder+`" has a git repository of its own`)
			if at := b.run(t, toolproto.RunRequest{Command: "git rev-parse HEAD"}).Stdout.String(); at != base+"\n" {
				t.Fatalf("committed all the same: %s", at)
			}
			other := b.commit(t, "without it", "other.txt") // and what is beside it can be committed
			if _, fix, _ := strings.Cut(err.Error(), "commit again: "); b.run(
				t, toolproto.RunRequest{Command: fix}).ExitCode != 0 {
				t.Fatalf("%q", fix)
			}
			done := b.commit(t, "all")
			if files := gitexectest.Git(t, origin, "diff", "--name-only", other.Commit, done.Commit); !strings.Contains(
				files, c.folder+"/file") {
				t.Errorf("committed %q", files)
			}
		})
	}
}

// Ignored repositories and submodules of the base are left as they are.
func TestSubmodulesStayAsTheyAre(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	b.run(t, toolproto.RunRequest{Command: "mkdir -p ignored/x sub2 && git init -q ignored/x && git update-index --add " +
		"--cacheinfo 160000," + base + ",sub2 && git commit -qm sub"})
	b.file(t, "other.txt", "o\n")
	b.commit(t, "all")
	if tree := gitexectest.Git(t, origin, "ls-tree", "-r", branch); !strings.Contains(tree, "160000 commit "+base+"\tsub2") ||
		strings.Contains(tree, "ignored") {
		t.Errorf("%s", tree)
	}
	_, err := b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "x", Paths: []string{"no-such"}})
	requireRefusal(t, err, toolproto.KindGit, "did not match")
}
