// Package merger brings approved branches together. It owns the test of a
// merge (git merge-tree, then the gates on exactly that tree), the
// commits on the integration branch, moving the integration branch by compare-and-set, and the merger
// agent that resolves a conflict in a container. Several branches are merged one
// onto the other and tested at once, as a stack.
//
// It promises that the branch comes to stand on a tested tree, that doing a merge
// again makes the same commits, and that no branch but the integration branch moves.
// It does not decide the order of merges, nor which are tested at once.
package merger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/session"
)

// Config is what a merger is made of.
type Config struct {
	Decider  company.Decider
	Runner   *gates.Runner
	Mirrors  gitops.MirrorSource
	Author   gitops.Person // of the commits on the integration branch
	Sessions *session.Service
	Watcher  gates.CheckWatcher // for the feed
}

// Merger carries out test_merge, test_ahead, merge and resolve effects.
type Merger struct {
	Config
	foresight foresight
}

// New checks that nothing is missing that a merger needs.
func New(c Config) (*Merger, error) { return &Merger{Config: c}, company.CheckParts(c) }

// Test finds out whether the subtasks that it has taken up merge, each onto those before
// it, and judges the tree that they would make.
func (g *Merger) Test(ctx context.Context, e company.Effect) (company.Command, error) {
	s := g.Decider.View()
	t, err := s.Task(e.Task)
	if err != nil {
		return nil, err
	}
	stack := s.ListTakenUp(t, e)
	if len(stack) == 0 {
		return nil, company.E(company.EStale, string(e.Subtask)+" is not the next to be merged any more")
	}
	m, err := g.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	p, err := g.pileUp(ctx, t, m, t.Head, stack)
	if err != nil {
		return nil, err
	}
	if len(p.members) == 0 {
		return company.ReportConflict{Task: t.ID, Subtask: stack[0].ID, ConflictReported: company.ConflictReported{
			Head: stack[0].Head, Onto: t.Head, Paths: p.conflict.Files, Why: p.conflict.Why, Moved: p.conflict.Moved,
		}}, nil
	}
	j := judgment{s: s, t: t, m: m, ahead: g.foresight.findVerdict(ctx, e, p.lastTree())}
	if err := writeMessages(ctx, m, t, t.Head, p.members); err != nil {
		return nil, err
	}
	if len(p.members) > 1 {
		return g.testStack(ctx, j, p.members)
	}
	return g.testOne(ctx, j, stack[0], p)
}

// judgment is what a verdict on a tree of a task is reached from.
type judgment struct {
	s     *company.State
	t     *company.Task
	m     *gitops.Mirror
	ahead *company.GateResult // the verdict of a test ahead on this tree, or nil
}

// judgeTree judges a tree, or gives the verdict that was found ahead where that still
// counts; watched is whose check the feed shows.
func (g *Merger) judgeTree(ctx context.Context, j judgment, tree company.OID, label, watched company.SubtaskID) (company.GateResult, error) {
	if j.ahead != nil {
		j.s = j.s.WithVerdict(*j.ahead)
	}
	result, err := g.Runner.Evaluate(ctx, j.s, j.t, j.m, tree, string(label), func(check string) {
		g.Watcher.WatchCheck(j.t.ID, watched, check)
	})
	if j.ahead != nil && result.Cached {
		result.Cached = j.ahead.Cached // its gates were run for this test
	}
	result.RedGreen = nil // of a cached verdict: it is of another ticket
	return result, err
}

// testOne judges the tree of the front of the queue by itself.
func (g *Merger) testOne(ctx context.Context, j judgment, sub *company.Subtask, p pile) (company.Command, error) {
	tree := p.lastTree()
	own, err := j.m.Tree(ctx, sub.Head)
	if err != nil {
		return nil, err
	}
	out := company.RecordMergeGate{
		Task: j.t.ID, Subtask: sub.ID, Head: sub.Head, Onto: j.t.Head, Tree: tree, HeadTree: own, Overlap: p.overlap, Message: p.members[0].Message, Remade: p.members[0].Remade,
	}
	out.Result, err = g.judgeTree(ctx, j, tree, sub.ID, sub.ID)
	// What the ticket's tests show is known of the tree that they were run on.
	if g := sub.Gate; g != nil && g.Result.Tree == tree {
		out.Result.RedGreen = g.Result.RedGreen
	}
	return out, err
}

// mergeMessage is the message of a merge commit.
func mergeMessage(sub *company.Subtask) string {
	return gitops.CommitMessage(string(sub.ID), "Merge: "+sub.Planned.Title)
}

