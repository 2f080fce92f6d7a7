package company_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// approvedAlone brings a task with so many tickets to where its first one is
// about to be merged. Its reviewer judged the whole; spoil changes what it said.
func approvedAlone(t *testing.T, tickets int, spoil func(*ReviewRecorded)) *story {
	t.Helper()
	s := newStory(t, Settings{}).plan(tickets)
	s.work(1)
	s.must(Company, s.gated(1, true))
	r := &ReviewRecorded{Head: s.sub(1).Head, Onto: s.task().Head, PatchID: "p", Verdict: Approve,
		Evidence: []string{"the test"}, Whole: true}
	if spoil != nil {
		spoil(r)
	}
	s.end(NewRunID(s.id, s.subID(1), Reviewer, 1), EndRun{Review: r})
	return s
}

// mergedAs merges the first ticket; same says that its head has the merge's
// tree by itself.
func (s *story) mergedAs(same bool) []Event {
	s.t.Helper()
	c := s.tested(1)
	if c.HeadTree = c.Tree; !same {
		c.HeadTree = s.oid()
	}
	s.must(Company, c)
	return s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
}

// The only ticket of a task, merged as it was approved, is not reviewed again
// as the whole: its approval holds, and the pull request is due once the gates
// have seen the whole.
func TestSingleSubtaskIsReviewedOnce(t *testing.T) {
	t.Parallel()
	s := approvedAlone(t, 1, nil)
	if !s.task().JudgesWhole() {
		t.Fatal("the reviewer of the only ticket is not to judge the whole")
	}
	evs := s.mergedAs(true)
	if len(evs) != 2 || evs[1].Kind != "review.carried" {
		t.Fatalf("the merge says %v", evs)
	}
	s.checkStatus(StatusReviewing)
	s.must(Company, s.wholeGated(true))
	if s.isDue(EffectReview) {
		t.Error("the whole is reviewed again")
	}
	r := s.task().Review.Last
	if r.Head != s.task().Head || r.Verdict != Approve || len(r.Evidence) != 1 || s.task().CarriedFrom() != s.sub(1) {
		t.Errorf("the review of the whole: %+v", r)
	}
	if s.sub(1).Review.Last.Head != s.sub(1).Head {
		t.Error("the ticket's own review is of another head now")
	}
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	s.checkStatus(StatusCompleted)
	s.settle()
}

// Where the approval does not cover the whole, the whole is reviewed.
func TestApprovalIsNotCarried(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tickets int
		spoil   func(*ReviewRecorded)
		same    bool
	}{
		"judged by the ticket alone": {1, func(r *ReviewRecorded) { r.Whole = false }, true},
		"seen on another base": {1,
			func(r *ReviewRecorded) { r.Onto = "1111111111111111111111111111111111111111" }, true},
		"the merge made another tree":  {1, nil, false},
		"one ticket of several, alone": {2, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := approvedAlone(t, c.tickets, c.spoil)
			s.mergedAs(c.same)
			if c.tickets > 1 {
				s.queued(2)
				s.merged(2)
			}
			s.must(Company, s.wholeGated(true))
			if !s.isDue(EffectReview) || s.task().CarriedFrom() != nil {
				t.Error("the whole is not reviewed")
			}
			s.reviewed(0, Approve)
			s.must(Company, IntendDelivery{s.id})
			s.settle()
		})
	}
}

// What the whole's gates find after all is mended by a ticket of its own, and
// the new whole is reviewed: the approval was of another tree.
func TestCarriedApprovalVoidedByNewTree(t *testing.T) {
	t.Parallel()
	s := approvedAlone(t, 1, nil)
	s.mergedAs(true)
	s.must(Company, s.wholeGated(false))
	s.checkStatus(StatusExecuting)
	if s.task().JudgesWhole() {
		t.Error("two tickets, and a reviewer of one is to judge the whole")
	}
	s.queued(2)
	s.merged(2)
	s.must(Company, s.wholeGated(true))
	if !s.isDue(EffectReview) {
		t.Error("the mended whole is not reviewed")
	}
}

// The history checker knows by its own books when an approval may be carried,
// and when it must be.
func TestCheckerOfCarriedApprovals(t *testing.T) {
	t.Parallel()
	s := approvedAlone(t, 1, nil)
	s.mergedAs(true)
	s.must(Company, s.wholeGated(true))
	if _, err := historytest.Replay(s.log); err != nil {
		t.Fatal(err)
	}
	const other = "1111111111111111111111111111111111111111"
	for name, log := range map[string][]Event{
		"not carried":         without(s.log, "review.carried"),
		"by the ticket alone": rewritten(t, s.log, func(d *ReviewRecorded) { d.Whole = false }),
		"on another base":     rewritten(t, s.log, func(d *ReviewRecorded) { d.Onto = other }),
		"of another tree":     rewritten(t, s.log, func(d *MergeIntentRecorded) { d.HeadTree = "" }),
		"from another head":   rewritten(t, s.log, func(d *ReviewCarried) { d.From = other }),
		"to another head":     rewritten(t, s.log, func(d *ReviewCarried) { d.Head = other }),
	} {
		if err := replaySafely(log); err == nil || !strings.Contains(err.Error(), "whole") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// without is a ledger in which events of a kind never happened.
func without(log []Event, kind string) []Event {
	var out []Event
	for _, e := range log {
		if e.Kind != kind {
			e.Seq = uint64(len(out) + 1)
			out = append(out, e)
		}
	}
	return out
}

// rewritten is a ledger in which the events of a kind say something else.
func rewritten[T any, P interface {
	*T
	Data
}](t *testing.T, log []Event, change func(P)) []Event {
	t.Helper()
	out := slices.Clone(log)
	for i, e := range out {
		d, err := Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		if said, ok := d.(P); ok {
			change(said)
			if out[i].Data, err = json.Marshal(said); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}
