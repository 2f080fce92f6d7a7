package e2e

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// cancelledFarewell holds a worker that has committed the farewell, and has its check in the
// work tree; its last command has waited until that is kept. The worker of the next run has only to
// commit and to finish.
func cancelledFarewell(t *testing.T) (*testenv.House, *testenv.Process, *stop) {
	t.Helper()
	held := stopAt("t1-01.1", 4)
	t.Cleanup(held.release)
	write := func(path, text string) scripted.Reply { return call("write_file", m{"path": path, "content": text}) }
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket()),
		worker: replyByRun(
			replyInSteps(write("farewell.sh", "echo goodbye\n"), call("git_commit", m{"message": "Add a farewell"}),
				write("checks/farewell.sh", "test \"$(sh farewell.sh)\" = goodbye\n"),
				call("run_command", m{"command": "sh checks/farewell.sh"}), call("finish", m{"summary": "too late"})),
			replyInSteps(call("finish", m{"summary": "It was all there"})),
		),
		stops: []*stop{held},
	})
	p := h.Start("submit", "say goodbye")
	held.wait(t, p)
	return h, p, held
}

// checkKeptWork holds what the commands show of the cancelled run: its commit, and its uncommitted
// work. Then it has a retry finish from there.
func checkKeptWork(t *testing.T, h *testenv.House) {
	t.Helper()
	for _, id := range []string{"t1-01", "t1-01.1"} {
		runAndExpect(t, h, []string{"farewell.sh", "+echo goodbye", "checks/farewell.sh"}, "diff", id)
	}
	runAndExpect(t, h, []string{"t1-01.1", "company diff t1-01", "company retry t1"}, "show", "t1")
	var run struct {
		Run struct {
			Head   string
			Turns  int
			Models []struct{ Model string }
		}
	}
	h.JSON(&run, "show", "t1-01.1")
	if run.Run.Head == "" || run.Run.Turns == 0 || len(run.Run.Models) != 1 {
		t.Errorf("the settled run: %+v", run.Run)
	}
	var clean struct {
		Kept int `json:"kept_unmerged"`
	}
	if h.JSON(&clean, "cleanup", "--all"); clean.Kept != 1 {
		t.Errorf("cleanup keeps %d things that were never merged", clean.Kept)
	}
	p := h.Start("retry", "t1")
	if s := waitForSummary(t, p, 0); s.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", s, p.Tell())
	}
	if first := requestText(t, h, "t1-01.2", 1); !strings.Contains(first, "+echo goodbye") {
		t.Errorf("the next run is not shown the work before it:\n%s", first)
	}
	checkDelivered(t, h, 1, 1, 1)
}

// TestCancelKeepsWork: what a cancelled run had committed, and what lay in its work tree, is shown and
// gone on from.
func TestCancelKeepsWork(t *testing.T) {
	t.Parallel()
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	h, p, held := cancelledFarewell(t)
	runAndExpect(t, h, []string{"t1 is cancelled"}, "cancel", "t1")
	held.release()
	if s := waitForSummary(t, p, 2); s.Tokens == 0 {
		t.Errorf("the summary does not wait for the run: %+v", s)
	}
	checkKeptWork(t, h)
}

// TestCancelKeepsWorkOfDeadCompany: the same where the company was killed, and no other is at work
// when the task is cancelled.
func TestCancelKeepsWorkOfDeadCompany(t *testing.T) {
	hosttest.Long(t, "TestCancelKeepsWork has a company at work")
	t.Parallel()
	h, p, held := cancelledFarewell(t)
	p.Kill()
	held.release()
	runAndExpect(t, h, []string{"t1 is cancelled"}, "cancel", "t1")
	checkKeptWork(t, h)
}

// TestRefusedPlanIsPaidFor: a task that fails at its plan has a summary with what the plan cost.
func TestRefusedPlanIsPaidFor(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, &staff{manager: func(x scripted.Exchange) scripted.Reply { return overlappingPlan() }})
	h.LetManagerPlan()
	for n := range 4 {
		s := waitForSummary(t, h.Start("submit", fmt.Sprint("say goodbye ", n)), 1)
		if s.Tokens == 0 {
			t.Errorf("%s: %+v", s.Task, s)
		}
		var v struct {
			Task struct {
				Runs []struct {
					ID     company.RunID
					Turns  int
					Models []struct{ Model string }
				}
			}
		}
		h.JSON(&v, "show", s.Task)
		if len(v.Task.Runs) != 1 || v.Task.Runs[0].Turns == 0 || len(v.Task.Runs[0].Models) != 1 {
			t.Errorf("runs of %s: %+v", s.Task, v.Task.Runs)
		}
	}
}
