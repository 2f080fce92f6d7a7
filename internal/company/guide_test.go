package company_test

import (
	"testing"

	. "company/internal/company"
)

// stuckLine is a line whose only subtask waits for the manager, which decides in t1-plan.2.
func stuckLine(t *testing.T, set Settings) *line {
	t.Helper()
	l := newLine(t, set)
	l.plan()
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "upper or lower case?"}, nil)
	l.claim("t1-plan.2")
	return l
}

// SUB-16: the manager gives a stuck subtask a model that the settings name, and no other one.
// Its later runs keep it; a retry that begins it again does not.
func TestStuckSubtaskGetsAnotherModel(t *testing.T) {
	l := stuckLine(t, Settings{EscalateTo: []string{"big", "huge"}})
	give := func(run RunID, model string) error {
		_, err := l.do(
			string(run),
			EndRun{Run: run, Fence: l.fence, Outcome: RunEnded{Status: RunSuccess},
				Guide: &Guide{Subtask: lineSub, Text: "mind the order", Model: model}})
		return err
	}
	if err := give("t1-plan.2", "gigantic"); CodeOf(err) != ENotFound || l.sub().Escalation == "" {
		t.Fatalf("a model that nothing names: %v", err)
	}
	if err := give("t1-plan.2", "big"); err != nil {
		t.Fatal(err)
	}
	if sub := l.sub(); sub.Model != "big" || sub.Guided != 1 || sub.Escalation != "" ||
		sub.Input != "Your manager says: mind the order" {
		t.Errorf("%+v", sub)
	}
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "and now?"}, nil)
	l.claim("t1-plan.3")
	if err := give("t1-plan.3", "big"); CodeOf(err) != EConflict {
		t.Fatalf("the model that it has: %v", err)
	}
	if err := give("t1-plan.3", ""); err != nil || l.sub().Model != "big" {
		t.Errorf("%v: advice alone took its model: %q", err, l.sub().Model)
	}
	l.must("you", Cancel{Task: lineTask})
	l.must("you", Retry{Task: lineTask})
	if l.sub().Model != "big" {
		t.Errorf("a retry that goes on took its model: %q", l.sub().Model)
	}
	l.must("you", Cancel{Task: lineTask})
	l.must("you", Retry{Task: lineTask, From: lineSub})
	if l.sub().Model != "" {
		t.Errorf("it starts again with %q", l.sub().Model)
	}
}

// SUB-16: the manager gives a stuck subtask higher limits, within bounds. They stay with later
// advice, and end where it starts again.
func TestStuckSubtaskGetsMoreTurns(t *testing.T) {
	l := stuckLine(t, Settings{})
	give := func(run RunID, more int) error {
		_, err := l.do(
			string(run),
			EndRun{Run: run, Fence: l.fence, Outcome: RunEnded{Status: RunSuccess},
				Guide: &Guide{Subtask: lineSub, Text: "go on", MoreTurns: more}})
		return err
	}
	for _, more := range []int{-1, MaxMoreTurns + 1} {
		if err := give("t1-plan.2", more); CodeOf(err) != EInvalid || l.sub().Escalation == "" {
			t.Errorf("%d: %v", more, err)
		}
	}
	if err := give("t1-plan.2", MaxMoreTurns); err != nil || l.sub().MoreTurns != MaxMoreTurns || l.sub().Guided != 1 {
		t.Fatalf("%v %+v", err, l.sub())
	}
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "and now?"}, nil)
	l.claim("t1-plan.3")
	if err := give("t1-plan.3", 0); err != nil || l.sub().MoreTurns != MaxMoreTurns {
		t.Errorf("%v: advice alone took its turns: %d", err, l.sub().MoreTurns)
	}
	l.must("you", Cancel{Task: lineTask})
	l.must("you", Retry{Task: lineTask, From: lineSub})
	if l.sub().MoreTurns != 0 {
		t.Errorf("it starts again with %d more turns", l.sub().MoreTurns)
	}
}

// SUB-15: the manager sends a subtask back twice. Stuck once more, it is the president's to help or to end.
func TestManagerGuidesTwice(t *testing.T) {
	l := stuckLine(t, Settings{})
	for _, run := range []RunID{"t1-plan.2", "t1-plan.3"} {
		if run != "t1-plan.2" {
			l.claim(run)
		}
		l.end(run, RunEnded{Status: RunSuccess},
			func(e *EndRun) { e.Guide = &Guide{Subtask: lineSub, Text: "look again"} })
		l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "and now?"}, nil)
	}
	if sub := l.sub(); sub.Status != SubtaskBlocked || sub.Guided != 2 {
		t.Errorf("%+v", sub)
	}
}

// Where the settings name no model there is none to give.
func TestNoModelToGive(t *testing.T) {
	l := stuckLine(t, Settings{})
	err := l.task().CheckModel(l.sub(), "big")
	if err == nil || err.Code != ENotFound || err.Hint != "no other profile is allowed: guide the worker, or give the ticket up" {
		t.Errorf("%v", err)
	}
	if err := l.task().CheckModel(l.sub(), ""); err != nil {
		t.Errorf("%v", err)
	}
}
