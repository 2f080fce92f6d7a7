// Package merger merges approved branches. It owns the test of a merge (git merge-tree, then the gates on
// exactly that tree) and the commits on the integration branch. It moves that branch by compare-and-set. It also
// owns the merger agent that resolves a conflict in a container. Several branches can be merged one onto the
// other and tested together, as a stack.
//
// It promises that the branch always has a tested tree, and that a repeated merge makes the same commits. Only
// the integration branch moves. The package does not decide the order of merges, or which are tested together.
package merger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
)

// Config holds the dependencies of a merger.
type Config struct {
	Decider  company.Decider
	Runner   *gates.Runner
	Mirrors  gitops.MirrorSource
	Author   gitops.Person // author of the commits on the integration branch
	Sessions *agentrun.Service
	Watcher  gates.CheckWatcher // for the feed
}

// Merger executes test_merge, merge and resolve effects.
type Merger struct {
	Config
}

// New returns an error if a required part of the config is missing.
func New(c Config) (*Merger, error) { return &Merger{c}, company.CheckParts(c) }

// Test merges the effect's subtasks, each onto those before it, and judges the resulting tree.
func (g *Merger) Test(ctx context.Context, effect company.Effect) (company.Command, error) {
	state := g.Decider.View()
	task, err := state.Task(effect.Task)
	if err != nil {
		return nil, err
	}
	stack := state.ListTakenUp(task, effect.Stack)
	if len(stack) == 0 {
		return nil, company.E(company.EStale, string(effect.Subtask)+" is no longer the next to be merged")
	}
	mirror, err := g.Mirrors.MirrorOf(ctx, task)
	if err != nil {
		return nil, err
	}
	pile, err := g.pileUp(ctx, task, mirror, task.Head, stack)
	if err != nil {
		return nil, err
	}
	if len(pile.members) == 0 {
		return company.ReportConflict{Task: task.ID, Subtask: stack[0].ID, ConflictReported: company.ConflictReported{
			Head: stack[0].Head, Onto: task.Head, Paths: pile.conflict.Files, Why: pile.conflict.Why, Moved: pile.conflict.Moved,
		}}, nil
	}
	j := judgment{s: state, t: task, m: mirror}
	if err := writeMessages(ctx, mirror, task, task.Head, pile.members); err != nil {
		return nil, err
	}
	if len(pile.members) > 1 {
		return g.testStack(ctx, j, pile.members)
	}
	return g.testOne(ctx, j, stack[0], pile)
}

// judgment holds the inputs of a verdict on a tree of a task.
type judgment struct {
	s *company.State
	t *company.Task
	m *gitops.Mirror
}

// judgeTree judges a tree. watched is the subtask whose check the feed shows.
func (g *Merger) judgeTree(
	ctx context.Context, j judgment, tree company.OID, label, watched company.SubtaskID,
) (company.GateResult, error) {
	result, err := g.Runner.Evaluate(ctx, j.s, j.t, j.m, tree, string(label), func(check string) {
		g.Watcher.WatchCheck(j.t.ID, watched, check)
	})
	result.RedGreen = nil // a cached one may belong to another ticket
	return result, err
}

// testOne judges the tree of the first subtask in the queue alone.
func (g *Merger) testOne(ctx context.Context, j judgment, sub *company.Subtask, p pile) (company.Command, error) {
	tree := p.lastTree()
	own, err := j.m.Tree(ctx, sub.Head)
	if err != nil {
		return nil, err
	}
	out := company.RecordMergeGate{
		Task: j.t.ID, Subtask: sub.ID, Head: sub.Head, Onto: j.t.Head, Tree: tree, HeadTree: own, Overlap: p.overlap,
		Message: p.members[0].Message, Remade: p.members[0].Remade,
	}
	out.Result, err = g.judgeTree(ctx, j, tree, sub.ID, sub.ID)
	// The ticket's RedGreen result is valid only for the tree that its tests ran on.
	if g := sub.Gate; g != nil && g.Result.Tree == tree {
		out.Result.RedGreen = g.Result.RedGreen
	}
	return out, err
}

// mergeMessage returns the message of a merge commit.
func mergeMessage(sub *company.Subtask) string {
	return gitops.CommitMessage(string(sub.ID), "Merge: "+sub.Planned.Title)
}

// hasOverlap reports whether onto has changed a file of the reviewed diff since the review, so that the verdict
// is no longer valid.
func hasOverlap(ctx context.Context, mirror *gitops.Mirror, sub *company.Subtask, onto company.OID) (bool, error) {
	last := sub.Review.Last
	if last == nil || last.Onto == onto || sub.Review.Waived == sub.Head {
		return false, nil
	}
	moved, err := mirror.Diff(ctx, last.Onto, onto, 0)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(moved.Changes, func(c gitops.FileChange) bool {
		return slices.ContainsFunc(sub.Changes, func(own company.Change) bool { return own.Path == c.Path })
	}), nil
}

