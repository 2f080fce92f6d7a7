package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/test/safebuffer"
	"company/test/testenv"
)

// atWork starts a submission whose worker waits for the model, with its
// container up.
func atWork(t *testing.T) (*testenv.House, *testenv.Process, *stop) {
	t.Helper()
	held := stopAt("t1-01.1", 2)
	h := openFarewells(t, held)
	p := h.Start("submit", "--no-input", "add a farewell")
	held.wait(t, p)
	p.Event(patience, "task.baseline", "") // the container of the base's checks is gone
	if up := h.Containers(); len(up) != 1 {
		t.Fatalf("containers while the worker works: %v", up)
	}
	return h, p, held
}

// checkCostSoFar: what a run under way has spent is counted in its task and its office before it ends.
func checkCostSoFar(t *testing.T, h *testenv.House) {
	t.Helper()
	var v struct {
		Tokens  int64
		Tasks   []struct{ Tokens int64 }
		Running []struct{ Tokens int64 }
	}
	h.JSON(&v, "status")
	var ledger struct{ Tasks []struct{ Tokens int64 } }
	h.JSON(&ledger, "budget", "show")
	if len(v.Running) != 1 || len(v.Tasks) != 1 || len(ledger.Tasks) != 1 || v.Running[0].Tokens == 0 {
		t.Fatalf("status %+v, budget %+v", v, ledger)
	}
	if want := ledger.Tasks[0].Tokens + v.Running[0].Tokens; v.Tasks[0].Tokens != want || v.Tokens != want {
		t.Errorf("status counts %d tokens of the task and %d of the office, want %d", v.Tasks[0].Tokens, v.Tokens, want)
	}
}

// TestStopAndResume: stop from another process cuts everything at once: no
// container is left and no model is called any more; resume goes on (REC-5).
func TestStopAndResume(t *testing.T) {
	t.Parallel()
	h, p, held := atWork(t)
	runAndExpect(t, h, []string{"RUNNING\n  > t1-01.1", ": thinks\n", "running (pid "}, "status")
	runAndExpect(t, h, []string{"t1-01.1  worker  working, ", " 3 turns, ", "  now:    thinks\n"}, "show", "t1-01.1")
	checkCostSoFar(t, h)
	calls := h.Model.Calls().Total
	runAndExpect(t, h, []string{"stopped 1 run"}, "stop", "lunch")
	sum := waitForSummary(t, p, 2)
	if sum.Result != "INCOMPLETE" || sum.Why != "the office is stopped" || sum.Next != "company resume" {
		t.Errorf("summary: %+v", sum)
	}
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("containers after the stop: %v", left)
	}
	held.release()
	runRefused(t, h, 1, "E_STOPPED", "submit", "more")
	runAndExpect(t, h, []string{"STOPPED", "NEEDS YOU\n  ~ the office is stopped, with 1 unfinished task: company " +
		"resume\n"}, "status")
	if n := h.Model.Calls().Total; n != calls {
		t.Errorf("%d model calls after the stop", n-calls)
	}
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestCancelFromElsewhere ends a task that another process works on.
func TestCancelFromElsewhere(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, p, _ := atWork(t)
	runRefused(t, h, 1, "E_NOT_FOUND", "cancel", "t2")
	// Its journal is asked of the other process.
	runAndExpect(t, h, []string{"t1-01.1  worker", "role=worker"}, "logs", "t1-01.1")
	runAndExpect(t, h, []string{"t1 is cancelled"}, "cancel", "t1", "no longer needed")
	if sum := waitForSummary(t, p, 2); sum.Status != "cancelled" || sum.Why != "cancelled: no longer needed" {
		t.Errorf("summary: %+v", sum)
	}
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("containers after the end: %v", left)
	}
	runAndExpect(t, h, []string{"t1 is cancelled"}, "cancel", "t1") // a repeat is harmless
}

