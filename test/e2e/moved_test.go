package e2e

import (
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// TestEditOfAMovedFileNeedsLeave: a ticket moves a file to a protected name, with the president's
// leave; another one edits it by its old name meanwhile. git brings the edit to the new name,
// which the president is asked about by that name (T14).
func TestEditOfAMovedFileNeedsLeave(t *testing.T) {
	hosttest.Long(t, "TestMergeFollowsNoFileToAProtectedName has the merge, TestBriefOfAMovedFile the brief")
	t.Parallel()
	files := tinyProject()
	files["ci/build.yml"] = strings.Repeat("line\n", 20)
	hold := stopAt("t1-02.1", 1)
	t.Cleanup(hold.release)
	run := func(command string) func(scripted.Exchange) scripted.Reply {
		return replyInSteps(call("run_command", m{"command": command}), call("finish", m{"summary": "done"}))
	}
	h := testenv.New(t, &staff{
		manager: submitPlan(
			[]m{ticket("Move it", "Move the build file to where the service looks for it.", "moved.yml"),
				ticket("Edit it", "Edit the tenth line of the build file.", "ci/**")}),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": run("mkdir -p .github/workflows; git mv ci/build.yml .github/workflows/build.yml; git commit -qm Move"),
			"t1-02": run("sed -i '10s/.*/an edit/' ci/build.yml; git commit -qam Edit"),
		}),
		merger: run("git commit -qam Merge"),
		stops:  []*stop{hold},
	}, files)
	h.Config(tinyGates)
	p := h.Start("submit", "move and edit it")
	hold.wait(t, p)
	p.Event(patience, "approval.opened", "")
	h.MustRun(patience, "approve", "a1")
	p.Event(patience, "merge.done", "")
	hold.release()
	sum := waitForSummary(t, p, 2)
	if !strings.Contains(sum.Why, "t1-02 changes protected paths: .github/workflows/build.yml") {
		t.Fatalf("summary: %+v", sum)
	}
	h.MustRun(patience, "approve", "a2")
	waitForSummary(t, h.Start("resume"), 0)
	if text := h.Git(h.Origin, "show", integrationBranch(h, 1)+":.github/workflows/build.yml"); !strings.Contains(
		text, "an edit") {
		t.Errorf("the edit is lost:\n%s", text)
	}
}

// TestMoveBehindAnEditNeedsLeave: the other order. The president lets a file be moved to a protected
// name as it is; what another ticket has meanwhile made of it under its old name is asked about (T14).
func TestMoveBehindAnEditNeedsLeave(t *testing.T) {
	hosttest.Long(t, "TestMergeFollowsNoFileToAProtectedName has the merge of this order, too")
	t.Parallel()
	files := tinyProject()
	files["ci/build.yml"] = strings.Repeat("line\n", 20)
	hold := stopAt("t1-02.1", 1)
	t.Cleanup(hold.release)
	run := func(command string) func(scripted.Exchange) scripted.Reply {
		return replyInSteps(call("run_command", m{"command": command}), call("finish", m{"summary": "done"}))
	}
	h := testenv.New(t, &staff{
		manager: submitPlan(
			[]m{ticket("Move it", "Move the build file to where the service looks for it.", "moved.yml"),
				ticket("Edit it", "Edit the tenth line of the build file.", "ci/**")}),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": run("mkdir -p .github/workflows; git mv ci/build.yml .github/workflows/build.yml; git commit -qm Move"),
			"t1-02": run("sed -i '10s/.*/an edit/' ci/build.yml; git commit -qam Edit"),
		}),
		merger: run("git commit -qam Merge"),
		stops:  []*stop{hold},
	}, files)
	h.Config(tinyGates)
	p := h.Start("submit", "move and edit it")
	hold.wait(t, p)
	p.Event(patience, "approval.opened", "")
	hold.release()
	p.Event(patience, "merge.done", "")
	h.MustRun(patience, "approve", "a1")
	p.Wait(patience)
	sum := waitForSummary(t, h.Start("resume"), 2)
	if !strings.Contains(sum.Why, "t1-01 changes protected paths: .github/workflows/build.yml") ||
		!strings.Contains(sum.Next, "a2") {
		t.Fatalf("summary: %+v", sum)
	}
}
