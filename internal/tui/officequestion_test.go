package tui

import (
	"testing"

	"company/internal/company"
	"company/internal/view/viewtest"
)

// A question of the office, which is about no task, is answered in place and leads to no task.
func TestOfficeQuestion(t *testing.T) {
	src := sourceOf(0, nil)
	src.State.Approvals["a3"] = &company.Approval{ID: "a3", Kind: company.AskDayBudget, Question: "Raise the cap of today?", Asked: viewtest.Time}
	d := openDesktop(t, 80, 24, snapshotOf(t, src))
	d.expect("! a3", "the office Raise the cap of today?")
	d.press("i")
	d.expect("day_budget of the office")
	d.press("enter")
	d.expect("a3 is about the office")
	d.press("d")
	d.expect("a3 is about the office")
	d.press("n", "enter")
	if len(d.office.answers) != 1 || d.office.answers[0].Approval != "a3" || d.office.answers[0].Option != company.OptReject {
		t.Fatalf("sent: %+v", d.office.answers)
	}
}
