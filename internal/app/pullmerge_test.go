package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/gitopstest"
	"company/internal/lib/hosttest"
	"company/internal/office"
	"company/internal/office/config"
)

// mergeStage is a delivered task, its project, and a clone of a person.
type mergeStage struct {
	*testing.T
	p      *gitopstest.Project
	review PullReview
	task   *company.Task
	clone  PersonGit
}

func newMergeStage(t *testing.T) *mergeStage {
	p := gitopstest.New(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	c := config.Default()
	s := &mergeStage{T: t, p: p,
		review: PullReview{Paths: office.Paths{Git: filepath.Dir(p.Mirror.Dir())}, Config: c, Office: "k3fq"}}
	clone := filepath.Join(t.TempDir(), "clone")
	gitexectest.Git(t, p.Dir, "clone", "-q", p.Dir, clone)
	environ := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann",
		"GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_DIR=/nonexistent")
	s.clone = PersonGit{Dir: clone, Environ: environ}
	const branch = "develop-t1-k3fq"
	head := p.Commit(branch, map[string]string{"a.txt": "changed\n", "c.txt": "c\n"})
	p.Git("branch", "-q", "-D", branch)
	s.task = &company.Task{
		ID: "t1", Project: company.Project{ID: "project", Path: p.Dir},
		Prepared: &company.TaskPrepared{Base: company.Base{OID: p.Base, PRBranch: "main"}},
		PR: &company.PullRequest{Number: 1, Title: "change a", Branch: branch, Base: "main", Head: head,
			State: company.PROpen},
	}
	return s
}

func (s *mergeStage) here() PersonGit { g := s.clone; g.Dir = s.p.Dir; return g }

// git runs git in the person's clone.
func (s *mergeStage) git(args ...string) string { return gitexectest.Git(s.T, s.clone.Dir, args...) }

func (s *mergeStage) mustRefuse(err error, want string) {
	s.Helper()
	if code := company.CodeOf(err); err == nil || code != company.EConflict && code != company.EGit ||
		!strings.Contains(err.Error()+fixOf(err), want) {
		s.Errorf("want a refusal with %q: %v", want, err)
	}
}

func fixOf(err error) string {
	if e := (*company.Error)(nil); errors.As(err, &e) {
		return " " + e.Why + " " + e.Hint
	}
	return ""
}

// A pull request comes to a branch of the person's clone, goes forward with it, and
// takes the place of nothing of theirs.
func TestCheckoutPull(t *testing.T) {
	s := newMergeStage(t)
	first := s.task.PR.Head
	for range 2 { // a repeat changes nothing
		branch, err := s.review.Checkout(t.Context(), s.task, s.clone)
		if err != nil || s.git("rev-parse", "--abbrev-ref", "HEAD") != branch || s.git("rev-parse", "HEAD") != string(first) {
			t.Fatalf("%s %v", branch, err)
		}
	}
	s.git("switch", "-q", "main")
	s.task.PR.Head = s.p.Commit("more", map[string]string{"d.txt": "d\n"})
	s.mustRefuse(checkoutError(s), "of this clone differs from") // beside the first, not after it
	s.p.Git("branch", "-q", "develop-t1-k3fq", string(first))
	second := s.p.Commit("develop-t1-k3fq", map[string]string{"d.txt": "d\n"})
	s.task.PR.Head = second
	if err := checkoutError(s); err != nil || s.git("rev-parse", "HEAD") != string(second) {
		t.Fatalf("it does not go forward: %v", err)
	}

	// Uncommitted work stays, and so does a branch with commits of the person's.
	s.git("switch", "-q", "main")
	write(t, s.clone.Dir, "a.txt", "mine\n")
	s.mustRefuse(checkoutError(s), "git switch failed")
	if text, _ := os.ReadFile(filepath.Join(s.clone.Dir, "a.txt")); string(text) != "mine\n" ||
		s.git("rev-parse", "--abbrev-ref", "HEAD") != "main" {
		t.Fatalf("uncommitted work is gone: %q", text)
	}
	s.git("checkout", "-q", "--", "a.txt")
	s.git("switch", "-q", "develop-t1-k3fq")
	s.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "mine")
	s.mustRefuse(checkoutError(s), "git branch -m develop-t1-k3fq develop-t1-k3fq-mine")

	foreign := gitopstest.New(t, map[string]string{"x": "x\n"})
	other := s.clone
	other.Dir = foreign.Dir
	_, err := s.review.Checkout(t.Context(), s.task, other)
	s.mustRefuse(err, "is not a clone of the pull request's repository")
}

