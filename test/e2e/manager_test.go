package e2e

import (
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/feed"
	"company/internal/hosttest"
	"company/test/testenv"
)

// requestText is the text of the n-th request (from 1) of a run to the model.
func requestText(t testing.TB, h *testenv.House, run string, n int) string {
	t.Helper()
	for _, r := range h.Model.Requests() {
		if string(r.Header.Run) == run {
			if n--; n == 0 {
				return string(r.Body)
			}
		}
	}
	t.Fatalf("no request %d of %s", n, run)
	return ""
}

// count is how many items of a kind a feed has.
func count(p *testenv.Process, kind string) int {
	n := 0
	for _, it := range p.Items() {
		if it.Kind == kind {
			n++
		}
	}
	return n
}

// overlappingPlan is a plan that code refuses: two subtasks of one wave write the
// same file.
func overlappingPlan() scripted.Reply {
	return call("submit_plan", m{"why": "two parts", "waves": []m{{"subtasks": []m{
		ticket("One", "Write to greet.sh", "greet.sh"), ticket("Two", "Write to all scripts", "*.sh"),
	}}}})
}

// TestPlanRefusedOnce: a plan that code refuses goes back to the manager with
// the reasons; the next one is worked on (SUB-12, SUB-18).
func TestPlanRefusedOnce(t *testing.T) {
	hosttest.Variant(t, "TestPlanGarbage mends a plan, TestPlanRefusedThrice has one refused")
	t.Parallel()
	good := submitPlan(farewellTicket())
	brain := &staff{
		manager: func(x scripted.Exchange) scripted.Reply {
			if x.Turn == 0 {
				return overlappingPlan()
			}
			x.Turn--
			return good(x)
		},
		worker: saysGoodbye(),
	}
	h := openTinyProject(t, brain)
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	if n := count(p, "plan.refused"); n != 1 {
		t.Errorf("%d refused plans", n)
	}
	if said := requestText(t, h, "t1-plan.1", 2); !strings.Contains(said, "The plan is refused") || !strings.Contains(said, "greet.sh") {
		t.Errorf("the manager was not told why:\n%s", said)
	}
}

// TestPlanRefusedThrice: the third refused plan ends the task, with its reason
// (SUB-12); nothing was begun.
func TestPlanRefusedThrice(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{manager: replyAlways(overlappingPlan())})
	p := h.Start("submit", "say goodbye")
	sum := waitForSummary(t, p, 1)
	if sum.Result != "ERROR" || sum.Status != "failed" || !strings.Contains(sum.Why, "refused 3 times") || !strings.Contains(sum.Why, "greet.sh") {
		t.Errorf("summary: %+v", sum)
	}
	if n := count(p, "plan.refused"); n != 3 {
		t.Errorf("%d refused plans", n)
	}
	if n := h.Model.Calls().Total; n != 3 {
		t.Errorf("%d model calls", n)
	}
	if refs := h.Git(h.Origin, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		t.Errorf("branches of the origin: %s", refs)
	}
	mainUnmoved(t, h)
}

// TestPlanGarbage: what is no plan at all is met in the conversation: words
// without a call, an unknown tool, arguments that are no JSON, an empty plan,
// a wrong type. The manager can mend each.
func TestPlanGarbage(t *testing.T) {
	t.Parallel()
	good := submitPlan(farewellTicket())
	replies := []scripted.Reply{
		{Text: "I shall think about it."},
		call("no_such_tool", m{}),
		{Calls: []scripted.Call{{Tool: "submit_plan", Raw: `{"waves": [`}}},
		call("submit_plan", m{"waves": []m{}}),
		call("submit_plan", m{"waves": "all of them"}),
		call("read_file", m{"path": "../../etc/passwd"}),
		call("read_file", m{"path": "README.md"}),
	}
	brain := &staff{
		manager: func(x scripted.Exchange) scripted.Reply {
			if x.Turn < len(replies) {
				return replies[x.Turn]
			}
			x.Turn -= len(replies)
			return good(x)
		},
		worker: saysGoodbye(),
	}
	h := openTinyProject(t, brain)
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	checkDelivered(t, h, 1, 1, 1)
	last := requestText(t, h, "t1-plan.1", len(replies)+1)
	if !strings.Contains(last, "Scripts that greet") || strings.Contains(last, "root:") {
		t.Errorf("what the reading tools gave:\n%s", last)
	}
}

// TestManagerAsks: a question waits for the president and for nobody else; the
// answer reaches the manager.
func TestManagerAsks(t *testing.T) {
	hosttest.Variant(t, "TestQuestionToPullRequest begins with a question, too")
	t.Parallel()
	good := submitPlan(farewellTicket())
	brain := &staff{
		manager: func(x scripted.Exchange) scripted.Reply {
			if strings.Contains(x.Brief(), "The president answered: goodbye, of course") {
				return good(x)
			}
			return call("ask_president", m{"question": "Goodbye or farewell?"})
		},
		worker: saysGoodbye(),
	}
	h := openTinyProject(t, brain)
	p := h.Start("submit", "say it")
	sum := waitForSummary(t, p, 2)
	if sum.Result != "INCOMPLETE" || sum.Status != "awaiting_input" || !strings.Contains(sum.Why, "Goodbye or farewell?") || !strings.HasPrefix(sum.Next, "company answer a1 ") {
		t.Errorf("summary: %+v", sum)
	}
	p.Until(patience, "a line that asks", func(it feed.Item) bool {
		return it.Kind == "approval.opened" && it.Mark == feed.Needs
	})
	h.MustRun(patience, "answer", "a1", "goodbye, of course")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	if n := h.Model.Calls().ByRole["manager"]; n != 2 {
		t.Errorf("the manager was asked %d times", n)
	}
}
