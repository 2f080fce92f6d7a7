package company_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

var confirmingAll = Settings{ConfirmReview: ConfirmAll}

// newApproved is a ticket whose reviewer approves with two remarks.
func newApproved(t *testing.T, set Settings) *line {
	t.Helper()
	return newJudged(t, set, Approve, remarks()...)
}

func remarks() []Finding {
	return []Finding{{Severity: Minor, File: "a.go", Line: 3, What: "a name"}, {Severity: Minor, What: "no doc"}}
}

// REV-4: with review.confirm: all a second reviewer judges the findings of an approving review before the
// merge. Elsewhere the ticket is merged at once, and they stay unverified.
func TestFindingsOfAnApprovalAreJudged(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]Settings{"not set": {}, "blocking": confirming} {
		l := newApproved(t, set)
		l.requireSub(SubtaskMerging)
		if got := l.statuses(); got != "a name unverified; no doc unverified" {
			t.Errorf("%s: %s", name, got)
		}
	}
	l := newApproved(t, confirmingAll)
	l.requireSub(SubtaskReviewing)
	if !l.task().AwaitsSecondReview(l.sub()) || len(l.task().Queue) != 0 {
		t.Fatalf("%+v", l.task().Queue)
	}
	l.claim("t1-01-review.2")
	confirm, reject := Judgement{Number: 1, Status: FindingConfirmed, Why: "read"},
		Judgement{Number: 2, Status: FindingRejected, Why: "it is in doc.go"}
	l.refuseSecond(Approve, []Judgement{confirm}, "finding 2 of the first review is not judged")
	l.end("t1-01-review.2", RunEnded{Status: RunSuccess}, func(e *EndRun) {
		e.Review = &ReviewRecorded{Head: l.sub().Head, Onto: l.task().Head, Verdict: Approve, PatchID: "p",
			Judged: []Judgement{confirm, reject}}
	})
	l.requireSub(SubtaskMerging)
	if got := l.statuses(); got != "no doc rejected: it is in doc.go; a name confirmed: read" {
		t.Error(got)
	}
	if last := l.sub().Review.Last; !last.Confirms || len(last.Findings) != 1 {
		t.Errorf("%+v", last)
	}

	none := newLine(t, confirmingAll)
	none.plan()
	none.success(none.work())
	none.gate(true)
	none.review(Approve)
	none.requireSub(SubtaskMerging)
}

// REV-4: a second reviewer may find what blocks where the first approved. A request for changes is looked at
// twice, too, and each of its findings is judged.
func TestSecondReviewerOfAllFindings(t *testing.T) {
	t.Parallel()
	l := newApproved(t, confirmingAll)
	both := []Judgement{{Number: 1, Status: FindingConfirmed}, {Number: 2, Status: FindingConfirmed}}
	l.judge(RequestChanges, both, Finding{Severity: Blocking, File: "a.go", Line: 9, What: "a race"})
	l.requireSub(SubtaskPending, "a race", "!a name")
	l.success(l.work())
	l.gate(true)
	l.judge(RequestChanges, nil, secondFindings()...)
	l.requireSub(SubtaskReviewing)
	l.claim("t1-01-review.4")
	reject := []Judgement{{Number: 1, Status: FindingRejected, Why: "x"}, {Number: 2, Status: FindingRejected, Why: "x"}}
	if _, err := Decide(l.s, Meta{ID: "m", Now: l.now},
		EndRun{Run: "t1-01-review.4", Fence: l.fence, Outcome: RunEnded{Status: RunSuccess}, Review: &ReviewRecorded{
			Head: l.sub().Head, Onto: l.task().Head, Verdict: Approve, PatchID: "p", Judged: reject,
		}}); CodeOf(err) != EInvalid || !strings.Contains(err.Error(), "finding 3") {
		t.Error(err)
	}
}

// REV-4: where the second reviewer ends without a verdict the approval stands, once for its head.
func TestFirstApprovalStands(t *testing.T) {
	t.Parallel()
	l := newApproved(t, confirmingAll)
	l.claim("t1-01-review.2")
	l.end("t1-01-review.2", RunEnded{Status: RunError, Code: EModel, Error: "no verdict"}, nil)
	l.requireSub(SubtaskMerging)
	if l.task().AwaitsSecondReview(l.sub()) || len(l.task().Queue) != 1 || len(l.task().Failures) != 0 {
		t.Errorf("%+v", l.task())
	}
	if got := l.statuses(); got != "a name unverified; no doc unverified" {
		t.Error(got)
	}
}

