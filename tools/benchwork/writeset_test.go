package main

import (
	"testing"

	"company/internal/company"
	"company/internal/present/view"
)

// subtaskOf is a subtask of a plan with its changed files.
func subtaskOf(planned []string, changed ...string) view.Subtask {
	sub := view.Subtask{WriteSet: planned}
	for _, path := range changed {
		sub.Changes = append(sub.Changes, company.Change{Path: path, Action: "modified"})
	}
	return sub
}

// A write set is held against the files that were changed: which of its globs were
// needed, and which of the files it speaks of.
func TestFitOfWriteSets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan                            []view.Subtask
		planned, used, changed, covered int
	}{
		"exact":                   {[]view.Subtask{subtaskOf([]string{"a.go", "docs/*.md"}, "a.go", "docs/x.md", "docs/y.md")}, 2, 2, 3, 3},
		"too wide":                {[]view.Subtask{subtaskOf([]string{"a.go", "b.go", "internal/**", "docs/**"}, "a.go")}, 4, 1, 1, 1},
		"too narrow":              {[]view.Subtask{subtaskOf([]string{"a.go"}, "a.go", "b.go")}, 1, 1, 2, 1},
		"beside it":               {[]view.Subtask{subtaskOf([]string{"a.go"}, "b.go")}, 1, 0, 1, 0},
		"two globs for one file":  {[]view.Subtask{subtaskOf([]string{"**/*.go", "a.go"}, "a.go")}, 2, 2, 1, 1},
		"an invalid glob":         {[]view.Subtask{subtaskOf([]string{"[", "a.go"}, "a.go")}, 2, 1, 1, 1},
		"each with its own files": {[]view.Subtask{subtaskOf([]string{"a"}, "a"), subtaskOf([]string{"b"}, "a")}, 2, 1, 2, 1},
		"without changes, and a repair": {[]view.Subtask{subtaskOf([]string{"a"}, "a"), subtaskOf([]string{"b"}),
			subtaskOf([]string{"**"}, "c")}, 1, 1, 1, 1},
	} {
		fit := fitOf(c.plan)
		if fit == nil || fit.Planned != c.planned || fit.Used != c.used || fit.Changed != c.changed ||
			fit.Covered != c.covered || *fit.Precision != float64(c.used)/float64(c.planned) ||
			*fit.Recall != float64(c.covered)/float64(c.changed) {
			t.Errorf("%s: %+v", name, fit)
		}
	}
	if fit := fitOf([]view.Subtask{subtaskOf([]string{"a"})}); fit != nil {
		t.Errorf("nothing was changed: %+v", fit)
	}
	if fit := fitOf([]view.Subtask{subtaskOf(nil, "a")}); fit.Precision != nil || *fit.Recall != 0 {
		t.Errorf("nothing was planned: %+v", fit)
	}
}
