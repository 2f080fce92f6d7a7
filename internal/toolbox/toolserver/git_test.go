package toolserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
)

const run = "t1-01.1"

func (b *bench) commit(t testing.TB, message string, paths ...string) toolproto.GitCommitResult {
	t.Helper()
	return must[toolproto.GitCommitResult](t)(
		b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: message, Paths: paths}))
}

// Commits of others, and on another branch, become one commit of the run's branch if that is wanted.
func TestCommitsAreJoined(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	b.file(t, "a.txt", "changed\n")
	b.run(t,
		toolproto.RunRequest{Command: "git checkout -q -b own && git -c user.name=Other -c user.email=other@example.com " +
			"commit -qam 'Mine' && echo more >more.txt && git add -A && git commit -qm 'More'"})
	b.file(t, "left.txt", "left\n")
	got := must[toolproto.GitCommitResult](t)(b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "All of it",
		Join: true}))
	if got.Branch != branch || len(got.Files) != 3 {
		t.Errorf("%+v", got)
	}
	if log := gitexectest.Git(t, origin, "log", "--format=%an %s", base+".."+branch); !strings.HasSuffix(log,
		" All of it") ||
		strings.Contains(log, "\n") || strings.Contains(log, "Other") {
		t.Errorf("%q", log)
	}
}

// A run's repository is prepared, committed to and pushed by its tools (GIT-1).
func TestPrepareCommitPush(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	_, err := b.GitStatus(t.Context())
	requireRefusal(t, err, toolproto.KindGit, "not prepared")
	p := b.prepare(t, origin, base)
	if p.Head != base || p.Branch != branch || p.Dirty || b.content(t, "a.txt") != "one\ntwo\n" {
		t.Fatalf("%+v", p)
	}
	_, err = b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "nothing"})
	requireRefusal(t, err, toolproto.KindNothing, "nothing to commit")

	b.file(t, "new.txt", "n\n")
	b.file(t, "other.txt", "o\n")
	b.file(t, "x.log", "ignored\n")
	if err := os.Remove(filepath.Join(b.dir, "sub/b.txt")); err != nil {
		t.Fatal(err)
	}
	s := must[toolproto.GitStatusResult](t)(b.GitStatus(t.Context()))
	if s.Clean || s.Branch != branch || s.Head != base || s.Unpushed != 0 || len(s.Files) != 3 {
		t.Fatalf("%+v", s)
	}
	c := b.commit(t, "[t1-01] first", "new.txt", "sub/b.txt")
	if len(c.Files) != 2 || gitexectest.Git(t, origin, "rev-parse", "refs/heads/"+branch) != string(c.Commit) {
		t.Fatalf("%+v", c)
	}
	if who := gitexectest.Git(t, origin, "log", "-1", "--format=%an <%ae> %cn|%B",
		branch); who != "Agent <agent@company> Agent|[t1-01] first\n" {
		t.Fatal(who)
	}
	if files := gitexectest.Git(t, origin, "ls-tree", "-r", "--name-only", branch); files != ".gitignore\na.txt\nnew.txt" {
		t.Fatalf("only the named paths are committed: %s", files)
	}
	c = b.commit(t, "rest")
	if len(c.Files) != 1 || c.Files[0].Path != "other.txt" || c.Files[0].Status != "A" {
		t.Fatalf("%+v", c)
	}
	// A commit that the agent made itself goes out, too.
	b.file(t, "mine.txt", "m\n")
	if r := b.run(t, toolproto.RunRequest{Command: "git add -A && git commit -qm mine"}); r.ExitCode != 0 {
		t.Fatal(r.Text())
	}
	c = b.commit(t, "unused")
	if got := gitexectest.Git(t, origin, "log", "-1", "--format=%H %s %an", branch); got != string(c.Commit)+
		" mine Agent" {
		t.Fatal(got)
	}
	if p := must[toolproto.PushResult](t)(b.Push(t.Context())); p.Commit != c.Commit || p.Branch != branch {
		t.Fatalf("%+v", p)
	}
}

