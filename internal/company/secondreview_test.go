package company_test

import (
	"fmt"
	"strings"
	"testing"

	. "company/internal/company"
)

// newReviewed is a ticket whose reviewer asks for changes for three findings, the last one minor.
func newReviewed(t *testing.T, set Settings) *line {
	t.Helper()
	return newJudged(t, set, RequestChanges, secondFindings()...)
}

// newJudged is a ticket whose first review has a verdict and findings.
func newJudged(t *testing.T, set Settings, verdict string, findings ...Finding) *line {
	t.Helper()
	l := newLine(t, set)
	l.plan()
	l.success(l.work())
	l.gate(true)
	l.review(verdict, findings...)
	return l
}

func secondFindings() []Finding {
	return []Finding{
		{Severity: Blocking, File: "a.go", Line: 3, What: "no test"},
		{Severity: Blocking, File: "a.go", Line: 9, What: "a race"},
		{Severity: Minor, What: "a name"},
	}
}

// statuses lists the findings of the ticket, each with its status and the reason for it.
func (l *line) statuses() string {
	var out []string
	for _, f := range l.sub().Review.Findings() {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", f.What, f.Status, f.Basis), ": "))
	}
	return strings.Join(out, "; ")
}

func (l *line) requireSub(status SubtaskStatus, input ...string) {
	l.t.Helper()
	sub := l.sub()
	if sub.Status != status {
		l.t.Fatalf("%s is %s, not %s", sub.ID, sub.Status, status)
	}
	for _, want := range input {
		if without, is := strings.CutPrefix(want, "!"); is == strings.Contains(sub.Input, without) {
			l.t.Fatalf("the input of the next run: %q, want %q", sub.Input, want)
		}
	}
}

// refuseSecond has the second reviewer end with a verdict that is refused.
func (l *line) refuseSecond(verdict string, judged []Judgement, want string, fs ...Finding) {
	l.t.Helper()
	_, err := Decide(l.s, Meta{ID: "m", Now: l.now},
		EndRun{Run: "t1-01-review.2", Fence: l.fence, Outcome: RunEnded{Status: RunSuccess}, Review: &ReviewRecorded{
			Head: l.sub().Head, Onto: l.task().Head, Verdict: verdict, Findings: fs, PatchID: "p", Judged: judged,
		}})
	if CodeOf(err) != EInvalid || !strings.Contains(err.Error(), want) {
		l.t.Fatalf("%v, want %q", err, want)
	}
}

var confirming = Settings{ConfirmReview: ConfirmBlocking}

// REV-4: with review.confirm a second reviewer judges findings that block before the ticket goes
// back for them. What it confirms and what it finds itself goes to the worker; what it rejects does not.
func TestSecondReviewerJudgesFindings(t *testing.T) {
	t.Parallel()
	l := newReviewed(t, confirming)
	l.requireSub(SubtaskReviewing)
	if !l.task().AwaitsSecondReview(l.sub()) || !strings.Contains(fmt.Sprint(l.due(4)), "t1-01-review.2") {
		t.Fatalf("no second review is due: %+v", l.due(4))
	}
	own := Finding{Severity: Blocking, File: "b.go", Line: 1, What: "it leaks"}
	l.judge(RequestChanges,
		[]Judgement{{Number: 2, Status: FindingRejected, Why: "a lock holds it"},
			{Number: 1, Status: FindingConfirmed, Why: "go test -cover"}}, own, secondFindings()[0])
	l.requireSub(SubtaskPending, "a.go:3: no test", "b.go:1: it leaks", "!a race")
	if got := l.statuses(); got != "a race rejected: a lock holds it; a name unverified; no test confirmed: go test "+
		"-cover; it leaks unverified" {
		t.Error(got)
	}
	if last := l.sub().Review.Last; !last.Confirms || len(last.Findings) != 2 || l.sub().Review.Rounds != 1 {
		t.Errorf("%+v", l.sub().Review)
	}

	// The next round is of another head, and has a second review of its own.
	l.success(l.work())
	l.gate(true)
	l.judge(RequestChanges, []Judgement{{Number: 1, Status: FindingConfirmed}}, own)
	l.requireSub(SubtaskReviewing)
	l.judge(Approve, []Judgement{{Number: 1, Status: FindingRejected, Why: "it is closed by then"}})
	l.requireSub(SubtaskMerging)
	if got := l.statuses(); !strings.HasSuffix(
		got, "no test confirmed; it leaks confirmed: it found the same again; it leaks rejected: it is closed by then") {
		t.Error(got)
	}
}

