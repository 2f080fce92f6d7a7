package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// T21: what stands against a push is a question; the leave counts for those
// doubts in that task, and what is new is asked about again.
func TestHeldPush(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	s.checked()
	head := s.task().Head
	hold := func(doubts ...Doubt) HoldDelivery { return HoldDelivery{Task: s.id, Head: head, Doubts: doubts} }
	key := Doubt{Key: "k1", Says: "config.go:3 holds what looks like a token"}
	s.mustRefuse(EConflict, hold(key)) // nothing was decided on yet
	s.must(Company, IntendDelivery{s.id})
	s.mustRefuse(EInvalid, hold())
	s.mustRefuse(EConflict, HoldDelivery{Task: s.id, Head: "other", Doubts: []Doubt{key}})
	s.must(Company, hold(key))
	s.mustIgnore(hold(key))
	if s.isDue(EffectDeliver) {
		t.Error("it is pushed before the answer")
	}
	q := s.ask(AskHeld)
	if !strings.Contains(q.Question, key.Says) {
		t.Error(q.Question)
	}
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	if !s.isDue(EffectDeliver) || !s.task().Allows("k1") || s.task().Allows("k2") {
		t.Errorf("%v", s.task().Allowed)
	}
	s.mustRefuse(EInvalid, hold(key))                       // it was let pass
	s.must(Company, hold(key, Doubt{Key: "k2", Says: "b"})) // and this was not
	q = s.ask(AskHeld)
	if s.isDue(EffectDeliver) || strings.Contains(q.Question, key.Says) {
		t.Error(q.Question)
	}
	s.must(President, Answer{Approval: q.ID, Option: OptReject})
	s.checkStatus(StatusFailed)
}

// A base that is gone at the remote: the president may let the pull request go into another branch, which is
// then the base of all that follows. Without that word, and beside other doubts, it is refused.
func TestOtherBase(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	s.checked()
	head := s.task().Head
	s.must(Company, IntendDelivery{s.id})
	doubt := Doubt{Key: OtherBaseKey("main", "trunk"), Says: "there is no main any more"}
	hold := HoldDelivery{Task: s.id, Head: head, Doubts: []Doubt{doubt}, Into: "trunk"}
	opened := RecordDelivery{Task: s.id, Head: head, Number: 1, Base: "trunk", Evidence: shownBy(s.task())}
	s.mustRefuse(EConflict, opened)
	s.mustRefuse(
		EInvalid, HoldDelivery{Task: s.id, Head: head, Doubts: []Doubt{doubt, {Key: "k", Says: "a secret"}}, Into: "trunk"})
	s.mustRefuse(EInvalid, HoldDelivery{Task: s.id, Head: head, Doubts: []Doubt{doubt}, Into: "other"})
	s.must(Company, hold)
	q := s.ask(AskOtherBase)
	if s.isDue(EffectDeliver) || !strings.Contains(q.Question, "Open the pull request into trunk?") ||
		!strings.Contains(q.Question, doubt.Says) {
		t.Errorf("%s", q.Question)
	}
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	if !s.isDue(EffectDeliver) {
		t.Error("not delivered after the answer")
	}
	other := opened
	other.Base = "other"
	s.mustRefuse(EConflict, other)
	s.must(Company, opened)
	if tk := s.task(); tk.Status != StatusCompleted || tk.PR.Base != "trunk" || tk.Prepared.Base.PRBranch != "trunk" ||
		tk.Prepared.Base.Branch != "main" {
		t.Errorf("%s, %+v, %+v", tk.Status, tk.PR, tk.Prepared.Base)
	}
}