// REV-4: the pull request of an approved whole waits for the second reviewer of its findings.
func TestSecondReviewOfAnApprovedWhole(t *testing.T) {
	t.Parallel()
	judged := []Judgement{{Number: 1, Status: FindingRejected, Why: "it is there"}, {Number: 2, Status: FindingConfirmed}}
	for name, end := range map[string]EndRun{
		"judged": {Outcome: RunEnded{Status: RunSuccess}, Review: &ReviewRecorded{Verdict: Approve, Judged: judged}},
		"broken": {Outcome: RunEnded{Status: RunError, Error: "no verdict"}},
	} {
		s := newStory(t, Settings{ConfirmReview: ConfirmAll, PR: Ask}).plan(2)
		for n := range 2 {
			s.queued(n + 1)
			s.merged(n + 1)
		}
		s.must(Company, s.wholeGated(true))
		asked := func() bool {
			for _, w := range s.s.RequiredApprovals(s.task()) {
				if w.Kind == AskPR {
					return true
				}
			}
			return false
		}
		first := NewRunID(s.id, "", Reviewer, 1)
		s.must(string(first),
			EndRun{Run: first, Fence: s.claim(first), Outcome: RunEnded{Status: RunSuccess}, Review: &ReviewRecorded{
				Head: s.task().Head, Onto: s.task().Head, Verdict: Approve, PatchID: "p", Findings: remarks(),
			}})
		if !s.isDue(EffectReview) || asked() {
			t.Errorf("%s: no second review is due, or the pull request is", name)
		}
		if r := end.Review; r != nil {
			r.Head, r.Onto, r.PatchID = s.task().Head, s.task().Head, "p"
		}
		end.Run = NewRunID(s.id, "", Reviewer, 2)
		end.Fence = s.claim(end.Run)
		s.must(string(end.Run), end)
		if s.isDue(EffectReview) || !asked() {
			t.Errorf("%s: a third review is due, or no pull request: %+v", name, s.task().Review)
		}
	}
}

// REV-4: the approval of the only ticket holds for the whole without another second review, also where
// that of the ticket broke.
func TestCarriedApprovalIsJudgedOnce(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		s := newStory(t, confirmingAll).plan(1)
		s.work(1)
		s.must(Company, s.gated(1, true))
		r := ReviewRecorded{Head: s.sub(1).Head, Onto: s.task().Head, PatchID: "p", Verdict: Approve, Whole: true,
			Findings: remarks()}
		s.end(NewRunID(s.id, s.subID(1), Reviewer, 1), EndRun{Review: &r})
		s.checkSubStatus(1, SubtaskReviewing)
		second := EndRun{Outcome: RunEnded{Status: RunError, Error: "no verdict"}}
		if !broken {
			again := r
			again.Findings, again.Judged = nil,
				[]Judgement{{Number: 1, Status: FindingConfirmed}, {Number: 2, Status: FindingConfirmed}}
			second = EndRun{Outcome: RunEnded{Status: RunSuccess}, Review: &again}
		}
		second.Run = NewRunID(s.id, s.subID(1), Reviewer, 2)
		second.Fence = s.claim(second.Run)
		s.must(string(second.Run), second)
		s.mergedAs(true)
		s.must(Company, s.wholeGated(true))
		if s.isDue(EffectReview) || s.task().CarriedFrom() == nil || !s.task().Review.Allows(s.task().Head) {
			t.Errorf("broken %v: another review is due: %+v", broken, s.task().Review)
		}
		s.must(Company, IntendDelivery{s.id})
		s.must(Company, s.delivered())
		s.checkStatus(StatusCompleted)
		s.settle()
	}
}

