package e2e

import (
	"os"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
)

// TestWholeReviewed: what the reviewer of the whole task objects to becomes a
// ticket of its own, in a wave of its own; the new whole is reviewed again, and that review
// judges the finding, which show and pull request say (REV-4).
func TestWholeReviewed(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: submitPlan(append(farewellTicket(), englishTicket())),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": saysGoodbye(),
			"t1-02": writeFilesAndFinish("Greet in English", "english.sh", "echo hello\n"),
			"t1-03": writeFilesAndFinish("Say it in the README", "README.md",
				"# Greetings\n\nScripts that greet and say goodbye.\n"),
		}),
		reviewer: func(x scripted.Exchange) scripted.Reply {
			if x.Header.Run == "t1-review.1" {
				return objectTo("farewell.sh", 1, "the README does not tell of it")(x)
			}
			reply := approve(x)
			if x.Header.Run == "t1-review.2" {
				reply.Calls[0].Args.(m)["earlier"] = []m{{"number": 1, "status": "mended", "why": "the README tells of it now"}}
			}
			return reply
		},
	})
	h.LetManagerPlan()
	p := h.Start("submit", "Say goodbye. Greet in English too.")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 3)
	checkBriefHolds(t, h, "t1-review.1", "Say goodbye. Greet in English too.",
		"1. the instruction is carried out", "must: the checks pass", "shown by: the checks ran")
	checkBriefHolds(t, h, "t1-03.1", "the README does not tell of it")
	checkBriefHolds(t, h, "t1-review.2", "Findings of the last review",
		"1. blocking farewell.sh:1 the README does not tell of it")
	runAndExpect(
		t, h, []string{"mended: blocking farewell.sh:1 the README does not tell of it",
			"by the next review: the README tells of it now"}, "show", "t1")
	runAndExpect(t, h, []string{"Found in review and mended before this pull request:",
		"- blocking: `farewell.sh:1` the README does not tell of it. Mended in "}, "pr",
		"show", "1")
	if n := h.Model.Calls().ByRun["t1-review.2"]; n != 1 {
		t.Errorf("the new whole was reviewed %d times", n)
	}
	if got := h.Git(h.Origin, "show", integrationBranch(h, 1)+":README.md"); !strings.Contains(got, "say goodbye") {
		t.Errorf("README: %q", got)
	}
}

// TestOriginAway: a push that fails is tried again by itself.
func TestOriginAway(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, p, hold := submitFarewell(t, "t1-01-review.1", 0)
	if err := os.Rename(h.Origin, h.Origin+".away"); err != nil {
		t.Fatal(err)
	}
	hold.release()
	failed := p.Event(patience, "effect.failed", "")
	if !strings.Contains(failed.Text, "deliver") {
		t.Errorf("what is said: %q", failed.Text)
	}
	if err := os.Rename(h.Origin+".away", h.Origin); err != nil {
		t.Fatal(err)
	}
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestMovedByHand: somebody moves the integration branch in the office's own
// mirror. Nothing is merged onto that; the president is asked.
func TestMovedByHand(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	hold := stopAt("t1-02.1", 3)
	t.Cleanup(hold.release)
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket(), []m{englishTicket()}),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": saysGoodbye(),
			"t1-02": writeFilesAndFinish("Greet in English", "english.sh", "echo hello\n", "checks/english.sh",
				"sh english.sh\n"),
		}),
		stops: []*stop{hold},
	})
	h.LetManagerPlan()
	p := h.Start("submit", "two things")
	hold.wait(t, p)
	dir, ref := mirror(t, h), "refs/heads/"+integrationBranch(h, 1)
	was := h.Git(dir, "rev-parse", ref)
	h.Git(dir, "update-ref", ref, h.Git(h.Origin, "rev-parse", "main"))
	hold.release()
	sum := waitForSummary(t, p, 2)
	if !strings.Contains(sum.Why, "another process moved the integration branch") {
		t.Errorf("summary: %+v", sum)
	}
	p.Until(patience, "a failure that a person must mend", func(it feed.Item) bool {
		return it.Kind == "effect.failed" && strings.Contains(it.Text, "put the branch back")
	})
	h.Git(dir, "update-ref", ref, was)
	h.MustRun(patience, "approve", "a1")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 2)
}
