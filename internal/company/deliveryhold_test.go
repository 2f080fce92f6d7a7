package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// T21: what stands against a push is a question; the leave counts for those
// doubts in that task, and what is new is asked about anew.
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
