// Package mergertest makes a task with approved branches, on the real core, a real
// repository and a real merger. Gates are judged from the cache of
// verdicts: a tree that is not in it fails the test.
package mergertest

import (
	"context"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
	"company/internal/merger"
	"company/internal/session"
)

// The task and its subtasks.
const (
	Task  = company.TaskID("t1")
	One   = company.SubtaskID("t1-01")
	Two   = company.SubtaskID("t1-02")
	Three = company.SubtaskID("t1-03")
)

// Bundle is a project with a planned task of one wave.
type Bundle struct {
	*decidertest.Decider
	T       *testing.T
	Project *gitopstest.Project
	Merger  *merger.Merger
}

// New makes a bundle of two subtasks that have not begun, and that are merged one
// after the other.
func New(t *testing.T) *Bundle {
	t.Helper()
	return newBundle(t, company.Settings{MergeStack: 1}, "a", "b")
}

// NewStacked makes a bundle of three subtasks that are merged at once.
func NewStacked(t *testing.T) *Bundle {
	t.Helper()
	return NewStackedWith(t, "")
}

// NewStackedWith makes the same, with a value of git.history.
func NewStackedWith(t *testing.T, history string) *Bundle {
	t.Helper()
	return newBundle(t, company.Settings{MergeStack: 4, History: history}, "a", "b", "c")
}

func newBundle(t *testing.T, set company.Settings, names ...string) *Bundle {
	t.Helper()
	b := &Bundle{Decider: decidertest.New(t), T: t, Project: gitopstest.New(t, map[string]string{
		"a.go": "package a\n", "b.go": "package a\n", "shared.go": "package a\n\nvar x = 0\n",
	})}
	var err error
	b.Merger, err = merger.New(merger.Config{
		Decider: b, Mirrors: b.Project, Runner: &gates.Runner{}, Author: gitops.Person{Name: "Merger", Email: "m@example.org"},
		Sessions: &session.Service{}, Watcher: unwatched{},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Must(company.Submit{Instruction: "do all", Project: company.Project{ID: "project", Path: b.Project.Dir}, Settings: set})
	b.Prepare(Task, b.Project.Base, company.GateCommand{Name: "test", Command: "true"})
	var subs []company.PlannedSubtask
	for _, name := range names {
		subs = append(subs, company.PlannedSubtask{
			Title: "Change " + name, Description: "Change what " + name + " does, so that everybody is content with it, and show that by a test.",
			AcceptanceCriteria: []string{name + " is changed", "nothing else is"}, WriteSet: []string{name + ".go"}, Effort: company.EffortMedium,
		})
	}
	b.Plan(Task, company.Plan{Waves: []company.Wave{{Subtasks: subs}}, Why: "a file each"})
	return b
}

// unwatched is a gates.CheckWatcher that keeps nothing.
type unwatched struct{}

func (unwatched) WatchCheck(company.TaskID, company.SubtaskID, string) {}

// QueueForMerge brings a subtask to the merge queue with these changes.
func (b *Bundle) QueueForMerge(sub company.SubtaskID, files map[string]string) company.OID {
	b.T.Helper()
	head := b.Project.Commit(string(sub), files)
	var changes []company.Change
	for name := range files {
		changes = append(changes, company.Change{Path: name, Action: "modified"})
	}
	b.Work(sub, head, changes...)
	merged, err := b.Project.Mirror.MergeTree(b.T.Context(), b.Task(Task).Head, head)
	if err != nil {
		b.T.Fatal(err)
	}
	tree := merged.Tree
	if !merged.Clean {
		tree = b.Project.Tree(head)
	}
	b.Gate(sub, tree)
	b.Approve(sub)
	return head
}

// Effect is an effect of the task, that takes up the next of the merge queue.
func (b *Bundle) Effect(sub company.SubtaskID) company.Effect {
	b.T.Helper()
	s := b.View()
	t := b.Task(Task)
	e := company.Effect{Kind: company.EffectTestMerge, Task: Task, Subtask: sub, Onto: t.Head}
	for _, next := range s.MergeStack(t) {
		e.Stack = append(e.Stack, company.QueuedHead{Subtask: next.ID, Head: next.Head})
	}
	return e
}

// CarryOut has an effect handler carry out an effect of the task.
func (b *Bundle) CarryOut(what func(context.Context, company.Effect) (company.Command, error), sub company.SubtaskID) company.Command {
	b.T.Helper()
	cmd, err := what(b.T.Context(), b.Effect(sub))
	if err != nil {
		b.T.Fatal(err)
	}
	return cmd
}

// MergeFront brings the front of the queue to the integration branch.
func (b *Bundle) MergeFront(sub company.SubtaskID) company.OID {
	b.T.Helper()
	b.Must(b.CarryOut(b.Merger.Test, sub))
	merged := b.CarryOut(b.Merger.Merge, sub).(company.RecordMerge)
	b.Must(merged)
	return merged.Commit
}

// Ref is where the integration branch stands, or empty.
func (b *Bundle) Ref() company.OID {
	b.T.Helper()
	at, err := b.Project.Mirror.Ref(b.T.Context(), "refs/heads/develop-t1-"+decidertest.Office)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		b.T.Fatal(err)
	}
	return at
}

// AddVerdict has the merger's runner find a green verdict on the tree.
func (b *Bundle) AddVerdict(tree company.OID) { b.AddResult(b.Green(Task, tree)) }

// AddResult has the merger's runner find this verdict.
func (b *Bundle) AddResult(r company.GateResult) { b.Merger.Decider = withVerdict{b.Decider, r} }

// withVerdict is a desk whose state holds one more verdict.
type withVerdict struct {
	*decidertest.Decider
	v company.GateResult
}

func (d withVerdict) View() *company.State {
	s := d.Decider.View()
	s.GateResults[company.GateKey(d.v.Tree, d.v.GateHash, d.v.Image)] = d.v
	return s
}
