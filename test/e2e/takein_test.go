package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// colleague is a clone of the origin in which a person works.
type colleague struct {
	h      *testenv.House
	dir    string
	branch string
}

func newColleague(h *testenv.House, branch string) *colleague {
	c := &colleague{h: h, dir: filepath.Join(h.Dir, "colleague"), branch: branch}
	h.Git(h.Dir, "clone", "-q", "--branch", branch, h.Origin, c.dir)
	return c
}

// push commits a file and pushes it to the branch. It returns the commit.
func (c *colleague) push(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c.h.Git(c.dir, "add", "-A")
	c.h.Git(c.dir, "commit", "-qm", "by a colleague", "--author", "Bo\x1b[2Jb <bob@example.org>")
	c.h.Git(c.dir, "push", "-q", "origin", c.branch)
	return c.h.Git(c.dir, "rev-parse", "HEAD")
}

// GIT-6: a person commits to the branch of a pull request while a follow-up works on it. The
// follow-up takes the commit in before its push: as a ticket without a worker, through the gates
// and the reviewer. The company is killed in the middle of that.
func TestPushOfAPersonIsTakenIn(t *testing.T) {
	t.Parallel()
	ready, review := stopAt("t2-01-review.1", 0), stopAt("t2-02-review.1", 0)
	h := openTinyProject(t, addsTwo(ready, review))
	t.Cleanup(ready.release)
	t.Cleanup(review.release)
	waitForSummary(t, h.Start("submit", "add one"), 0)
	branch := integrationBranch(h, 1)
	person := newColleague(h, branch)
	p := h.Start("submit", "--follows", "t1", "add two")
	ready.wait(t, p)
	theirs := person.push(t, "NOTE.md", "reviewed by a person\n")
	ready.release()
	taken := p.Event(patience, "pr.taken_in", "")
	if want := `took in 1 commit by Bo\x1b[2Jb that were pushed to the branch meanwhile, as t2-02`; taken.Text != want {
		t.Errorf("the feed says %q, want %q", taken.Text, want)
	}
	review.wait(t, p)
	if at := h.Git(h.Origin, "rev-parse", branch); at != theirs {
		t.Errorf("the branch is at %s before anything is checked; the person left it at %s", at, theirs)
	}
	p.Kill()
	review.release()
	p = h.Start("resume")
	waitForSummary(t, p, 0)
	checkTakenIn(t, h, branch, theirs)
	for name, want := range map[string]string{"one.sh": "echo one", "two.sh": "echo two",
		"NOTE.md": "reviewed by a person"} {
		if got := h.Git(h.Origin, "show", branch+":"+name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if n := h.Model.Calls().ByRun["t2-02.1"]; n != 0 {
		t.Errorf("a worker was asked %d times about commits that are done", n)
	}
	runAndExpect(t, h, []string{"## Other people's commits", "took in 1 commit by Bo", theirs[:7]}, "pr", "show", "1")
	runAndExpect(t, h, []string{"took in 1 commit by Bo"}, "show", "t2-02")
	if page := h.MustRun(patience, "pr", "show", "1").Stdout; strings.Contains(page, "\x1b") {
		t.Errorf("a name steers the terminal: %q", page)
	}
}

// checkTakenIn checks that the branch at the origin contains a commit, and stands where the pull
// request of the office does.
func checkTakenIn(t *testing.T, h *testenv.House, branch, commit string) {
	t.Helper()
	h.Git(h.Origin, "merge-base", "--is-ancestor", commit, branch)
	var record struct{ Head string }
	readJSON(t, filepath.Join(h.State(), "pulls/1.json"), &record)
	if at := h.Git(h.Origin, "rev-parse", branch); at != record.Head || at == commit {
		t.Errorf("the branch is at %s, the pull request at %s", at, record.Head)
	}
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("containers left: %v", left)
	}
}

// A person's commit that conflicts with the work goes to the merger, as that of any ticket does.
// Who pushes again after that is a question; approve takes that in, too.
func TestConflictWithThePushOfAPerson(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	ready, whole := stopAt("t2-01-review.1", 0), stopAt("t2-review.1", 0)
	brain := addsTwo(ready, whole)
	brain.merger = func(x scripted.Exchange) scripted.Reply {
		return replyInSteps(
			call("read_file", m{"path": "two.sh"}),
			call("write_file", m{"path": "two.sh", "content": "echo two, as both say\n"}),
			call("git_commit", m{"message": "Unite both"}),
			call("finish", m{"summary": "both sides hold"}),
		)(x)
	}
	h := openTinyProject(t, brain)
	t.Cleanup(ready.release)
	t.Cleanup(whole.release)
	waitForSummary(t, h.Start("submit", "add one"), 0)
	branch := integrationBranch(h, 1)
	person := newColleague(h, branch)
	p := h.Start("submit", "--follows", "t1", "add two")
	ready.wait(t, p)
	first := person.push(t, "two.sh", "echo another two\n")
	ready.release()
	whole.wait(t, p)
	second := person.push(t, "NOTE.md", "once more\n")
	whole.release()
	sum := waitForSummary(t, p, 2)
	if sum.Status != string(company.StatusAwaitingInput) ||
		!strings.Contains(sum.Why, "others pushed to "+branch+" again") || !strings.Contains(sum.Next, "company approve") {
		t.Fatalf("summary: %+v", sum)
	}
	if at := h.Git(h.Origin, "rev-parse", branch); at != second {
		t.Errorf("the branch is at %s; the person left it at %s", at, second)
	}
	h.MustRun(patience, "approve", "a1")
	waitForSummary(t, h.Start("resume"), 0)
	checkTakenIn(t, h, branch, first)
	checkTakenIn(t, h, branch, second)
	if got := h.Git(h.Origin, "show", branch+":two.sh"); got != "echo two, as both say" {
		t.Errorf("two.sh is %q", got)
	}
}
