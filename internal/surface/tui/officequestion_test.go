package tui

import (
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// A question of the office, which is about no task, is answered in place and leads to no task.
func TestOfficeQuestion(t *testing.T) {
	src := sourceOf(0, nil)
	src.State.Approvals["a3"] = &company.Approval{ID: "a3", Kind: company.AskDayBudget,
		Question: "Raise the cap of today?", Asked: viewtest.Time}
	d := openDesktop(t, 80, 24, snapshotOf(t, src))
	d.expect("! a3", "the office Raise the cap of today?")
	d.press("i")
	d.expect("day_budget of the office")
	d.press("enter")
	d.expect("a3 is about the office")
	d.press("d")
	d.expect("a3 is about the office")
	d.press("n", "enter")
	if len(d.office.answers) != 1 || d.office.answers[0].Approval != "a3" ||
		d.office.answers[0].Option != company.OptReject {
		t.Fatalf("sent: %+v", d.office.answers)
	}
}

// Each of four options is given by its key: y and n, and further ones by their place.
func TestFourOptions(t *testing.T) {
	for key, want := range map[string]company.Answer{
		"y": {Option: company.OptApprove}, "n": {Option: company.OptReject},
		"3": {Option: "request_changes", Text: "smaller"}, "w": {Option: "request_changes", Text: "smaller"},
		"4": {Option: "abort"},
	} {
		src := withQuestion(sourceOf(0, nil))
		src.State.Approvals["a3"].Kind = viewtest.FourOptions
		src.State.UseOptions(viewtest.FourOptionTable)
		d := openDesktop(t, 120, 30, snapshotOf(t, src))
		d.press("i")
		d.expect("3 request changes", "4 abort", "company answer a3 --option abort")
		d.press(key)
		if want.Text != "" {
			d.press("s", "m", "a", "l", "l", "e", "r")
		}
		d.press("enter")
		want.Approval, want.By = "a3", "watch"
		if len(d.office.answers) != 1 || d.office.answers[0] != want {
			t.Errorf("%s sent: %+v", key, d.office.answers)
		}
	}
}
