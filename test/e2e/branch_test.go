package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// What people do to a delivered branch at the origin is shown wherever pull
// requests are, and is left as they did it.
func TestBranchThatPeopleChange(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, triplesInShell())
	waitForSummary(t, h.Start("submit", "add a function that triples"), 0)
	checkDelivered(t, h, 1, 1, 1)
	branch := integrationBranch(h, 1)
	head := h.Git(h.Origin, "rev-parse", "refs/heads/"+branch)
	side := filepath.Join(h.Dir, "colleague")
	h.Git(h.Dir, "clone", "-q", "--branch", branch, h.Origin, side)

	type pull struct {
		State        string
		BranchChange *struct {
			Kind           string
			Delivered, Now string
			Commits        int
			By             []string
		} `json:"branch_change"`
	}
	// shows has the origin asked, and looks at all that shows pull requests.
	shows := func(kind, now string, words ...string) {
		t.Helper()
		synced := h.MustRun(patience, "pr", "sync").Stdout
		var list struct {
			PullRequests []pull `json:"pull_requests"`
		}
		var one struct {
			PullRequest pull `json:"pull_request"`
		}
		var office struct {
			OpenPRs []pull `json:"open_prs"`
			Tasks   []struct{ PR *pull }
		}
		h.JSON(&list, "pr", "list")
		h.JSON(&one, "pr", "show", "1")
		h.JSON(&office, "status")
		if len(list.PullRequests) != 1 || len(office.OpenPRs) != 1 || len(office.Tasks) != 1 || office.Tasks[0].PR == nil {
			t.Fatalf("%s: %+v, %+v", kind, list, office)
		}
		for where, p := range map[string]pull{"pr list": list.PullRequests[0], "pr show": one.PullRequest,
			"status": office.OpenPRs[0], "a task of status": *office.Tasks[0].PR} {
			b := p.BranchChange
			if p.State != "open" || (b == nil) != (kind == "") ||
				b != nil && (b.Kind != kind || b.Delivered != head || b.Now != now) {
				t.Errorf("%s: %s says %s %+v", kind, where, p.State, b)
			}
		}
		for where, text := range map[string]string{
			"pr sync": synced, "pr list": h.MustRun(patience, "pr", "list").Stdout,
			"pr show": h.MustRun(patience, "pr", "show", "1").Stdout,
			"status":  h.MustRun(patience, "status").Stdout, "show": h.MustRun(patience, "show", "t1").Stdout,
		} {
			for _, want := range words {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %s lacks %q:\n%s", kind, where, want, text)
				}
			}
			if kind == "" && (strings.Contains(text, "not at the remote") || strings.Contains(text, "BRANCHES")) ||
				strings.Contains(text, "\x1b") {
				t.Errorf("%q: %s says\n%q", kind, where, text)
			}
		}
	}
	shows("", "")

	h.Git(side, "commit", "-q", "--allow-empty", "-m", "by a colleague", "--author", "Bo\x1b[2Jb <bob@example.org>")
	h.Git(side, "push", "-q", "origin", branch)
	theirs := h.Git(side, "rev-parse", "HEAD")
	shows("ahead", theirs, "has 1 commit on top of "+head[:7], `Bo\x1b[2Jb`)
	if next := h.MustRun(patience, "pr", "show", "1").Stdout; !strings.Contains(next, "passed no gate") {
		t.Errorf("pr show:\n%s", next)
	}

	h.Git(side, "commit", "-q", "--amend", "--allow-empty", "-m", "again")
	h.Git(side, "reset", "-q", "--hard", "origin/main")
	h.Git(side, "push", "-q", "-f", "origin", branch)
	shows("rewritten", h.Git(side, "rev-parse", "HEAD"), "was rewritten to", "lacks what was delivered as "+head[:7])

	h.Git(side, "push", "-q", "origin", ":"+branch)
	shows("gone", "", "is not at the remote")
	if next := h.MustRun(patience, "pr", "show", "1").Stdout; !strings.Contains(next, "company submit --follows t1") ||
		!strings.Contains(next, "restores the branch") {
		t.Errorf("pr show:\n%s", next)
	}
	if got := h.Git(h.Origin, "for-each-ref", "--format=%(refname:short)", "refs/heads"); got != "main" {
		t.Errorf("branches at the origin: %s", got)
	}

	h.Git(side, "push", "-q", "origin", head+":refs/heads/"+branch)
	shows("", "")

	// What pr merge says to do brings in what was delivered, whatever became of
	// the branch.
	h.Git(side, "push", "-q", "origin", ":"+branch)
	shows("gone", "", "is not at the remote")
	r := h.Run(patience, "pr", "merge", "1")
	_, fix, _ := strings.Cut(r.Stderr, "cd ")
	fix, _, found := strings.Cut("cd "+fix,
		" && company pr merge 1; or, where people merged it in another form: company pr close 1")
	if r.Code == 0 || !found || !strings.Contains(r.Stderr, "not at the remote") {
		t.Fatalf("pr merge of what no branch holds: %d\n%s", r.Code, r.Stderr)
	}
	sh := exec.Command("sh", "-ec", fix)
	sh.Dir, sh.Env = h.Dir, h.Env
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", fix, err, out)
	}
	if out := h.MustRun(patience, "pr", "merge", "1").Stdout; !strings.Contains(out, "#1 is merged") {
		t.Errorf("after it was done: %s", out)
	}
	if out := h.MustRun(patience, "status").Stdout; strings.Contains(out, "BRANCHES") {
		t.Errorf("of what is merged:\n%s", out)
	}
	h.Git(h.Origin, "merge-base", "--is-ancestor", head, "main")
}

