package company

import (
	"slices"
	"testing"
	"testing/quick"

	"company/internal/company/glob"
)

// What a subtask changed and was not to write is listed; an open subtask that may write the
// same file, or changed it, is named with it (SUB-18).
func TestOutsideWriteSet(t *testing.T) {
	changed := func(paths ...string) (out []Change) {
		for _, p := range paths {
			out = append(out, Change{Path: p, Action: "modified"})
		}
		return out
	}
	one := &Subtask{ID: "t1-01", Status: SubtaskReviewing,
		Planned: PlannedSubtask{WriteSet: []string{"api/**", "docs/*.md"}},
		Changes: changed("api/limit.go", "docs/deep/x.md", "greet.sh", "go.mod", "docs/x.md")}
	task := &Task{ID: "t1", Subtasks: []*Subtask{
		one,
		{ID: "t1-02", Status: SubtaskPending, Planned: PlannedSubtask{WriteSet: []string{"greet.sh"}}},
		{ID: "t1-03", Status: SubtaskRunning, Planned: PlannedSubtask{WriteSet: []string{"web/**"}},
			Changes: changed("greet.sh", "go.mod")},
		{ID: "t1-04", Status: SubtaskCompleted, Planned: PlannedSubtask{WriteSet: []string{"*.sh"}},
			Changes: changed("greet.sh")},
		{ID: "t1-05", Status: SubtaskPending, Planned: PlannedSubtask{WriteSet: []string{"**"}}},
	}}
	var got []string
	for _, f := range task.OutsideWriteSet(one, NewMatchBudget()) {
		got = append(got, f.Describe())
	}
	if want := []string{"docs/deep/x.md", "greet.sh (t1-02, t1-03 write it, too)",
		"go.mod (t1-03 writes it, too)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	one.Status = SubtaskCompleted
	if got := task.OutsideOfMerged(one, NewMatchBudget()); len(got) != 3 || len(got[0].Meets) != 0 ||
		!slices.Equal(got[1].Meets, []SubtaskID{"t1-04"}) || len(got[2].Meets) != 0 {
		t.Errorf("beside what is merged: %+v", got)
	}
	for name, sub := range map[string]*Subtask{
		"a repair":    {Planned: PlannedSubtask{WriteSet: []string{"**"}}, Changes: one.Changes},
		"nothing yet": {Planned: PlannedSubtask{WriteSet: []string{"a.go"}}},
		"as planned": {Planned: PlannedSubtask{WriteSet: []string{"a.go", "b/**"}},
			Changes: changed("a.go", "b", "b/c/d.go")},
		"an alternative": {Planned: PlannedSubtask{WriteSet: []string{"{a,b}/x.go", "[cd].go", `\[e].go`}},
			Changes: changed("b/x.go", "d.go", "[e].go")},
	} {
		if got := task.OutsideWriteSet(sub, NewMatchBudget()); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Thousands of changes that two open subtasks have outside of their write sets are compared in
// linear time.
func TestManyFilesOutsideOfWriteSets(t *testing.T) {
	const files = 25_000
	task := &Task{ID: "t1"}
	for _, id := range []SubtaskID{"t1-01", "t1-02"} {
		sub := &Subtask{ID: id, Status: SubtaskReviewing,
			Planned: PlannedSubtask{WriteSet: []string{"**/*.go", "{docs,man}/**"}}}
		for n := range files {
			sub.Changes = append(sub.Changes, Change{Path: "src/generated/" + itoa(n) + ".txt", Action: "created"})
		}
		task.Subtasks = append(task.Subtasks, sub)
	}
	for i, sub := range task.Subtasks {
		got := task.OutsideWriteSet(sub, NewMatchBudget())
		if len(got) != files || !slices.Equal(got[files-1].Meets, []SubtaskID{task.Subtasks[1-i].ID}) {
			t.Errorf("%s: %d files", sub.ID, len(got))
		}
	}
}

// A glob of a write set is read once for all paths: reading it takes more memory than a comparison.
func TestWriteSetIsReadOnce(t *testing.T) {
	const text, files = "**/{a,b}*/*.{go,md}", 500
	task := &Task{ID: "t1", Subtasks: []*Subtask{
		{ID: "t1-01", Planned: PlannedSubtask{WriteSet: []string{text}}},
		{ID: "t1-02", Planned: PlannedSubtask{WriteSet: []string{text}}},
	}}
	for n := range files {
		task.Subtasks[0].Changes = append(task.Subtasks[0].Changes, Change{Path: itoa(n)})
	}
	all := testing.AllocsPerRun(5, func() { task.OutsideWriteSet(task.Subtasks[0], NewMatchBudget()) })
	reading := testing.AllocsPerRun(5, func() { _, _ = glob.Parse(text) })
	if all > files*reading/2 {
		t.Errorf("%.0f allocations for %d files, %.0f for the reading of the glob", all, files, reading)
	}
}

// A file lies outside of a write set where none of its globs matches it.
func TestOutsideWriteSetAgreesWithItsGlobs(t *testing.T) {
	words := []string{"a", "a/b", "a/b/c.go", "d.go", "a/b.md", "**", "a/**", "*.go", "{a,d}*", "a/b*/**", "[", "?.go",
		"a/*/c.go"}
	agree := func(globs, paths []uint8) bool {
		sub := &Subtask{}
		for _, n := range globs {
			sub.Planned.WriteSet = append(sub.Planned.WriteSet, words[int(n)%len(words)])
		}
		outside := 0
		for _, n := range paths {
			path := words[int(n)%5]
			sub.Changes = append(sub.Changes, Change{Path: path})
			covered := slices.ContainsFunc(sub.Planned.WriteSet, func(text string) bool {
				planned, err := glob.Parse(text)
				return err == nil && planned.Match(path)
			})
			if !covered {
				outside++
			}
		}
		return outside == len((&Task{}).OutsideWriteSet(sub, NewMatchBudget()))
	}
	if err := quick.Check(agree, nil); err != nil {
		t.Error(err)
	}
}
