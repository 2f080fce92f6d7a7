package company_test

import (
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
)

// stuckPlan is a line with a plan of four subtasks: b comes after a, c beside them is merged, and
// d is of the second wave. Subtask a waits for the manager, which decides in t1-plan.2.
func stuckPlan(t *testing.T) *line {
	t.Helper()
	l := newLine(t, Settings{})
	b := okSubtask("b", "b/**")
	b.After = []string{"a"}
	l.claim("t1-plan.1")
	l.end("t1-plan.1", RunEnded{Status: RunSuccess}, func(e *EndRun) {
		e.Plan = &Plan{Why: "they are four things",
			Waves: []Wave{{Subtasks: []PlannedSubtask{okSubtask("a", "a/**"), b, okSubtask("c", "c/**")}},
				{Subtasks: []PlannedSubtask{okSubtask("d", "a/**", "d/**")}}}}
	})
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "it is too large"}, nil)
	l.claim("t1-plan.2")
	return l
}

func (l *line) split(parts ...PlannedSubtask) error {
	_, err := l.do(
		"t1-plan.2",
		EndRun{Run: "t1-plan.2", Fence: l.fence, Outcome: RunEnded{Status: RunSuccess},
			Guide: &Guide{Subtask: lineSub, Text: "two things in one", Parts: parts}})
	return err
}

// SUB-16: a stuck subtask is split. It becomes the first part and starts again, the others are
// subtasks of its wave, and what came after it comes after all of them.
func TestStuckSubtaskIsSplit(t *testing.T) {
	l := stuckPlan(t)
	second := okSubtask("second half", "a/y/**")
	second.After = []string{"First half"}
	if err := l.split(okSubtask("first half", "a/x/**"), second); err != nil {
		t.Fatal(err)
	}
	subs := l.task().Subtasks
	if len(subs) != 5 {
		t.Fatalf("%d subtasks", len(subs))
	}
	a, b, part := subs[0], subs[1], subs[4]
	if a.Planned.Title != "first half" || a.Status != SubtaskPending || a.Escalation != "" || a.Guided != 1 ||
		a.Head != "" || a.Base != "" || !strings.Contains(a.Input, "two things in one") {
		t.Errorf("%+v", a)
	}
	if part.ID != "t1-05" || part.Wave != 1 || part.SplitFrom != "t1-01" || part.Guided != 1 ||
		!slices.Equal(part.Planned.After, []string{"t1-01"}) {
		t.Errorf("%+v", part)
	}
	if !slices.Equal(b.Planned.After, []string{"t1-01", "t1-05"}) {
		t.Errorf("b comes after %v", b.Planned.After)
	}
	if task := l.task(); !task.IsReady(a) || task.IsReady(part) || task.IsReady(b) || task.IsReady(subs[3]) ||
		!slices.Equal(task.Steps(), []int{1, 3, 1, 4, 2}) {
		t.Errorf("steps %v", task.Steps())
	}
	l.end(l.work(),
		RunEnded{Status: RunSuccess, Head: l.oid(), Branch: "agent/t1-01-x",
			Changes: []Change{{Path: "a/x/f.go", Action: "created"}}}, nil)
	if a := l.sub(); a.Status != SubtaskInGate || a.Started != 2 {
		t.Errorf("%+v", a)
	}
}

// One part in the place of a subtask may come after another subtask: it begins when that one is
// merged.
func TestStuckSubtaskIsReplanned(t *testing.T) {
	l := stuckPlan(t)
	p := okSubtask("a again", "a/**")
	p.After = []string{"t1-03"}
	if err := l.split(p); err != nil {
		t.Fatal(err)
	}
	task := l.task()
	if a := task.Subtasks[0]; len(task.Subtasks) != 4 || task.IsReady(a) ||
		!slices.Equal(a.Planned.After, []string{"t1-03"}) ||
		!slices.Equal(task.Subtasks[1].Planned.After, []string{"t1-01"}) {
		t.Errorf("%+v", a)
	}
}