func checkoutError(s *mergeStage) error {
	_, err := s.review.Checkout(s.Context(), s.task, s.clone)
	return err
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A hook that lies in the tree of an agent does not run when the tree is looked at.
func TestCheckoutRunsNoHook(t *testing.T) {
	s := newMergeStage(t)
	ran := filepath.Join(t.TempDir(), "ran")
	hooks := filepath.Join(s.clone.Dir, "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"post-checkout", "post-merge", "reference-transaction"} {
		if err := os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.git("config", "core.hooksPath", "hooks")
	if err := checkoutError(s); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook ran")
	}
}

// A merge without a remote is the person's own, in a checkout that is on the base and
// clean; what is prepared and not confirmed changes nothing (REV-1).
func TestMergeHere(t *testing.T) {
	s := newMergeStage(t)
	prepare := func() (PullMerge, error) { return s.review.PrepareMerge(t.Context(), s.task, s.here()) }
	s.p.Git("switch", "-q", "-c", "other")
	_, err := prepare()
	s.mustRefuse(err, "is on other")
	s.p.Git("switch", "-q", "main")
	write(t, s.p.Dir, "b.txt", "mine\n")
	_, err = prepare()
	s.mustRefuse(err, "uncommitted changes")
	s.p.Git("checkout", "-q", "--", "b.txt")
	s.task.BranchChange = &company.BranchChange{Kind: company.BranchAhead, Delivered: s.task.PR.Head, Now: s.p.Base,
		Commits: 1, By: []string{"bob"}, People: 1}
	_, err = prepare()
	s.mustRefuse(err, "--follows t1")
	s.task.BranchChange = nil
	m, err := prepare()
	if err != nil || s.p.Git("rev-parse", "main") != string(s.p.Base) ||
		!strings.Contains(m.Question, "merge #1 into main, at "+s.task.PR.Head.Short()) {
		t.Fatalf("%q %v", m.Question, err)
	}
	if err := m.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.p.Git("log", "-1", "--format=%an %P %s"); got != "Ann "+string(s.p.Base)+" "+string(s.task.PR.Head)+
		" Merge pull request #1: change a" {
		t.Errorf("the merge is %q", got)
	}
	if err := s.review.CheckMerged(t.Context(), s.task); err != nil {
		t.Error(err)
	}
}

// A merge that conflicts leaves the checkout as it was.
func TestMergeThatConflicts(t *testing.T) {
	s := newMergeStage(t)
	s.p.Commit("main", map[string]string{"a.txt": "theirs\n"})
	at := s.p.Git("rev-parse", "main")
	m, err := s.review.PrepareMerge(t.Context(), s.task, s.here())
	if err != nil {
		t.Fatal(err)
	}
	s.mustRefuse(m.Do(t.Context()), "merging #1 into main has conflicts; nothing was changed")
	if s.p.Git("rev-parse", "main") != at || s.p.Git("status", "--porcelain") != "" {
		t.Errorf("it is left in the middle: %s", s.p.Git("status"))
	}
}

// Where there is a remote, what is merged is pushed, without force; a base that is
// elsewhere there is not merged to.
func TestMergeIsPushed(t *testing.T) {
	s := newMergeStage(t)
	origin := filepath.Join(t.TempDir(), "origin.git")
	s.p.Git("clone", "-q", "--bare", s.p.Dir, origin)
	s.p.Git("remote", "add", "origin", origin)
	s.p.Git("fetch", "-q", "origin")
	prepare := func() (PullMerge, error) { return s.review.PrepareMerge(t.Context(), s.task, s.here()) }

	s.git("push", "-q", origin, "HEAD:refs/heads/theirs")
	s.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "theirs")
	s.git("push", "-q", origin, "main:main")
	_, err := prepare()
	s.mustRefuse(err, "git pull --ff-only origin main")
	s.p.Git("pull", "-q", "--ff-only", "origin", "main")
	m, err := prepare()
	if err != nil || !strings.Contains(m.Question, "and push it to origin?") {
		t.Fatalf("%q %v", m.Question, err)
	}
	if err := m.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if there := gitexectest.Git(t, origin, "rev-parse", "main"); there != s.p.Git("rev-parse", "main") {
		t.Errorf("origin is at %s", there)
	}
	if err := s.review.CheckMerged(t.Context(), s.task); err != nil {
		t.Error(err)
	}
}

