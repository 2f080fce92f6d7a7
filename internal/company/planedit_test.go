package company_test

import (
	"testing"

	. "company/internal/company"
)

// The president's plan replaces the one that waits, by the manager's rules; the question is
// asked again, so that nobody approves a plan that they have not read.
func TestEditPlan(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Plan: Ask}).plan(2)
	first := s.ask(AskPlan)
	plan := Plan{Why: "they are apart",
		Waves: []Wave{{[]PlannedSubtask{okSubtask("a", "x/**"), okSubtask("b", "y/**"), okSubtask("c", "z/**")}}}}
	plan.Waves[0].Subtasks[2].After = []string{"a"}

	overlap := Plan{Why: "they are apart",
		Waves: []Wave{{[]PlannedSubtask{okSubtask("a", "x/**"), okSubtask("b", "x/y.go")}}}}
	s.mustRefuse(EPlan, EditPlan{Task: s.id, Plan: overlap})
	s.mustRefuse(EPlan, EditPlan{Task: s.id})
	s.mustRefuse(EConflict, EditPlan{Task: s.id, Question: "a99", Plan: plan})
	s.mustRefuse(ENotFound, EditPlan{Task: "t99", Plan: plan})

	evs := s.must(President, EditPlan{Task: s.id, Question: first.ID, Plan: plan})
	if len(evs) != 2 || evs[0].Kind != "plan.accepted" || evs[0].Actor != President ||
		evs[0].Run != s.task().Plan.Accepted {
		t.Fatalf("%+v", evs)
	}
	if len(s.task().Subtasks) != 3 || s.sub(3).Planned.After[0] != string(s.subID(1)) {
		t.Errorf("%+v", s.task().Subtasks)
	}
	second := s.ask(AskPlan)
	if old := s.s.Approvals[first.ID]; old.Open() || old.Option != OptWithdrawn || second.ID == first.ID ||
		second.Question != "The plan has 3 subtasks in 2 steps. Work on it?" {
		t.Errorf("%+v, %+v", old, second)
	}
	s.mustRefuse(EConflict, EditPlan{Task: s.id, Question: first.ID, Plan: plan})
	if s.isOfferDue() {
		t.Error("work begins before the plan is approved")
	}
	s.must(President, Answer{Approval: second.ID, Option: OptApprove})
	if !s.isOfferDue() {
		t.Error("no work begins on the approved plan")
	}
	s.mustRefuse(EConflict, EditPlan{Task: s.id, Plan: plan})
}

// A plan that nobody is asked about is not edited: its work may have begun.
func TestEditPlanThatIsNotAsked(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2)
	s.mustRefuse(EConflict, EditPlan{Task: s.id, Plan: waves(1)})
}