// hasOverlap says whether onto moved, since the review, in a file of the reviewed
// diff: then the verdict no longer stands.
func hasOverlap(ctx context.Context, m *gitops.Mirror, sub *company.Subtask, onto company.OID) (bool, error) {
	last := sub.Review.Last
	if last == nil || last.Onto == onto || sub.Review.Waived == sub.Head {
		return false, nil
	}
	moved, err := m.Diff(ctx, last.Onto, onto, 0)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(moved.Changes, func(c gitops.FileChange) bool {
		return slices.ContainsFunc(sub.Changes, func(own company.Change) bool { return own.Path == c.Path })
	}), nil
}

// Merge makes the decided commits, and moves the integration branch once. A repeat
// finds its own result: the commits take their date from the decision.
func (g *Merger) Merge(ctx context.Context, e company.Effect) (company.Command, error) {
	t, err := g.Decider.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	var onto company.OID
	var members []company.StackMember
	var when time.Time
	switch one, stack := t.MergeIntent, t.StackIntent; {
	case one != nil:
		onto, when = one.Onto, one.At
		members = []company.StackMember{{Subtask: one.Subtask, Head: one.Head, Tree: one.Tree, Message: one.Message}}
	case stack != nil:
		onto, when, members = stack.Onto, stack.At, stack.Members
	default:
		return nil, nil
	}
	commits, err := g.commitMerges(ctx, t, onto, members, when)
	switch {
	case err != nil:
		return nil, err
	case t.StackIntent != nil:
		return company.RecordStackMerge{Task: t.ID, Commits: commits}, nil
	}
	return company.RecordMerge{Task: t.ID, Commit: commits[0]}, nil
}

// commitMerges makes the commits of the members, one onto the other, and moves the
// integration branch from onto to the last of them. Where that is done already, it
// finds them. The members' heads stay reachable: the ledger names them, and a squashed
// commit does not hold them.
func (g *Merger) commitMerges(ctx context.Context, t *company.Task, onto company.OID, members []company.StackMember, when time.Time) ([]company.OID, error) {
	m, err := g.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	ref := "refs/heads/" + t.IntegrationBranch()
	at, err := m.Ref(ctx, ref)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return nil, err
	}
	if at != "" && at != onto {
		// Done before a restart, or the branch was moved by hand.
		done, err := findMerges(ctx, m, t, at, onto, members)
		if err == nil && done == nil {
			err = movedBranchError(ref, string(at), onto)
		}
		return done, err
	}
	if at == "" && onto != t.Prepared.Base.OID { // the first merge makes the branch
		return nil, movedBranchError(ref, "nothing", onto)
	}
	var commits []company.OID
	last := onto
	for _, member := range members {
		if err := m.KeepTicket(ctx, string(member.Subtask), member.Head); err != nil {
			return nil, err
		}
		parents, err := parentsOf(ctx, m, t, t.Subtask(member.Subtask), member.Head, last)
		if err != nil {
			return nil, err
		}
		last, err = m.CommitTree(ctx, gitops.CommitSpec{
			Tree: member.Tree, Parents: parents, Message: member.Message, Author: g.Author, Committer: g.Author, When: when,
		})
		if err != nil {
			return nil, err
		}
		commits = append(commits, last)
	}
	return commits, m.UpdateRef(ctx, ref, last, at)
}

// findMerges looks back from a commit for the commits of the members onto a commit; nil
// where those are others. A signature need not be the same twice, so the commits are
// recognised by their trees, parents and messages; a sign-off stands behind a message.
func findMerges(ctx context.Context, m *gitops.Mirror, t *company.Task, at, onto company.OID, members []company.StackMember) ([]company.OID, error) {
	commits := make([]company.OID, len(members))
	for i, member := range slices.Backward(members) {
		found, err := m.Log(ctx, "", at, 1)
		if err != nil {
			return nil, err
		}
		c := found[0]
		if c.Tree != member.Tree || len(c.Parents) == 0 || !strings.HasPrefix(c.Message, strings.TrimRight(member.Message, "\n")) {
			return nil, nil
		}
		parents, err := parentsOf(ctx, m, t, t.Subtask(member.Subtask), member.Head, c.Parents[0])
		if err != nil || !slices.Equal(c.Parents, parents) {
			return nil, err
		}
		commits[i], at = at, c.Parents[0]
	}
	if at != onto {
		return nil, nil
	}
	return commits, nil
}

// movedBranchError is a branch of ours that was moved from outside: a person
// decides.
func movedBranchError(ref, at string, want company.OID) error {
	return company.E(company.EConflict, fmt.Sprintf("%s is at %s, not at %s", strings.TrimPrefix(ref, "refs/heads/"), at, want.Short())).
		Because("another process moved the integration branch in the office's mirror").
		Fix("put the branch back, or cancel the task").NeedsPerson()
}
