package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// heldThread is a house whose worker stops in the middle of its work until it is released.
func heldThread(t *testing.T) (*testenv.House, *stop) {
	brain := tripleStaff()
	working := stopAt("t1-01.1", 2)
	brain.stops = []*stop{working}
	h := testenv.New(t, brain, calculator())
	h.WorkInBackground()
	t.Cleanup(working.release)
	return h, working
}

// TestWorkOutlivesItsTerminal: Ctrl-C at submit leaves the work running, and says so, as do a closed terminal and
// the death of the command. Another command follows it to its end, in the same process. company stop stops it, and
// company resume goes on there (REC-5, UI-1).
func TestWorkOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	h, working := heldThread(t)
	p := h.Start("submit", "Add Triple\n\n"+tripleDescription)
	working.wait(t, p)
	company := h.Background()
	if company == 0 || company == p.PID() {
		t.Fatalf("the company is process %d, and submit is %d", company, p.PID())
	}
	p.Signal(syscall.SIGINT)
	r := p.Wait(patience)
	if r.Code != 130 || !strings.Contains(p.Tell(),
		"the work goes on: company feed --follow t1 shows it, company stop stops it") {
		t.Errorf("Ctrl-C: exit %d\n%s", r.Code, p.Tell())
	}
	for _, end := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} {
		p := h.Start("resume", "t1")
		p.Until(patience, "that it follows", func(it feed.Item) bool {
			return it.Kind == "note" && strings.Contains(it.Text, "is queued with the running company (pid ")
		})
		p.Signal(end)
		p.Wait(patience)
	}
	if now := h.Background(); now != company {
		t.Errorf("the company was process %d, and is %d", company, now)
	}
	if out := h.MustRun(patience, "stop").Stdout; !strings.Contains(out, "stopped 1 run") {
		t.Errorf("stop: %s", out)
	}
	working.release()
	p = h.Start("resume")
	waitForSummary(t, p, 0)
	if now := h.Background(); now != company {
		t.Errorf("the company was process %d, and is %d", company, now)
	}
	checkDelivered(t, h, 1, 1, 1)
}

// TestKilledCompanyIsReplaced: a company in the background that is killed has a successor at once, as a command
// follows its work, and the work goes on (REC-2).
func TestKilledCompanyIsReplaced(t *testing.T) {
	t.Parallel()
	h, working := heldThread(t)
	p := h.Start("submit", "Add Triple\n\n"+tripleDescription)
	working.wait(t, p)
	company := h.Background()
	if err := syscall.Kill(company, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	working.release()
	waitForSummary(t, p, 0)
	if now := h.Background(); now == company || now == 0 {
		t.Errorf("the company was process %d, and is %d", company, now)
	}
	checkDelivered(t, h, 1, 1, 1)
}

// TestServeTakesTheWorkOver: company serve goes on with what a company in the background has begun, between two of its
// steps, and the command that follows it goes on there. Another serve is refused, and no command replaces it.
func TestServeTakesTheWorkOver(t *testing.T) {
	t.Parallel()
	h, working := heldThread(t)
	p := h.Start("submit", "Add Triple\n\n"+tripleDescription)
	working.wait(t, p)
	serving := startServing(t, h)
	defer endServing(t, serving)
	if h.Background() != 0 {
		t.Error("the company in the background is still there")
	}
	working.release()
	waitForSummary(t, p, 0)
	runRefused(t, h, 1, "E_CONFLICT", "serve")
	h.MustRun(patience, "status", "--set", "workers.max=2")
	checkDelivered(t, h, 1, 1, 1)
}

// TestAnswerGoesOn: where no work is under way, an answer starts it, without a terminal that stays. A change of the
// setup is taken along: the company that answered before is replaced.
func TestAnswerGoesOn(t *testing.T) {
	t.Parallel()
	h := askedForHelp(t)
	h.WorkInBackground()
	h.MustRun(patience, "submit", "--detach", "say goodbye")
	if r := h.Run(patience, "wait", "t1"); r.Code != 2 {
		t.Fatalf("wait: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	h.EndBackground()
	if isAtWork(h) {
		t.Error("reading starts work")
	}
	reading := h.Background()
	h.Env = append(h.Env, "ANTHROPIC_API_KEY=another")
	if out := h.MustRun(patience, "approve", "a1", "lower case, please"); !strings.Contains(
		out.Stderr, "the running company continues") {
		t.Errorf("approve: %s%s", out.Stdout, out.Stderr)
	}
	h.MustRun(patience, "wait", "t1")
	if now := h.Background(); now == reading || now == 0 {
		t.Errorf("the company was process %d, and is %d", reading, now)
	}
	checkDelivered(t, h, 1, 1, 1)
}

// TestStoppedProcessIsNamed: a company that hangs is named by the commands that need it, and one that ends for good is
// replaced.
func TestStoppedProcessIsNamed(t *testing.T) {
	hosttest.Long(t, "it waits for a process that does not answer")
	t.Parallel()
	h := openTinyProject(t, nil)
	h.WorkInBackground()
	h.MustRun(patience, "project", "list")
	h.Run(patience, "project", "add", ".")
	company := h.Background()
	if err := syscall.Kill(company, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	runRefused(t, h, 3, "E_HELD", "status")
	if err := syscall.Kill(company, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h.MustRun(patience, "status")
}

// TestSilentCompanyIsReplaced: a company that has not beaten for a minute and does not answer is taken over by the next command that
// starts work. The feed says so, and the task is finished (STA-17).
func TestSilentCompanyIsReplaced(t *testing.T) {
	t.Parallel()
	h, working := heldThread(t)
	p := h.Start("submit", "Add Triple\n\n"+tripleDescription)
	working.wait(t, p)
	stuck := h.Background()
	if err := syscall.Kill(stuck, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(stuck, syscall.SIGCONT) })
	silent := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(filepath.Join(h.State(), "beat"), silent, silent); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(h.State(), "lock") // it also says when the company began
	text, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	year := []byte(fmt.Sprintf(`"started":"%d-`, time.Now().UTC().Year()))
	if err := os.WriteFile(lock, bytes.Replace(text, year, []byte(`"started":"2001-`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	working.release()
	waitForSummary(t, h.Start("resume", "t1"), 0)
	waitForSummary(t, p, 0)
	runAndExpect(t, h, []string{fmt.Sprintf("taken over from process %d, which had not responded for 2m", stuck)},
		"feed")
	checkDelivered(t, h, 1, 1, 1)
}
