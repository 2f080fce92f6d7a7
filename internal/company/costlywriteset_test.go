package company

import (
	"fmt"
	"strings"
	"testing"
)

// hostileSubtask has globs and files that are as costly to compare as a plan and a record allow.
func hostileSubtask(id SubtaskID) *Subtask {
	sub := &Subtask{ID: id, Status: SubtaskReviewing}
	for i := range 64 {
		sub.Planned.WriteSet = append(sub.Planned.WriteSet,
			fmt.Sprintf("{%sb,**/%sb,**/%sc}z%d", strings.Repeat("**/*/", 25), strings.Repeat("*a", 200),
				strings.Repeat("*a", 100), i))
	}
	for i := range 2000 {
		sub.Changes = append(sub.Changes,
			Change{Path: fmt.Sprintf("%04d/%s%s", i, strings.Repeat("a/", 20), strings.Repeat("a", 900))})
	}
	return sub
}

// Globs and paths that were made to be costly use a budget up: then each
// further file lies outside, and whoever shares the budget has no cost of their own.
func TestCostlyWriteSets(t *testing.T) {
	task := &Task{ID: "t1", Subtasks: []*Subtask{hostileSubtask("t1-01"), hostileSubtask("t1-02")}}
	budget := NewMatchBudget()
	for _, sub := range task.Subtasks {
		if got := task.OutsideWriteSet(sub, budget); len(got) != len(sub.Changes) {
			t.Errorf("%d files outside of the write set", len(got))
		}
	}
	// A match in progress is finished: no more steps than its path has characters and the glob words.
	if spent := *budget; spent > -1 || spent < -64*2000*8-2000*16 {
		t.Errorf("the budget stands at %d", spent)
	}
	large := &Subtask{}
	for i := range 64 {
		large.Planned.WriteSet = append(large.Planned.WriteSet, fmt.Sprintf("**/*_%d.go", i))
	}
	for i := range 2000 {
		large.Changes = append(large.Changes,
			Change{Path: fmt.Sprintf("internal/a/folder/of/some/depth/a_file_with_a_name_%d.go", i)})
	}
	budget = NewMatchBudget()
	if got := (&Task{}).OutsideWriteSet(large, budget); len(got) != 2000-64 || *budget < 0 {
		t.Errorf("a large plan: %d files outside, a budget of %d", len(got), *budget)
	}
}