// Merge makes the decided commits, and moves the integration branch once. A repeated call finds its own result,
// because the commits take their date from the decision.
func (g *Merger) Merge(ctx context.Context, e company.Effect) (company.Command, error) {
	task, err := g.Decider.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	var onto company.OID
	var members []company.StackMember
	var when time.Time
	switch one, stack := task.MergeIntent, task.StackIntent; {
	case one != nil:
		onto, when = one.Onto, one.At
		members = []company.StackMember{{Subtask: one.Subtask, Head: one.Head, Tree: one.Tree, Message: one.Message}}
	case stack != nil:
		onto = stack.Onto
		when = stack.At
		members = stack.Members
	default:
		return nil, nil
	}
	commits, err := g.commitMerges(ctx, task, onto, members, when)
	switch {
	case err != nil:
		return nil, err
	case task.StackIntent != nil:
		return company.RecordStackMerge{Task: task.ID, Commits: commits}, nil
	}
	return company.RecordMerge{Task: task.ID, Commit: commits[0]}, nil
}

// commitMerges makes the commits of the members, one onto the other, and moves the integration branch from onto
// to the last of them. If that is done already, it finds them. It also keeps the members' heads reachable,
// because the ledger refers to them and a squashed commit does not contain them.
func (g *Merger) commitMerges(
	ctx context.Context, task *company.Task, onto company.OID, members []company.StackMember, when time.Time,
) ([]company.OID, error) {
	mirror, err := g.Mirrors.MirrorOf(ctx, task)
	if err != nil {
		return nil, err
	}
	ref := "refs/heads/" + task.IntegrationBranch()
	at, err := mirror.Ref(ctx, ref)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return nil, err
	}
	if at != "" && at != onto {
		// Either done before a restart, or the branch was moved by hand.
		done, err := findMerges(ctx, mirror, task, at, onto, members)
		if err == nil && done == nil {
			err = movedBranchError(ref, string(at), onto)
		}
		return done, err
	}
	if at == "" && onto != task.Prepared.Base.OID { // the first merge creates the branch
		return nil, movedBranchError(ref, "nothing", onto)
	}
	var commits []company.OID
	last := onto
	for _, member := range members {
		if err := mirror.KeepTicket(ctx, string(member.Subtask), member.Head); err != nil {
			return nil, err
		}
		parents, err := parentsOf(ctx, mirror, task, task.Subtask(member.Subtask), member.Head, last)
		if err != nil {
			return nil, err
		}
		last, err = mirror.CommitTree(ctx, gitops.CommitSpec{
			Tree: member.Tree, Parents: parents, Message: member.Message, Author: g.Author, Committer: g.Author, When: when,
		})
		if err != nil {
			return nil, err
		}
		commits = append(commits, last)
	}
	return commits, mirror.UpdateRef(ctx, ref, last, at)
}

// findMerges looks back from the commit at for the members' commits on top of onto. It returns nil if other
// commits are found. A signature may differ each time, so commits are recognised by their trees, parents and
// messages. A sign-off may follow a message.
func findMerges(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, at, onto company.OID, members []company.StackMember,
) ([]company.OID, error) {
	commits := make([]company.OID, len(members))
	for i, member := range slices.Backward(members) {
		found, err := mirror.Log(ctx, "", at, 1)
		if err != nil {
			return nil, err
		}
		commit := found[0]
		if commit.Tree != member.Tree || len(commit.Parents) == 0 ||
			!strings.HasPrefix(commit.Message, strings.TrimRight(member.Message, "\n")) {
			return nil, nil
		}
		parents, err := parentsOf(ctx, mirror, task, task.Subtask(member.Subtask), member.Head, commit.Parents[0])
		if err != nil || !slices.Equal(commit.Parents, parents) {
			return nil, err
		}
		commits[i], at = at, commit.Parents[0]
	}
	if at != onto {
		return nil, nil
	}
	return commits, nil
}

// movedBranchError returns the error for an integration branch that was moved from outside. A person must
// decide.
func movedBranchError(ref, at string, want company.OID) error {
	return company.E(company.EConflict,
		fmt.Sprintf("%s is at %s, not at %s", strings.TrimPrefix(ref, "refs/heads/"), at, want.Short())).
		Because("another process moved the integration branch in the office's mirror").
		Fix("put the branch back, or cancel the task").NeedsPerson()
}
