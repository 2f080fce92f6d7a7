package company_test

import (
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

// newCappedStory is a story with two subtasks, in an office that may use so many tokens
// on a day, and so many ever.
func newCappedStory(t *testing.T, day, ever int64) *story {
	t.Helper()
	s := newStory(t, Settings{Cap: Amount{NoCap, 100_000}})
	s.must(Company, SetOfficeCaps{OfficeCaps{Day: Amount{NoCap, day}, Office: Amount{NoCap, ever}}})
	return s.plan(2)
}

// reserve asks for tokens for one call, and tells whether they were granted.
func (s *story) reserve(run RunID, fence uint64, one, used int64) bool {
	s.t.Helper()
	evs := s.must(string(run), Reserve{Run: run, Fence: fence, One: Amount{Tokens: one}, Used: Amount{Tokens: used}})
	return len(EventsOf[BudgetReserved](evs)) == 1
}

// The cap of a day rests the whole office until midnight, or until it is raised: the
// president is asked once, and not about each task.
func TestDayBudgetRestsTheOffice(t *testing.T) {
	t.Parallel()
	s := newCappedStory(t, 100, NoCap)
	a, fa := s.offer(1)
	b, fb := s.offer(2)
	if !s.reserve(a, fa, 60, 0) || !s.reserve(b, fb, 40, 0) {
		t.Fatalf("100 of 100 tokens are not granted")
	}
	if s.reserve(a, fa, 30, 60) {
		t.Fatalf("130 of 100 tokens are granted")
	}
	if s.s.Spending.Shortage != nil {
		t.Errorf("the office rests while another run may give some back")
	}
	if s.reserve(b, fb, 30, 40) {
		t.Fatalf("130 of 100 tokens are granted")
	}
	q := s.ask(AskDayBudget)
	if want := "The next model call may cost 30 tokens, and 100 tokens of 100 tokens for 2026-03-01 are used. Raise the " +
		"cap? Without an answer the work goes on at midnight."; q.Question != want {
		t.Errorf("the question is %q", q.Question)
	}
	for _, e := range Due(s.s, s.now, 9) {
		if r := s.task().Runs[e.Run]; e.Run != "" && !(r.Held && r.Waiting && e.Drain) {
			t.Errorf("%s is due while the budget is used up", e.Key)
		}
	}
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	if next := NextDue(s.s, s.now.Add(25*time.Minute)); !next.Equal(s.task().Runs[a].Deadline) && !next.Equal(midnight) {
		t.Errorf("something is due next at %s", next)
	}
	s.must(string(a), Release{Run: a, Fence: fa, Why: "it waits for money"})
	s.must(string(b), Release{Run: b, Fence: fb, Why: "it waits for money"})
	if s.isOfferDue() {
		t.Errorf("a run is offered while the budget is used up")
	}
	if !s.s.AtRest(s.task(), s.now) {
		t.Errorf("the task is not at rest")
	}
	s.now = midnight
	if !s.isOfferDue() || s.s.AtRest(s.task(), s.now) {
		t.Fatalf("nothing is offered on the next day")
	}
	s.must(Company, Offer{Run: a})
	fa = s.claim(a)
	if !s.reserve(a, fa, 30, 60) {
		t.Errorf("the next day grants nothing")
	}
	if got := s.s.Approvals[q.ID]; got.Open() || got.Option != OptWithdrawn {
		t.Errorf("the question is still open on the next day: %+v", got)
	}
	// What was granted yesterday and is given back today leaves today's books alone.
	s.must(string(a),
		EndRun{Run: a, Fence: fa, Outcome: RunEnded{Status: RunError, Error: "it broke", Spent: Amount{Tokens: 10}}})
	if got := s.s.Spending; got.Today.Tokens != 0 || got.Total.Tokens != 50 || got.Day != "2026-03-02" {
		t.Errorf("the books are %+v", got)
	}
}

// The days are those of the office's zone.
func TestDayBeginsInTheOfficesZone(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("east", 10*3600)
	m := Meta{Now: time.Date(2026, 3, 1, 15, 0, 0, 0, time.UTC), Zone: zone}
	if got := m.DayEnds(); !got.Equal(time.Date(2026, 3, 2, 14, 0, 0, 0, time.UTC)) {
		t.Errorf("the day ends at %s", got)
	}
	s := NewState()
	if got := m.Day(s); got != "2026-03-02" {
		t.Errorf("the day is %s", got)
	}
	if s.Spending.Day = "2026-04-01"; m.Day(s) != "2026-04-01" {
		t.Errorf("the books go back to %s", m.Day(s))
	}
}

func TestRaiseOfficeBudget(t *testing.T) {
	t.Parallel()
	s := newCappedStory(t, NoCap, 100)
	s.mustRefuse(EInvalid, RaiseOfficeBudget{Scope: "week", By: Amount{Tokens: 5}})
	s.mustRefuse(EInvalid, RaiseOfficeBudget{Scope: ScopeOffice})
	s.mustRefuse(EInvalid, RaiseOfficeBudget{Scope: ScopeOffice, By: Amount{MicroUSD: 5}})
	s.mustRefuse(EInvalid, RaiseOfficeBudget{Scope: ScopeDay, By: Amount{Tokens: 5}})
	a, fa := s.offer(1)
	if !s.reserve(a, fa, 90, 0) || s.reserve(a, fa, 30, 90) {
		t.Fatalf("the cap of the office is not 100 tokens")
	}
	q := s.ask(AskOfficeBudget)
	if !strings.HasSuffix(q.Question, "90 tokens of 100 tokens for the office are used. Raise the cap?") {
		t.Errorf("the question is %q", q.Question)
	}
	s.mustRefuse(EInvalid, Answer{Approval: q.ID, Option: OptApprove, Raise: Amount{MicroUSD: 5}})
	s.must(President, RaiseOfficeBudget{Scope: ScopeOffice, By: Amount{Tokens: 10}})
	if s.s.Approvals[q.ID].Open() {
		t.Errorf("the question is open after the raise")
	}
	if s.reserve(a, fa, 30, 90) { // 120 of 110
		t.Fatalf("a cap is passed")
	}
	again := s.ask(AskOfficeBudget)
	if again.ID == q.ID {
		t.Fatalf("the president is not asked again")
	}
	s.must(President, Answer{Approval: again.ID, Option: OptApprove}) // by the cap itself
	if !s.reserve(a, fa, 30, 90) {
		t.Errorf("a plain yes does not let the call through")
	}
	if got := s.s.Spending.Cap(ScopeOffice); got.Tokens != 210 {
		t.Errorf("the cap is %s", got)
	}
}

// A no leaves the cap as it is: the task goes on when there is money.
func TestOfficeBudgetRejected(t *testing.T) {
	t.Parallel()
	s := newCappedStory(t, 100, NoCap)
	a, fa := s.offer(1)
	if s.reserve(a, fa, 130, 0) {
		t.Fatalf("a cap is passed")
	}
	q := s.ask(AskDayBudget)
	s.must(President, Answer{Approval: q.ID, Option: OptReject})
	if s.task().Status.Ended() || len(s.s.OpenApprovals("")) > 0 || s.s.Spending.ShortAt(s.now) == nil {
		t.Errorf("a no ends the task, asks again, or the office goes on")
	}
	s.must(President, Pause{Task: s.id})
	if due := Due(s.s, s.now, 9); len(due) > 0 && !due[0].Drain {
		t.Errorf("%s is due", due[0].Key)
	}
	s.mustIgnore(SetOfficeCaps{*s.s.Spending.Caps})
	s.mustRefuse(EInvalid, SetOfficeCaps{OfficeCaps{Day: Amount{MicroUSD: -7}}})
}
