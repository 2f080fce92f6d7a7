package company_test

import (
	"fmt"
	"testing"

	. "company/internal/company"
)

// What the checks of a base look for in vain is added once, up to a bound, and only where that may be.
func TestNeedsAreAddedWithinBounds(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}})
	b := s.foundBase()
	b.MorePackages = true
	s.must(Company, b)
	s.plan(1)
	s.must(Company, s.image())
	add := func(n Needs) AddNeeds { return AddNeeds{Task: s.id, NeedsAdded: NeedsAdded{Needs: n, Check: "test"}} }
	s.must(Company, add(Needs{Services: []string{"redis"}, Packages: []string{"jq"}}))
	if got := s.task().Prepared.Needs; fmt.Sprint(got) != "{[] [jq]}" {
		t.Fatalf("%v: servers may not be added", got)
	}
	s.requireDue(EffectImage)
	s.must(Company, s.image())
	s.requireDue(EffectBaseline)
	if _, err := s.do(Company, add(Needs{Packages: []string{"jq"}})); CodeOf(err) != EInvalid {
		t.Errorf("jq is there: %v", err)
	}
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("libx%d-dev", i))
	}
	s.must(Company, add(Needs{Packages: many}))
	if got := len(s.task().Prepared.Packages); got != MaxAddedPackages {
		t.Errorf("%d packages were added", got)
	}
}

// A base that lacks something else each time is judged as it is in the end.
func TestNeedsHaveRounds(t *testing.T) {
	t.Parallel()
	b := BesideChecks{MorePackages: true, Rounds: MaxNeedsRounds - 1}
	if got := b.SelectLacking(Needs{Packages: []string{"jq"}}); got.IsEmpty() {
		t.Error("there was room for one more round")
	}
	b.Rounds++
	if got := b.SelectLacking(Needs{Packages: []string{"jq"}}); !got.IsEmpty() {
		t.Error(got)
	}
}

// The next task of a project has what the newest one came to need.
func TestLatestPackages(t *testing.T) {
	t.Parallel()
	s := &State{Tasks: map[TaskID]*Task{}}
	for n, packages := range map[int][]string{2: {"jq"}, 10: {"zip"}, 11: {"bc"}} {
		task := &Task{ID: NewTaskID(n), Project: Project{ID: "p"},
			Prepared: &TaskPrepared{BesideChecks: BesideChecks{Needs: Needs{Packages: packages}}}}
		if n != 11 { // whose base is not judged yet
			task.Baseline = &GateResult{}
		}
		s.Tasks[task.ID] = task
	}
	if got := s.LatestPackages("p"); fmt.Sprint(got) != "[zip]" {
		t.Error(got)
	}
	if got := s.LatestPackages("q"); got != nil {
		t.Error(got)
	}
}
