package company

import (
	"fmt"
	"strings"
	"testing"
)

func fitOf(planned, changed []string) Fit {
	f, _ := WriteSetFit(planned, changed, NewMatchBudget())
	return f
}

// A write set is held against the files that were changed: which of its globs were
// needed, and which of the files it speaks of (SUB-18).
func TestWriteSetFit(t *testing.T) {
	for _, c := range []struct {
		name              string
		planned, changed  []string
		want              Fit
		precision, recall float64
	}{
		{"exact", []string{"a.go", "docs/*.md"}, []string{"a.go", "docs/x.md", "docs/y.md"}, Fit{2, 2, 3, 3}, 1, 1},
		{"too wide", []string{"a.go", "b.go", "internal/**", "docs/**"}, []string{"a.go"}, Fit{4, 1, 1, 1}, 0.25, 1},
		{"too narrow", []string{"a.go"}, []string{"a.go", "b.go"}, Fit{1, 1, 2, 1}, 1, 0.5},
		{"beside it", []string{"a.go"}, []string{"b.go"}, Fit{1, 0, 1, 0}, 0, 0},
		{"two globs for one file", []string{"**/*.go", "a.go"}, []string{"a.go"}, Fit{2, 2, 1, 1}, 1, 1},
		{"a glob that cannot be read", []string{"[", "a.go"}, []string{"a.go"}, Fit{2, 1, 1, 1}, 0.5, 1},
	} {
		f := fitOf(c.planned, c.changed)
		p, pok := f.Precision()
		r, rok := f.Recall()
		if f != c.want || p != c.precision || r != c.recall || !pok || !rok {
			t.Errorf("%s: %+v, precision %v %v, recall %v %v", c.name, f, p, pok, r, rok)
		}
	}
	if _, ok := fitOf(nil, []string{"a"}).Precision(); ok {
		t.Error("nothing was planned, and there is a precision")
	}
	if _, ok := fitOf([]string{"a"}, nil).Recall(); ok {
		t.Error("nothing was changed, and there is a recall")
	}
	if got := fitOf([]string{"a"}, []string{"a"}).Add(fitOf([]string{"b"}, []string{"c"})); got != (Fit{2, 1, 2, 1}) {
		t.Errorf("sum: %+v", got)
	}
}

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

// Globs and paths that were made to be costly use a budget up: then there is no fit, each
// further file lies outside, and whoever shares the budget has no cost of their own.
func TestCostlyWriteSets(t *testing.T) {
	task := &Task{ID: "t1", Subtasks: []*Subtask{hostileSubtask("t1-01"), hostileSubtask("t1-02")}}
	budget := NewMatchBudget()
	for _, sub := range task.Subtasks {
		var changed []string
		for _, c := range sub.Changes {
			changed = append(changed, c.Path)
		}
		if f, ok := WriteSetFit(sub.Planned.WriteSet, changed, budget); ok || f.Changed != len(changed) {
			t.Errorf("%+v, %v", f, ok)
		}
		if got := task.OutsideWriteSet(sub, budget); len(got) != len(changed) {
			t.Errorf("%d files outside of the write set", len(got))
		}
	}
	// A match in progress is finished: no more steps than its path has characters and the glob words.
	if spent := *budget; spent > -1 || spent < -64*2000*8-2000*16 {
		t.Errorf("the budget stands at %d", spent)
	}
	large := &Subtask{}
	var changed []string
	for i := range 64 {
		large.Planned.WriteSet = append(large.Planned.WriteSet, fmt.Sprintf("**/*_%d.go", i))
	}
	for i := range 2000 {
		changed = append(changed, fmt.Sprintf("internal/a/folder/of/some/depth/a_file_with_a_name_%d.go", i))
	}
	if f, ok := WriteSetFit(large.Planned.WriteSet, changed, NewMatchBudget()); !ok || f.Covered != 64 || f.Used != 64 {
		t.Errorf("a large plan: %+v, %v", f, ok)
	}
}
