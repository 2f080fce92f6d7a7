package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
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
	runAndExpect(t, h, []string{"RUNNING\n  > t1-01.1", ": thinks\n", "at work (pid "}, "status")
	runAndExpect(t, h, []string{"t1-01.1  worker  working, ", " 3 turns, ", "  now:    thinks\n"}, "show", "t1-01.1")
	checkCostSoFar(t, h)
	calls := h.Model.Calls().Total
	runAndExpect(t, h, []string{"stopped: 1 run cut"}, "stop", "lunch")
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
	if r.Code != 130 || !strings.Contains(p.Tell(), "interrupted; it rests until: company resume t1") {
		t.Fatalf("exit %d\n%s", r.Code, p.Tell())
	}
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("containers after an interrupt: %v", left)
	}
	held.release()
	runAndExpect(t, h, []string{"NEEDS YOU\n  ~ t1 is paused: company resume t1\n"}, "status")
	runAndExpect(t, h, []string{"t1-01.1  w1", "+ write_file", "farewell.sh"}, "logs", "t1-01")
	waitForSummary(t, h.Start("resume", "t1"), 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestLogsFromTheJournal: of a run that was cut off before it kept a
// transcript, the journal tells.
func TestLogsFromTheJournal(t *testing.T) {
	hosttest.Long(t, "TestInterrupt reads what a cut-off run said")
	t.Parallel()
	h, p, held := atWork(t)
	p.Kill()
	held.release()
	if _, err := os.Stat(filepath.Join(h.Repo, ".company/runtime/runs/t1-01.1/transcript.ndjson")); err == nil {
		t.Fatal("there is a transcript: the test shows nothing")
	}
	runAndExpect(t, h, []string{"NEEDS YOU\n  ~ t1 is unfinished and nobody works on it: company resume t1\n"}, "status")
	runAndExpect(t, h, []string{"t1-01.1  worker  ", "+ write_file", "created farewell.sh"}, "logs", "t1-01.1")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestInterruptTwice: the second Ctrl-C ends the process at once, while it is
// putting things away; nothing is lost by that.
func TestInterruptTwice(t *testing.T) {
	hosttest.Long(t, "TestInterrupt interrupts once")
	t.Parallel()
	h, p, held := atWork(t)
	for range 2 {
		if err := syscall.Kill(p.PID(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	if r := p.Wait(patience); r.Code != 130 {
		t.Fatalf("exit %d, signal %v\n%s", r.Code, r.Signal, p.Tell())
	}
	held.release()
	waitForSummary(t, h.Start("resume"), 0)
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
	if !strings.Contains(second.Tell(), "t2 is queued with the company at work here") {
		t.Errorf("the second submission was not queued with the first:\n%s", second.Tell())
	}
	return h, first, second, one, two
}

// TestSecondSubmitTakesOver: a second submission is worked on by the company
// that is open; when that one's own task is done and it ends, the follower
// takes the lock and goes on.
func TestSecondSubmitTakesOver(t *testing.T) {
	hosttest.Long(t, "TestTwoSubmits takes over, too")
	t.Parallel()
	h, first, second, one, two := twoTasks(t)
	one.release()
	waitForSummary(t, first, 0) // its own task decides, though t2 is not done
	two.release()
	if sum := waitForSummary(t, second, 0); sum.Task != "t2" || sum.Result != "COMPLETE" {
		t.Errorf("summary: %+v", sum)
	}
	checkDelivered(t, h, 1, 1, 1)
	checkDelivered(t, h, 2, 2, 1)
	if n := count(first, "task.completed"); n != 1 {
		t.Errorf("the first company told of %d ends:\n%s", n, first.Tell())
	}
	checkNoEventMissed(t, second)
	if calls := h.Model.Calls(); calls.ByRun["t2-01.1"] > 4 { // three turns, one repeated
		t.Errorf("t2-01.1 asked the model %d times", calls.ByRun["t2-01.1"])
	}
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

// TestInterruptOfAFollower: Ctrl-C in the terminal that follows lets its task
// rest, too, and the company that is open goes on with its own.
func TestInterruptOfAFollower(t *testing.T) {
	hosttest.Long(t, "TestInterruptRests interrupts the other of the two")
	t.Parallel()
	h, first, second, one, two := twoTasks(t)
	if err := syscall.Kill(second.PID(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if r := second.Wait(patience); r.Code != 130 ||
		!strings.Contains(second.Tell(), "interrupted; it rests until: company resume t2") {
		t.Fatalf("exit %d\n%s", r.Code, second.Tell())
	}
	runAndExpect(t, h, []string{"NEEDS YOU\n  ~ t2 is paused: company resume t2\n", "> t1-01.1"}, "status")
	one.release()
	two.release()
	waitForSummary(t, first, 0)
	checkDelivered(t, h, 1, 1, 1)
	waitForSummary(t, h.Start("resume", "t2"), 0)
	checkDelivered(t, h, 2, 2, 1)
}

// TestOneTerminalOneTask: a terminal shows the task that was given there.
func TestOneTerminalOneTask(t *testing.T) {
	hosttest.Long(t, "TestInterruptRests has two terminals, each with its task")
	t.Parallel()
	hold := stopAt("t1-01.1", 1)
	h := openTinyProject(
		t, &staff{manager: perTask(submitPlan(farewellTicket()), submitPlan(farewellTicket())), worker: saysGoodbye(),
			stops: []*stop{hold}})
	t.Cleanup(hold.release)
	first := h.AtTerminal("submit", "say goodbye")
	first.See(patience, "t1-01 ")
	second := h.AtTerminal("submit", "say goodbye again")
	second.See(patience, "complete")
	second.See(patience, "Review:")
	if strings.Contains(second.Screen(), " t1") {
		t.Errorf("the second terminal tells of t1:\n%s", second.Screen())
	}
	hold.release()
	first.See(patience, "Review:")
	if strings.Contains(first.Screen(), " t2") {
		t.Errorf("the first terminal tells of t2:\n%s", first.Screen())
	}
	if code := first.Wait(patience) + second.Wait(patience); code != 0 {
		t.Errorf("exit codes: %d", code)
	}
}

// TestFollowerOutlivesAKill: the same when the company that is open is killed.
func TestFollowerOutlivesAKill(t *testing.T) {
	hosttest.Long(t, "TestTwoSubmits takes over without a kill")
	t.Parallel()
	h, first, second, one, two := twoTasks(t)
	first.Kill()
	one.release()
	two.release()
	if sum := waitForSummary(t, second, 0); sum.Task != "t2" || sum.Result != "COMPLETE" {
		t.Errorf("summary: %+v", sum)
	}
	if len(h.Model.Requests()) == 0 {
		t.Error("no request")
	}
	waitForSummary(t, h.Start("resume", "t1"), 0)
	// Which of the two was first is not settled by this.
	branches := h.Git(h.Origin, "for-each-ref", "--format=%(refname:short)", "refs/heads/develop-*")
	if want := integrationBranch(h, 1) + "\n" + integrationBranch(h, 2); branches != want {
		t.Errorf("branches: %s", branches)
	}
	mainUnmoved(t, h)
	checkNoEventMissed(t, second)
}

// checkNoEventMissed: a follower misses no event when the office changes its holder.
func checkNoEventMissed(t *testing.T, p *testenv.Process) {
	t.Helper()
	if !slices.ContainsFunc(listEvents(t, p),
		func(it feed.Item) bool { return it.Kind == "task.completed" && it.Task == "t2" }) {
		t.Errorf("the feed does not tell of the end of the task:\n%s", p.Tell())
	}
}

// TestDetach: the work goes on in the background, from an instruction that no
// command line could carry, and can be followed from before it began.
func TestDetach(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, farewells())
	text := "add a farewell\n\n" + strings.Repeat("so that nobody leaves without a word. ", 6000) // 228 KiB
	file := filepath.Join(h.Dir, "ticket.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := h.MustRun(patience, "submit", "-f", file, "--detach", "-o", "json")
	var got struct{ Task, Log string }
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || got.Task != "t1" || got.Log == "" {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	if info, err := os.Stat(got.Log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its log: %v, %v", info, err)
	}
	follow := h.Command("feed", "t1", "--follow", "-o", "json")
	var out safebuffer.Buffer
	follow.Stdout = &out
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(out.String(), `"task.completed"`) },
		func() string { return out.String() })
	_ = follow.Process.Signal(syscall.SIGINT)
	if err := follow.Wait(); follow.ProcessState.ExitCode() != 130 {
		t.Errorf("feed --follow: %v", err)
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(first, `"task.submitted"`) {
		t.Errorf("the feed does not begin with the submission: %s", first)
	}
	// The background company ends by itself.
	waitFor(t, func() bool {
		var st struct{ Open bool }
		h.JSON(&st, "status")
		return !st.Open
	}, func() string { return "the background company is still there" })
	checkDelivered(t, h, 1, 1, 1)
	text2, err := os.ReadFile(got.Log)
	if err != nil || !strings.Contains(string(text2), "[RESULT] COMPLETE") {
		t.Errorf("the log: %v\n%s", err, text2)
	}
	if left, err := filepath.Glob(filepath.Join(h.Repo, ".company/state/instruction-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestFeedOverCompanies: feed --follow shows what happens in one company after
// the other, and what a single command does in between (UI-1).
func TestFeedOverCompanies(t *testing.T) {
	hosttest.Long(t, "TestTwoSubmits follows into a second company")
	t.Parallel()
	h := openTinyProject(t, farewells())
	waitForSummary(t, h.Start("submit", "--no-input", "--approve", "plan", "add a farewell"), 2)
	follow := h.Command("feed", "--follow", "-o", "json")
	var out safebuffer.Buffer
	follow.Stdout = &out
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	sees := func(kind string) {
		t.Helper()
		waitFor(t, func() bool { return strings.Contains(out.String(), `"kind":"`+kind+`"`) },
			func() string { return "no " + kind + ":\n" + out.String() })
	}
	sees("approval.opened")
	runAndExpect(t, h, []string{"a1: yes: work on it"}, "approve", "a1")
	sees("approval.answered")
	waitForSummary(t, h.Start("resume"), 0)
	sees("task.completed")
	_ = follow.Process.Signal(syscall.SIGINT)
	if err := follow.Wait(); follow.ProcessState.ExitCode() != 130 {
		t.Errorf("feed --follow: %v", err)
	}
	var last uint64
	for l := range strings.Lines(out.String()) {
		var it feed.Item
		if err := json.Unmarshal([]byte(l), &it); err != nil {
			t.Fatalf("%v: %s", err, l)
		}
		if it.Seq == 0 {
			continue
		}
		if it.Seq != last+1 {
			t.Errorf("event %d follows %d", it.Seq, last)
		}
		last = it.Seq
	}
}

// waitFor waits until something holds.
func waitFor(t testing.TB, ok func() bool, tell func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(tell())
		}
	}
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
