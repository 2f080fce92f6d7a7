package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// waitForWork waits until work is under way.
func waitForWork(t *testing.T, h *testenv.House, p *testenv.Process, key string) {
	t.Helper()
	p.Event(patience, "office.started", "") // before, the file is of the last process
	hosttest.Eventually(t, key+" is under way", func() (any, bool) {
		text, err := os.ReadFile(filepath.Join(h.State(), "busy.json"))
		_, after, found := bytes.Cut(text, []byte(`{"key":"`+key))
		work, _, _ := bytes.Cut(after, []byte("}"))
		return p.Tell(), err == nil && found && bytes.Contains(work, []byte(`"busy":true`))
	})
}

// crashDuring has Go end the company by a fatal error, as one that no recover stops, while work is under way.
func crashDuring(t *testing.T, h *testenv.House, p *testenv.Process, key string) {
	t.Helper()
	waitForWork(t, h, p, key)
	p.Signal(syscall.SIGSEGV)
	if r := p.Wait(patience); r.Code != 2 || !strings.Contains(r.Stderr, "SIGSEGV") {
		t.Fatalf("company was to crash, and ended with %d:\n%s", r.Code, p.Tell())
	}
}

// TestWorkThatCrashes has a company crash twice in a worker's run and in the gates of its ticket. The next start sets
// that aside and asks; two kills by hand before do not. After the yes the task goes on to its end.
func TestWorkThatCrashes(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"run": "the run t1-01.1", "gates": "gate t1-01 "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openTinyProject(t, &staff{worker: saysGoodbye()})
			p := h.Start("submit", "say goodbye")
			for range 2 {
				waitForWork(t, h, p, key)
				p.Kill()
				p = h.Start("resume")
			}
			crashDuring(t, h, p, key)
			if said := h.Run(patience, "doctor").Stdout; !strings.Contains(said, "company died 3 times in a row during") {
				t.Errorf("doctor: %s", said)
			}
			crashDuring(t, h, h.Start("resume"), key)

			sum := waitForSummary(t, h.Start("resume"), 2)
			if !strings.Contains(sum.Why, key) || !strings.Contains(sum.Why, " is set aside: company died 4 times in a row") ||
				!strings.Contains(sum.Next, "company approve a1") {
				t.Errorf("summary: %+v", sum)
			}
			if text, err := os.ReadFile(filepath.Join(h.State(), "logs/company.log")); err != nil ||
				strings.Count(string(text), "the last process ended by a fatal error") != 2 ||
				!strings.Contains(string(text), "goroutine ") {
				t.Errorf("the log has no stacks: %v", err)
			}
			h.MustRun(patience, "approve", "a1")
			waitForSummary(t, h.Start("resume"), 0)
			checkDelivered(t, h, 1, 1, 1)
		})
	}
}
