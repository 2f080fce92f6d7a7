package worker

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// The newest summary of the runs before is shown, unless the reason of the new run has it.
func TestSummaryOfTheRunBefore(t *testing.T) {
	run := func(n int, summary string) *company.Run {
		return &company.Run{ID: company.NewRunID("t1", "t1-01", company.Worker, n), Summary: summary}
	}
	for _, c := range []struct {
		name, input   string
		runs          []*company.Run
		want, summary string
	}{
		{"the run before", "The gates are red", []*company.Run{run(1, "first"), run(2, "second")}, "t1-01.2", "second"},
		{"one that broke off", "It broke off", []*company.Run{run(1, "first"), run(2, " ")}, "t1-01.1", "first"},
		{"its last words are the reason", "Go on. Its last words: second",
			[]*company.Run{run(1, "first"), run(2, "second")}, "", ""},
		{"no summary", "", []*company.Run{run(1, ""), run(2, "")}, "", ""},
	} {
		task := &company.Task{ID: "t1", Runs: map[company.RunID]*company.Run{}}
		for _, r := range c.runs {
			task.Runs[r.ID] = r
		}
		id, summary := lastSummary(task, &company.Subtask{ID: "t1-01", Started: len(c.runs) + 1, Input: c.input})
		if string(id) != c.want || summary != c.summary {
			t.Errorf("%s: %s %q", c.name, id, summary)
		}
	}
}

// A first run, and one that begins from the base again, have no earlier work; git is not asked.
func TestNoEarlierWork(t *testing.T) {
	task := &company.Task{ID: "t1"}
	for _, sub := range []*company.Subtask{{ID: "t1-01", Started: 1, Base: "b"}, {ID: "t1-01", Started: 3, Base: "a"}} {
		if e, err := loadEarlierWork(t.Context(), nil, task, sub, "a"); e != nil || err != nil {
			t.Errorf("%+v: %+v, %v", sub, e, err)
		}
	}
	if got := prompts.Render("earlier", (*earlierWork)(nil)); got != "" {
		t.Errorf("%q", got)
	}
}

// The diff is that of the branch against what it shares with the integration branch, which may
// have moved on, or be merged into it.
func TestEarlierWorkIsTheBranchs(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"a.go": "package a\n"})
	head := p.Commit("ticket", map[string]string{"a.go": "package a\n\nvar A int\n"})
	task := &company.Task{ID: "t1", Head: p.Commit("integration", map[string]string{"b.go": "package a\n"})}
	sub := &company.Subtask{ID: "t1-01", Started: 2, Base: p.Base, Head: head}
	check := func(start, from company.OID) {
		t.Helper()
		e, err := loadEarlierWork(t.Context(), p.Mirror, task, sub, start)
		if err != nil || e == nil {
			t.Fatalf("%+v, %v", e, err)
		}
		text := prompts.Render("earlier", e)
		if !e.Unfinished || !strings.Contains(text, "no further commit") {
			t.Errorf("nobody handed it in:\n%s", text)
		}
		if e.From != from || !strings.Contains(text, "+var A int\n") || strings.Contains(text, "b.go") ||
			strings.Contains(text, "index ") || !strings.Contains(text, from.Short()+".."+start.Short()) {
			t.Errorf("from %s:\n%s", e.From, text)
		}
	}
	check(head, p.Base)
	p.Git("switch", "-q", "ticket")
	p.Git("merge", "-q", "--no-edit", "integration")
	check(p.Fetch("ticket"), task.Head)
	if e, err := loadEarlierWork(t.Context(), p.Mirror, task, sub, task.Head); e != nil || err != nil {
		t.Errorf("a ticket that was replanned begins from the base: %+v, %v", e, err)
	}
}

// A long diff names its files, ends with a whole line and says that there is more.
func TestLongEarlierWorkIsShortened(t *testing.T) {
	e := &earlierWork{diff: gitops.Diff{
		Changes: []gitops.FileChange{{Change: company.Change{Path: "a", Action: "created"}}},
		Patch:   []byte("+one\n+tw"), Truncated: true,
	}}
	got := prompts.Render("earlier", e)
	if !strings.Contains(got, "- created a\n") || !strings.Contains(got, "+one\n</diff>") ||
		!strings.Contains(got, "longer than this") || strings.Contains(got, "unchecked summary") {
		t.Error(got)
	}
}