func TestCommitRefusals(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	b.file(t, "x", "x")
	for _, r := range []struct {
		request toolproto.GitCommitRequest
		kind    toolproto.Kind
	}{
		{toolproto.GitCommitRequest{Message: " "}, toolproto.KindArgument},
		{toolproto.GitCommitRequest{Message: "m", Paths: []string{"../x"}}, toolproto.KindArgument},
		{toolproto.GitCommitRequest{Message: "m", Paths: []string{"/etc/passwd"}}, toolproto.KindArgument},
		{toolproto.GitCommitRequest{Message: "m", Paths: []string{"--force"}}, toolproto.KindArgument},
		{toolproto.GitCommitRequest{Message: "m", Paths: []string{"nope"}}, toolproto.KindGit},
		{toolproto.GitCommitRequest{Message: "m", Paths: []string{"*"}}, toolproto.KindGit},
	} {
		_, err := b.GitCommit(t.Context(), r.request)
		requireRefusal(t, err, r.kind, "")
	}
	first := b.commit(t, "first")
	b.run(t, toolproto.RunRequest{Command: "git commit -q --amend -m other"})
	_, err := b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "m"})
	requireRefusal(t, err, toolproto.KindGit, "git reset --soft origin/"+branch)
	b.run(t, toolproto.RunRequest{Command: "git reset -q --soft origin/" + branch + "; git checkout -q -b elsewhere"})
	_, err = b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "m"})
	requireRefusal(t, err, toolproto.KindGit, "git checkout "+branch)
	if gitexectest.Git(t, origin, "rev-parse", branch) != string(first.Commit) {
		t.Fatal("origin moved")
	}
	_, err = b.Prepare(t.Context(),
		toolproto.PrepareRequest{CloneURL: origin, BaseOID: base, Branch: "x", AuthorName: "a", AuthorEmail: "b"})
	requireRefusal(t, err, toolproto.KindArgument, "prepared already")
}

// TestKilledGitIsNoAnswer: a git that was killed before it could answer, as when
// a container is emptied, is never taken for one that said no.
func TestKilledGitIsNoAnswer(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	doomed := filepath.Join(bin, "doomed")
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in $(cat %s)*) kill -KILL $$ ;; esac\nexec %s \"$@\"\n", doomed, real)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	doom := func(t *testing.T, words string) {
		t.Helper()
		if err := os.WriteFile(doomed, []byte(words), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	requireKilled := func(t *testing.T, err error) {
		t.Helper()
		requireRefusal(t, err, toolproto.KindGit, "was killed before it could answer")
	}
	origin, base := newOrigin(t)
	through := func(c *Config) { c.Env[0] = "PATH=" + bin + ":" + os.Getenv("PATH") }
	doom(t, "none")
	b := newBench(t, through)
	b.prepare(t, origin, base)
	b.file(t, "x", "x")
	first := b.commit(t, "first")
	b.file(t, "x", "y")
	b.run(t, toolproto.RunRequest{Command: "git commit -qam second"})
	for _, words := range []string{"rev-parse --verify --quiet --end-of-options refs/remotes",
		"rev-parse --verify --quiet --end-of-options HEAD"} {
		doom(t, words)
		_, err := b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "second"})
		requireKilled(t, err)
		_, err = b.GitStatus(t.Context())
		requireKilled(t, err)
	}
	for _, words := range []string{"symbolic-ref", "push"} {
		doom(t, words)
		_, err = b.Push(t.Context())
		requireKilled(t, err)
	}
	if at := gitexectest.Git(t, origin, "rev-parse", branch); at != first.Commit {
		t.Fatalf("origin is at %s", at)
	}
	doom(t, "none")
	second := b.commit(t, "second")
	// A new container that cannot ask what was pushed does not begin again at
	// the base.
	for _, words := range []string{"rev-parse --verify --quiet --end-of-options refs/remotes", "merge-base"} {
		doom(t, words)
		_, err := newBench(t, through).Prepare(
			t.Context(),
			toolproto.PrepareRequest{CloneURL: origin, BaseOID: base, Branch: branch, AuthorName: "a", AuthorEmail: "b"})
		requireKilled(t, err)
	}
	doom(t, "none")
	if at := newBench(t, through).prepare(t, origin, base); at.Head != second.Commit {
		t.Fatalf("work goes on at %s", at.Head)
	}
}

func TestPrepareRefusals(t *testing.T) {
	origin, base := newOrigin(t)
	good := toolproto.PrepareRequest{CloneURL: origin, BaseOID: base, Branch: branch, AuthorName: "a", AuthorEmail: "b"}
	for name, change := range map[string]func(*toolproto.PrepareRequest){
		"no url":      func(r *toolproto.PrepareRequest) { r.CloneURL = "" },
		"option url":  func(r *toolproto.PrepareRequest) { r.CloneURL = "--upload-pack=x" },
		"no base":     func(r *toolproto.PrepareRequest) { r.BaseOID = "" },
		"short base":  func(r *toolproto.PrepareRequest) { r.BaseOID = "abc" },
		"absent base": func(r *toolproto.PrepareRequest) { r.BaseOID = strings.Repeat("1", 40) },
		"bad resume":  func(r *toolproto.PrepareRequest) { r.Resume = "HEAD" },
		"bad branch":  func(r *toolproto.PrepareRequest) { r.Branch = "a..b" },
		"option":      func(r *toolproto.PrepareRequest) { r.Branch = "--orphan" },
		"no author":   func(r *toolproto.PrepareRequest) { r.AuthorName = "" },
		"no origin":   func(r *toolproto.PrepareRequest) { r.CloneURL = origin + "-nope" },
	} {
		t.Run(name, func(t *testing.T) {
			r := good
			change(&r)
			_, err := newBench(t).Prepare(t.Context(), r)
			if kind := toolproto.KindArgument; name != "absent base" && name != "no origin" {
				requireRefusal(t, err, kind, "")
			} else {
				requireRefusal(t, err, toolproto.KindGit, "")
			}
		})
	}
}

