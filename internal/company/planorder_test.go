package company_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "company/internal/company"
)

// flat is a plan that lists its subtasks.
func flat(subs ...PlannedSubtask) Plan {
	return Plan{Why: "they are separate parts", Waves: []Wave{{subs}}}
}

// part is a subtask with a name, which writes a folder of that name and comes after others.
func part(name string, after ...string) PlannedSubtask {
	s := okSubtask("Do "+name+" well", name+"/**")
	s.Name, s.After = name, after
	return s
}

// SUB-8, SUB-17: a subtask begins when those that it names are merged, and not when all of
// its wave are.
func TestAfterIsMergedFirst(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	p := flat(part("api", "PARSER", "Do  store well"), part("parser"), part("store", "2"), part("docs"))
	s.end(NewRunID(s.id, "", Manager, 1), EndRun{Plan: &p})
	for n, want := range map[int][]SubtaskID{1: {"t1-02", "t1-03"}, 2: {}, 3: {"t1-02"}, 4: {}} {
		if got := s.sub(n).After(); !slices.Equal(got, want) {
			t.Errorf("subtask %d comes after %v, want %v", n, got, want)
		}
	}
	if got := s.task().Steps(); !slices.Equal(got, []int{3, 1, 2, 1}) || s.task().NameSteps() != "3 steps" {
		t.Errorf("steps %v, %s", got, s.task().NameSteps())
	}
	offers := func(want ...RunID) {
		t.Helper()
		var runs []RunID
		for _, e := range s.due(9) {
			if _, ok := e.Command.(Offer); ok {
				runs = append(runs, e.Run)
			}
		}
		if !slices.Equal(runs, want) {
			t.Fatalf("offered are %v, want %v", runs, want)
		}
	}
	offers(s.workRun(2, 1), s.workRun(4, 1))
	s.mustRefuse(EConflict, Offer{Run: s.workRun(1, 1)})
	s.mustRefuse(EConflict, Offer{Run: s.workRun(3, 1)})
	s.queued(2)
	offers(s.workRun(4, 1)) // to be approved is not enough
	s.mustRefuse(EConflict, Offer{Run: s.workRun(3, 1)})
	at := s.merged(2)
	offers(s.workRun(3, 1), s.workRun(4, 1)) // the documentation has not begun, and holds nothing up
	s.offer(3)
	if s.sub(3).Base != at {
		t.Errorf("it begins at %s, want the merge %s of what it needs", s.sub(3).Base.Short(), at.Short())
	}
	s.mustRefuse(EConflict, Offer{Run: s.workRun(1, 1)})
}

// A repair of the whole comes after all, whatever the plan's order is.
func TestRepairComesAfterAll(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	p := flat(part("parser"), part("api", "parser"))
	s.end(NewRunID(s.id, "", Manager, 1), EndRun{Plan: &p})
	s.queued(1).merged(1)
	s.queued(2).merged(2)
	s.must(Company, s.wholeGated(false))
	if got := s.task().Steps(); !slices.Equal(got, []int{1, 2, 3}) || s.sub(3).Wave != 2 {
		t.Errorf("steps %v, the repair is in wave %d", got, s.sub(3).Wave)
	}
	s.offer(3)
}