// REV-4: a finding that the second reviewer has, too, needs no word of its own, and minor ones need none.
func TestSecondReviewerFindsTheSame(t *testing.T) {
	t.Parallel()
	l := newReviewed(t, confirming)
	l.judge(RequestChanges, []Judgement{{Number: 3, Status: FindingConfirmed}}, secondFindings()[:2]...)
	l.requireSub(SubtaskPending, "no test", "a race", "!a name")
	if got := l.statuses(); got != "no test confirmed: it found the same again; a race confirmed: it found the same "+
		"again; a name confirmed" {
		t.Error(got)
	}
}

// REV-4: a second review that does not judge what blocks is refused, and so is an approval in spite of what
// it confirms.
func TestSecondReviewIsChecked(t *testing.T) {
	t.Parallel()
	l := newReviewed(t, confirming)
	l.claim("t1-01-review.2")
	reject := []Judgement{{Number: 1, Status: FindingRejected, Why: "it has one"},
		{Number: 2, Status: FindingRejected, Why: "it is locked"}}
	l.refuseSecond(Approve, reject[:1], "finding 2 of the first review blocks")
	l.refuseSecond(Approve, []Judgement{reject[0], {Number: 2, Status: FindingConfirmed}}, "cannot approve: blocking finding 2")
	l.refuseSecond(Approve, nil, "finding 1 of the first review blocks")
	l.refuseSecond(RequestChanges, reject, "without a blocking finding")
	l.requireSub(SubtaskReviewing)
	l.end("t1-01-review.2", RunEnded{Status: RunSuccess}, func(e *EndRun) {
		e.Review = &ReviewRecorded{Head: l.sub().Head, Onto: l.task().Head, Verdict: Approve, PatchID: "p",
			Judged: append(reject, Judgement{Number: 3, Status: FindingConfirmed})}
	})
	l.requireSub(SubtaskMerging)
	if got := l.statuses(); got != "no test rejected: it has one; a race rejected: it is locked; a name confirmed" {
		t.Error(got)
	}
}

// REV-4: a second review is one run. Where it ends without a verdict, the first review stands; so it
// does where no second one is wanted.
func TestFirstReviewStands(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]Settings{"off": {ConfirmReview: ConfirmOff}, "not set": {}, "broken": confirming} {
		l := newReviewed(t, set)
		if name == "broken" {
			l.claim("t1-01-review.2")
			l.end("t1-01-review.2", RunEnded{Status: RunError, Code: EModel, Error: "no verdict"}, nil)
		}
		l.requireSub(SubtaskPending, "no test", "a race", "!a name")
		if got := l.statuses(); got != "no test unverified; a race unverified; a name unverified" ||
			len(l.task().Failures) != 0 || l.sub().Review.Current != "" {
			t.Errorf("%s: %s, %+v", name, got, l.task().Failures)
		}
		l.success(l.work())
		l.gate(true)
		l.review(Approve)
		l.requireSub(SubtaskMerging)
	}
}

// A first review that breaks is tried again as ever: it has no findings to stand on.
func TestFirstReviewIsTriedAgain(t *testing.T) {
	t.Parallel()
	l := newLine(t, confirming)
	l.plan()
	l.success(l.work())
	l.gate(true)
	l.claim("t1-01-review.1")
	l.end("t1-01-review.1", RunEnded{Status: RunError, Code: EModel, Error: "no verdict"}, nil)
	l.requireSub(SubtaskReviewing)
	if len(l.task().Failures) != 1 {
		t.Errorf("%+v", l.task().Failures)
	}
	l.review(Approve)
	l.requireSub(SubtaskMerging)
	if l.task().AwaitsSecondReview(l.sub()) {
		t.Error("an approval is looked at twice")
	}
}