// Parts keep the rules of a plan, among each other and with the tickets still to be merged.
func TestReplanIsChecked(t *testing.T) {
	after := func(p PlannedSubtask, names ...string) PlannedSubtask {
		p.After = names
		return p
	}
	tiny := func(title, path string) PlannedSubtask {
		return PlannedSubtask{Title: title, Description: "Do it.", AcceptanceCriteria: []string{"done"},
			WriteSet: []string{path}, Effort: EffortSmall}
	}
	var many []PlannedSubtask
	for i := range 62 {
		many = append(many, okSubtask("part "+string(rune('A'+i)), "a/"+string(rune('A'+i))+"/**"))
	}
	for name, c := range map[string]struct {
		parts []PlannedSubtask
		want  string
	}{
		"overlap of parts":  {[]PlannedSubtask{okSubtask("x", "a/**"), okSubtask("y", "a/y/**")}, "may write what"},
		"overlap of others": {[]PlannedSubtask{okSubtask("x", "c/**")}, "may write what"},
		"protected":         {[]PlannedSubtask{okSubtask("x", ".github/**")}, "protected path"},
		"a circle":          {[]PlannedSubtask{after(okSubtask("x", "a/**"), "t1-02")}, "goes in a circle"},
		"a later wave":      {[]PlannedSubtask{after(okSubtask("x", "a/**"), "t1-04")}, "later wave"},
		"unknown": {[]PlannedSubtask{after(okSubtask("x", "a/**"), "t1-09")},
			`"t1-09", which is not a subtask of this task`},
		"itself":           {[]PlannedSubtask{after(okSubtask("x", "a/**"), "x")}, "comes after itself"},
		"title of another": {[]PlannedSubtask{okSubtask("c", "a/**")}, "has the title of"},
		"all tiny":         {[]PlannedSubtask{tiny("x", "a/x"), tiny("y", "a/y")}, "all tiny"},
		"too many":         {many, "65 subtasks of this task, 64 are allowed"},
		"no text":          {[]PlannedSubtask{{}}, "has an empty title"},
		"the same again":   {[]PlannedSubtask{okSubtask("a", "a/**")}, "the ticket as it stands"},
	} {
		l := stuckPlan(t)
		before := len(l.task().Subtasks)
		_, problems := l.task().Replan(lineSub, c.parts, "two things in one")
		if !slices.ContainsFunc(problems, func(p PlanProblem) bool { return strings.Contains(p.String(), c.want) }) {
			t.Errorf("%s: %v", name, problems)
		}
		if err := l.split(c.parts...); CodeOf(err) != EPlan || len(l.task().Subtasks) != before || l.sub().Escalation == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	l := stuckPlan(t)
	if _, problems := l.task().Replan("t1-09", []PlannedSubtask{okSubtask("x", "a/**")}, "why"); len(problems) != 1 {
		t.Errorf("%v", problems)
	}
	if _, problems := l.task().Replan(lineSub, nil, "why"); len(problems) != 1 || problems[0].What != "has no subtasks" {
		t.Errorf("%v", problems)
	}
	if _, problems := l.task().Replan(lineSub, many[:61], "why"); slices.ContainsFunc(
		problems, func(p PlanProblem) bool { return strings.Contains(p.What, "of this task") }) {
		t.Errorf("64 subtasks in all: %v", problems)
	}
	merged := *l.task()
	merged.Subtasks = slices.Clone(merged.Subtasks)
	merged.Subtasks[0] = &Subtask{ID: lineSub, Wave: 1, Status: SubtaskCompleted}
	if _, problems := merged.Replan(lineSub, []PlannedSubtask{okSubtask("x", "a/**")}, "why"); len(problems) != 1 ||
		!strings.Contains(problems[0].What, "is merged") {
		t.Errorf("%v", problems)
	}
}

// A ticket is not replanned as it stands. Where anything of it is another, it is.
func TestReplanChangesSomething(t *testing.T) {
	l := stuckPlan(t)
	for name, change := range map[string]func(*PlannedSubtask){
		"":            func(*PlannedSubtask) {},
		"title":       func(p *PlannedSubtask) { p.Title = "another" },
		"description": func(p *PlannedSubtask) { p.Description += " With care." },
		"criteria":    func(p *PlannedSubtask) { p.AcceptanceCriteria = []string{"another"} },
		"write set":   func(p *PlannedSubtask) { p.WriteSet = []string{"a/x.go"} },
		"after":       func(p *PlannedSubtask) { p.After = []string{"t1-03"} },
	} {
		p := okSubtask("a", "a/**")
		change(&p)
		if _, problems := l.task().Replan(lineSub, []PlannedSubtask{p}, "why"); (len(problems) > 0) != (name == "") {
			t.Errorf("%s: %v", name, problems)
		}
	}
	rest := okSubtask("b2", "b2/**")
	if _, problems := l.task().Replan(lineSub, []PlannedSubtask{okSubtask("a", "a/**"), rest}, "and more"); len(
		problems) > 0 {
		t.Error(problems)
	}
}

// Parts keep to the folders of the task. Where the president has agreed to the plan, they keep
// to what the stuck subtask may write.
func TestReplanKeepsToItsScope(t *testing.T) {
	l := stuckLine(t, Settings{Paths: []string{"x", "y"}})
	if err := l.split(okSubtask("elsewhere", "z/**")); CodeOf(err) != EPlan ||
		!strings.Contains(err.Error(), "outside of the folders of the task") {
		t.Error(err)
	}
	l = stuckPlan(t)
	task := *l.task()
	for name, agree := range map[string]func(*Task){
		"is asked about plans": func(t *Task) { t.Settings.Plan = Ask },
		"chose this plan":      func(t *Task) { t.Plan.Chosen = t.Plan.Accepted },
	} {
		asked := task
		agree(&asked)
		if _, problems := asked.Replan(
			lineSub, []PlannedSubtask{okSubtask("x", "a/x/**"), okSubtask("y", "e/**")}, "two things"); len(problems) != 1 ||
			!strings.Contains(problems[0].String(),
				`would write "e/**", which the plan that the president agreed to does not let this ticket write; keep to a/**`) {
			t.Errorf("%s: %v", name, problems)
		}
		if _, problems := asked.Replan(
			lineSub, []PlannedSubtask{okSubtask("x", "a/x/**"), okSubtask("y", "a/y.go")}, "two things"); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if _, problems := task.Replan(lineSub, []PlannedSubtask{okSubtask("y", "e/**")}, "another file"); len(problems) > 0 {
		t.Error(problems)
	}
}

// A part that is stuck, too, has one decision of the manager left: splits do not go on for ever.
func TestSplitCountsAsDecision(t *testing.T) {
	l := stuckLine(t, Settings{})
	decide := func(run RunID) {
		t.Helper()
		l.end(run, RunEnded{Status: RunSuccess}, func(e *EndRun) {
			e.Guide = &Guide{Subtask: lineSub, Text: "otherwise", Parts: []PlannedSubtask{okSubtask("by "+string(run), "x/**")}}
		})
	}
	decide("t1-plan.2")
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "and now?"}, nil)
	l.claim("t1-plan.3")
	decide("t1-plan.3")
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "and now?"}, nil)
	if sub := l.sub(); sub.Status != SubtaskBlocked || sub.Guided != 2 {
		t.Errorf("%+v", sub)
	}
}
