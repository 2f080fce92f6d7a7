package company_test

import (
	"fmt"
	"strings"
	"testing"

	. "company/internal/company"
)

// T24: a task adds at most five names, by the run that holds its work, and a
// repeat adds nothing.
func TestDependenciesAreCounted(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	add := func(name, version string) AddDependency {
		return AddDependency{Run: run, Fence: fence, Wanted: Dependency{Ecosystem: "npm", Name: name}, Version: version}
	}
	look := func(name string) LookUpDependency {
		return LookUpDependency{Run: run, Fence: fence, Dependency: Dependency{Ecosystem: "npm", Name: name}}
	}
	s.mustRefuse(EConflict, add("p0", "1.0.0")) // nobody was asked for it
	s.must(string(run), look("p9"))
	for i := range MaxDependencies {
		s.must(string(run), look(fmt.Sprint("p", i)))
		s.must(string(run), add(fmt.Sprint("p", i), "1.0.0"))
	}
	if evs := s.must(string(run), look("p0")); len(evs) > 0 {
		t.Errorf("a name is looked up again: %d events", len(evs))
	}
	s.mustRefuse(EConflict, look("p8")) // it would go out for nothing
	if evs := s.must(string(run), add("p0", "1.0.0")); len(evs) > 0 {
		t.Errorf("a repeat makes %d events", len(evs))
	}
	s.must(string(run), add("p0", "2.0.0")) // another version of the same name
	s.mustRefuse(EConflict, add("p9", "1.0.0"))
	if got := s.task().Dependencies; len(got) != MaxDependencies+1 || got[0] != (Dependency{"npm", "p0", "1.0.0"}) {
		t.Errorf("added: %v", got)
	}
	for _, bad := range []AddDependency{
		add("", "1.0.0"), add("a b", "1.0.0"), add("a\x1b", "1.0.0"), add(strings.Repeat("a", 257), "1.0.0"),
		add("a\u202e", "1"), add("p0", ""),
		{Run: run, Fence: fence, Wanted: Dependency{Ecosystem: "npm", Name: "p0", Version: "1.0.0"}, Version: "2.0.0"},
		{Run: run, Fence: fence, Wanted: Dependency{Name: "x"}, Version: "1"},
	} {
		s.mustRefuse(EInvalid, bad)
	}
	s.mustRefuse(EInvalid, look("a b"))
	old := add("q", "1.0.0")
	old.Fence--
	s.mustRefuse(EStale, old)
	s.mustRefuse(EConflict, AskDependency{Run: run, Fence: fence, Dependency: Dependency{Ecosystem: "npm", Name: "q"}})
	s.must(President, Stop{})
	s.mustRefuse(EStopped, add("p0", "3.0.0"))
}

// Where the president is asked, nothing is added without leave, a question is
// asked once, and a no stays one.
func TestDependencyNeedsLeave(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Deps: Ask}).plan(1)
	run, fence := s.offer(1)
	want := Dependency{Ecosystem: "go", Name: "example.com/x"}
	add := AddDependency{Run: run, Fence: fence, Wanted: want, Version: "v1.0.0"}
	ask := AskDependency{Run: run, Fence: fence, Dependency: want}
	look := LookUpDependency{Run: run, Fence: fence, Dependency: want}
	s.mustRefuse(EWaiting, add)
	s.mustRefuse(EWaiting, look)
	s.must(string(run), ask)
	if evs := s.must(string(run), ask); len(evs) > 0 {
		t.Errorf("it is asked %d times more", len(evs))
	}
	q := s.ask(AskDependencyLeave)
	if !strings.Contains(q.Question, "go example.com/x") || q.Key != DependencyKey(s.id, want) {
		t.Errorf("the question is %+v", q)
	}
	s.mustRefuse(EWaiting, add)
	s.must(President, Answer{Approval: q.ID, Option: OptReject, Text: "use the standard library"})
	s.mustRefuse(EWaiting, add)
	if evs := s.must(string(run), ask); len(evs) > 0 {
		t.Error("what was refused is asked again")
	}
	want.Version = "v1.2.3"
	ask.Dependency, add.Wanted, add.Version = want, want, "v1.2.3"
	s.must(string(run), ask)
	s.must(President, Answer{Approval: s.ask(AskDependencyLeave).ID, Option: OptApprove})
	look.Dependency = want
	s.must(string(run), look)
	s.must(string(run), add)
	if got := s.task().Dependencies; len(got) != 1 || got[0] != want {
		t.Errorf("added: %v", got)
	}
	for i := range 2*MaxDependencies - 2 {
		s.must(string(run),
			AskDependency{Run: run, Fence: fence, Dependency: Dependency{Ecosystem: "npm", Name: fmt.Sprint("p", i)}})
	}
	s.mustRefuse(EConflict, AskDependency{Run: run, Fence: fence, Dependency: Dependency{Ecosystem: "npm", Name: "more"}})
}

// Who only looks, or plans, adds nothing.
func TestOnlyWorkersAddDependencies(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	run := NewRunID(s.id, "", Manager, 1)
	s.mustRefuse(
		EInvalid,
		AddDependency{Run: run, Fence: s.claim(run), Wanted: Dependency{Ecosystem: "npm", Name: "x"}, Version: "1.0.0"})
}

// T24: names that no registry knows went out all the same, and are counted.
func TestLookupsAreCounted(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	look := func(i int) LookUpDependency {
		return LookUpDependency{Run: run, Fence: fence,
			Dependency: Dependency{Ecosystem: "go", Name: fmt.Sprint("evil.example/", i), Version: fmt.Sprint("v1.0.", i)}}
	}
	for i := range MaxLookups {
		s.must(string(run), look(i))
	}
	s.mustRefuse(EConflict, look(MaxLookups))
	if got := s.task().LookedUp; len(got) != MaxLookups ||
		got[0] != (Dependency{Ecosystem: "go", Name: "evil.example/0"}) {
		t.Errorf("looked up: %v", got)
	}
}

// Versions of names that are there already have a limit of their own.
func TestVersionsOfDependenciesAreCounted(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	d := Dependency{Ecosystem: "npm", Name: "p"}
	s.must(string(run), LookUpDependency{Run: run, Fence: fence, Dependency: d})
	for i := range 4 * MaxDependencies {
		s.must(string(run), AddDependency{Run: run, Fence: fence, Wanted: d, Version: fmt.Sprintf("%d.0.0", i)})
	}
	s.mustRefuse(EConflict, AddDependency{Run: run, Fence: fence, Wanted: d, Version: "999.0.0"})
}