// A person who is asked may do something else in the checkout before they answer. What they
// confirmed is merged where it was to go, or not at all.
func TestMergeLooksAgainBehindTheQuestion(t *testing.T) {
	for name, meanwhile := range map[string]func(*mergeStage){
		"is on other":         func(s *mergeStage) { s.p.Git("switch", "-q", "-c", "other") },
		"uncommitted changes": func(s *mergeStage) { write(t, s.p.Dir, "b.txt", "mine\n") },
		"main differs from the one at origin": func(s *mergeStage) {
			s.p.Commit("main", map[string]string{"mine.txt": "mine\n"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMergeStage(t)
			origin := s.addOrigin()
			m, err := s.review.PrepareMerge(t.Context(), s.task, s.here())
			if err != nil {
				t.Fatal(err)
			}
			if name == "is on other" {
				defer func() {
					if log := s.p.Git("log", "--format=%s", "other"); strings.Contains(log, "Merge") {
						t.Errorf("it is merged into another branch:\n%s", log)
					}
				}()
			}
			meanwhile(s)
			s.mustRefuse(m.Do(t.Context()), name)
			if there := gitexectest.Git(t, origin, "rev-parse", "main"); there != string(s.p.Base) {
				t.Errorf("origin was moved to %s", there)
			}
		})
	}
}

// addOrigin gives the project a bare remote.
func (s *mergeStage) addOrigin() string {
	origin := filepath.Join(s.TempDir(), "origin.git")
	s.p.Git("clone", "-q", "--bare", s.p.Dir, origin)
	s.p.Git("remote", "add", "origin", origin)
	s.p.Git("fetch", "-q", "origin")
	return origin
}

// A merge whose push did not happen, since the command was killed or the remote was away, is
// pushed by the same command. Another commit that is here alone is not.
func TestMergeThatWasNotPushed(t *testing.T) {
	s := newMergeStage(t)
	origin := s.addOrigin()
	s.p.Git("fetch", "-q", s.review.Paths.Git+"/"+filepath.Base(s.p.Mirror.Dir()), string(s.task.PR.Head))
	s.p.Git("-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q", "--no-ff", "-m", "Merge pull request #1",
		string(s.task.PR.Head))
	merged := s.p.Git("rev-parse", "HEAD")
	m, err := s.review.PrepareMerge(t.Context(), s.task, s.here())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if there := gitexectest.Git(t, origin, "rev-parse", "main"); there != merged {
		t.Errorf("origin is at %s, the merge is %s", there, merged)
	}
	gitexectest.Git(t, origin, "update-ref", "refs/heads/main", string(s.p.Base))
	s.p.Commit("main", map[string]string{"mine.txt": "mine\n"})
	_, err = s.review.PrepareMerge(t.Context(), s.task, s.here())
	s.mustRefuse(err, "main differs from the one at origin")
}

// What the person's git refuses is told in its words, and is not called a conflict, for which
// a follow-up would be paid.
func TestRefusedMergeIsNoConflict(t *testing.T) {
	for name, prepare := range map[string]func(*mergeStage){
		"a hook says no": func(s *mergeStage) {
			hook := "#!/bin/sh\necho a hook says no >&2\nexit 1\n"
			if err := os.WriteFile(filepath.Join(s.p.Dir, ".git/hooks/pre-merge-commit"), []byte(hook), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"would be overwritten": func(s *mergeStage) { write(t, s.p.Dir, "c.txt", "mine\n") },
		"Another git process":  func(s *mergeStage) { write(t, s.p.Dir, ".git/index.lock", "") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newMergeStage(t)
			m, err := s.review.PrepareMerge(t.Context(), s.task, s.here())
			if err != nil {
				t.Fatal(err)
			}
			prepare(s)
			err = m.Do(t.Context())
			s.mustRefuse(err, name)
			if company.CodeOf(err) != company.EGit || strings.Contains(err.Error()+fixOf(err), "--follows") {
				t.Errorf("it is called a conflict: %v%s", err, fixOf(err))
			}
			if s.p.Git("rev-parse", "main") != string(s.p.Base) ||
				s.p.Git("status", "--porcelain", "--untracked-files=no") != "" {
				t.Errorf("it is left in the middle: %s", s.p.Git("status"))
			}
		})
	}
}

// Two commands that merge in one checkout take turns. What the first one has begun, in whose
// hook it waits, would look to the second like changes of a person, with git stash as the way out.
func TestMergesTakeTurns(t *testing.T) {
	s := newMergeStage(t)
	s.addOrigin()
	begun, goOn := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "go-on")
	hook := "#!/bin/sh\ntouch " + begun + "\nwhile [ ! -e " + goOn + " ]; do sleep 0.05; done\n"
	if err := os.WriteFile(filepath.Join(s.p.Dir, ".git/hooks/commit-msg"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	var merges [2]PullMerge
	for n := range merges {
		var err error
		if merges[n], err = s.review.PrepareMerge(t.Context(), s.task, s.here()); err != nil {
			t.Fatal(err)
		}
	}
	first := make(chan error, 1)
	go func() { first <- merges[0].Do(t.Context()) }()
	hosttest.Eventually(t, "the merge comes to its hook", func() (any, bool) {
		_, err := os.Stat(begun)
		return err, err == nil
	})
	const busy = "another company pr merge is running"
	_, err := s.review.PrepareMerge(t.Context(), s.task, s.here())
	s.mustRefuse(err, busy)
	s.mustRefuse(merges[1].Do(t.Context()), busy)
	write(t, filepath.Dir(goOn), filepath.Base(goOn), "")
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := merges[1].Do(t.Context()); err != nil { // it is merged already
		t.Error(err)
	}
	if changed := s.p.Git("status", "--porcelain"); changed != "" {
		t.Errorf("the checkout is left with %s", changed)
	}
}
