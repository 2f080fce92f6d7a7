package e2e

import (
	"os"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
)

// TestNothingToChange: a worker that finds its instruction fulfilled hands that in with its evidence, the reviewer
// judges the repository by the criteria, and the task is complete without a commit, a push or a pull request. What
// comes after it goes on.
func TestNothingToChange(t *testing.T) {
	t.Parallel()
	const evidence = "greet.sh prints hello already, and checks/greet.sh shows it"
	h := openTinyProject(t, &staff{worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
		"t1-01": replyInSteps(
			call("read_file", m{"path": "greet.sh"}),
			call("finish", m{"summary": evidence}),
			call("finish", m{"summary": evidence}),
		),
		"t2-01": saysGoodbye(),
	})})
	p := h.Start("submit", "--set", "approvals.pr=ask", "Have greet.sh print hello.")
	s := waitForSummary(t, p, 0)
	if s.Result != "COMPLETE" || s.PR != nil || !strings.Contains(s.Why, "Nothing to change: "+evidence) {
		t.Errorf("%+v", s)
	}
	checkBriefHolds(t, h, "t1-01-review.1", "It is empty: the author says", "Check each criterion", evidence)
	if refs := h.Git(h.Origin, "for-each-ref", "--format=%(refname)"); strings.TrimSpace(refs) != "refs/heads/main" {
		t.Errorf("the origin has %s", refs)
	}
	if list, err := os.ReadDir(h.State() + "/pulls"); err == nil && len(list) > 0 {
		t.Errorf("%d pull requests", len(list))
	}
	mainUnmoved(t, h)
	for _, args := range [][]string{{"status"}, {"show", "t1"}, {"diff", "t1"}, {"pr", "list"}} {
		if r := h.Run(patience, args...); r.Code != 0 || strings.Contains(r.Stderr, "panic") {
			t.Errorf("company %v: exit %d\n%s%s", args, r.Code, r.Stdout, r.Stderr)
		}
	}
	if r := h.Run(patience, "retry", "t1"); r.Code == 0 {
		t.Errorf("it is tried again: %s", r.Stdout)
	}
	waitForSummary(t, h.Start("submit", "--after", "t1", "say goodbye"), 0)
	checkDelivered(t, h, 2, 1, 1)
}
