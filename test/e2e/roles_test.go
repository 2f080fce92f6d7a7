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
	"company/internal/present/feed"
	"company/test/testenv"
)

func guide(text string) scripted.Reply { return call("guide_worker", m{"advice": text}) }

func escalateFor(why string) func(scripted.Exchange) scripted.Reply {
	return replyInSteps(call("escalate", m{"reason": why}))
}

// workWrongly is a worker whose check fails.
func workWrongly() func(scripted.Exchange) scripted.Reply {
	return writeFilesAndFinish("Try it", "farewell.sh", "echo a try\n", "checks/farewell.sh",
		"test \"$(sh farewell.sh)\" = goodbye\n")
}

// checkBriefHolds checks that the first message of a run holds all of these.
func checkBriefHolds(t testing.TB, h *testenv.House, run string, words ...string) {
	t.Helper()
	said := requestText(t, h, run, 1)
	for _, w := range words {
		if !strings.Contains(said, w) {
			t.Errorf("%s was not told %q:\n%s", run, w, said)
		}
	}
}

// TestBlocked: a worker asks for help, and the manager is told why. When the manager gives up,
// the president is asked; the president's answer reaches the next worker, and the task completes.
// The result of the run that gave up says why.
func TestBlocked(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: replyInSteps(call("give_up", m{"reason": "nobody knows"})),
		worker:  replyByRun(escalateFor("what is goodbye?"), saysGoodbye()),
	})
	sum := waitForSummary(t, h.Start("submit", "say goodbye"), 2)
	if sum.Status != "awaiting_input" || !strings.Contains(sum.Why, "t1-01 is blocked") ||
		!strings.Contains(sum.Why, "nobody knows") || !strings.Contains(sum.Next, "company approve a1") {
		t.Errorf("summary: %+v", sum)
	}
	h.MustRun(patience, "approve", "a1", "It is a word.")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	checkBriefHolds(t, h, "t1-plan.1", "t1-01 is stuck", "what is goodbye?")
	checkBriefHolds(t, h, "t1-01.2", "The president says: It is a word.")
	var res map[string]any
	readJSON(t, filepath.Join(h.Repo, ".company/runtime/runs/t1-01.1/result.json"), &res)
	if res["status"] != "error" || !strings.Contains(fmt.Sprint(res["errors"]), "what is goodbye?") {
		t.Errorf("result of the run that gave up: %v", res)
	}
}

// TestRedGate: a red gate sends the ticket back with its output; the run that
// failed says so (GAT-2), and only the green tree is merged.
func TestRedGate(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket()),
		worker:  replyByRun(workWrongly(), saysGoodbye()),
	})
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	checkBriefHolds(t, h, "t1-01.2", "The gates are red", "FAIL checks/farewell.sh")
	p.Until(patience, "a red gate", func(it feed.Item) bool {
		return it.Kind == "gate.finished" && it.Mark == feed.Failed && strings.Contains(it.Text, "gate test failed, exit 1")
	})
	for run, want := range map[string]string{"t1-01.1": "quality_failed", "t1-01.2": "success"} {
		var res map[string]any
		readJSON(t, filepath.Join(h.Repo, ".company/runtime/runs", run, "result.json"), &res)
		gates, _ := res["quality_gates"].(map[string]any)
		if res["status"] != want || gates == nil || gates["overall"] != (want == "success") {
			t.Errorf("%s: status %v, gates %v", run, res["status"], gates)
		}
	}
	if n := h.Model.Calls().ByRun["t1-01-review.1"]; n != 1 {
		t.Errorf("%d calls of the reviewer: a red tree is not reviewed", n)
	}
}

// TestReviewerNeverContent: findings go back to the worker, and to the next review (REV-3).
// After the last round the manager decides, with the worker's last words and its
// diff before it (SUB-16). When it gives up the president decides. Nothing was merged meanwhile.
func TestReviewerNeverContent(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: replyInSteps(call("give_up", m{"reason": "they do not agree"})),
		worker: func(x scripted.Exchange) scripted.Reply {
			_, _, _, n, _ := x.Header.Run.Split()
			return writeFilesAndFinish(fmt.Sprintf("Round %d", n), "farewell.sh", fmt.Sprintf("# round %d\necho goodbye\n", n),
				"checks/farewell.sh", "test \"$(sh farewell.sh)\" = goodbye\n")(x)
		},
		reviewer: objectTo("farewell.sh", 1, "not like this"),
	})
	sum := waitForSummary(t, h.Start("submit", "say goodbye"), 2)
	if sum.Status != "awaiting_input" || !strings.Contains(sum.Why, "not like this") ||
		!strings.Contains(sum.Why, "they do not agree") {
		t.Errorf("summary: %+v", sum)
	}
	checkBriefHolds(t, h, "t1-01.2", "The reviewer requests changes", "farewell.sh:1: not like this")
	checkBriefHolds(t, h, "t1-01-review.2", "Findings of the last review", "not like this")
	checkBriefHolds(t, h, "t1-plan.1", "the reviewer still requests changes", "not like this",
		`The unchecked summary of its last run, t1-01.3:\n<summary>\nRound 3`,
		`What its branch changes:`, `+# round 3\n+echo goodbye`)
	if calls := h.Model.Calls().ByRun; calls["t1-01-review.3"] != 1 || calls["t1-01-review.4"] != 0 {
		t.Errorf("calls: %v", calls)
	}
	if refs := h.Git(mirror(t, h), "for-each-ref", "refs/heads/develop*"); refs != "" {
		t.Errorf("something was merged: %s", refs)
	}
	mainUnmoved(t, h)
}

