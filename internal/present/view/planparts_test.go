package view

import (
	"slices"
	"testing"
)

// An edit of a plan keeps the parts of the instruction that its subtasks do, or changes them.
func TestPlanFileKeepsParts(t *testing.T) {
	v := TaskDetail{
		Plan: []Subtask{{ID: "t1-01", Title: "Mend it", Description: "Mend the parser.", Effort: "small", Does: []int{1, 3}}}}
	text, err := v.PlanFile().RenderFor("t1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParsePlanFile(text)
	if err != nil || !f.Equal(v.PlanFile()) {
		t.Fatalf("%v, %+v of\n%s", err, f, text)
	}
	if got := f.Plan().Waves[0].Subtasks[0].Does; !slices.Equal(got, []int{1, 3}) {
		t.Errorf("%v of\n%s", got, text)
	}
	f.Subtasks[0].Does = []int{1}
	if f.Equal(v.PlanFile()) {
		t.Error("other parts are no change")
	}
}
