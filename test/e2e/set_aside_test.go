package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// killAt kills the company while it is busy with something.
func killAt(t *testing.T, h *testenv.House, p *testenv.Process, doing string) {
	t.Helper()
	holdAt(t, h, p, doing)
	p.Kill()
}

// holdAt stops the company while it is busy with something: as soon as what it wrote of itself names that, and for
// good where it is still so then. A company that is stopped cannot go on meanwhile.
func holdAt(t *testing.T, h *testenv.House, p *testenv.Process, doing string) {
	t.Helper()
	p.Event(patience, "office.started", "") // before, the file is of the last process
	if err := syscall.Setpriority(syscall.PRIO_PGRP, p.PID(), 19); err != nil {
		t.Fatal(err) // a busy machine would not let the test see a short moment
	}
	isAt := func() bool {
		text, err := os.ReadFile(filepath.Join(h.Repo, ".company/state/marks"))
		return err == nil && bytes.Contains(text, []byte(doing))
	}
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if !isAt() {
			time.Sleep(100 * time.Microsecond) // the pace at which a short moment is seen
			continue
		}
		p.Signal(syscall.SIGSTOP)
		waitStopped(t, p.PID())
		if isAt() {
			return
		}
		p.Signal(syscall.SIGCONT)
	}
	t.Fatalf("the company was never seen %s:\n%s", doing, p.Tell())
}

// waitStopped waits until each thread of a process stands still. One that starts a program does so, too, until the
// child has begun it, which is stopped as well.
func waitStopped(t *testing.T, pid int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("threads of %d: %v, %v", pid, threads, err)
	}
	began := time.Now()
	for _, file := range threads {
		for {
			text, err := os.ReadFile(file)
			_, state, _ := strings.Cut(string(text), ") ")
			if err != nil || strings.HasPrefix(state, "T") || strings.HasPrefix(state, "Z") {
				break
			}
			if waited := time.Since(began); strings.HasPrefix(state, "D") && waited > time.Second {
				break
			} else if waited > patience {
				t.Fatalf("%s does not stop: %s", file, state)
			}
		}
	}
}

// TestRecordThatKills has a company die twice while it makes one and the same call of a worker, by kill -9 in that
// moment. The next start sets the run aside, works on the other ticket, and asks; so do status and doctor. Once more
// after the president's yes it dies there again, which sets the run aside at once; the yes after that leads to the end.
func TestRecordThatKills(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	long := strings.Repeat(":;", 60_000) // takes the company 50 ms to parse, twice
	hold := stopAt("t1-01.1", 0)
	t.Cleanup(hold.release)
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket(), []m{ticket("Tell of it", "Tell of it in the README.", "README.md")}),
		stops:   []*stop{hold},
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": func(x scripted.Exchange) scripted.Reply {
				if x.Turn == 0 {
					return call("run_command", m{"command": long})
				}
				x.Turn--
				return saysGoodbye()(x)
			},
			"t1-02": writeFilesAndFinish("Tell of it", "README.md", "# Greetings\n\nScripts that greet and say goodbye.\n"),
		}),
	})
	h.LetManagerPlan()
	h.Profile = fmt.Sprintf(
		"{adapter: openai, model: scripted, base_url: %q, api_key_env: TEST_MODEL_KEY, context_tokens: 1000000, "+
			"max_output: 200000}", h.Model.URL())
	h.Config(tinyGates)
	const calling = `"owner":"t1-01.1","doing":"making call","n":1,"part":1}`
	p := h.Start("submit", "say goodbye")
	hold.wait(t, p)
	hold.release()
	killAt(t, h, p, calling)
	killAt(t, h, h.Start("resume"), calling)

	asks := func(question string) {
		t.Helper()
		sum := waitForSummary(t, h.Start("resume"), 2)
		if sum.Status != "awaiting_input" ||
			!strings.Contains(sum.Why, "the run t1-01.1 is set aside: company died 2 times in a row while making call 1 of "+
				"reply 1") ||
			!strings.Contains(sum.Next, "company approve "+question) {
			t.Errorf("summary: %+v", sum)
		}
		if said := h.MustRun(patience, "status").Stdout; !strings.Contains(said, "set aside") ||
			!strings.Contains(said, question) {
			t.Errorf("status: %s", said)
		}
		if said := h.Run(patience, "doctor").Stdout; !strings.Contains(said, "t1-01.1: company died 2 times") {
			t.Errorf("doctor: %s", said)
		}
	}
	asks("a1")
	h.MustRun(patience, "approve", "a1")
	killAt(t, h, h.Start("resume"), calling)
	asks("a2")
	h.MustRun(patience, "approve", "a2")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 2)
	if calls := outcomeOf(h).calls; calls["t1-01.2"] > 0 {
		t.Errorf("the run did not go on: %v", calls)
	}
	if text, err := os.ReadFile(filepath.Join(h.Repo, ".company/state/deaths.json")); err != nil ||
		strings.TrimSpace(string(text)) != "[]" {
		t.Errorf("deaths at the end: %s, %v", text, err)
	}
}