// A checkpoint holds all that is not ignored, moves neither branch nor index,
// and a new container goes on from it.
func TestCheckpointAndResume(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	none := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
	if none.Changed || none.OID != "" {
		t.Fatalf("nothing changed yet: %+v", none)
	}
	b.file(t, "work.txt", "w\n")
	b.file(t, "a.txt", "one\nTWO\n")
	b.file(t, "ignored/x", "i")
	b.run(t, toolproto.RunRequest{Command: "git add a.txt; rm sub/b.txt"})
	before := b.run(t, toolproto.RunRequest{Command: "git status --porcelain"}).Stdout.String()
	c := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
	if !c.Changed || gitexectest.Git(t, origin, "rev-parse", "refs/company/checkpoint/"+string(run)) != string(c.OID) {
		t.Fatalf("%+v", c)
	}
	if after := b.run(t, toolproto.RunRequest{Command: "git status --porcelain"}).Stdout.String(); after != before {
		t.Fatalf("index or tree moved: %q, was %q", after, before)
	}
	if files := gitexectest.Git(t, origin, "ls-tree", "-r", "--name-only",
		string(c.OID)); files != ".gitignore\na.txt\nwork.txt" {
		t.Fatal(files)
	}
	if again := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run)); again.Changed || again.OID != c.OID {
		t.Fatalf("%+v", again)
	}

	next := newBench(t)
	p := next.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Resume = c.OID })
	if !p.Dirty || p.Head != base || next.content(t, "a.txt") != "one\nTWO\n" || next.content(t, "work.txt") != "w\n" {
		t.Fatalf("%+v", p)
	}
	s := must[toolproto.GitStatusResult](t)(next.GitStatus(t.Context()))
	if len(s.Files) != 3 || s.Head != base {
		t.Fatalf("%+v", s)
	}
	if again := must[toolproto.CheckpointResult](t)(next.Checkpoint(t.Context(), run)); again.Changed ||
		again.OID != c.OID {
		t.Fatalf("a resumed tree is the checkpoint's: %+v", again)
	}
	done := next.commit(t, "done")

	// The commit has overtaken the checkpoint.
	third := newBench(t)
	p = third.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Resume = c.OID })
	if p.Dirty || p.Head != done.Commit || p.Note == "" {
		t.Fatalf("%+v", p)
	}
	// Without a checkpoint the branch that is there goes on; a plain commit
	// in its place is not a checkpoint.
	for _, resume := range []string{"", base, done.Commit} {
		fourth := newBench(t)
		p = fourth.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Resume = resume })
		if p.Dirty || p.Head != done.Commit {
			t.Fatalf("%+v", p)
		}
	}
	_, err := b.Checkpoint(t.Context(), "../x")
	requireRefusal(t, err, toolproto.KindArgument, "run id")
}

// With the history baked in only the new objects are fetched.
func TestBakedObjectsAreBorrowed(t *testing.T) {
	origin, base := newOrigin(t)
	baked := filepath.Join(t.TempDir(), "baked.git")
	gitexectest.Git(t, filepath.Dir(baked), "clone", "-q", "--bare", origin, baked)
	b := newBench(t)
	b.prepare(t, "file://"+origin, base, func(r *toolproto.PrepareRequest) { r.Baked = baked })
	if head := must[toolproto.GitStatusResult](t)(b.GitStatus(t.Context())).Head; head != base {
		t.Fatal(head)
	}
	count := b.run(t, toolproto.RunRequest{Command: "git count-objects -v"}).Stdout.String()
	if !strings.Contains(count, "count: 0\n") || !strings.Contains(count, "in-pack: 0\n") {
		t.Fatalf("objects were copied:\n%s", count)
	}
	b.file(t, "n", "n")
	b.commit(t, "with borrowed objects")
}

// What a repository's own files ask git to run is not run by the tools.
func TestRepositoryCannotMakeTheToolsRunThings(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	b.file(t, ".git/hooks/pre-commit", "#!/bin/sh\ntouch ../canary\n")
	b.file(t, ".git/hooks/pre-push", "#!/bin/sh\ntouch ../canary\n")
	b.run(t, toolproto.RunRequest{
		Command: "chmod +x .git/hooks/*; git config core.fsmonitor 'touch ../canary'; git config diff.external 'touch " +
			"../canary'; git config core.hooksPath .git/hooks; git config commit.gpgsign true"})
	b.file(t, "n", "n")
	must[toolproto.GitStatusResult](t)(b.GitStatus(t.Context()))
	must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
	b.commit(t, "m")
	if _, err := os.Stat(filepath.Join(b.dir, "..", "canary")); err == nil {
		t.Fatal("a hook ran")
	}
}