// REV-4: the findings of an approval that is taken back keep their statuses: where the base moved in a file of the
// diff, a conflict was resolved, or the task was given up and taken up again.
func TestWithdrawnApprovalLeavesItsFindings(t *testing.T) {
	t.Parallel()
	for name, withdraw := range map[string]func(s *story){
		"the base moved": func(s *story) {
			c := s.tested(1)
			c.Overlap = true
			s.must(Company, c)
		},
		"a conflict": func(s *story) {
			s.must(Company,
				ReportConflict{Task: s.id, Subtask: s.subID(1),
					ConflictReported: ConflictReported{Head: s.sub(1).Head, Onto: s.task().Head, Paths: []string{"a.go"}}})
			s.end(NewRunID(s.id, s.subID(1), Merger, 1), EndRun{Outcome: RunEnded{Head: s.oid()}})
		},
		"a retry": func(s *story) {
			s.must(President, Cancel{Task: s.id})
			s.must(President, Retry{Task: s.id})
		},
	} {
		for _, broken := range []bool{false, true} {
			s := newStory(t, confirmingAll).plan(2)
			s.work(1)
			s.must(Company, s.gated(1, true))
			r := ReviewRecorded{Head: s.sub(1).Head, Onto: s.task().Head, PatchID: "p", Verdict: Approve, Findings: remarks()}
			s.end(NewRunID(s.id, s.subID(1), Reviewer, 1), EndRun{Review: &r})
			second := NewRunID(s.id, s.subID(1), Reviewer, 2)
			want := "a name confirmed, no doc rejected"
			if broken {
				want = "a name unverified, no doc unverified"
				s.must(string(second),
					EndRun{Run: second, Fence: s.claim(second), Outcome: RunEnded{Status: RunError, Error: "no verdict"}})
			} else {
				again := r
				again.Findings, again.Judged = nil,
					[]Judgement{{Number: 1, Status: FindingConfirmed}, {Number: 2, Status: FindingRejected, Why: "it is there"}}
				s.end(second, EndRun{Review: &again})
			}
			s.checkSubStatus(1, SubtaskMerging)
			withdraw(s)
			s.checkSubStatus(1, SubtaskInGate)
			var got []string
			for _, f := range s.sub(1).Review.Past {
				got = append(got, f.What+" "+f.Status)
			}
			slices.Sort(got)
			if sub := s.sub(1); strings.Join(got, ", ") != want || sub.Review.Last != nil || sub.Review.Unconfirmed != "" {
				t.Errorf("%s, broken %v: %q, %+v", name, broken, got, sub.Review)
			}
			s.must(Company, s.gated(1, true))
			s.reviewed(1, Approve)
			s.checkSubStatus(1, SubtaskMerging)
		}
	}
}

// A second look that broke by a fault of the company, or that needs a person, is tried again, and at last a person
// is asked: no ticket is merged, or goes back, unlooked at, since a daemon or a key was wrong.
func TestSecondLookIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]RunEnded{
		"the daemon": {Status: RunError, Code: EDocker, Error: "no daemon"},
		"a key":      {Status: RunError, Code: EModel, Error: "no key", Human: true},
	} {
		for which, l := range map[string]*line{ConfirmAll: newApproved(t, confirmingAll),
			ConfirmBlocking: newReviewed(t, confirming)} {
			l.claim("t1-01-review.2")
			l.end("t1-01-review.2", fault, nil)
			l.requireSub(SubtaskReviewing)
			f := l.task().Failures["review t1-01"]
			if !l.task().AwaitsSecondReview(l.sub()) || f.Attempt != 1 || f.Code != fault.Code {
				t.Errorf("%s, %s: %+v, %+v", name, which, f, l.sub().Review)
			}
			if fault.Human && len(l.s.RequiredApprovals(l.task())) != 1 {
				t.Errorf("%s, %s: the president is not asked", name, which)
			}
			l.now = l.now.Add(time.Hour)
			l.claim("t1-01-review.3")
			l.end("t1-01-review.3", RunEnded{Status: RunError, Code: EModel, Error: "no verdict"}, nil)
			if l.task().AwaitsSecondReview(l.sub()) || l.sub().Status == SubtaskReviewing || len(l.task().Failures) != 0 {
				t.Errorf("%s, %s: %s, %+v", name, which, l.sub().Status, l.task().Failures)
			}
		}
	}
}
