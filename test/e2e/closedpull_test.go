package e2e

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/forge/forgetest"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
)

// TestClosedPullIsNotMerged: a closed pull request that a task waits for is merged by no word of
// company pr merge, but once its commits are in the base.
func TestClosedPullIsNotMerged(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, triplesInShell())
	waitForSummary(t, h.Start("submit", "add a function that triples"), 0)
	p := h.Start("submit", "--after", "t1", "and one that multiplies by nine")
	p.Until(patience, "the submission", func(it feed.Item) bool { return it.Kind == "task.submitted" && it.Task == "t2" })
	p.Kill()
	h.MustRun(patience, "pr", "close", "1")
	if said := runRefused(t, h, 1, string(company.EConflict), "pr", "merge", "1"); !strings.Contains(
		said, "#1 is closed and not merged") {
		t.Errorf("%s", said)
	}
	runAndExpect(t, h, []string{"#1  closed"}, "pr", "list")

	h.Git(h.Repo, "fetch", "-q", "origin", integrationBranch(h, 1))
	h.Git(h.Repo, "merge", "-q", "--no-ff", "-m", "take it", "FETCH_HEAD")
	h.Git(h.Repo, "push", "-q", "origin", "main")
	runAndExpect(t, h, []string{"#1 is merged"}, "pr", "merge", "1")
}

// TestReopenedPull: people open a closed pull request again. company pr sync of its number finds
// that, hears what is said there, and later that it is merged. A person who gave it another base
// is not told that it is merged into the old one.
func TestReopenedPull(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, s, repo := onGitHub(t, farewells(), "ann", "")
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	s.EditPull(repo, 1, func(p *forgetest.Pull) { p.State = "closed" })
	runAndExpect(t, h, []string{"#1  closed"}, "pr", "sync")
	runAndExpect(t, h, []string{"where people opened it again: company pr sync 1"}, "pr", "show", "1")
	runAndExpect(t, h, []string{"#1  closed"}, "pr", "sync", "1")

	s.EditPull(repo, 1, func(p *forgetest.Pull) { p.State = "open" })
	s.AddComment(repo, 1, forgetest.Comment{User: "ann", Body: "/company say it louder"})
	runAndExpect(t, h, []string{"#1  t2 follows it up"}, "pr", "sync", "1")
	runAndExpect(t, h, []string{"#1  open"}, "pr", "list")
	h.MustRun(patience, "cancel", "t2")

	h.Git(repo.Dir, "branch", "release", "main")
	s.EditPull(repo, 1, func(p *forgetest.Pull) { p.Base = "release" })
	person := h.AtTerminal("pr", "merge", "1", "--yes")
	if code := person.Wait(patience); code != 1 || !strings.Contains(person.Screen(), "has the base release") ||
		s.Pulls(repo)[0].Merged {
		t.Errorf("exit %d: %s", code, person.Screen())
	}
	s.MergePull(repo, 1)
	runAndExpect(t, h, []string{"#1  merged"}, "pr", "sync", "1")
}