// TestInterrupt: the first Ctrl-C puts everything away and says how to go on;
// what the run had said can be read, and resume goes on.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	h, p, held := atWork(t)
	if err := syscall.Kill(p.PID(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r := p.Wait(patience)
	if r.Code != 130 || !strings.Contains(p.Tell(), "interrupted; continue with: company resume t1") {
		t.Fatalf("exit %d\n%s", r.Code, p.Tell())
	}
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("containers after an interrupt: %v", left)
	}
	held.release()
	runAndExpect(t, h, []string{"NEEDS YOU\n  ~ t1 is paused: company resume t1\n"}, "status")
	runAndExpect(t, h, []string{"t1-01.1  w1", "+ write_file", "farewell.sh"}, "logs", "--full", "t1-01")
	waitForSummary(t, h.Start("resume", "t1"), 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestHeldByTheDeaf: an office whose holder does not answer is exit 3, for
// every command, and nothing is done.
func TestHeldByTheDeaf(t *testing.T) {
	hosttest.Long(t, "TestCompletion meets an office that does not answer")
	t.Parallel()
	h, p, held := atWork(t)
	if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(p.PID(), syscall.SIGCONT) })
	var wg sync.WaitGroup
	for _, args := range [][]string{{"status"}, {"submit", "more"}, {"stop"}} {
		wg.Go(func() {
			began := time.Now()
			r := h.Run(patience, args...)
			if r.Code != 3 || !strings.Contains(
				r.Stderr, "error[E_HELD]: the office is held by a process that does not answer\n  why:  process ") ||
				!strings.Contains(r.Stderr, fmt.Sprintf("kill %d", p.PID())) {
				t.Errorf("company %s: exit %d\n%s", args[0], r.Code, r.Stderr)
			}
			if took := time.Since(began); took < 4*time.Second {
				t.Errorf("company %s gave up after %s", args[0], took)
			}
		})
	}
	wg.Wait()
	if r := h.Run(patience, "doctor"); r.Code != 1 || !strings.Contains(r.Stdout, "x office") {
		t.Errorf("doctor: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	if err := syscall.Kill(p.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	held.release()
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
}

// twoTasks are two submissions: the first from the process that opens the
// office, the second from one that follows there. Both wait for the model.
func twoTasks(t *testing.T) (h *testenv.House, first, second *testenv.Process, one, two *stop) {
	t.Helper()
	one, two = stopAt("t1-01.1", 1), stopAt("t2-01.1", 1)
	h = openTinyProject(t, addsTwo(one, two))
	t.Cleanup(one.release) // before the model's server is closed
	t.Cleanup(two.release)
	first = h.Start("submit", "add one")
	one.wait(t, first)
	second = h.Start("submit", "add two")
	two.wait(t, second)
	if !strings.Contains(second.Tell(), "t2 is queued with the running company") {
		t.Errorf("the second submission was not queued with the first:\n%s", second.Tell())
	}
	return h, first, second, one, two
}

// TestInterruptRests: Ctrl-C in the terminal whose process works for both
// interrupts its own task alone. The other terminal takes over, goes on with
// its own, and shows and pays for nothing of the one that was interrupted, which
// rests until somebody resumes it.
func TestInterruptRests(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, first, second, one, two := twoTasks(t)
	if err := syscall.Kill(first.PID(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if r := first.Wait(patience); r.Code != 130 {
		t.Fatalf("exit %d\n%s", r.Code, first.Tell())
	}
	calls := h.Model.Calls().ByRun["t1-01.1"]
	one.release()
	two.release()
	if sum := waitForSummary(t, second, 0); sum.Task != "t2" || sum.Result != "COMPLETE" {
		t.Errorf("summary: %+v", sum)
	}
	if n := h.Model.Calls().ByRun["t1-01.1"]; n != calls {
		t.Errorf("the interrupted task asked the model %d times more", n-calls)
	}
	runAndExpect(t, h, []string{"NEEDS YOU\n  ~ t1 is paused: company resume t1\n"}, "status")
	waitForSummary(t, h.Start("resume", "t1"), 0)
	mainUnmoved(t, h)
}

// TestDetach: the work goes on in the background, from an instruction too long
// for a command line. The feed can be followed from before the work begins. It
// goes on after the company in the background ends, and shows what a later command does (UI-1).
func TestDetach(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, farewells())
	text := "add a farewell\n\n" + strings.Repeat("so that nobody leaves without a word. ", 6000) // 228 KiB
	file := filepath.Join(h.Dir, "ticket.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := h.MustRun(patience, "submit", "-f", file, "--detach", "-o", "json")
	var got struct{ Task string }
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || got.Task != "t1" {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	follow := h.Command("feed", "t1", "--follow", "-o", "json")
	var out safebuffer.Buffer
	var complaints safebuffer.Buffer
	follow.Stdout, follow.Stderr = &out, &complaints
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && follow.ProcessState == nil {
			_ = follow.Process.Signal(syscall.SIGQUIT) // it prints what it waits for, and ends
			_ = follow.Wait()
			t.Logf("feed --follow: %v\n%s", follow.ProcessState, complaints.String())
		}
	})
	waitFor(t, func() bool { return strings.Contains(out.String(), `"task.completed"`) }, out.String)
	h.EndBackground()
	checkDelivered(t, h, 1, 1, 1)
	h.MustRun(patience, "pr", "close", "1")
	waitFor(t, func() bool { return strings.Contains(out.String(), `"pr.settled"`) }, out.String)
	_ = follow.Process.Signal(syscall.SIGINT)
	if err := follow.Wait(); follow.ProcessState.ExitCode() != 130 {
		t.Errorf("feed --follow: %v", err)
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(first, `"task.submitted"`) ||
		strings.Count(out.String(), `"task.submitted"`) != 1 {
		t.Errorf("the feed does not begin with the submission, or has it again:\n%s", out.String())
	}
}

// waitFor waits until something holds.
func waitFor(t testing.TB, ok func() bool, tell func() string) {
	t.Helper()
	hosttest.Eventually(t, "what the test waits for", func() (any, bool) {
		if ok() {
			return nil, true
		}
		return tell(), false
	})
}

// perTask answers the tasks t1 and t2 with a function each.
func perTask(one, two func(scripted.Exchange) scripted.Reply) func(scripted.Exchange) scripted.Reply {
	return func(x scripted.Exchange) scripted.Reply {
		if x.Header.Task == "t1" {
			return one(x)
		}
		return two(x)
	}
}