// A company is killed between its push and its pull request, and a person
// commits on top of what was pushed. The next company opens the pull request for
// what is there, says whose commits those are, and moves nothing.
func TestKillAfterPushBelowAPerson(t *testing.T) {
	hosttest.Long(t, "TestBranchThatPeopleChange has people's commits, TestKillAtTheForge the kill")
	t.Parallel()
	h := openTinyProject(t, farewells())
	p := killedAfterGit(t, h, "*push?--porcelain*refs/heads/develop-*")
	branch := integrationBranch(h, 1)
	head := h.Git(h.Origin, "rev-parse", "refs/heads/"+branch)
	if count(p, "pr.opened") > 0 {
		t.Fatalf("not the moment after the push:\n%s", p.Tell())
	}
	side := filepath.Join(h.Dir, "colleague")
	h.Git(h.Dir, "clone", "-q", "--branch", branch, h.Origin, side)
	h.Git(side, "commit", "-q", "--allow-empty", "-m", "by a colleague", "--author", "Bob <bob@example.org>")
	h.Git(side, "push", "-q", "origin", branch)
	theirs := h.Git(side, "rev-parse", "HEAD")

	sum := waitForSummary(t, h.Start("resume"), 0)
	if sum.Task != "t1" || sum.PR == nil || *sum.PR != 1 {
		t.Errorf("summary: %+v", sum)
	}
	if at := h.Git(h.Origin, "rev-parse", "refs/heads/"+branch); at != theirs {
		t.Errorf("the branch is at %s, and a person left it at %s", at, theirs)
	}
	for _, command := range [][]string{{"pr", "list"}, {"pr", "show", "1"}, {"status"}} {
		if out := h.MustRun(patience, command...).Stdout; !strings.Contains(
			out, "has 1 commit on top of "+head[:7]+" by Bob") {
			t.Errorf("%v:\n%s", command, out)
		}
	}
	if out := h.MustRun(patience, "pr", "sync").Stdout; !strings.Contains(
		out, "has 1 commit on top of "+head[:7]+" by Bob") {
		t.Errorf("asked again:\n%s", out)
	}
	mainUnmoved(t, h)
}
