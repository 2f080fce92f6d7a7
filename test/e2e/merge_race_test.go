package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// A follow-up delivers while the president is asked whether to merge. What was confirmed is
// merged, and the pull request stays open until the rest is, too: the ledger says what git says.
func TestMergeWhileAFollowUpDelivers(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, addsTwo())
	waitForSummary(t, h.Start("submit", "add one"), 0)
	person := h.AtTerminal("pr", "merge", "1")
	person.See(patience, "[y/N] ")
	waitForSummary(t, h.Start("submit", "--follows", "t1", "add two"), 0)
	person.Type("y\n")
	code := person.Wait(patience)
	holds := func(name string) bool {
		return exec.Command("git", "-C", h.Origin, "cat-file", "-e", "main:"+name).Run() == nil
	}
	if list := h.MustRun(patience, "pr", "list").Stdout; !holds("one.sh") || holds("two.sh") || code != 1 ||
		!strings.Contains(list, "open") {
		t.Errorf("exit %d; in main: one.sh %v, two.sh %v; the office says %s\n%s", code, holds("one.sh"), holds("two.sh"),
			list, person.Screen())
	}
	again := h.AtTerminal("pr", "merge", "1", "--yes")
	if code := again.Wait(patience); code != 0 || !holds("two.sh") {
		t.Errorf("exit %d, two.sh in main %v:\n%s", code, holds("two.sh"), again.Screen())
	}
	if list := h.MustRun(patience, "pr", "list").Stdout; !strings.Contains(list, "merged") {
		t.Error(list)
	}
}
