package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
)

var mergeTarget = regexp.MustCompile(`git merge --no-commit ([0-9a-f]{40})`)

// A follow-up works on the branch of the open pull request, from where people
// left it, and hands its work to that pull request. Here the base has moved on
// and conflicts; the follow-up merges it. It is judged by the gates that the pull request
// began with, and says what the CI of the branch checks besides.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	one := triplesInShell()
	triple := "# Three times the argument, as the base has it and the branch too.\necho $(($1 + $1 + $1))\n"
	merges := func(x scripted.Exchange) scripted.Reply {
		found := mergeTarget.FindStringSubmatch(x.Messages[1].Content)
		if found == nil {
			return scripted.Reply{Err: "the ticket names no commit to merge"}
		}
		return replyInSteps(
			call("run_command", m{"command": "git merge --no-commit " + found[1] + "; git status --short; test -f NOTE.md && " +
				"test -f base.txt"}),
			call("read_file", m{"path": "triple.sh"}),
			call("write_file", m{"path": "triple.sh", "content": triple}),
			call("git_commit", m{"message": "Merge the base"}),
			call("finish", m{"summary": "the base is merged"}),
		)(x)
	}
	brain := &staff{
		manager: func(x scripted.Exchange) scripted.Reply {
			if x.Header.Run.Task() == "t1" {
				return one.manager(x)
			}
			return submitPlan([]m{ticket("Merge the base", "Merge the base branch and resolve what conflicts.", "triple.sh")})(x)
		},
		worker: func(x scripted.Exchange) scripted.Reply {
			if x.Header.Run.Task() == "t1" {
				return one.worker(x)
			}
			return merges(x)
		},
	}
	h := openTinyProject(t, brain)
	waitForSummary(t, h.Start("submit", "add a function that triples"), 0)
	checkDelivered(t, h, 1, 1, 1)
	branch := integrationBranch(h, 1)

	// People push a note and a CI workflow to the branch, and a conflicting change to main.
	side := filepath.Join(h.Dir, "colleague")
	h.Git(h.Dir, "clone", "-q", h.Origin, side)
	push := func(branch string, files ...string) {
		h.Git(side, "switch", "-q", branch)
		for i := 0; i < len(files); i += 2 {
			path := filepath.Join(side, files[i])
			err := os.MkdirAll(filepath.Dir(path), 0o755)
			if err == nil {
				err = os.WriteFile(path, []byte(files[i+1]), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		h.Git(side, "add", "-A")
		h.Git(side, "commit", "-qm", "by a colleague")
		h.Git(side, "push", "-q", "origin", branch)
	}
	push(branch, "NOTE.md", "reviewed\n", ".github/workflows/ci.yml",
		"on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ./integration-test.sh\n")
	push("main", "triple.sh", "# Three times the argument.\necho $(($1 * 3))\n", "base.txt", "moved on\n")

	type sync struct {
		PullRequests []struct {
			Number   int
			State    string
			FollowUp string `json:"follow_up"`
		} `json:"pull_requests"`
	}
	var heard, again sync
	h.JSON(&heard, "pr", "sync")
	if len(heard.PullRequests) != 1 || heard.PullRequests[0].FollowUp != "t2" {
		t.Fatalf("heard of a conflict: %+v", heard)
	}
	h.JSON(&again, "pr", "sync", "1")
	if len(again.PullRequests) != 1 || again.PullRequests[0].FollowUp != "" || again.PullRequests[0].State != "open" {
		t.Fatalf("heard again: %+v", again)
	}
	sum := waitForSummary(t, h.Start("resume", "t2"), 0)
	if sum.Task != "t2" || sum.PR == nil || *sum.PR != 1 ||
		!strings.Contains(strings.Join(sum.Unverified, "\n"), "./integration-test.sh") {
		t.Errorf("summary: %+v", sum)
	}
	head := h.Git(h.Origin, "rev-parse", "refs/heads/"+branch)
	h.Git(h.Origin, "merge-base", "--is-ancestor", "main", branch)
	if got := h.Git(h.Origin, "show", branch+":triple.sh") + "\n"; got != triple {
		t.Errorf("triple.sh is %q", got)
	}
	for _, f := range []string{"NOTE.md", "base.txt", "checks/triple.sh"} {
		h.Git(h.Origin, "cat-file", "-e", branch+":"+f)
	}
	if got := h.Git(h.Origin, "for-each-ref", "--format=%(refname)", "refs/heads"); strings.Count(got, "\n") != 1 {
		t.Errorf("branches at the remote: %s", got)
	}
	var list struct {
		PullRequests []struct {
			Number int
			Task   string
			Head   string
		} `json:"pull_requests"`
	}
	h.JSON(&list, "pr", "list")
	if len(list.PullRequests) != 1 || list.PullRequests[0].Head != head || list.PullRequests[0].Task != "t1" {
		t.Errorf("%+v, the branch is at %s", list, head)
	}
	page := h.MustRun(patience, "pr", "show", "1").Stdout
	for _, want := range []string{"# Add Triple", "## Follow-ups", "| t2 |", head[:7]} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	h.Git(side, "switch", "-q", "main")
	h.Git(side, "pull", "-q")
	h.Git(side, "fetch", "-q")
	h.Git(side, "merge", "-q", "origin/"+branch)
	h.Git(side, "push", "-q", "origin", "main")
	if out := h.MustRun(patience, "pr", "sync").Stdout; !strings.Contains(out, "merged") {
		t.Errorf("sync after the merge: %s", out)
	}
	if r := h.Run(patience, "submit", "--follows", "t2", "once more"); r.Code != 1 ||
		!strings.Contains(r.Stderr, string(company.EConflict)) {
		t.Errorf("a follow-up of a merged pull request: %d\n%s", r.Code, r.Stderr)
	}
}
