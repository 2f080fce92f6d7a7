package company_test

import (
	. "company/internal/company"
	"reflect"
	"testing"
)

// partOf makes a verdict that of a first step.
func partOf(r GateResult) GateResult {
	last := &r.Checks[len(r.Checks)-1]
	last.Part = &TestPart{Ran: 3, Of: 41}
	return r
}

// A verdict of a first step lets a ticket go on to its review, and is not kept for its
// tree: the merged tree is judged whole, also where it is the same one (GAT-3).
func TestFirstStepMergesNothing(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2)
	s.work(1)
	first := s.gated(1, true)
	first.Result = partOf(first.Result)
	s.must(Company, first)
	s.checkSubStatus(1, SubtaskReviewing)
	want := []FirstStep{{"test", TestPart{Ran: 3, Of: 41}}}
	if got := s.sub(1).FirstSteps; !reflect.DeepEqual(got, want) || got[0].String() != "3 of 41 packages" {
		t.Errorf("first steps %v", got)
	}
	if _, kept := s.s.GateResults[GateKey(first.Result.Tree, first.Result.GateHash, first.Result.Image)]; kept {
		t.Error("the verdict of a first step is kept as that of its tree")
	}
	s.reviewed(1, Approve)
	merge := s.tested(1)
	merge.Tree, merge.Result.Tree = first.Result.Tree, first.Result.Tree
	merge.Result = partOf(merge.Result)
	s.mustRefuse(EInvalid, merge)
	merge.Result.Checks[len(merge.Result.Checks)-1].Part = nil
	s.must(Company, merge)
	if got := s.sub(1).FirstSteps; !reflect.DeepEqual(got, want) {
		t.Errorf("after the merge's verdict the first steps are %v", got)
	}
	if _, kept := s.s.GateResults[GateKey(first.Result.Tree, first.Result.GateHash, first.Result.Image)]; !kept {
		t.Error("the whole verdict is not kept")
	}
}

// Neither a stack nor the whole is judged by a first step (GAT-3).
func TestFirstStepIsNotTheWhole(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2).queue(2)
	stack := s.stackOf(2)
	whole := stack.Result
	stack.Result = partOf(s.verdict(whole.Tree, true))
	s.mustRefuse(EInvalid, stack)
	stack.Result = whole
	s.must(Company, stack)

	s = newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	end := s.wholeGated(true)
	end.Result = partOf(end.Result)
	s.mustRefuse(EInvalid, end)
	s.must(Company, s.wholeGated(true))
}

// A red first step sends the ticket back, like a red verdict on all.
func TestRedFirstStepSendsBack(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	s.work(1)
	first := s.gated(1, false)
	first.Result = partOf(first.Result)
	s.must(Company, first)
	s.checkSubStatus(1, SubtaskPending)
	if s.sub(1).LastRed() == "" || len(s.s.GateResults) > 1 { // that of the base is there
		t.Errorf("%q, %d verdicts kept", s.sub(1).LastRed(), len(s.s.GateResults))
	}
}
