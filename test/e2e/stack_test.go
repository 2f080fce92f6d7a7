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

// addPart is a worker that adds a script, which prints its own name, and its check;
// more is added to that.
func addPart(name, more string) func(scripted.Exchange) scripted.Reply {
	return writeFilesAndFinish("Add "+name, name+".sh", "echo "+name+"\n", "checks/"+name+".sh",
		"test \"$(sh "+name+".sh)\" = "+name+more+"\n")
}

// queueParts brings three tickets of one wave into the merge queue, the second one last,
// where each has the president's approval: the next company finds them there together.
func queueParts(t *testing.T, second func(scripted.Exchange) scripted.Reply) *testenv.House {
	t.Helper()
	plan := []m{}
	for _, name := range []string{"one", "two", "three"} {
		plan = append(
			plan, ticket("Add "+name, "Add "+name+".sh, which prints "+name+", and its check.", name+".sh",
				"checks/"+name+".sh"))
	}
	hold := stopAt("t1-02-review.1", 0)
	t.Cleanup(hold.release)
	h := openTinyProject(
		t, &staff{manager: submitPlan(plan), stops: []*stop{hold},
			worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
				"t1-01": addPart("one", ""), "t1-02": second, "t1-03": addPart("three", ""),
			})})
	h.LetManagerPlan()
	h.Config(tinyGates)
	p := h.Start("submit", "--no-input", "--approve", "merge", "add three parts")
	hold.wait(t, p)
	p.Event(patience, "review.finished", "t1-01")
	p.Event(patience, "review.finished", "t1-03")
	hold.release()
	waitForSummary(t, p, 2)
	for _, id := range []string{"a1", "a2", "a3"} {
		h.MustRun(patience, "approve", id)
	}
	return h
}

// TestStackOutlivesAKill: three tickets that wait for their merge are tested once, and
// merged with one move of the branch; killed before that, the next company does it.
func TestStackOutlivesAKill(t *testing.T) {
	t.Parallel()
	h := queueParts(t, addPart("two", ""))
	undo := lockBranch(t, h)
	p := h.Start("resume")
	p.Event(patience, "stack.intended", "")
	p.Event(patience, "effect.failed", "")
	p.Kill()
	branchAbsent(t, h)
	undo()
	again := h.Start("resume")
	waitForSummary(t, again, 0)
	checkDelivered(t, h, 1, 1, 3)
	if count(p, "merge.gated")+count(again, "merge.gated")+count(again, "stack.intended") > 0 ||
		count(again, "merge.done") != 3 {
		t.Errorf("the three were not tested and merged at once:\n%s\n%s", p.Tell(), again.Tell())
	}
	again.Until(patience, "a merge of several", func(it feed.Item) bool {
		return it.Kind == "merge.done" && strings.Contains(it.Text, ", tested with 2 others")
	})
	if last := h.Git(h.Origin, "log", "-1", "--first-parent", "--format=%s", integrationBranch(h, 1)); last != "[t1-02] Add two" {
		t.Errorf("the last merge is %q, not that of the last in the queue", last)
	}
	runAndExpect(t, h, []string{"GATES", ", together with t1-0"}, "show", "t1-02")
	changesNothing(t, h)
}

// TestBadMemberIsFound: of three tickets one is red beside another. The others are
// merged, and that one goes back to its worker with what failed.
func TestBadMemberIsFound(t *testing.T) {
	hosttest.Long(t, "TestStackOutlivesAKill has a stack, a property of the core who is blamed")
	t.Parallel()
	r := playStored(t, "stack", blameOne)
	red := false
	for _, c := range r.Checks {
		red = red || c.Event == "stack.red"
	}
	done := requestsOf(r, company.RunSuccess)
	if !red || len(r.Merges) != 3 || r.Merges[2].Subtask != "t1-02" || done["t1-02.2"] == 0 ||
		done["t1-01.2"]+done["t1-03.2"]+done["t1-02.3"] > 0 {
		t.Errorf("not the bad one alone was sent back: %+v", r)
	}
}

// blameOne has three tickets merged together, of which one is red beside another.
func blameOne(t *testing.T) *testenv.House {
	t.Helper()
	h := queueParts(
		t, replyByRun(addPart("two", " && test ! -e one.sh && test ! -e three.sh"),
			writeFilesAndFinish("Live with the others", "checks/two.sh", "test \"$(sh two.sh)\" = two\n")))
	p := h.Start("resume", "--no-input")
	waitForSummary(t, p, 2)
	if count(p, "stack.red") == 0 || count(p, "merge.done") != 2 {
		t.Errorf("the two good ones were not merged after a red stack:\n%s", p.Tell())
	}
	checkBriefHolds(t, h, "t1-02.2", "The gates are red", "FAIL checks/two.sh")
	h.MustRun(patience, "approve", "a4")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 3)
	checkBriefHolds(t, h, "t1-02-review.2", "## Sent back after an approval", "What changed since that review",
		`Live with the others`)
	if calls := h.Model.Calls().ByRun; calls["t1-01.2"]+calls["t1-03.2"]+calls["t1-02.3"] > 0 {
		t.Errorf("a good one was sent back: %v", calls)
	}
	return h
}

// Two tickets that write one go.sum, in spite of their write sets, are merged without a
// merger: code keeps the lines of both, and the gates judge that tree (SUB-19).
func TestSumsOfTwoTicketsAreUnited(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	const hash = " h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
	hold := stopAt("t1-02-review.1", 0)
	h := openTinyProject(t, &staff{
		manager: submitPlan(
			[]m{ticket("Sum the first", "Write the first module into checks/testdata/go.sum.", "checks/testdata/go.sum"),
				ticket("Say goodbye", "Add farewell.sh.", "farewell.sh")}),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": writeFilesAndFinish("Sum the first", "checks/testdata/go.sum", "example.com/a v1.0.0"+hash),
			"t1-02": writeFilesAndFinish("Say goodbye", "farewell.sh", "echo goodbye\n", "checks/testdata/go.sum",
				"example.com/b v1.0.0"+hash),
		}),
		stops: []*stop{hold},
	})
	h.LetManagerPlan()
	t.Cleanup(hold.release)
	p := h.Start("submit", "sum both")
	mergeSecond(h, p, t, hold)
	waitForSummary(t, p, 0)
	if got, want := h.Git(h.Origin, "show", integrationBranch(h, 1)+":checks/testdata/go.sum"), "example.com/a v1.0.0"+
		hash+"example.com/b v1.0.0"+strings.TrimSuffix(hash, "\n"); got != want {
		t.Errorf("merged: %q, want %q", got, want)
	}
	mainUnmoved(t, h)
}
