package e2e

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
)

// TestStuckTicketGetsAnotherModel: the manager gives a ticket that its worker cannot do to
// another model of the config. A name that the config does not list is refused, and the ledger
// names the model of each run (SUB-6, SUB-16).
func TestStuckTicketGetsAnotherModel(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: replyInSteps(
			call("change_model", m{"model": "gigantic", "advice": "It is one line."}),
			call("change_model", m{"model": "big", "advice": "It is one line."})),
		worker: func(x scripted.Exchange) scripted.Reply {
			if x.Model != "big" {
				return escalateFor("this is beyond me")(x)
			}
			return saysGoodbye()(x)
		},
	})
	h.Config(fmt.Sprintf("  large: {adapter: openai, model: large, base_url: %q, api_key_env: TEST_MODEL_KEY}\n  big: "+
		"{adapter: openai, model: big, base_url: %q, api_key_env: TEST_MODEL_KEY}\nagents: {worker: {escalate_to: [big, "+
		"large]}}\n", h.Model.URL(), h.Model.URL()) + tinyGates)
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	checkBriefHolds(t, h, "t1-plan.1", "t1-01 is stuck", "this is beyond me")
	if said := requestText(t, h, "t1-plan.1", 2); !strings.Contains(said, "gigantic is not allowed for t1-01") ||
		!strings.Contains(said, "name one of: big, large") {
		t.Errorf("the manager does not read what it may choose:\n%s", said)
	}
	checkBriefHolds(t, h, "t1-01.2", "Your manager says: It is one line.")
	p.Until(patience, "the change of the model", func(it feed.Item) bool {
		return it.Kind == "subtask.guided" && it.Text == "given to the model big; manager: It is one line."
	})
	runAndExpect(t, h, []string{"the manager gave it the model big"}, "show", "t1")
	runAndExpect(t, h, []string{"big"}, "show", "t1-01.2")
}

// TestStuckTicketGetsMoreTurns: a worker that runs out of turns has more of them from its manager,
// and comes to its end in one run (SUB-16).
func TestStuckTicketGetsMoreTurns(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: replyInSteps(call("guide_worker", m{"advice": "The way is right: go on.", "more_turns": 4})),
		worker:  replyByRun(readsForEver(), saysGoodbye()),
	})
	h.Config("agents: {worker: {max_turns: 2}}\n" + tinyGates)
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	checkBriefHolds(t, h, "t1-plan.1", "t1-01 is stuck", "ran out of turns")
	checkBriefHolds(t, h, "t1-01.2", "Your manager says: The way is right: go on.")
	p.Until(patience, "more turns", func(it feed.Item) bool {
		return it.Kind == "subtask.guided" && it.Text == "4 turns more for each run; manager: The way is right: go on."
	})
	runAndExpect(t, h, []string{"the manager gave each run 4 turns more"}, "show", "t1")
}

// readsForEver is a worker that changes nothing.
func readsForEver() func(scripted.Exchange) scripted.Reply {
	return replyAlways(call("read_file", m{"path": "greet.sh"}))
}

// splitters is a staff that has one ticket for two things. Its worker finds it too large, and the
// manager splits it, after parts that code refuses. The second part has the wrong file, and is
// replanned.
func splitters(stops ...*stop) *staff {
	both := ticket("Say both", "Add farewell.sh and night.sh.", "*.sh", "checks/**")
	second := ticket("Say good night", "Add nite.sh, which prints good night.", "nite.sh", "checks/night.sh")
	second["after"] = []string{"Add a farewell"}
	overlapping := ticket("Say good night", "Add nite.sh, which prints good night.", "*.sh")
	renamed := ticket("Say good night in night.sh", "Add night.sh, which prints good night.", "night.sh", "checks/night.sh")
	split := func(second m) scripted.Reply {
		return call(
			"replan_ticket",
			m{"reason": "these are two things", "subtasks": append(farewellTicket(), second),
				"decisions": []string{"The farewell comes first."}})
	}
	return &staff{
		manager: replyByRun(submitPlan([]m{both}), replyInSteps(split(overlapping), split(second)),
			replyInSteps(call("replan_ticket", m{"reason": "it is written night", "subtasks": []m{renamed}}))),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": replyByRun(escalateFor("too much for one"), saysGoodbye()),
			"t1-02": replyByRun(escalateFor("the check wants night.sh"),
				writeFilesAndFinish("Say good night", "night.sh", "echo good night\n", "checks/night.sh",
					"test -e farewell.sh && test \"$(sh night.sh)\" = 'good night'\n")),
		}),
		stops: stops,
	}
}

// TestStuckTicketIsReplanned: a ticket that its worker finds too large is split, and one of its
// parts, which is stuck too, is replanned. Both parts are merged, one after the other, and
// people read of it (SUB-16). The same comes out where the company is killed around it (TST-2).
func TestStuckTicketIsReplanned(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, splitters())
	h.LetManagerPlan()
	p := h.Start("submit", "say goodbye and good night")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 2)
	if said := requestText(t, h, "t1-plan.2", 2); !strings.Contains(said, "may write what") {
		t.Errorf("the manager does not read why its parts are refused:\n%s", said)
	}
	checkBriefHolds(t, h, "t1-01.2", "Add a farewell", "Your manager planned this ticket anew: these are two things")
	checkBriefHolds(t, h, "t1-plan.3", "t1-02 is stuck", "the check wants night.sh", "t1-01 Add a farewell: completed")
	checkBriefHolds(t, h, "t1-02.2", "Add night.sh", "Your manager planned this ticket anew: it is written night")
	for _, text := range []string{"split into 2 subtasks; manager: these are two things",
		"replanned; manager: it is written night"} {
		p.Until(patience, text, func(it feed.Item) bool { return it.Kind == "subtask.replanned" && it.Text == text })
	}
	runAndExpect(
		t, h, []string{"replanned by the manager: these are two things", "split from t1-01", "The farewell comes first."},
		"show", "t1")
	runAndExpect(t, h, []string{"split from t1-01", "replanned by the manager: it is written night"}, "show", "t1-02")
	runAndExpect(t, h, []string{"Add night.sh, which prints good night. (split from t1-01) (replanned: it is written " +
		"night)"}, "pr", "show", "1")
	killAroundSplit(t, outcomeOf(h))
}

// killAroundSplit kills the company while the manager decides, once the split is decided, while
// the second part is begun, and while it is replanned.
func killAroundSplit(t *testing.T, want outcome) {
	t.Helper()
	stops := []*stop{stopAt("t1-plan.2", 1), stopAt("t1-01.2", 0), stopAt("t1-02.1", 0), stopAt("t1-plan.3", 0)}
	for _, s := range stops {
		t.Cleanup(s.release)
	}
	h := openTinyProject(t, splitters(stops...))
	h.LetManagerPlan()
	p := h.Start("submit", "say goodbye and good night")
	for i, s := range stops {
		if i == 1 {
			p.Event(patience, "subtask.replanned", "t1-01")
		} else {
			s.wait(t, p)
		}
		p.Kill()
		s.release()
		p = h.Start("resume")
	}
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 2)
	got := outcomeOf(h)
	if got.tree != want.tree {
		t.Errorf("tree %s, without a kill %s", got.tree, want.tree)
	}
	checkCallsRepeated(t, want.calls, got.calls, len(stops))
	changesNothing(t, h)
}
