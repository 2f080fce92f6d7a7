package e2e

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"company/internal/lib/hosttest"
)

// TestLiveOutput follows a run from another process while its worker runs a long command: its
// output comes while it runs, and not in one piece. The journal has none of it.
func TestLiveOutput(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket()),
		worker: replyInSteps(
			call("run_command", m{"command": "for i in $(seq 600); do echo \"check $i is ok\"; sleep 0.5; done"})),
	})
	p := h.Start("submit", "say goodbye")
	p.Event(patience, "run.claimed", "t1-01")
	follow := h.Command("logs", "--full", "-f", "t1-01", "-o", "json")
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = follow.Process.Kill() })
	lines, seen := bufio.NewScanner(out), []string{}
	limit := time.AfterFunc(patience, func() { _ = follow.Process.Kill() })
	defer limit.Stop()
	for len(seen) < 3 && lines.Scan() {
		var e struct {
			Output *struct {
				Name, About string
				Lines       []string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if e.Output == nil {
			continue
		}
		if e.Output.Name != "run_command" || !strings.HasPrefix(e.Output.About, "for i in") || len(e.Output.Lines) == 0 {
			t.Fatalf("%s", lines.Bytes())
		}
		seen = append(seen, e.Output.Lines[len(e.Output.Lines)-1])
	}
	if len(seen) < 3 || seen[0] == seen[1] || seen[1] == seen[2] || !strings.HasSuffix(seen[2], "is ok") {
		t.Errorf("of a command that runs %q was seen", seen)
	}
	if r := h.MustRun(patience, "logs", "--full", "t1-01", "-o", "json"); strings.Contains(r.Stdout, "is ok\",") ||
		strings.Contains(r.Stdout, `"output"`) {
		t.Errorf("the journal has the output of a command that runs:\n%s", r.Stdout)
	}
	h.MustRun(patience, "cancel", "t1")
	p.Wait(patience)
	_ = follow.Wait()
}