// Each way to be refused over after, with the words that go back to the manager (SUB-8,
// SUB-12, SUB-18).
func TestPlanAfterRefused(t *testing.T) {
	t.Parallel()
	wide := func(s PlannedSubtask, globs ...string) PlannedSubtask { s.WriteSet = globs; return s }
	chain := flat(part("p0"))
	for i := 1; i < 17; i++ {
		chain.Waves[0].Subtasks = append(chain.Waves[0].Subtasks, part(fmt.Sprintf("p%d", i), fmt.Sprintf("p%d", i-1)))
	}
	reads := part("store")
	reads.Context = []string{"parser/new.go"}
	for _, c := range []struct {
		name        string
		plan        Plan
		where, what string
		fix         string
	}{
		{"unknown", flat(part("parser"), part("store", "lexer")), "subtask 2 (Do store well)",
			`comes after "lexer", which is not a subtask of this plan`, `by its name or its title: "parser"`},
		{"a number too high", flat(part("parser"), part("store", "3")), "subtask 2 (Do store well)", `comes after "3"`,
			"name a subtask"},
		{"itself", flat(part("parser"), part("store", "store")), "subtask 2 (Do store well)", "comes after itself",
			"take it out"},
		{"a circle", flat(part("a", "c"), part("b", "a"), part("c", "b")), "plan",
			"goes in a circle: subtask 1 (Do a well) comes after subtask 3 (Do c well) comes after subtask 2 (Do b well) " +
				"comes after subtask 1 (Do a well)", "out of an after"},
		{"a later wave", Plan{Why: "x", Waves: []Wave{{[]PlannedSubtask{part("a", "b")}}, {[]PlannedSubtask{part("b")}}}},
			"wave 1, subtask 1 (Do a well)", `comes after "b", which is in a later wave`, "leave the waves out"},
		{"too long a chain", chain, "plan", "has 17 steps one after the other, 16 are allowed", "fuse subtasks"},
		{"the same files at the same time", flat(part("a"), wide(part("b"), "a/x.go"), part("c", "a")),
			"subtask 2 (Do b well)", "may write what subtask 1 writes: a/x.go and a/**", "name one in the after of the other"},
		{"hot files at the same time", flat(wide(part("a"), "db/migrations/1.sql"), wide(part("b"), "db/migrations/2.sql")),
			"subtask 2 (Do b well)", "writes **/migrations/**, and so does subtask 1", "in the after"},
		{"reads what is not there", flat(wide(part("parser"), "parser/new.go"), reads), "subtask 2 (Do store well)",
			`reads "parser/new.go", which does not exist before subtask 1`, "in its after"},
		{"a long name", flat(part(strings.Repeat("a", 61))), "subtask 1", "has a name that is not one line of up to 60",
			"shorten it"},
	} {
		got := c.plan.Check(PlanRules{Files: []string{}})
		if len(got) == 0 {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		if p := got[0]; !strings.HasPrefix(p.Where, c.where) || !strings.Contains(p.What, c.what) ||
			!strings.Contains(p.Fix, c.fix) {
			t.Errorf("%s: %s", c.name, p)
		}
	}
	// What comes after another may write the same files, and read what it makes.
	reads.After = []string{"parser"}
	for name, p := range map[string]Plan{
		"the same files": flat(part("a"), wide(part("b", "a"), "a/x.go"), wide(part("c", "b"), "a/**", "b/**")),
		"hot files":      flat(wide(part("a"), "db/migrations/1.sql"), wide(part("b", "a"), "db/migrations/2.sql")),
		"reads":          flat(wide(part("parser"), "parser/new.go"), reads),
		"a wave too": {Why: "x",
			Waves: []Wave{{[]PlannedSubtask{part("a")}}, {[]PlannedSubtask{part("b"), wide(part("c", "b", "a"), "b/x")}}}},
	} {
		if got := p.Check(PlanRules{Files: []string{}}); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A manager lists subtasks, or puts them into waves; both at once is refused, and what is
// stored is one form.
func TestPlanForms(t *testing.T) {
	t.Parallel()
	const sub = `{"title":"t","description":"d","acceptance_criteria":["c"],"write_set":["a"],"effort":"small"}`
	read := func(text string) (p Plan, err error) { return p, json.Unmarshal([]byte(text), &p) }
	one, err1 := read(`{"why":"w","subtasks":[` + sub + `,` + sub + `]}`)
	other, err2 := read(`{"why":"w","waves":[{"subtasks":[` + sub + `,` + sub + `]}]}`)
	if err1 != nil || err2 != nil || fmt.Sprint(one) != fmt.Sprint(other) || one.Subtasks() != 2 {
		t.Errorf("%+v %v\n%+v %v", one, err1, other, err2)
	}
	if text, err := json.Marshal(one); err != nil || !strings.HasPrefix(string(text), `{"waves":[{"subtasks":[`) {
		t.Errorf("%s %v", text, err)
	}
	if _, err := read(`{"subtasks":[` + sub + `],"waves":[{"subtasks":[` + sub + `]}]}`); err == nil ||
		!strings.Contains(err.Error(), "not both") {
		t.Errorf("%v", err)
	}
}

// Feature: lumberjack, Property 7: Flow Graph Cycle Detection
//
// SUB-8: whatever a manager names, a plan is refused just where it goes in a circle; in one that
// stands a step is behind all that it comes after, and nothing at the same time writes the
// same file.
func TestPlanAfterProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "n")
		var subs []PlannedSubtask
		edges := make([][]int, n)
		for i := range n {
			s := part(fmt.Sprintf("p%d", i))
			s.WriteSet = []string{fmt.Sprintf("f%d", rapid.IntRange(0, n).Draw(t, "file"))}
			for j := range n {
				if j != i && rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					s.After = append(s.After, fmt.Sprintf("p%d", j))
					edges[i] = append(edges[i], j)
				}
			}
			subs = append(subs, s)
		}
		reach := make([][]bool, n) // by two: the first needs the second, by way of others too
		for i := range n {
			reach[i] = make([]bool, n)
			for _, j := range edges[i] {
				reach[i][j] = true
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		circle, clash := false, false
		for i := range n {
			circle = circle || reach[i][i]
			for j := range i {
				clash = clash || !reach[i][j] && !reach[j][i] && subs[i].WriteSet[0] == subs[j].WriteSet[0]
			}
		}
		got := flat(subs...).Check(PlanRules{})
		if refused := len(got) > 0; refused != (circle || clash) {
			t.Fatalf("circle %v, clash %v: %v", circle, clash, got)
		}
		if circle {
			return
		}
		task := &Task{ID: "t1"}
		for i, s := range subs {
			s.After = nil
			for _, j := range edges[i] {
				s.After = append(s.After, string(NewSubtaskID("t1", j+1)))
			}
			task.Subtasks = append(task.Subtasks,
				&Subtask{ID: NewSubtaskID("t1", i+1), Wave: 1, Planned: s, Status: SubtaskPending})
		}
		steps := task.Steps()
		for i := range n {
			least := 1
			for _, j := range edges[i] {
				least = max(least, steps[j]+1)
			}
			if steps[i] != least {
				t.Fatalf("steps %v of %v", steps, edges)
			}
		}
		// Every order in which what is ready is merged comes to the end.
		for left := n; left > 0; left-- {
			var ready []*Subtask
			for i, sub := range task.Subtasks {
				if sub.Status == SubtaskPending && task.IsReady(sub) {
					ready = append(ready, sub)
					for j := range n {
						if reach[i][j] && task.Subtasks[j].Status != SubtaskCompleted {
							t.Fatalf("%s is ready before %s is merged", sub.ID, task.Subtasks[j].ID)
						}
					}
				}
			}
			if len(ready) == 0 {
				t.Fatalf("%d are left, and none is ready: %v", left, edges)
			}
			ready[rapid.IntRange(0, len(ready)-1).Draw(t, "next")].Status = SubtaskCompleted
		}
	})
}
