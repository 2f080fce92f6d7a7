package merger_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/gitops"
	"company/internal/merger/mergertest"
)

// queueThree has three subtasks in the queue, each with a file of its own.
func queueThree(b *mergertest.Bundle) (heads []company.OID) {
	for i, sub := range []company.SubtaskID{mergertest.One, mergertest.Two, mergertest.Three} {
		name := string(rune('a' + i))
		heads = append(heads, b.QueueForMerge(sub, map[string]string{name + ".go": "package a\n\nvar " + name + " = 1\n"}))
	}
	return heads
}

// treeOfAll is the tree of heads that are merged one onto the other.
func treeOfAll(b *mergertest.Bundle, heads ...company.OID) company.OID {
	b.T.Helper()
	at := b.Task(mergertest.Task).Head
	var tree company.OID
	for _, head := range heads {
		merged, err := b.Project.Mirror.MergeTree(b.T.Context(), at, head)
		if err == nil {
			tree = merged.Tree
			at, err = b.Project.Mirror.CommitTree(
				b.T.Context(), gitops.CommitSpec{Tree: tree, Parents: []company.OID{at, head}, Message: "x", When: time.Unix(5, 0)})
		}
		if err != nil {
			b.T.Fatal(err)
		}
	}
	return tree
}

// A stack is judged by its last tree, and merged with one move of the branch; doing it
// again finds or makes the same commits.
func TestStackMergesTwice(t *testing.T) {
	for _, history := range []string{company.HistorySquash, company.HistoryKeep} {
		t.Run(history, func(t *testing.T) { mergeStackTwice(t, history) })
	}
}

