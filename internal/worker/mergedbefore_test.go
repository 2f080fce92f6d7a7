package worker

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitopstest"
)

func mergedTicket(t *company.Task, n int, title, summary string, changes ...company.Change) *company.Subtask {
	s := &company.Subtask{ID: company.NewSubtaskID("t1", n), Started: 2, Merged: "m", Changes: changes}
	s.Planned.Title = title
	t.Runs[company.NewRunID("t1", s.ID, company.Worker, 1)] = &company.Run{Summary: summary,
		Decisions: []string{"no zero"}}
	return s
}

// The brief of a later ticket lists the tickets merged before it: those of its after first, then the newest
// (SUB-8).
func TestMergedTicketsAreTold(t *testing.T) {
	task := &company.Task{ID: "t1", Runs: map[company.RunID]*company.Run{}}
	one := mergedTicket(task, 1, "Count", "Counts\nfrom one.", company.Change{Action: "created", Path: "one.sh"},
		company.Change{Action: "modified", Path: "README.md"})
	two := mergedTicket(task, 2, "Wait", "")
	sub := &company.Subtask{ID: "t1-03", Planned: company.PlannedSubtask{After: []string{"t1-01"}}}
	const want = `
## Merged before you
Your branch contains these tickets of the task.
<merged>
t1-01 Count (you come after it)
  files: created one.sh, modified README.md
  summary: Counts from one.
t1-02 Wait
</merged>
`
	task.Prepared = &company.TaskPrepared{}
	if got := ticketBrief(task, sub, circumstances{merged: []*company.Subtask{two, one}}); !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
	if got := ticketBrief(&company.Task{Prepared: &company.TaskPrepared{}}, sub, circumstances{}); strings.Contains(
		got, "Merged before") {
		t.Errorf("nothing is merged:\n%s", got)
	}
}

// Of the tickets that are merged those count that the run's start has, the newest first: one
// that was merged meanwhile is not on the branch, and of the base nothing is listed.
func TestMergedTicketsAreThoseOfTheStart(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"a": "a\n"})
	task := &company.Task{ID: "t1", Runs: map[company.RunID]*company.Run{},
		Prepared: &company.TaskPrepared{Base: company.Base{OID: p.Base}}}
	list := func(start company.OID) string {
		t.Helper()
		merged, err := listMergedBefore(t.Context(), p.Mirror, task, start)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, s := range merged {
			out += string(s.ID) + " "
		}
		return out
	}
	for n := range 3 {
		s := mergedTicket(task, n+1, "one", "")
		s.Merged = p.Commit("integration", map[string]string{"one": strings.Repeat("x", n+1)})
		task.Subtasks = append(task.Subtasks, s)
	}
	task.Subtasks = append(task.Subtasks, &company.Subtask{ID: "t1-04"})
	for start, want := range map[company.OID]string{p.Base: "", task.Subtasks[1].Merged: "t1-02 t1-01 ",
		task.Subtasks[2].Merged: "t1-03 t1-02 t1-01 "} {
		if got := list(start); got != want {
			t.Errorf("from %s: %q, want %q", start.Short(), got, want)
		}
	}
	task.Prepared.Target = task.Subtasks[0].Merged
	if got := list(task.Subtasks[1].Merged); got != "t1-02 " {
		t.Errorf("what the pull request's base has too: %q", got)
	}
	task.Subtasks = task.Subtasks[3:]
	if got := list("no commit"); got != "" {
		t.Errorf("nothing is merged: %q", got)
	}
}

// Tickets beyond the room have their titles, and those beyond these are counted.
func TestMergedTicketsAreBounded(t *testing.T) {
	task := &company.Task{ID: "t1", Runs: map[company.RunID]*company.Run{}}
	var merged []*company.Subtask
	for n := range 64 {
		merged = append(
			merged, mergedTicket(task, n+1, strings.Repeat("title ", 15), strings.Repeat("word ", 1000),
				company.Change{Action: "created", Path: strings.Repeat("p", 200)}))
	}
	got := listMerged(task, &company.Subtask{ID: "t1-99"}, merged)
	told := strings.Count(got, "summary: ")
	if len(got) > maxMerged || told < 2 || !strings.Contains(got, "word …") || strings.Count(got, "t1-") < told+5 {
		t.Errorf("%d bytes\n%s", len(got), got)
	}
	if want := fmt.Sprintf("and %d more\n", 64-strings.Count(got, "t1-")); !strings.Contains(got, want) {
		t.Errorf("not %q:\n%s", want, got)
	}
}
