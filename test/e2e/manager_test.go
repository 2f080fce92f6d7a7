package e2e

import (
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
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

// TestSubtaskComesAfter: a subtask begins when the one that it names is merged, though
// another of the plan is held up, and starts from that merge (SUB-8, SUB-17). A plan that
// stands and looks wrong goes back to the manager once.
func TestSubtaskComesAfter(t *testing.T) {
	t.Parallel()
	slow := stopAt("t1-02.1", 0)
	one, two, three := ticket("Count", "Add one.sh, which prints 1 and nothing besides, for the sum.", "one.sh"),
		ticket("Wait", "Add two.sh, which prints 2 and needs nothing of the others, and add a test.", "two.sh"),
		ticket("Sum up", "Add three.sh, which calls one.sh and prints what that one prints.", "three.sh")
	one["name"], three["after"] = "count", []string{"count"}
	plan := call("submit_plan", m{"subtasks": []m{three, two, one}, "why": "the last needs the first"})
	brain := &staff{
		manager: replyInSteps(plan, plan),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-03": writeFilesAndFinish("Add one", "one.sh", "echo 1\n"),
			"t1-02": writeFilesAndFinish("Add two", "two.sh", "echo 2\n"),
			"t1-01": func(x scripted.Exchange) scripted.Reply {
				if x.Turn == 0 {
					return call("run_command", m{"command": "sh one.sh && test ! -e two.sh && echo it is there alone"})
				}
				if said, _ := x.LastResult("run_command"); !strings.Contains(said, "it is there alone") {
					return scripted.Reply{Err: "it began without what it needs: " + said}
				}
				x.Turn--
				return writeFilesAndFinish("Add three", "three.sh", "sh one.sh\n")(x)
			},
		}),
		stops: []*stop{slow},
	}
	h := openTinyProject(t, brain)
	h.LetManagerPlan()
	t.Cleanup(slow.release)
	p := h.Start("submit", "count to three")
	slow.wait(t, p)
	p.Until(patience, "the merge of t1-01",
		func(it feed.Item) bool { return it.Kind == "merge.done" && it.Subtask == "t1-01" })
	slow.release()
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 3)
	accepted := p.Event(patience, "plan.accepted", "")
	if text := accepted.Text + strings.Join(accepted.Lines, "|"); !strings.Contains(text, "3 subtasks in 2 steps") ||
		!strings.Contains(text, "t1-01  Sum up  (after t1-03)") {
		t.Errorf("the feed: %s", text)
	}
	checkBriefHolds(t, h, "t1-01.1", "## Merged before you", "t1-03 Count (you come after it)", "files: created one.sh",
		"summary: Add one")
	if said := requestText(t, h, "t1-01.1", 1); strings.Count(said, "t1-02") != 1 ||
		!strings.Contains(said, "leave them alone:\\n- t1-02: Wait (two.sh)") {
		t.Errorf("a worker is told of a ticket that its branch does not have, or does not know that others do it:\n%s", said)
	}
	if said := requestText(t, h, "t1-plan.1", 2); !strings.Contains(said, "look at this once more") ||
		!strings.Contains(said, "subtask 2 (Wait): asks for tests, and its write set has no file of tests") {
		t.Errorf("the manager was not asked to look again:\n%s", said)
	}
	runAndExpect(t, h, []string{"3 subtasks in 2 steps, 3 merged", "AFTER"}, "show", "t1")
}

// TestPlanRefusedThrice: the third refused plan ends the task, with its reason
// (SUB-12); nothing was begun.
func TestPlanRefusedThrice(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, &staff{manager: replyAlways(overlappingPlan())})
	h.LetManagerPlan()
	p := h.Start("submit", "say goodbye")
	sum := waitForSummary(t, p, 1)
	if sum.Result != "ERROR" || sum.Status != "failed" || !strings.Contains(sum.Why, "refused 3 times") ||
		!strings.Contains(sum.Why, "greet.sh") {
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

// TestPlanGarbage: what is not a plan at all is met in the conversation: words
// without a call, an unknown tool, arguments that are not JSON, an empty plan,
// a wrong type; and a plan beyond the limits of the config (SUB-13). The manager can mend each.
func TestPlanGarbage(t *testing.T) {
	t.Parallel()
	good := submitPlan(farewellTicket())
	tooLarge := ticket("Say goodbye", "Add farewell.sh and its check.", "farewell.sh", "checks/farewell.sh", "README.md")
	tooLarge["effort"] = "large"
	replies := []scripted.Reply{
		{Text: "I shall think about it."},
		call("no_such_tool", m{}),
		{Calls: []scripted.Call{{Tool: "submit_plan", Raw: `{"waves": [`}}},
		call("submit_plan", m{"waves": []m{}}),
		call("submit_plan", m{"waves": "all of them"}),
		call("submit_plan", m{"why": "it is one thing", "waves": []m{{"subtasks": []m{tooLarge}}}}),
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
	h.LetManagerPlan()
	h.Config(tinyGates + "plan: {max_write_set: 2, max_effort: medium}\n")
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	if n := count(p, "plan.refused"); n != 1 {
		t.Errorf("%d refused plans", n)
	}
	checkBriefHolds(t, h, "t1-plan.1", "at most 2 paths or globs in the write set of each subtask",
		"no subtask of an effort above medium")
	said := requestText(t, h, "t1-plan.1", 7)
	for _, want := range []string{"The plan is refused", "its effort is large, and plan.max_effort is medium",
		"its write set has 3 paths or globs, and plan.max_write_set is 2"} {
		if !strings.Contains(said, want) {
			t.Errorf("the manager did not learn %q:\n%s", want, said)
		}
	}
	last := requestText(t, h, "t1-plan.1", len(replies)+1)
	if !strings.Contains(last, "Scripts that greet") || strings.Contains(last, "root:") {
		t.Errorf("what the reading tools gave:\n%s", last)
	}
}
