package company_test

import (
	"fmt"
	"testing"

	. "company/internal/company"
)

// A question of the office is about no task: it is open beside the questions of tasks, and is
// answered once.
func TestOfficeQuestion(t *testing.T) {
	for _, option := range []string{OptApprove, OptReject} {
		l := newLine(t, Settings{})
		l.must(Company,
			SetOfficeCaps{Caps: OfficeCaps{Day: Amount{MicroUSD: 100, Tokens: NoCap},
				Office: Amount{MicroUSD: NoCap, Tokens: NoCap}}})
		ask := func(kind ApprovalKind) ApprovalID {
			t.Helper()
			id := ApprovalID(fmt.Sprintf("a%d", l.s.LastApproval+1))
			l.apply(Meta{Now: l.now}.NewEvent(
				"", "", "", &ApprovalOpened{ID: id, Key: "office " + string(id), AskKind: kind, Question: "Raise the cap?"}))
			if open := l.s.OpenApprovals(""); len(open) != 1 || open[0].ID != id || open[0].Task != "" {
				t.Fatalf("open: %+v", open)
			}
			return id
		}
		id := ask(AskDayBudget)
		if open := l.s.OpenApprovals(lineTask); len(open) != 0 {
			t.Errorf("of a task: %+v", open)
		}
		if _, err := l.do(President, Answer{Approval: id, Option: OptAnswer, Text: "x"}); CodeOf(err) != EInvalid {
			t.Errorf("answered with words: %v", err)
		}
		l.must(President, Answer{Approval: id, Option: option})
		if a := l.s.Approvals[id]; len(l.s.OpenApprovals("")) != 0 || a.Option != option {
			t.Errorf("%s: %+v", option, a)
		}
		if raised := l.s.Spending.RaisedToday.MicroUSD > 0; raised != (option == OptApprove) {
			t.Errorf("%s raised the cap: %v", option, raised)
		}
		if _, err := l.do(President, Answer{Approval: id, Option: option}); CodeOf(err) != EConflict {
			t.Errorf("answered twice: %v", err)
		}
		// No answer ends or changes a task, whatever the question is about.
		for _, kind := range []ApprovalKind{AskPlan, AskMerge, AskBlocked, AskMergeConflict, AskBudget, AskTrouble, AskPR,
			AskHeld, AskOtherBase, AskGates, AskReview, AskRedGreen, AskUnread} {
			before := l.task()
			l.must(President, Answer{Approval: ask(kind), Option: option})
			if len(l.s.OpenApprovals("")) != 0 || l.task() != before {
				t.Errorf("%s: open %v, the task is changed: %v", kind, l.s.OpenApprovals(""), l.task() != before)
			}
		}
	}
}