func mergeStackTwice(t *testing.T, history string) {
	b := mergertest.NewStackedWith(t, history)
	parents := func(onto, head company.OID) []company.OID {
		if history == company.HistoryKeep {
			return []company.OID{onto, head}
		}
		return []company.OID{onto}
	}
	heads := queueThree(b)
	whole := treeOfAll(b, heads...)
	b.AddVerdict(whole)
	tested := b.CarryOut(b.Merger.Test, mergertest.One).(company.RecordStackGate)
	if len(tested.Members) != 3 || tested.Result.Tree != whole || tested.Members[2].Tree != whole ||
		tested.Onto != b.Project.Base || !tested.Result.Cached {
		t.Fatalf("%+v", tested)
	}
	if again := b.CarryOut(b.Merger.Test, mergertest.One).(company.RecordStackGate); !reflect.DeepEqual(
		again.Members, tested.Members) {
		t.Errorf("another stack the second time: %+v", again.Members)
	}
	b.Must(tested)
	first := b.CarryOut(b.Merger.Merge, mergertest.One).(company.RecordStackMerge)
	last := first.Commits[2]
	if len(first.Commits) != 3 || b.Ref() != last {
		t.Fatalf("the branch is at %s, and not at the last of %v", b.Ref(), first.Commits)
	}
	repeat := func(when string, want []company.OID) {
		t.Helper()
		if again := b.CarryOut(b.Merger.Merge, mergertest.One).(company.RecordStackMerge); !slices.Equal(
			again.Commits, want) || b.Ref() != want[2] {
			t.Errorf("%s: %v, not %v; the branch is at %s", when, again.Commits, want, b.Ref())
		}
	}
	repeat("killed after the branch moved", first.Commits)
	ref := "refs/heads/develop-t1-" + decidertest.Office
	in := b.Task(mergertest.Task).StackIntent
	// The same, but the commits have other ids: a gpg signature tells the time.
	signed, at := []company.OID(nil), in.Onto
	for _, m := range in.Members {
		var err error
		at, err = b.Project.Mirror.CommitTree(
			t.Context(),
			gitops.CommitSpec{Tree: m.Tree, Parents: parents(at, m.Head), Message: m.Message, When: in.At.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		signed = append(signed, at)
	}
	if err := b.Project.Mirror.UpdateRef(t.Context(), ref, at, last); err != nil {
		t.Fatal(err)
	}
	repeat("signed again", signed)
	b.Project.Git("--git-dir="+b.Project.Mirror.Dir(), "update-ref", "-d", ref)
	repeat("killed before the branch moved", first.Commits)

	for i, commit := range first.Commits {
		c, err := b.Project.Mirror.Log(t.Context(), "", commit, 1)
		if err != nil {
			t.Fatal(err)
		}
		onto := append([]company.OID{b.Project.Base}, first.Commits...)[i]
		subject := fmt.Sprintf("[t1-0%[1]d] change t1-0%[1]d", i+1) // of the ticket's lone commit
		if history == company.HistoryKeep {
			subject = "[t1-0" + string(rune('1'+i)) + "] Merge: Change " + string(rune('a'+i))
		}
		if !slices.Equal(c[0].Parents, parents(onto, heads[i])) || c[0].Tree != in.Members[i].Tree ||
			c[0].Subject() != subject ||
			c[0].Author.Name != "Merger" || !c[0].When.Equal(in.At) {
			t.Errorf("%+v", c[0])
		}
	}
	b.Must(first)
	if cmd := b.CarryOut(b.Merger.Merge, mergertest.One); cmd != nil {
		t.Errorf("once more: %+v", cmd)
	}
}

// A branch that stands somewhere else than before or after the stack is for a person.
func TestMovedBranchOfAStack(t *testing.T) {
	b := mergertest.NewStacked(t)
	b.AddVerdict(treeOfAll(b, queueThree(b)...))
	b.Must(b.CarryOut(b.Merger.Test, mergertest.One))
	in := b.Task(mergertest.Task).StackIntent
	commit := func(tree company.OID, parents ...company.OID) company.OID {
		id, err := b.Project.Mirror.CommitTree(
			t.Context(), gitops.CommitSpec{Tree: tree, Parents: parents, Message: "by hand", When: in.At})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	m := in.Members
	half := commit(m[0].Tree, in.Onto, m[0].Head) // a stack is merged whole, or not at all
	stray := b.Project.Commit("stray", map[string]string{"stray": "x\n"})
	otherBelow := commit(m[2].Tree, commit(m[1].Tree, commit(m[0].Tree, stray, m[0].Head), m[1].Head), m[2].Head)
	lacksOne := commit(m[2].Tree, commit(m[1].Tree, in.Onto, m[1].Head), m[2].Head)
	otherTree := commit(m[1].Tree, commit(m[1].Tree, half, m[1].Head), m[2].Head)
	otherHead := commit(m[2].Tree, commit(m[1].Tree, half, m[1].Head), m[1].Head)
	at := company.OID("")
	for name, to := range map[string]company.OID{"half": half, "stray": stray, "other below": otherBelow,
		"lacks one": lacksOne, "other tree": otherTree, "other head": otherHead} {
		if err := b.Project.Mirror.UpdateRef(t.Context(), "refs/heads/develop-t1-"+decidertest.Office, to, at); err != nil {
			t.Fatal(err)
		}
		at = to
		if requirePerson(t, b, mergertest.One); b.Ref() != to {
			t.Errorf("%s: the branch was moved to %s", name, b.Ref())
		}
	}
}

// What does not merge with those before it, or changes what they change, is left out:
// it is tested when it is first.
func TestStackLeavesOut(t *testing.T) {
	for name, second := range map[string]map[string]string{
		"a conflict":    {"a.go": "package a\n\nvar a = 2\n"},
		"the same file": {"shared.go": "// About x.\npackage a\n\nvar x = 0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := mergertest.NewStacked(t)
			one := b.QueueForMerge(mergertest.One,
				map[string]string{"a.go": "package a\n\nvar a = 1\n", "shared.go": "package a\n\nvar x = 0\n\nvar y = 1\n"})
			b.QueueForMerge(mergertest.Two, second)
			three := b.QueueForMerge(mergertest.Three, map[string]string{"c.go": "package a\n\nvar c = 1\n"})
			b.AddVerdict(treeOfAll(b, one, three))
			tested := b.CarryOut(b.Merger.Test, mergertest.One).(company.RecordStackGate)
			if len(tested.Members) != 2 || tested.Members[1].Subtask != mergertest.Three {
				t.Fatalf("%+v", tested.Members)
			}
			b.Must(tested)
			b.Must(b.CarryOut(b.Merger.Merge, mergertest.One))
			sub := b.Task(mergertest.Task).Subtask(mergertest.Two)
			if sub.Status != company.SubtaskMerging || sub.Conflicts > 0 || sub.Review.Last == nil {
				t.Fatalf("%+v", sub)
			}
			if name == "the same file" {
				b.AddVerdict(treeOfAll(b, sub.Head))
			}
			b.Must(b.CarryOut(b.Merger.Test, mergertest.Two))
			sub = b.Task(mergertest.Task).Subtask(mergertest.Two)
			if conflicts := name == "a conflict"; conflicts != (sub.Conflict != nil) ||
				conflicts == (sub.Status == company.SubtaskInGate) {
				t.Errorf("%+v", sub)
			}
		})
	}
}

// A stack whose first member alone can be merged is a test of one, and so is the rest of
// a red stack.
func TestStackOfOne(t *testing.T) {
	b := mergertest.NewStacked(t)
	one := b.QueueForMerge(mergertest.One, map[string]string{"shared.go": "package a\n\nvar x = 1\n"})
	b.QueueForMerge(mergertest.Two, map[string]string{"shared.go": "package a\n\nvar x = 2\n"})
	if got := b.CarryOut(b.Merger.Test, mergertest.One).(company.RecordMergeGate); got.Head != one ||
		got.Tree != b.Project.Tree(one) {
		t.Errorf("%+v", got)
	}
	second := b.Effect(mergertest.Two)
	second.Stack = second.Stack[1:]
	if cmd, err := b.Merger.Test(t.Context(), second); cmd != nil || company.CodeOf(err) != company.EStale {
		t.Errorf("the second is tested before the first: %v, %v", cmd, err)
	}
	var e *company.Error
	if _, err := b.Merger.Test(t.Context(), company.Effect{Task: mergertest.Task, Subtask: mergertest.Three}); !errors.As(
		err, &e) || e.Code != company.EStale {
		t.Errorf("what is not in the queue is tested: %v", err)
	}

	b = mergertest.NewStacked(t)
	heads := queueThree(b)
	red := b.Green(mergertest.Task, treeOfAll(b, heads...))
	red.Passed, red.Checks[0].Passed, red.Checks[0].ExitCode = false, false, 1
	b.AddResult(red)
	b.Must(b.CarryOut(b.Merger.Test, mergertest.One))
	b.AddVerdict(treeOfAll(b, heads[:2]...))
	half := b.CarryOut(b.Merger.Test, mergertest.One).(company.RecordStackGate)
	if len(half.Members) != 2 || half.Members[1].Subtask != mergertest.Two {
		t.Fatalf("%+v", half)
	}
	b.Must(half)
	b.Must(b.CarryOut(b.Merger.Merge, mergertest.One))
	b.AddVerdict(treeOfAll(b, heads[2]))
	if last := b.CarryOut(b.Merger.Test, mergertest.Three).(company.RecordMergeGate); !last.Result.Passed {
		t.Errorf("%+v", last)
	}
}