// collidingTickets is a plan of two tickets that the code takes for disjoint, and two
// workers of whom the second touches the first one's file.
func collidingTickets() (func(scripted.Exchange) scripted.Reply,
	map[company.SubtaskID]func(scripted.Exchange) scripted.Reply) {
	plan := submitPlan([]m{
		ticket("Say hi", "greet.sh prints hi; its check too.", "greet.sh", "checks/greet.sh"),
		ticket("Say goodbye", "Add farewell.sh.", "farewell.sh", "checks/farewell.sh"),
	})
	return plan, map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
		"t1-01": writeFilesAndFinish("Say hi", "greet.sh", "echo hi\n", "checks/greet.sh", "test \"$(sh greet.sh)\" = hi\n"),
		"t1-02": writeFilesAndFinish("Say goodbye", "farewell.sh", "echo goodbye\n", "greet.sh", "# greets\necho hello\n"),
	}
}

// mergeSecond makes sure that t1-02 is merged after t1-01: its reviewer waits.
func mergeSecond(h *testenv.House, p *testenv.Process, t testing.TB, s *stop) {
	t.Helper()
	s.wait(t, p)
	p.Event(patience, "merge.done", "t1-01")
	s.release()
}

// TestConflictResolved: a worker that writes outside its write set makes a
// conflict; the merger resolves it in a container, and what it made is gated
// and reviewed (REV-2).
func TestConflictResolved(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	r := playStored(t, "conflict", resolveConflict)
	done := requestsOf(r, company.RunSuccess)
	if len(r.Merges) != 2 || r.Merges[1].Subtask != "t1-02" || done["t1-02-merge.1"] != 5 || done["t1-02-review.2"] != 1 {
		t.Errorf("the conflict was not resolved and reviewed: %+v", r)
	}
	for _, w := range r.Warnings {
		if w.Run == "t1-02-merge.1" && w.What != replay.OtherPrompt && w.What != replay.OtherSettings {
			t.Errorf("the merger's container did not stand in the conflict: %+v", w)
		}
	}
}

// resolveConflict has the merger resolve a conflict of two workers.
func resolveConflict(t *testing.T) *testenv.House {
	plan, work := collidingTickets()
	hold := stopAt("t1-02-review.1", 0)
	h := openTinyProject(t, &staff{
		manager: plan, worker: replyByTicket(work), stops: []*stop{hold},
		merger: replyInSteps(
			call("run_command", m{"command": "git diff --name-only --diff-filter=U"}),
			call("read_file", m{"path": "greet.sh"}),
			call("write_file", m{"path": "greet.sh", "content": "# greets\necho hi\n"}),
			call("git_commit", m{"message": "Merge both greetings"}),
			call("finish", m{"summary": "both sides live on"})),
	})
	h.LetManagerPlan()
	t.Cleanup(hold.release)
	p := h.Start("submit", "greet better")
	mergeSecond(h, p, t, hold)
	waitForSummary(t, p, 0)
	branch := integrationBranch(h, 1)
	if got := h.Git(h.Origin, "show", branch+":greet.sh"); got != "# greets\necho hi" {
		t.Errorf("merged: %q", got)
	}
	// The resolving commit, which the office keeps, has both sides for its parents; the one that
	// is delivered has the commit of the first ticket alone.
	before := h.Git(h.Origin, "rev-parse", branch+"^")
	parents := strings.Fields(h.Git(mirror(t, h), "show", "-s", "--format=%P", "refs/company/tickets/t1-02"))
	if len(parents) != 2 || parents[1] != before {
		t.Errorf("parents of the resolution: %v", parents)
	}
	if got := h.Git(h.Origin, "show", "-s", "--format=%P", branch); got != before {
		t.Errorf("parents of the ticket's commit: %s", got)
	}
	if n := h.Model.Calls().ByRun["t1-02-review.2"]; n != 1 {
		t.Errorf("the resolution was reviewed %d times", n)
	}
	if !strings.Contains(requestText(t, h, "t1-02-merge.1", 2), "greet.sh") {
		t.Error("the merger's container did not stand in the conflict")
	}
	mainUnmoved(t, h)
	return h
}