// waitForMark waits until the company is busy with something that lasts.
func waitForMark(t *testing.T, h *testenv.House, p *testenv.Process, doing string) {
	t.Helper()
	p.Event(patience, "office.started", "") // before, the file is of the last process
	hosttest.Eventually(t, "the company is "+doing, func() (any, bool) {
		text, err := os.ReadFile(filepath.Join(h.Repo, ".company/state/marks"))
		return p.Tell(), err == nil && bytes.Contains(text, []byte(doing))
	})
}

// crashAt has Go end the company by a fatal error, as one that no recover stops, while it is
// busy with something.
func crashAt(t *testing.T, h *testenv.House, p *testenv.Process, doing string) {
	t.Helper()
	waitForMark(t, h, p, doing)
	p.Signal(syscall.SIGSEGV)
	if r := p.Wait(patience); r.Code != 2 || !strings.Contains(r.Stderr, "SIGSEGV") {
		t.Fatalf("company was to crash, and ended with %d:\n%s", r.Code, p.Tell())
	}
}

// TestEffectThatCrashes has a company crash twice outside of any run, in the gates of a ticket. The next start sets
// that aside and asks; kills by hand count for nothing. After the yes the task goes on to its end.
func TestEffectThatCrashes(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye()})
	const checking = `"owner":"gate t1-01 `
	for _, command := range [][]string{{"submit", "say goodbye"}, {"resume"}} {
		p := h.Start(command...)
		waitForMark(t, h, p, checking)
		p.Kill()
	}
	crashAt(t, h, h.Start("resume"), checking)
	crashAt(t, h, h.Start("resume"), checking)

	sum := waitForSummary(t, h.Start("resume"), 2)
	if !strings.Contains(sum.Why, " is set aside: company died 2 times in a row while carrying it out") ||
		!strings.Contains(sum.Next, "company approve a1") {
		t.Errorf("summary: %+v", sum)
	}
	if said := h.Run(patience, "doctor").Stdout; !strings.Contains(said, "gate t1-01 ") ||
		!strings.Contains(said, ": company died 2 times") {
		t.Errorf("doctor: %s", said)
	}
	if text, err := os.ReadFile(filepath.Join(h.Repo, ".company/logs/company.log")); err != nil ||
		!strings.Contains(string(text), "the last process ended by a fatal error") ||
		!strings.Contains(string(text), "goroutine ") {
		t.Errorf("the log has no stack: %v", err)
	}
	h.MustRun(patience, "approve", "a1")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	if text, err := os.ReadFile(filepath.Join(h.Repo, ".company/state/deaths.json")); err != nil ||
		strings.TrimSpace(string(text)) != "[]" {
		t.Errorf("deaths at the end: %s, %v", text, err)
	}
}

// TestEffectKilledForMemory has the kernel kill a company twice for want of memory, outside of any run, in the gates of
// a ticket. The next start sets that aside and asks. A kill -9 between them, which looks the same, counts for nothing.
func TestEffectKilledForMemory(t *testing.T) {
	t.Parallel()
	group := hosttest.MemoryCgroup(t, 512<<20)
	h := openTinyProject(t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye()})
	const checking = `"owner":"gate t1-01 `
	inGroup := []string{"sh", "-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, group}
	starve := func(command ...string) {
		t.Helper()
		// Of all in the group the kernel chooses the company first.
		h.Under = append(slices.Clone(inGroup), "sh", "-c", `echo 1000 > /proc/self/oom_score_adj && exec "$0" "$@"`)
		p := h.Start(command...)
		h.Under = nil
		holdAt(t, h, p, checking)
		hungry := exec.Command(inGroup[0], append(slices.Clone(inGroup[1:]), "tail", "/dev/zero")...)
		if err := hungry.Run(); err == nil { // the kernel chooses it in the end
			t.Error("memory has no limit here")
		}
		if r := p.Wait(patience); r.Signal != syscall.SIGKILL {
			t.Fatalf("company was to be killed, and ended with %d, signal %v:\n%s", r.Code, r.Signal, p.Tell())
		}
	}
	starve("submit", "say goodbye")
	killAt(t, h, h.Start("resume"), checking)
	starve("resume")

	sum := waitForSummary(t, h.Start("resume"), 2)
	if !strings.Contains(sum.Why, " is set aside: company died 2 times in a row while carrying it out") ||
		!strings.Contains(sum.Next, "company approve a1") {
		t.Errorf("summary: %+v", sum)
	}
	if text, err := os.ReadFile(filepath.Join(h.Repo, ".company/logs/company.log")); err != nil ||
		strings.Count(string(text), "the kernel killed the last process for want of memory") != 2 {
		t.Errorf("the log does not tell the kills: %v", err)
	}
	h.MustRun(patience, "approve", "a1")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
}
