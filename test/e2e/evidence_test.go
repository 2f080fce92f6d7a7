package e2e

import (
	"fmt"
	"testing"

	"company/internal/adapters/scripted"
)

// TestUnprovenReviewGoesToSecondModel: a reviewer who approves with a command that it
// never ran is refused once, and then another model is asked. That one shows the
// change by running the base beside the head, which is recorded (REV-4).
func TestUnprovenReviewGoesToSecondModel(t *testing.T) {
	t.Parallel()
	const compare = "test ! -e /work/base/farewell.sh && test -e farewell.sh && git -C /work/base status --short"
	claim := func(x scripted.Exchange, e m) scripted.Reply {
		var list []m
		for range x.Listed("Acceptance criteria") {
			list = append(list, e)
		}
		return call("submit_review", m{"verdict": "approved", "evidence": list})
	}
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket()),
		worker:  saysGoodbye(),
		reviewer: func(x scripted.Exchange) scripted.Reply {
			switch {
			case x.Model != "second":
				return claim(x, m{"shows": "it passes", "ran": "make check"})
			case x.Turn == 0:
				return call("run_command", m{"command": compare})
			}
			return claim(x, m{"shows": "the base does not have it", "ran": compare, "read": []string{"farewell.sh:1"}})
		},
	})
	h.Config(fmt.Sprintf("  second: {adapter: openai, model: second, base_url: %q, api_key_env: TEST_MODEL_KEY}\nagents: {second_reviewer: {model: second}}\n", h.Model.URL()) + tinyGates)
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	calls := h.Model.Calls().ByRun
	if calls["t1-01-review.1"] != 2 || calls["t1-01-review.2"] != 2 {
		t.Errorf("the first is asked twice, and then the second: %v", calls)
	}
	checkBriefHolds(t, h, "t1-01-review.2", "lies in /work/base: run a command in both")
	runAndExpect(t, h, []string{"shown: the base does not have it", "seen: ran `test ! -e /work/base/farewell.sh", "exit code 0; farewell.sh:1 in the diff"}, "show", "t1-01")
	runAndExpect(t, h, []string{"E_EVIDENCE"}, "help", "E_EVIDENCE")
}

// TestRedGreenIsRequired: a ticket without a test goes back to its worker with that
// reason first; where code cannot tell whether its test shows the change, the
// president is asked and lets it pass (GAT-7).
func TestRedGreenIsRequired(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: submitPlan([]m{ticket("Say goodbye", "Add farewell.sh.", "farewell.sh", "tests/**")}),
		worker: replyByRun(
			writeFilesAndFinish("Say goodbye", "farewell.sh", "echo goodbye\n"),
			writeFilesAndFinish("Test it", "tests/farewell.sh", "test \"$(sh farewell.sh)\" = goodbye\n")),
	})
	h.Config("gates: {lint: none, test: \"sh ./test.sh\", red_green: require}\n")
	sum := waitForSummary(t, h.Start("submit", "say goodbye"), 2)
	if sum.Status != "awaiting_input" {
		t.Fatalf("%+v", sum)
	}
	checkBriefHolds(t, h, "t1-01.2", `## Why you are here again\nNo test shows your change: no test was added or changed.`)
	runAndExpect(t, h, []string{"changes what the tests cover", "does not say which tests it runs", "Test it."}, "show", "t1")
	h.MustRun(patience, "approve", "a1")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	if n := h.Model.Calls().ByRun["t1-01.3"]; n != 0 {
		t.Errorf("it was worked on again, with %d calls", n)
	}
}