// REV-4: findings about the whole are judged by a second reviewer, too.
func TestSecondReviewOfTheWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  EndRun
		want TaskStatus
	}{
		{"confirmed",
			EndRun{Outcome: RunEnded{Status: RunSuccess},
				Review: &ReviewRecorded{Verdict: RequestChanges, Judged: []Judgement{{Number: 1, Status: FindingConfirmed}}}},
			StatusExecuting},
		{"rejected",
			EndRun{Outcome: RunEnded{Status: RunSuccess},
				Review: &ReviewRecorded{Verdict: Approve,
					Judged: []Judgement{{Number: 1, Status: FindingRejected, Why: "it is right"}}}}, StatusReviewing},
		{"broken", EndRun{Outcome: RunEnded{Status: RunError, Error: "no verdict"}}, StatusExecuting},
	} {
		s := newStory(t, confirming).plan(2)
		for n := range 2 {
			s.queued(n + 1)
			s.merged(n + 1)
		}
		s.must(Company, s.wholeGated(true))
		s.reviewed(0, RequestChanges)
		s.checkStatus(StatusReviewing)
		if !s.isDue(EffectReview) {
			t.Errorf("%s: no second review is due", c.name)
		}
		if r := c.end.Review; r != nil {
			r.Head, r.Onto, r.PatchID = s.task().Head, s.task().Head, "p"
		}
		c.end.Run = NewRunID(s.id, "", Reviewer, 2)
		c.end.Fence = s.claim(c.end.Run)
		s.must(string(c.end.Run), c.end)
		s.checkStatus(c.want)
		if repairs := len(s.task().Subtasks) - 2; (c.want == StatusExecuting) != (repairs == 1) ||
			s.task().Review.Allows(s.task().Head) != (c.want == StatusReviewing) {
			t.Errorf("%s: %d repairs, %+v", c.name, repairs, s.task().Review.Last)
		}
	}
}

// A whole that the president let pass after a second look that broke is delivered: it waits for no other one.
func TestWaivedWholeAwaitsNoSecondReview(t *testing.T) {
	t.Parallel()
	for _, which := range []string{ConfirmOff, ConfirmBlocking, ConfirmAll} {
		s := newStory(t, Settings{ConfirmReview: which, ReviewRounds: 1}).plan(1).queued(1)
		s.merged(1)
		s.must(Company, s.wholeGated(false))
		s.queued(2)
		s.merged(2)
		s.must(Company, s.wholeGated(true))
		s.reviewed(0, RequestChanges)
		if which != ConfirmOff {
			second := NewRunID(s.id, "", Reviewer, 2)
			s.must(string(second),
				EndRun{Run: second, Fence: s.claim(second), Outcome: RunEnded{Status: RunError, Code: EModel, Error: "no verdict"}})
		}
		s.must(President, Answer{Approval: s.ask(AskReview).ID, Option: OptApprove})
		if s.task().AwaitsSecondReview(nil) || s.isDue(EffectReview) {
			t.Errorf("%s: a second review is awaited: %+v", which, s.task().Review)
		}
		s.must(Company, IntendDelivery{s.id})
		s.must(Company, s.delivered())
		s.checkStatus(StatusCompleted)
	}
}

// A waiver holds by itself, with no record of a second look that broke.
func TestWaivedWholeHoldsByItself(t *testing.T) {
	t.Parallel()
	s := newStory(t, confirming).plan(1)
	task := *s.task()
	task.Head = s.oid()
	task.Review = ReviewState{Last: &ReviewRecorded{Head: task.Head, Verdict: RequestChanges, Findings: secondFindings()}}
	if !task.AwaitsSecondReview(nil) {
		t.Error("no second review is awaited")
	}
	task.Review.Waived = task.Head
	if task.AwaitsSecondReview(nil) {
		t.Error("a second review of what the president let pass is awaited")
	}
}

// A head whose second look broke, handed in again as it is, has a review like any other, and no second look at
// the findings that went back already.
func TestHeadIsHandedInAgainAfterABrokenSecondLook(t *testing.T) {
	t.Parallel()
	l := newReviewed(t, confirming)
	head := l.sub().Head
	l.claim("t1-01-review.2")
	l.end("t1-01-review.2", RunEnded{Status: RunError, Code: EModel, Error: "no verdict"}, nil)
	l.end(l.work(), RunEnded{Status: RunSuccess, Head: head, Changes: l.sub().Changes}, nil)
	l.gate(true)
	l.requireSub(SubtaskReviewing)
	if l.task().AwaitsSecondReview(l.sub()) {
		t.Errorf("the findings that went back are judged again: %+v", l.sub().Review)
	}
	l.judge(Approve, []Judgement{{Number: 1, Status: FindingRejected, Why: "it has one"}})
	if l.requireSub(SubtaskMerging); l.sub().Review.Last.Confirms {
		t.Errorf("%+v", l.sub().Review.Last)
	}
}
