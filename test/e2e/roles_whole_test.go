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
				reply.Calls[0].Args.(m)["earlier"] = []m{{"number": 1, "status": "confirmed", "why": "the README tells of it now"}}
			}
			return reply
		},
	})
	p := h.Start("submit", "Say goodbye. Greet in English too.")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 3)
	checkBriefHolds(t, h, "t1-review.1", "of the instruction: Say goodbye.", "of the instruction: Greet in English too.",
		"must: the checks pass", "shown by: the checks ran")
	checkBriefHolds(t, h, "t1-03.1", "the README does not tell of it")
	checkBriefHolds(t, h, "t1-review.2", "Findings of the last review",
		"1. blocking farewell.sh:1 the README does not tell of it")
	runAndExpect(
		t, h, []string{"confirmed: blocking farewell.sh:1 the README does not tell of it",
			"by the next review: the README tells of it now"}, "show", "t1")
	runAndExpect(t, h, []string{"Of earlier reviews: 1 finding confirmed by the next one, 0 unverified."}, "pr",
		"show", "1")
	if n := h.Model.Calls().ByRun["t1-review.2"]; n != 1 {
		t.Errorf("the new whole was reviewed %d times", n)
	}
	if got := h.Git(h.Origin, "show", integrationBranch(h, 1)+":README.md"); !strings.Contains(got, "say goodbye") {
		t.Errorf("README: %q", got)
	}
}

// TestOnlyTicketReviewedOnce: the reviewer of a task's only ticket judges the
// instruction too, and what it finds goes back to the ticket; merged, the same
// tree is not reviewed again, and show, feed and pull request say so.
func TestOnlyTicketReviewedOnce(t *testing.T) {
	hosttest.Long(t, "TestWholeReviewed reviews the whole, a test of the core this case")
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: submitPlan(farewellTicket()),
		worker: replyByRun(saysGoodbye(),
			writeFilesAndFinish("Tell of it", "README.md", "# Greetings\n\nScripts that greet and say goodbye.\n")),
		reviewer: func(x scripted.Exchange) scripted.Reply {
			if x.Header.Run == "t1-01-review.1" {
				return call("submit_review", m{"verdict": "request_changes", "evidence": []string{},
					"findings": []m{{"severity": "blocking", "file": "README.md", "what": "it does not tell of it",
						"why": "the instruction asks for it"}}})
			}
			return approve(x)
		},
	})
	p := h.Start("submit", "Say goodbye. Tell of it in the README.")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	checkBriefHolds(t, h, "t1-01-review.1", "of the instruction: Say goodbye.", "nobody reviews the whole after you",
		"of the instruction: Tell of it in the README.")
	checkBriefHolds(t, h, "t1-01.2", "README.md: it does not tell of it")
	if n := h.Model.Calls().ByRun["t1-review.1"]; n != 0 || count(p, "review.carried") != 1 {
		t.Errorf("the same tree was reviewed again: %d calls\n%s", n, p.Tell())
	}
	runAndExpect(
		t, h, []string{"REVIEW  of t1-01, which holds for the whole",
			"approve of " + h.Git(h.Origin, "rev-parse", integrationBranch(h, 1))[:7]}, "show", "t1")
	runAndExpect(t, h, []string{"That is the review of t1-01, the only ticket"}, "pr", "show", "1")
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

// TestBranchTaken: somebody has made a branch of our name in the origin. It is
// not overwritten; the president is asked, and can have it tried again.
func TestBranchTaken(t *testing.T) {
	hosttest.Long(t, "TestMovedByHand asks about a branch, too")
	t.Parallel()
	h, p, hold := submitFarewell(t, "t1-01-review.1", 0)
	branch := integrationBranch(h, 1)
	h.Git(h.Origin, "branch", branch, "main")
	hold.release()
	sum := waitForSummary(t, p, 2)
	if sum.Status != "awaiting_input" || !strings.Contains(sum.Why, "deliver") ||
		!strings.Contains(sum.Next, "company approve a1") {
		t.Errorf("summary: %+v", sum)
	}
	if a, b := h.Git(h.Origin, "rev-parse", branch), h.Git(h.Origin, "rev-parse", "main"); a != b {
		t.Errorf("the foreign branch was moved to %s", a)
	}
	if n := count(p, "effect.failed"); n != 1 {
		t.Errorf("tried %d times; no second try can mend it", n)
	}
	h.Git(h.Origin, "branch", "-D", branch)
	h.MustRun(patience, "approve", "a1")
	waitForSummary(t, h.Start("resume"), 0)
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
