package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
)

// TestDeepCommands has a worker whose first calls run commands of nothing but opening brackets.
// Neither the office nor the toolbox in the container ends by them: bash refuses them, the company is
// killed and goes on behind them, and a replay of the record passes them, too.
func TestDeepCommands(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	deep := []string{
		strings.Repeat("(", 200_000), // more than the toolbox takes
		strings.Repeat("(", 100_000), strings.Repeat("$(", 50_000), strings.Repeat("{ ", 50_000),
	}
	hold := stopAt("t1-01.1", len(deep))
	h := openTinyProject(
		t, &staff{manager: submitPlan(farewellTicket()), stops: []*stop{hold},
			worker: func(x scripted.Exchange) scripted.Reply {
				if x.Turn < len(deep) {
					return call("run_command", m{"command": deep[x.Turn]})
				}
				if said, _ := x.LastResult("run_command"); x.Turn == len(deep) && !strings.Contains(said, "exit code") {
					return scripted.Reply{Err: "bash has not answered: " + said}
				}
				x.Turn -= len(deep)
				return saysGoodbye()(x)
			}})
	t.Cleanup(hold.release)
	h.Profile = fmt.Sprintf(
		"{adapter: openai, model: scripted, base_url: %q, api_key_env: TEST_MODEL_KEY, context_tokens: 1000000, "+
			"max_output: 200000}", h.Model.URL())
	h.Config(tinyGates)
	p := h.Start("submit", "say goodbye")
	hold.wait(t, p)
	p.Kill()
	hold.release()
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	if runs := outcomeOf(h).calls; runs[company.RunID("t1-01.2")] > 0 {
		t.Errorf("the run did not go on: %v", runs)
	}

	var same replay.Report
	h.JSON(&same, "replay", "t1")
	file := filepath.Join(h.Dir, "t1.record")
	h.MustRun(patience, "replay", "t1", "--save", file)
	if stored, said := playRecord(t, file); !same.Same || !stored.Same {
		t.Errorf("%+v\n%+v\n%s", same, stored, said)
	}
}