// TestConflictUnresolved: a conflict that the merger cannot resolve goes to
// the manager, whose advice lets the worker mend it.
func TestConflictUnresolved(t *testing.T) {
	t.Parallel()
	plan, work := collidingTickets()
	work["t1-02"] = replyByRun(work["t1-02"], writeFilesAndFinish("Leave the greeting alone", "greet.sh", "echo hello\n"))
	hold := stopAt("t1-02-review.1", 0)
	h := openTinyProject(t, &staff{
		manager: replyByRun(plan, replyInSteps(guide("Do not touch greet.sh."))), worker: replyByTicket(work),
		stops:  []*stop{hold},
		merger: escalateFor("the two cannot live together"),
	})
	h.LetManagerPlan()
	t.Cleanup(hold.release)
	p := h.Start("submit", "greet better")
	mergeSecond(h, p, t, hold)
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 2)
	checkBriefHolds(t, h, "t1-plan.2", "the merger could not resolve its conflict", "the two cannot live together")
	checkBriefHolds(t, h, "t1-02.2", "Do not touch greet.sh.")
	if got := h.Git(h.Origin, "show", integrationBranch(h, 1)+":greet.sh"); got != "echo hi" {
		t.Errorf("merged: %q", got)
	}
}

// TestConflictForThePresident: a conflict that neither the merger nor the manager resolves is the president's, who
// gets a summary of the reviewer's, and whose words let the worker mend it (REV-2).
func TestConflictForThePresident(t *testing.T) {
	t.Parallel()
	const summary = "t1-01 greets with hi, and t1-02 greets with a comment: keep one of them."
	plan, work := collidingTickets()
	work["t1-02"] = replyByRun(work["t1-02"], writeFilesAndFinish("Leave the greeting alone", "greet.sh", "echo hello\n"))
	hold := stopAt("t1-02-review.1", 0)
	h := openTinyProject(t, &staff{
		manager: replyByRun(plan, replyAlways(call("give_up", m{"reason": "both were asked for"}))),
		worker:  replyByTicket(work), stops: []*stop{hold}, merger: escalateFor("the two cannot live together"),
		reviewer: func(x scripted.Exchange) scripted.Reply {
			if x.Offers("submit_summary") {
				return call("submit_summary", m{"summary": summary})
			}
			return approve(x)
		},
	})
	h.LetManagerPlan()
	t.Cleanup(hold.release)
	p := h.Start("submit", "greet better")
	mergeSecond(h, p, t, hold)
	if sum := waitForSummary(t, p, 2); sum.Result == "COMPLETE" {
		t.Errorf("summary: %+v", sum)
	}
	runAndExpect(t, h, []string{"Both sides change: greet.sh.", "The reviewer's summary: " + summary}, "show", "t1")
	brief := requestText(t, h, "t1-02-review.2", 1)
	for _, part := range []string{"the two cannot live together", "both were asked for", "+echo hi", "+# greets"} {
		if !strings.Contains(brief, part) {
			t.Errorf("the reviewer is not told %q:\n%s", part, brief)
		}
	}
	h.MustRun(patience, "approve", "a1", "Do not touch greet.sh.")
	waitForSummary(t, h.Start("resume", "t1"), 0)
	checkDelivered(t, h, 1, 1, 2)
	checkBriefHolds(t, h, "t1-02.2", "Do not touch greet.sh.")
}

// TestWorkerGarbage: what a worker's model sends is met in the conversation,
// and the work gets done: finish before there is anything, an unknown tool, no
// JSON, a path outside, no call at all, a server that fails, garbage, a cut-off
// stream (WRK-4, WRK-6). A command that failed is no success in the feed.
func TestWorkerGarbage(t *testing.T) {
	t.Parallel()
	good := saysGoodbye()
	replies := []scripted.Reply{
		call("finish", m{"summary": "done already"}),
		call("no_such_tool", m{}),
		{Calls: []scripted.Call{{Tool: "write_file", Raw: `{"path": `}}},
		call("read_file", m{"path": "../../../etc/passwd"}),
		{Text: "Let me think."},
		call("run_command", m{"command": "exit 3"}),
		call("write_file", m{"path": "x\u0000y", "content": 7}),
	}
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket()),
		worker: func(x scripted.Exchange) scripted.Reply {
			if x.Turn < len(replies) {
				r := replies[x.Turn]
				switch x.Turn {
				case 1:
					r.Fault = &scripted.Fault{Status: 500, Times: 1}
				case 2:
					r.Fault = &scripted.Fault{Garbage: true, Times: 1}
				case 3:
					r.Fault = &scripted.Fault{Cut: true, Times: 1}
				}
				return r
			}
			x.Turn -= len(replies)
			return good(x)
		},
	})
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	p.Until(patience, "a failed command", func(it feed.Item) bool {
		return it.Kind == "tool_done" && it.Mark == feed.Failed &&
			strings.HasPrefix(it.Text, "run_command exit 3: exit code 3")
	})
	if n := count(p, "run.ended"); n != 2 { // work, review: none broke
		t.Errorf("%d runs ended:\n%s", n, p.Tell())
	}
}
