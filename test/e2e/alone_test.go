package e2e

import (
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/present/feed"
)

// TestShortInstructionNeedsNoManager: a short instruction goes to one worker, whose brief is the
// instruction, and one review judges it as the whole. The feed says why; --split has a manager plan.
func TestShortInstructionNeedsNoManager(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye()})
	const instruction = "Say goodbye: farewell.sh prints it, and a check shows that."
	p := h.Start("submit", instruction)
	p.Until(patience, "why", func(it feed.Item) bool {
		return it.Kind == "plan.accepted" && it.Text == "one worker does it: the instruction lists few pieces of work"
	})
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	calls := h.Model.Calls()
	if calls.ByRole[company.Manager] != 0 || calls.ByRole[company.Reviewer] != 1 {
		t.Errorf("calls: %+v", calls.ByRole)
	}
	checkBriefHolds(t, h, "t1-01.1", "Your ticket is the whole instruction. If it has large independent parts",
		"call escalate before you change anything")
	checkBriefHolds(t, h, "t1-01-review.1", "no other review follows", "the instruction is carried out")
	if brief := requestText(t, h, "t1-01.1", 1); strings.Contains(brief, "## The whole task") ||
		strings.Contains(brief, "## Write set") {
		t.Errorf("the instruction stands in the brief twice, or has a write set:\n%s", brief)
	}
	waitForSummary(t, h.Start("submit", "--split", "say goodbye once more"), 0)
	if calls := h.Model.Calls(); calls.ByRun["t2-plan.1"] == 0 {
		t.Errorf("with --split no manager plans: %+v", calls.ByRun)
	}
}

// TestLargeInstructionIsGivenUp: a worker that finds its instruction large gives it to the
// manager, who splits it; --one keeps it with the worker.
func TestLargeInstructionIsGivenUp(t *testing.T) {
	t.Parallel()
	night := ticket("Say good night", "Add night.sh, which prints good night, and its check.", "night.sh",
		"checks/night.sh")
	split := call("replan_ticket", m{"reason": "these are two things", "subtasks": append(farewellTicket(), night)})
	h := openTinyProject(t, &staff{
		manager: replyAlways(split),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": replyByRun(escalateFor("two large parts: farewell.sh, night.sh"), saysGoodbye()),
			"t1-02": writeFilesAndFinish("Say good night", "night.sh", "echo good night\n", "checks/night.sh",
				"test \"$(sh night.sh)\" = 'good night'\n"),
		}),
	})
	waitForSummary(t, h.Start("submit", "say goodbye and good night"), 0)
	checkDelivered(t, h, 1, 1, 2)
	checkBriefHolds(t, h, "t1-plan.1", "two large parts: farewell.sh, night.sh", "say goodbye and good night")
	r := h.Run(patience, "submit", "--one", "--split", "x")
	if r.Code != 64 || !strings.Contains(r.Stderr, "cannot be combined") {
		t.Errorf("%d: %s", r.Code, r.Stderr)
	}
}

// TestAmbiguousInstruction: a worker that has the whole instruction asks before it changes anything; nobody else is
// called, the verdict is INCOMPLETE, and the task waits. Its next run reads the answer (SUB-14). A question
// beside a new file is refused, with what to do.
func TestAmbiguousInstruction(t *testing.T) {
	t.Parallel()
	ask := call("ask_president", m{"question": "Shall it say goodbye or farewell?"})
	late := []scripted.Reply{call("write_file", m{"path": "notes.txt", "content": "which word?\n"}), ask,
		call("run_command", m{"command": "rm notes.txt"})}
	h := openTinyProject(t, &staff{worker: replyByRun(
		replyInSteps(call("ask_president", m{"question": "Goodbye, I guess?"}), ask),
		func(x scripted.Exchange) scripted.Reply {
			if x.Turn < len(late) {
				return late[x.Turn]
			}
			x.Turn -= len(late)
			return saysGoodbye()(x)
		},
	)})
	sum := waitForSummary(t, h.Start("submit", "--no-input", "add a farewell"), 2)
	if sum.Result != "INCOMPLETE" || sum.Status != "awaiting_input" || sum.Next != `company answer a1 "…"` {
		t.Fatalf("summary: %+v", sum)
	}
	if calls := h.Model.Calls(); calls.Total != 2 || calls.ByRun["t1-01.1"] != 2 {
		t.Errorf("others than the worker are called: %+v", calls)
	}
	runAndExpect(t, h, []string{"NEEDS YOU\n  ! a1", "Shall it say goodbye or farewell?", "t1    needs you"}, "status")
	runAndExpect(t, h, []string{"t1-01.1  worker  done"}, "show", "t1-01.1")
	runAndExpect(t, h, []string{"a1: answered."}, "answer", "a1", "goodbye, please")
	waitForSummary(t, h.Start("resume", "t1"), 0)
	checkDelivered(t, h, 1, 1, 1)
	checkBriefHolds(t, h, "t1-01.2", "Asked: Shall it say goodbye or farewell?",
		"The president answered: goodbye, please")
	if said := requestText(t, h, "t1-01.2", 3); !strings.Contains(said, "There are new files, and a question comes before the first change.") {
		t.Errorf("a question after a change is not refused:\n%s", said)
	}
}
