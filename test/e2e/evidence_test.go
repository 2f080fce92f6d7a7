package e2e

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
)

// TestUnprovenReviewGoesToSecondModel: a reviewer who approves with a command that it
// never ran is refused once, and then another model is asked. That one shows the
// change by running the base beside the head, which is recorded (REV-4).
func TestUnprovenReviewGoesToSecondModel(t *testing.T) {
	t.Parallel()
	hosttest.Long(t, "one of many walks; make test has one of each kind")
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
	h.Config(fmt.Sprintf("  second: {adapter: openai, model: second, base_url: %q, api_key_env: "+
		"TEST_MODEL_KEY}\nagents: {second_reviewer: {model: second}}\n", h.Model.URL()) + tinyGates)
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	calls := h.Model.Calls().ByRun
	if calls["t1-01-review.1"] != 2 || calls["t1-01-review.2"] != 2 {
		t.Errorf("the first is asked twice, and then the second: %v", calls)
	}
	checkBriefHolds(t, h, "t1-01-review.2", "is in /work/base. Run a command in both")
	runAndExpect(
		t, h, []string{"evidence: the base does not have it", "confirmed: ran `test ! -e /work/base/farewell.sh",
			"exit code 0; farewell.sh:1 in the diff"}, "show", "t1-01")
	runAndExpect(t, h, []string{"E_EVIDENCE"}, "help", "E_EVIDENCE")
}

// TestSecondReviewerJudgesFindings: with review.confirm another model judges findings that block
// before the ticket goes back. What it rejects does not send the ticket back, what it confirms does; show and pull
// request say so, and the record replays to the same (REV-4).
func TestSecondReviewerJudgesFindings(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	blocks := func(what string) m {
		return m{"severity": "blocking", "file": "farewell.sh", "line": 1, "what": what, "why": "it was asked for"}
	}
	first := func(findings ...m) func(scripted.Exchange) scripted.Reply {
		return func(x scripted.Exchange) scripted.Reply {
			if x.Model == "second" {
				return scripted.Reply{Err: string(x.Header.Run) + " is not of the first model"}
			}
			return call("submit_review", m{"verdict": "request_changes", "findings": findings})
		}
	}
	second := func(verdict string, earlier ...m) func(scripted.Exchange) scripted.Reply {
		return func(x scripted.Exchange) scripted.Reply {
			if x.Model != "second" {
				return scripted.Reply{Err: string(x.Header.Run) + " is not of the second model"}
			}
			return call(
				"submit_review",
				m{"verdict": verdict, "earlier": earlier, "evidence": citeEvidence(x, "the diff has it, and the checks ran")})
		}
	}
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket()),
		worker: replyByRun(saysGoodbye(),
			writeFilesAndFinish("Comment it", "farewell.sh", "# prints goodbye\necho goodbye\n")),
		reviewer: replyByRun(
			first(blocks("there is no comment"), blocks("it prints nothing")),
			second("request_changes", m{"number": 1, "status": "confirmed"},
				m{"number": 2, "status": "rejected", "why": "it prints goodbye"}),
			first(blocks("it is too long")),
			second("approve", m{"number": 1, "status": "rejected", "why": "two lines are short"}),
		),
	})
	h.Config(fmt.Sprintf("  second: {adapter: openai, model: second, base_url: %q, api_key_env: "+
		"TEST_MODEL_KEY}\nagents: {second_reviewer: {model: second}}\nreview: {confirm: blocking}\n", h.Model.URL()) +
		tinyGates)
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	calls := h.Model.Calls().ByRun
	for run, want := range map[company.RunID]int{"t1-01-review.1": 1, "t1-01-review.2": 1, "t1-01-review.3": 1,
		"t1-01-review.4": 1, "t1-01-review.5": 0, "t1-01.3": 0} {
		if calls[run] != want {
			t.Errorf("%s: %d calls, want %d", run, calls[run], want)
		}
	}
	checkBriefHolds(t, h, "t1-01-review.2", "1. blocking farewell.sh:1 there is no comment",
		"2. blocking farewell.sh:1 it prints nothing", "You are the second reviewer of this head")
	checkBriefHolds(t, h, "t1-01.2", "The reviewer requests changes", "there is no comment")
	if said := requestText(t, h, "t1-01.2", 1); strings.Contains(said, "it prints nothing") {
		t.Errorf("a rejected finding sends the ticket back:\n%s", said)
	}
	runAndExpect(
		t, h, []string{"confirmed: blocking farewell.sh:1 there is no comment",
			"rejected: blocking farewell.sh:1 it prints nothing", "by the next review: it prints goodbye",
			"rejected: blocking farewell.sh:1 it is too long"}, "show", "t1-01")
	runAndExpect(t, h, []string{"blocking, rejected (t1-01): `farewell.sh:1` it prints nothing", "two lines are short"},
		"pr", "show", "1")
	var same replay.Report
	h.JSON(&same, "replay", "t1")
	if !same.Same {
		t.Errorf("%+v", same.Divergence)
	}
}

// TestRedGreenIsRequired: a ticket without a test goes back to its worker with that
// reason first; where code cannot tell whether its test shows the change, the
// president is asked and lets it pass (GAT-7).
func TestRedGreenIsRequired(t *testing.T) {
	t.Parallel()
	hosttest.Long(t, "one of many walks; make test has one of each kind")
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
	runAndExpect(t, h, []string{"changes what the tests cover", "does not say which tests it runs", "Test it."},
		"show", "t1")
	h.MustRun(patience, "approve", "a1")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	if n := h.Model.Calls().ByRun["t1-01.3"]; n != 0 {
		t.Errorf("it was worked on again, with %d calls", n)
	}
}
