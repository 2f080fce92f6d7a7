// Package mergertest provides a task with approved branches, with the real core, a real repository and a real
// merger. Gates are judged from the cache of verdicts. A tree that is missing in the cache fails the test.
package mergertest

import (
	"context"
	"maps"
	"testing"

	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
	"company/internal/merger"
)

// Ids of the task and its subtasks.
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

// New returns a bundle of two subtasks that have not begun, and that are merged one after the other.
func New(t *testing.T) *Bundle {
	t.Helper()
	return newBundle(t, company.Settings{MergeStack: 1}, "a", "b")
}

// NewStacked returns a bundle of three subtasks that are merged together.
func NewStacked(t *testing.T) *Bundle {
	t.Helper()
	return NewStackedWith(t, "")
}

// NewStackedWith is NewStacked with a value of git.history.
func NewStackedWith(t *testing.T, history string) *Bundle {
	t.Helper()
	return newBundle(t, company.Settings{MergeStack: 4, History: history}, "a", "b", "c")
}

// NewOn is New for a project whose base has more files.
func NewOn(t *testing.T, more map[string]string) *Bundle {
	t.Helper()
	return newBundleOn(t, more, company.Settings{MergeStack: 1}, "a", "b")
}

func newBundle(t *testing.T, set company.Settings, names ...string) *Bundle {
	t.Helper()
	return newBundleOn(t, nil, set, names...)
}

func newBundleOn(t *testing.T, more map[string]string, set company.Settings, names ...string) *Bundle {
	t.Helper()
	base := map[string]string{
		"a.go": "package a\n", "b.go": "package a\n", "shared.go": "package a\n\nvar x = 0\n",
	}
	maps.Copy(base, more)
	bundle := &Bundle{Decider: decidertest.New(t), T: t, Project: gitopstest.New(t, base)}
	var err error
	bundle.Merger, err = merger.New(merger.Config{
		Decider: bundle, Mirrors: bundle.Project, Runner: &gates.Runner{},
		Author:   gitops.Person{Name: "Merger", Email: "m@example.org"},
		Sessions: &agentrun.Service{}, Watcher: unwatched{},
	})
	if err != nil {
		t.Fatal(err)
	}
	bundle.Must(company.Submit{Instruction: "do all", Project: company.Project{ID: "project", Path: bundle.Project.Dir},
		Settings: set})
	bundle.Prepare(Task, bundle.Project.Base, company.GateCommand{Name: "test", Command: "true"})
	var subs []company.PlannedSubtask
	for _, name := range names {
		subs = append(subs, company.PlannedSubtask{
			Title: "Change " + name, Description: "Change what " + name +
				" does, so that everybody is content with it, and show that by a test.",
			AcceptanceCriteria: []string{name + " is changed", "nothing else is"}, WriteSet: []string{name + ".go"},
			Effort: company.EffortMedium,
		})
	}
	bundle.Plan(Task, company.Plan{Waves: []company.Wave{{Subtasks: subs}}, Why: "a file each"})
	return bundle
}

// unwatched is a gates.CheckWatcher that does nothing.
type unwatched struct{}

func (unwatched) WatchCheck(company.TaskID, company.SubtaskID, string) {}

// QueueForMerge puts a subtask with these changes into the merge queue, and returns its head.
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

// Effect returns an effect of the task for the next subtasks of the merge queue.
func (b *Bundle) Effect(sub company.SubtaskID) company.Effect {
	b.T.Helper()
	state := b.View()
	task := b.Task(Task)
	effect := company.Effect{Kind: company.EffectTestMerge, Task: Task, Subtask: sub}
	for _, next := range state.MergeStack(task) {
		effect.Stack = append(effect.Stack, next.ID)
	}
	return effect
}

// CarryOut runs an effect handler on an effect of the task.
func (b *Bundle) CarryOut(
	what func(context.Context, company.Effect) (company.Command, error), sub company.SubtaskID,
) company.Command {
	b.T.Helper()
	cmd, err := what(b.T.Context(), b.Effect(sub))
	if err != nil {
		b.T.Fatal(err)
	}
	return cmd
}

// MergeFront merges the first subtask of the queue into the integration branch.
func (b *Bundle) MergeFront(sub company.SubtaskID) company.OID {
	b.T.Helper()
	b.Must(b.CarryOut(b.Merger.Test, sub))
	merged := b.CarryOut(b.Merger.Merge, sub).(company.RecordMerge)
	b.Must(merged)
	return merged.Commit
}

// Ref returns the commit of the integration branch, or "".
func (b *Bundle) Ref() company.OID {
	b.T.Helper()
	at, err := b.Project.Mirror.Ref(b.T.Context(), "refs/heads/develop-t1-"+decidertest.Office)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		b.T.Fatal(err)
	}
	return at
}

// AddVerdict makes the merger's runner find a green verdict on the tree.
func (b *Bundle) AddVerdict(tree company.OID) { b.AddResult(b.Green(Task, tree)) }

// AddResult makes the merger's runner find this verdict.
func (b *Bundle) AddResult(r company.GateResult) { b.Merger.Decider = withVerdict{b.Decider, r} }

// withVerdict is a decider whose state has one more verdict.
type withVerdict struct {
	*decidertest.Decider
	v company.GateResult
}

func (d withVerdict) View() *company.State {
	state := d.Decider.View()
	state.GateResults[company.GateKey(d.v.Tree, d.v.GateHash, d.v.Image)] = d.v
	return state
}
