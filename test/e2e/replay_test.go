package e2e

import (
	"testing"

	"company/internal/replay"
)

// TestReplay does a task again from its record, with no model to be had.
func TestReplay(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, triplesInShell())
	waitForSummary(t, h.Start("submit", "add a script that triples"), 0)
	asked := len(h.Model.Calls().ByRun)
	var report replay.Report
	h.JSON(&report, "replay", "t1")
	t.Logf("%+v", report)
	if !report.Same || len(report.Merges) != 1 || asked != len(h.Model.Calls().ByRun) {
		t.Errorf("%+v", report)
	}
}
