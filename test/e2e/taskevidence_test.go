package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/delivery/report"
	"company/internal/lib/hosttest"
	"company/internal/present/view"
)

// TestEvidence: something stands where the report of a task is to be, so the finished work is not delivered, and the
// task ends with an error. Once the place is free a retry delivers it, with its report, its log and the index. Both ids
// lead to one log. company evidence verify finds each claim shown, until an output is gone (ART-6,
// ART-7, ART-8, ART-9, LOG-2, LOG-3, LOG-4, CLI-2, GAT-3, GAT-4, GAT-5).
func TestEvidence(t *testing.T) {
	t.Parallel()
	works := saysGoodbye()
	brain := &staff{manager: submitPlan(farewellTicket())}
	h := openTinyProject(t, brain)
	runtime := filepath.Join(h.Repo, ".company", "runtime")
	inTheWay := filepath.Join(runtime, "reports", "t1.report.md")
	brain.worker = func(x scripted.Exchange) scripted.Reply {
		if x.Turn == 0 {
			if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
				return scripted.Reply{Err: err.Error()}
			}
		}
		return works(x)
	}
	sum := waitForSummary(t, h.Start("submit", "say goodbye"), 1)
	if sum.Result != "ERROR" || !strings.Contains(sum.Why, "NO_EVIDENCE: its report cannot be written") {
		t.Fatalf("%+v", sum)
	}
	if pulls := h.MustRun(patience, "pr", "list").Stdout; strings.Contains(pulls, "#1") {
		t.Errorf("it was delivered:\n%s", pulls)
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	if sum := waitForSummary(t, h.Start("retry", "t1"), 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v", sum)
	}
	checkDelivered(t, h, 1, 1, 1)

	var log report.TaskLog
	var made report.Report
	hosttest.Eventually(t, "the log and the report of the end are written", func() (any, bool) { // they follow the event
		text, err := os.ReadFile(filepath.Join(runtime, "logs", "task-001.json"))
		err = errors.Join(err, json.Unmarshal(text, &log))
		text, rerr := os.ReadFile(filepath.Join(runtime, "reports", "t1.report.json"))
		return err, errors.Join(err, rerr, json.Unmarshal(text, &made)) == nil && log.Status == report.LogComplete &&
			made.Result == "COMPLETE"
	})
	if log.VerificationRoot != h.Repo || log.TaskID != "t1" || log.Modified != 2 || len(log.Events) < 10 {
		t.Errorf("%+v", log)
	}
	for _, file := range log.VerifiedFiles {
		if !file.Exists || file.Method != "diff" || file.Action != "created" || file.DetectedAt.IsZero() {
			t.Errorf("%+v", file)
		}
	}
	if made.Kind != report.Kind || made.Status != company.StatusCompleted || len(made.Evidence) == 0 ||
		len(made.Commands) == 0 || len(made.Unresolved) != 0 || made.Modified != 2 {
		t.Errorf("%+v", made)
	}
	index, err := os.ReadFile(filepath.Join(runtime, "logs", "index.ndjson"))
	if err != nil || string(index) != `{"external_task_id":"t1","log_id":"task-001"}`+"\n" {
		t.Errorf("%q, %v", index, err)
	}
	a, b := h.MustRun(patience, "logs", "t1").Stdout, h.MustRun(patience, "logs", "task-001").Stdout
	if a != b || a == "" {
		t.Errorf("task-001 is another log than that of t1:\n%s\n%s", a, b)
	}
	runAndExpect(t, h, []string{"log:    task-001", "report: "}, "show", "task-001")

	var result view.EvidenceCheck
	h.JSON(&result, "evidence", "verify", "t1")
	if result.Verdict != view.EvidenceConsistent || result.Modified != 2 || len(result.Claims) < 5 {
		t.Fatalf("%+v", result)
	}
	operations := map[view.Operation]string{}
	for _, claim := range result.Claims {
		operations[claim.Operation] = claim.Evidence
	}
	if len(operations) != 4 {
		t.Errorf("claims about %v alone", operations)
	}
	blob := operations[view.OperationCheck]
	if err := os.Remove(filepath.Join(h.State(), "bus", "blobs", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	r := h.Run(patience, "evidence", "verify", "task-001")
	if r.Code != 1 || !strings.Contains(r.Stdout, "\nNO_EVIDENCE: ") || !strings.Contains(r.Stderr, "E_EVIDENCE") {
		t.Errorf("%+v", r)
	}
	if r := h.Run(patience, "rollback", "t1-01.1"); r.Code != 1 || !strings.Contains(r.Stderr, "t1-01 is merged") {
		t.Errorf("%+v", r)
	}
}
