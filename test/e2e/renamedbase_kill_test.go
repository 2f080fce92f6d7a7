package e2e

import (
	"testing"

	"company/internal/forge/forgetest"
)

// TestKillBehindAnotherBase kills the company when a forge has opened the pull request into the branch that took the
// place of its base, and the ledger does not know. Then the base is back. The next start finds that pull request, and
// tells the base that it has.
func TestKillBehindAnotherBase(t *testing.T) {
	t.Parallel()
	held := stopAt("t1-01.1", 2)
	h, s, repo := onGitHub(t, farewells(held), "ann", "")
	t.Cleanup(held.release)
	p := h.Start("submit", "say goodbye")
	held.wait(t, p)
	h.Git(repo.Dir, "branch", "-m", "main", "trunk")
	held.release()
	waitForSummary(t, p, 2)
	h.MustRun(patience, "approve", "a1")

	s.AddFault(forgetest.Fault{Method: "POST", Path: "/pulls", Code: 500, After: true, Delay: patience})
	p = h.Start("resume")
	waitFor(t, func() bool { return s.DelayedRequests() > 0 }, p.Tell)
	p.Kill()
	h.Git(repo.Dir, "branch", "main", "trunk")
	waitForSummary(t, h.Start("resume"), 0)
	if all := s.Pulls(repo); len(all) != 1 || all[0].Base != "trunk" || all[0].State != "open" {
		t.Errorf("%+v", all)
	}
	runAndExpect(t, h, []string{"pull request into trunk"}, "show", "t1")
	runAndExpect(t, h, []string{"-> trunk"}, "pr", "show", "1")
}
