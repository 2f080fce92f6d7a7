package company_test

import (
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
)

// SUB-13: how large and how small subtasks may be is set, and a refusal tells which limit a
// plan breaks and how it is mended. Without a setting the program's own limits hold.
func TestGranularityIsSet(t *testing.T) {
	t.Parallel()
	large := okSubtask("Change the whole", "a.go", "b.go", "c.go")
	large.Effort = EffortLarge
	tiny := func(name string) PlannedSubtask {
		return PlannedSubtask{Title: "Fix " + name, Description: "Fix it.", AcceptanceCriteria: []string{"it builds"},
			WriteSet: []string{name}, Effort: EffortSmall}
	}
	one := Plan{Waves: []Wave{{[]PlannedSubtask{large}}}}
	two := Plan{Why: "two files", Waves: []Wave{{[]PlannedSubtask{tiny("a.go"), tiny("b.go")}}}}
	for name, c := range map[string]struct {
		plan   Plan
		limits Granularity
		want   []string // of the problems: what they name
	}{
		"large, by default": {one, Granularity{}, nil},
		"large, as allowed": {one, Granularity{MaxSubtasks: 1, MaxWriteSet: 3, MaxEffort: EffortLarge}, nil},
		"effort": {one, Granularity{MaxEffort: EffortMedium},
			[]string{"subtask 1 (Change the whole): is too large: its effort is large, and plan.max_effort is medium; split " +
				"it"}},
		"write set": {one, Granularity{MaxWriteSet: 2},
			[]string{"its write set has 3 paths or globs, and plan.max_write_set is 2; split it"}},
		"effort and write set": {one, Granularity{MaxWriteSet: 1, MaxEffort: EffortSmall},
			[]string{"plan.max_effort is small", "plan.max_write_set is 1"}},
		"number": {two, Granularity{MaxSubtasks: 1, AllowTiny: true},
			[]string{"plan: has 2 subtasks, 1 are allowed by plan.max_subtasks; fuse"}},
		"tiny, by default":    {two, Granularity{MaxEffort: EffortSmall}, []string{"all tiny"}},
		"tiny, as allowed":    {two, Granularity{MaxEffort: EffortSmall, AllowTiny: true}, nil},
		"above the program's": {two, Granularity{MaxSubtasks: 1000, MaxWriteSet: 1000, AllowTiny: true}, nil},
		"an effort not known": {Plan{
			Waves: []Wave{{[]PlannedSubtask{func() PlannedSubtask { s := tiny("a.go"); s.Effort = "huge"; return s }()}}}},
			Granularity{MaxEffort: EffortSmall}, []string{`the effort "huge"`}},
		"64 entries by default": {Plan{
			Waves: []Wave{{[]PlannedSubtask{okSubtask("Change many", slices.Repeat([]string{"a.go"}, 64)...)}}}},
			Granularity{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.plan.Check(PlanRules{Granularity: c.limits})
			if len(got) != len(c.want) {
				t.Fatalf("got %v", got)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i].String(), want) {
					t.Errorf("%q is not in %q", want, got[i])
				}
			}
		})
	}
	if got := (Granularity{}).Describe(); got != nil {
		t.Errorf("the defaults are told: %v", got)
	}
	want := []string{"5 subtasks at most", "at most 3 paths or globs in the write set of each subtask",
		"no subtask of an effort above medium"}
	if got := (Granularity{MaxSubtasks: 5, MaxWriteSet: 3, MaxEffort: EffortMedium}).Describe(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// SUB-13: the limits are those of the task's submission, for its plan and for a ticket that is
// replanned; a manager that keeps to none of them has its task fail for that reason.
func TestGranularityOfATask(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{PlanRefusals: 2, Granularity: Granularity{MaxSubtasks: 2, MaxEffort: EffortMedium}})
	large := okSubtask("Change the whole", "a/**")
	large.Effort = EffortLarge
	l.claim("t1-plan.1")
	propose := func(p Plan) []PlanRefused {
		t.Helper()
		evs, err := l.do("t1-plan.1", ProposePlan{Run: "t1-plan.1", Fence: l.fence, Plan: p})
		if err != nil {
			t.Fatal(err)
		}
		return EventsOf[PlanRefused](evs)
	}
	if got := propose(Plan{Waves: []Wave{{[]PlannedSubtask{large}}}}); len(got) != 1 ||
		!strings.Contains(got[0].Problems[0].What, "plan.max_effort is medium") {
		t.Fatalf("%+v", got)
	}
	if got := l.task().Plan.Problems; len(got) != 1 {
		t.Errorf("the next plan is made with %v before it", got)
	}
	parts := []PlannedSubtask{okSubtask("one half", "a/x/**"), okSubtask("other half", "a/y/**")}
	if got := propose(Plan{Why: "it is large", Waves: []Wave{{parts}}}); got != nil {
		t.Fatalf("split as asked for: %+v", got)
	}
	l.end("t1-plan.1", RunEnded{Status: RunSuccess},
		func(e *EndRun) { e.Plan = &Plan{Why: "it is large", Waves: []Wave{{parts}}} })
	third := okSubtask("third part", "a/x/z/**")
	if _, problems := l.task().Replan(
		lineSub, []PlannedSubtask{okSubtask("smaller", "a/x/y/**"), third}, "two things"); len(problems) != 1 ||
		!strings.Contains(problems[0].What, "makes 3 subtasks of this task, 2 are allowed by plan.max_subtasks") {
		t.Errorf("%v", problems)
	}
	third.Effort = EffortLarge
	if _, problems := l.task().Replan(lineSub, []PlannedSubtask{third}, "another thing"); len(problems) != 1 ||
		!strings.Contains(problems[0].What, "plan.max_effort") {
		t.Errorf("%v", problems)
	}

	l = newLine(t, Settings{PlanRefusals: 1, Granularity: Granularity{MaxEffort: EffortSmall}})
	l.claim("t1-plan.1")
	propose(Plan{Waves: []Wave{{[]PlannedSubtask{large}}}})
	if task := l.task(); task.Status != StatusFailed || !strings.Contains(task.Reason, "plan.max_effort is small") {
		t.Errorf("%s: %s", task.Status, task.Reason)
	}
}
