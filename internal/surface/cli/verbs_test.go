package cli

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
	"company/test/heldoffice"
)

// offerRun puts the first run of a subtask on offer.
func offerRun(o *heldoffice.Office, id company.TaskID, n int) company.RunID {
	run := company.NewRunID(id, company.NewSubtaskID(id, n), company.Worker, 1)
	o.Must(company.Offer{Run: run})
	return run
}

func requireRefusal(t *testing.T, r heldoffice.Result, code company.Code, says string) {
	t.Helper()
	if r.Code == 0 || r.Out != "" || !strings.Contains(r.Err, "["+string(code)+"]") || !strings.Contains(r.Err, says) {
		t.Errorf("want %s and %q: %+v", code, says, r)
	}
}

// A word to a worker is in the ledger when the command ends, whether a company is at
// work or not, and what runs no more is told so.
func TestTell(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 2)
	run := offerRun(o, id, 1)
	o.Claim(run, "")
	for _, served := range []bool{true, false} {
		if served {
			o.Serve()
		} else {
			o.Close()
		}
		if r := o.Run(t.Context(), execute, "tell", "t1-01", "keep the old flag"); r.Code != 0 ||
			!strings.HasPrefix(r.Out, "t1-01.1 will read it at its next turn") ||
			strings.Contains(r.Err, "company resume t1") == served {
			t.Errorf("served %v: %+v", served, r)
		}
		if r := o.Run(t.Context(), execute, "tell", "t1-01", "x", "-o", "json"); r.Code != 0 ||
			!strings.Contains(r.Out, `"run":"t1-01.1"`) {
			t.Errorf("served %v: %+v", served, r)
		}
		requireRefusal(t, o.Run(t.Context(), execute, "tell", "t1-02", "x"), company.EConflict, "no worker works on t1-02 now")
		requireRefusal(t, o.Run(t.Context(), execute, "tell", "t1-09", "x"), company.ENotFound, "there is no subtask t1-09")
		requireRefusal(t, o.Run(t.Context(), execute, "tell", "t9-01", "x"), company.ENotFound, "there is no task t9")
		requireRefusal(t, o.Run(t.Context(), execute, "tell", "t1", "x"), company.EUsage, "invalid subtask id")
		requireRefusal(t, o.Run(t.Context(), execute, "tell", "t1-01.1", "x"), company.EUsage, "company tell t1-01 reaches")
		requireRefusal(t, o.Run(t.Context(), execute, "tell", "t1-01", " "), company.EInvalid, "the message is empty")
	}
	if r := o.Run(t.Context(), execute, "show", "t1-01"); strings.Count(r.Out, "keep the old flag") != 2 {
		t.Errorf("show: %+v", r)
	}
	if r := o.Run(t.Context(), execute, "feed"); strings.Count(r.Out, "you: keep the old flag") != 2 {
		t.Errorf("feed: %+v", r)
	}
	o.Reopen()
	o.Must(company.Cancel{Task: id})
	requireRefusal(t, o.Run(t.Context(), execute, "status", "--office", t.TempDir()), company.EConfig, "not an office")
	o.Close()
	requireRefusal(t, o.Run(t.Context(), execute, "tell", "t1-01", "x"), company.EConflict, "t1 has ended")
}

