package merger_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/gitops"
	"company/internal/merger"
	"company/internal/merger/mergertest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// What is merged is the tree that was judged; merging again makes the same
// commit, whether the branch had moved before the crash or not.
func TestMergeTwice(t *testing.T) {
	b := mergertest.New(t)
	head := b.QueueForMerge(mergertest.One, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	tested := b.CarryOut(b.Merger.Test, mergertest.One).(company.RecordMergeGate)
	if !tested.Result.Passed || !tested.Result.Cached || tested.Overlap || tested.Tree != tested.Result.Tree ||
		tested.Onto != b.Project.Base {
		t.Fatalf("%+v", tested)
	}
	if tested.HeadTree != b.Project.Tree(head) || tested.HeadTree != tested.Tree {
		t.Errorf("the head's own tree is %s, and not %s, though nothing else was merged", tested.HeadTree, tested.Tree)
	}
	b.Must(tested)
	first := b.CarryOut(b.Merger.Merge, mergertest.One).(company.RecordMerge)
	if b.Ref() != first.Commit {
		t.Errorf("the branch is at %s, not at %s", b.Ref(), first.Commit)
	}
	// Killed after the branch moved, before that was recorded.
	if again := b.CarryOut(b.Merger.Merge, mergertest.One).(company.RecordMerge); again != first ||
		b.Ref() != first.Commit {
		t.Errorf("again: %+v, not %+v; the branch is at %s", again, first, b.Ref())
	}
	// The same, but the commit has another id now: a gpg signature tells the
	// time. What it is made of is the same.
	in := b.Task(mergertest.Task).MergeIntent
	signed, err := b.Project.Mirror.CommitTree(
		t.Context(),
		gitops.CommitSpec{Tree: in.Tree, Parents: []company.OID{in.Onto}, Message: in.Message, When: in.At.Add(time.Hour)})
	if err == nil {
		err = b.Project.Mirror.UpdateRef(t.Context(), "refs/heads/develop-t1-"+decidertest.Office, signed, first.Commit)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again := b.CarryOut(b.Merger.Merge, mergertest.One).(company.RecordMerge); again.Commit != signed ||
		b.Ref() != signed {
		t.Errorf("again: %+v, not %s; the branch is at %s", again, signed, b.Ref())
	}
	// Killed after the commit was made, before the branch moved.
	b.Project.Git("--git-dir="+b.Project.Mirror.Dir(), "update-ref", "-d", "refs/heads/develop-t1-"+decidertest.Office)
	if again := b.CarryOut(b.Merger.Merge, mergertest.One).(company.RecordMerge); again != first ||
		b.Ref() != first.Commit {
		t.Errorf("again: %+v, not %+v; the branch is at %s", again, first, b.Ref())
	}
	commits, err := b.Project.Mirror.Log(t.Context(), b.Project.Base, first.Commit, 10)
	if err != nil || len(commits) != 1 {
		t.Fatalf("%v, %v", commits, err)
	}
	i := slices.IndexFunc(commits, func(c gitops.Commit) bool { return c.OID == first.Commit })
	c := commits[i]
	if !slices.Equal(c.Parents, []company.OID{b.Project.Base}) || c.Tree != tested.Tree ||
		c.Message != "[t1-01] change t1-01\n\nTicket: t1-01\n" ||
		c.Author.Name != "Merger" || !c.When.Equal(b.Task(mergertest.Task).MergeIntent.At) {
		t.Errorf("%+v", c)
	}
	if kept, err := b.Project.Mirror.Ref(t.Context(), gitops.TicketRef("t1-01")); err != nil || kept != head {
		t.Errorf("the ticket's head is not kept: %s, %v", kept, err)
	}
	b.Must(first)
	if cmd := b.CarryOut(b.Merger.Merge, mergertest.One); cmd != nil {
		t.Errorf("a third time: %+v", cmd)
	}
	if main, err := b.Project.Mirror.Ref(t.Context(), "refs/heads/main"); err == nil {
		t.Errorf("the mirror has a main of its own at %s", main)
	}
}

// known is a desk whose verdicts are those of another task.
type known struct {
	company.Decider
	shows *company.RedGreen
}

func (k known) View() *company.State {
	s := k.Decider.View()
	for key, v := range s.GateResults {
		v.RedGreen = k.shows
		s.GateResults[key] = v
	}
	return s
}

// What a ticket's tests show stays with the tree that they were run on; that of
// another task, which made the same tree, is not this one's.
func TestMergeKeepsWhatTestsShow(t *testing.T) {
	b := mergertest.New(t)
	b.QueueForMerge(mergertest.One, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	own, other := &company.RedGreen{Files: 1, Shown: 1}, &company.RedGreen{Files: 9}
	b.Merger.Decider = known{b, other}
	gate := b.Task(mergertest.Task).Subtask(mergertest.One).Gate
	if got := b.CarryOut(b.Merger.Test, mergertest.One).(company.RecordMergeGate); got.Result.RedGreen != nil {
		t.Errorf("%+v is another task's", got.Result.RedGreen)
	}
	gate.Result.RedGreen = own
	if got := b.CarryOut(b.Merger.Test, mergertest.One).(company.RecordMergeGate); got.Result.RedGreen != own {
		t.Errorf("%+v is not what the ticket's gate found", got.Result.RedGreen)
	}
}

// A branch that somebody else moved is for a person, before anything is
// written.
func TestMovedBranch(t *testing.T) {
	b := mergertest.New(t)
	b.QueueForMerge(mergertest.One, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	b.Must(b.CarryOut(b.Merger.Test, mergertest.One))
	stray := b.Project.Commit("stray", map[string]string{"stray": "x\n"})
	if err := b.Project.Mirror.UpdateRef(t.Context(), "refs/heads/develop-t1-"+decidertest.Office, stray, ""); err != nil {
		t.Fatal(err)
	}
	requirePerson(t, b, mergertest.One)
	if b.Ref() != stray {
		t.Errorf("the branch was moved to %s", b.Ref())
	}
}

// A branch that is gone although something was merged to it, likewise.
func TestVanishedBranch(t *testing.T) {
	b := mergertest.New(t)
	b.QueueForMerge(mergertest.One, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	b.QueueForMerge(mergertest.Two, map[string]string{"b.go": "package a\n\nvar b = 1\n"})
	first := b.MergeFront(mergertest.One)
	merged, err := b.Project.Mirror.MergeTree(t.Context(), first, b.Task(mergertest.Task).Subtask(mergertest.Two).Head)
	if err != nil {
		t.Fatal(err)
	}
	b.AddVerdict(merged.Tree)
	b.Must(b.CarryOut(b.Merger.Test, mergertest.Two))
	b.Project.Git("--git-dir="+b.Project.Mirror.Dir(), "update-ref", "-d", "refs/heads/develop-t1-"+decidertest.Office)
	requirePerson(t, b, mergertest.Two)
	if b.Ref() != "" {
		t.Errorf("the branch was made again at %s", b.Ref())
	}
}

func requirePerson(t *testing.T, b *mergertest.Bundle, sub company.SubtaskID) {
	t.Helper()
	cmd, err := b.Merger.Merge(t.Context(), company.Effect{Task: mergertest.Task, Subtask: sub})
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Code != company.EConflict || e.Class != company.HumanRequired ||
		e.Hint == "" {
		t.Errorf("%v, %v", cmd, err)
	}
}

// A verdict of the reviewer stands while the base moves in other files, and
// not when it moves in a file of the diff.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		name  string
		other map[string]string
		want  bool
	}{
		{"another file", map[string]string{"b.go": "package a\n\nvar b = 1\n"}, false},
		{"the same file elsewhere", map[string]string{"shared.go": "// About x.\npackage a\n\nvar x = 0\n"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mergertest.New(t)
			b.QueueForMerge(mergertest.One, c.other)
			b.QueueForMerge(mergertest.Two, map[string]string{"shared.go": "package a\n\nvar x = 0\n\nvar y = 1\n"})
			first := b.MergeFront(mergertest.One)
			merged, err := b.Project.Mirror.MergeTree(t.Context(), first, b.Task(mergertest.Task).Subtask(mergertest.Two).Head)
			if err != nil || !merged.Clean {
				t.Fatalf("%+v, %v", merged, err)
			}
			b.AddVerdict(merged.Tree)
			tested := b.CarryOut(b.Merger.Test, mergertest.Two).(company.RecordMergeGate)
			if tested.Overlap != c.want || tested.Onto != first || tested.Tree != merged.Tree || tested.HeadTree == tested.Tree {
				t.Errorf("%+v", tested)
			}
			b.Must(tested)
			if voided := b.Task(mergertest.Task).Subtask(mergertest.Two).Status == company.SubtaskInGate; voided != c.want {
				t.Errorf("the subtask is %s", b.Task(mergertest.Task).Subtask(mergertest.Two).Status)
			}
		})
	}
}

// REV-2: what does not merge is named, and nothing is judged.
func TestConflict(t *testing.T) {
	b := mergertest.New(t)
	b.QueueForMerge(mergertest.One, map[string]string{"shared.go": "package a\n\nvar x = 1\n"})
	head := b.QueueForMerge(mergertest.Two,
		map[string]string{"shared.go": "package a\n\nvar x = 2\n", "b.go": "package a\n\nvar b = 1\n"})
	first := b.MergeFront(mergertest.One)
	cmd := b.CarryOut(b.Merger.Test, mergertest.Two)
	got, ok := cmd.(company.ReportConflict)
	if !ok || got.Head != head || got.Onto != first || !slices.Equal(got.Paths, []string{"shared.go"}) {
		t.Fatalf("%+v", cmd)
	}
	b.Must(got)
	sub := b.Task(mergertest.Task).Subtask(mergertest.Two)
	if text := merger.ConflictBrief(b.Task(mergertest.Task), sub, ""); !strings.Contains(text, "- shared.go\n") ||
		!strings.Contains(text, "This side: t1-02 Change b\n"+sub.Planned.Description) ||
		!strings.Contains(text, "Merged before: t1-01 Change a") {
		t.Errorf("%s", text)
	}
}
