package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// A model's server that is away costs no attempt of the ticket and no decision of the manager, whose model may be as
// far away: the president is asked. A manager that may give another model is asked as before.
func TestAbsentModelCostsNoDecision(t *testing.T) {
	t.Parallel()
	away := RunEnded{Status: RunError, Code: EModelAway, Error: "m gave no answer: connection refused"}
	l := newLine(t, Settings{RunRetries: 1, EffectRetries: 2})
	l.plan()
	l.end(l.work(), RunEnded{Status: RunError, Code: EInternal, Error: "broken"}, nil)
	for _, want := range []Hold{{Kind: HoldRetry, Attempt: 3, Attempts: 3}, {Kind: HoldAnswer}} {
		l.now = NextDue(l.s, l.now)
		l.end(l.work(), away, nil)
		l.now = l.s.Time
		if sub := l.sub(); sub.RunErrors != 1 || sub.Escalation != "" || sub.Status != SubtaskPending {
			t.Fatalf("the work is blamed: %+v", sub)
		}
		want.Task, want.Subtask = lineTask, lineSub
		l.checkHolds(1, want)
	}
	asked := l.s.RequiredApprovals(l.task())
	if len(asked) != 1 || !strings.HasPrefix(asked[0].Question, "run t1-01 failed 3 times: m gave no answer") {
		t.Errorf("asked: %+v", asked)
	}

	l = newLine(t, Settings{RunRetries: 1, EscalateTo: []string{"strong"}})
	l.plan()
	for range 2 {
		l.now = NextDue(l.s, l.now)
		l.end(l.work(), away, nil)
	}
	if l.sub().Escalation == "" {
		t.Error("the manager that may give another model is not asked")
	}
}

// A merger whose model is away is tried again as a merger.
func TestMergerIsTriedAgainWithoutItsModel(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	l.success(l.work())
	l.gate(true)
	l.review(Approve)
	l.must(Company,
		ReportConflict{Task: lineTask, Subtask: lineSub,
			ConflictReported: ConflictReported{Head: l.sub().Head, Onto: l.task().Head, Paths: []string{"x/a.go"}}})
	l.claim("t1-01-merge.1")
	l.end("t1-01-merge.1", RunEnded{Status: RunError, Code: EModelAway, Error: "away"}, nil)
	if l.sub().Escalation != "" || l.sub().Conflict == nil {
		t.Errorf("the manager is asked: %+v", l.sub())
	}
}

// A manager that cannot be asked for a decision has no part in the plan, which is there: no question says that the plan
// failed.
func TestQuestionAboutAnAbsentManager(t *testing.T) {
	t.Parallel()
	for text, end := range map[string]RunEnded{
		"the manager could not be asked, tried 1 time: no key": {Status: RunError, Code: EModelAuth, Error: "no key",
			Human: true},
		"the manager's decision failed 1 time: out of time": {Status: RunError, Code: ETimeout, Error: "out of time",
			TimedOut: true},
	} {
		l := newLine(t, Settings{RunRetries: 1})
		l.plan()
		for range 2 {
			l.now = NextDue(l.s, l.now)
			l.end(l.work(), RunEnded{Status: RunError, Code: EInternal, Error: "broken"}, nil)
		}
		l.claim("t1-plan.2")
		l.end("t1-plan.2", end, nil)
		if asked := l.s.RequiredApprovals(l.task()); len(asked) != 1 || asked[0].Question != text {
			t.Errorf("asked: %+v, want %q", asked, text)
		}
	}
	if text := (Failure{Attempt: 2}).Describe("plan", false); text != "plan failed 2 times" {
		t.Error(text)
	}
}