// The conversation of a run under way is shown from any process, and followed to its
// end.
func TestLogsOfARunningRun(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 1)
	run := offerRun(o, id, 1)
	o.WriteJournal(run, o.Claim(run, ""), func(j *ledger.Journal) {
		if _, err := j.Append(t.Context(), "prompt",
			map[string]any{"at": time.Unix(1, 0).UTC(), "first": map[string]string{"text": "the ticket"}}); err != nil {
			t.Fatal(err)
		}
	})
	o.Must(company.Offer{Run: run})
	fence := o.Claim(run, "")
	o.Serve()
	for _, args := range [][]string{{"logs", "t1-01"}, {"logs", "t1-01.1", "-o", "json"}} {
		if r := o.Run(t.Context(), execute, args...); r.Code != 0 || !strings.Contains(r.Out, "the ticket") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	ended := startCommand(t, o, "logs", "-f", "t1-01")
	objects := startCommand(t, o, "logs", "-f", "t1-01.1", "-o", "json")
	select {
	case r := <-ended:
		t.Fatalf("it ended before the run: %+v", r)
	case <-time.After(300 * time.Millisecond):
	}
	o.Must(company.EndRun{Run: run, Fence: fence, Outcome: company.RunEnded{Status: company.RunError, Error: "enough"}})
	if r := <-ended; r.Code != 0 || strings.Count(r.Out, "the ticket") != 1 {
		t.Errorf("%+v", r)
	}
	if r := <-objects; r.Code != 0 ||
		!strings.Contains(r.Out, `"schema_version":1,"run":"t1-01.1","message":{"role":"user","content":"the ticket"`) {
		t.Errorf("%+v", r)
	}
	requireRefusal(t, o.Run(t.Context(), execute, "logs", "-f", "t1-02"), company.ENotFound, "there is no subtask t1-02")
	requireRefusal(t, o.Run(t.Context(), execute, "logs", "-f", "run"), company.EUsage, "invalid id \"run\"")
	requireRefusal(t, o.Run(t.Context(), execute, "logs", "t9-01.1"), company.ENotFound, "there is no task t9")
}

// A task that was cancelled is reopened and followed; one that has not ended, or is
// no task, is not.
func TestRetry(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 2)
	o.Serve()
	requireRefusal(t, o.Run(t.Context(), execute, "retry", "t1"), company.EConflict, "company resume t1")
	requireRefusal(t, o.Run(t.Context(), execute, "retry", "t9"), company.ENotFound, "there is no task t9")
	requireRefusal(t, o.Run(t.Context(), execute, "retry", "t1-01"), company.EUsage, "invalid task id")
	o.Must(company.Cancel{Task: id, Why: "a slip"})
	requireRefusal(t, o.Run(t.Context(), execute, "retry", "t1", "--from", "t2-01"), company.EUsage, "not a subtask of t1")
	requireRefusal(t, o.Run(t.Context(), execute, "retry", "t1", "--from", "t1-09"), company.ENotFound,
		"there is no subtask t1-09")
	requireRefusal(t, o.Run(t.Context(), execute, "retry", "t1", "--model", "nosuch"), company.EUsage,
		`unknown model profile "nosuch"`)
	ended := startCommand(t, o, "retry", "t1", "--from", "t1-02", "--model", "default")
	hosttest.Eventually(t, "the task goes on", func() (any, bool) {
		select {
		case r := <-ended:
			t.Fatalf("%+v", r)
		default:
		}
		status := o.Task(id).Status
		return status, status == company.StatusExecuting
	})
	o.Must(company.Cancel{Task: id, Why: "again"})
	if r := <-ended; r.Code != 2 || !strings.Contains(r.Out, "cancelled: again") ||
		!strings.Contains(r.Err, "reopened; what is merged stays merged; from t1-02 on it restarts") {
		t.Errorf("%+v", r)
	}
}

// The plan of a dry run is worked on once, as it stands.
func TestSubmitPlan(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Planned("only a plan", 2)
	o.Serve()
	for args, says := range map[string]string{"--plan t1 again": "an instruction cannot be used together",
		"--plan t1 --base main": "--base cannot be used together", "--plan x": "invalid task id"} {
		requireRefusal(t, o.Run(t.Context(), execute, append([]string{"submit"}, strings.Fields(args)...)...),
			company.EUsage, says)
	}
	requireRefusal(t, o.Run(t.Context(), execute, "submit", "--plan", "t9"), company.ENotFound, "there is no task t9")
	if r := o.Run(t.Context(), execute, "submit", "--plan", "t1", "--detach"); r.Code != 0 ||
		!strings.Contains(r.Out, "t1") {
		t.Errorf("%+v", r)
	}
	if task := o.Task(id); task.Status != company.StatusExecuting || task.DryRun || len(task.Subtasks) != 2 {
		t.Errorf("%+v", task)
	}
	requireRefusal(t, o.Run(t.Context(), execute, "submit", "--plan", "t1"), company.EConflict,
		"is not a dry run with a plan")
}
