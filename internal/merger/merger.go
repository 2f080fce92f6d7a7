// Package merger brings approved branches together. It owns the test of a
// merge (git merge-tree, then the gates on exactly that tree), the merge
// commit, moving the integration branch by compare-and-set, and the merger
// agent that resolves a conflict in a container.
//
// It promises that the merged tree is the tested one, that doing a merge again
// makes the same commit, and that no branch but the integration branch moves.
// It does not decide the order of merges.
package merger

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	Author   gitops.Person // of merge commits
	Sessions *session.Service
	Watcher  gates.CheckWatcher // for the feed
}

// Merger carries out test_merge, merge and resolve effects.
type Merger struct{ Config }

// New checks that nothing is missing that a merger needs.
func New(c Config) (*Merger, error) { return &Merger{c}, company.CheckParts(c) }

// Test finds out whether the front of the queue merges, and judges the tree
// that it would make.
func (g *Merger) Test(ctx context.Context, e company.Effect) (company.Command, error) {
	s := g.Decider.View()
	t, err := s.Task(e.Task)
	if err != nil {
		return nil, err
	}
	sub := t.Subtask(e.Subtask)
	m, err := g.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	merged, err := m.MergeTree(ctx, t.Head, sub.Head)
	if err != nil {
		return nil, err
	}
	if !merged.Clean {
		return company.ReportConflict{Task: t.ID, Subtask: sub.ID, ConflictReported: company.ConflictReported{
			Head: sub.Head, Onto: t.Head, Paths: merged.Files,
		}}, nil
	}
	overlap, err := g.hasOverlap(ctx, m, t, sub)
	if err != nil {
		return nil, err
	}
	own, err := m.Tree(ctx, sub.Head)
	if err != nil {
		return nil, err
	}
	out := company.RecordMergeGate{
		Task: t.ID, Subtask: sub.ID, Head: sub.Head, Onto: t.Head, Tree: merged.Tree, HeadTree: own, Overlap: overlap,
		Message: gitops.CommitMessage(string(sub.ID), "Merge: "+sub.Planned.Title),
	}
	out.Result, err = g.Runner.Evaluate(ctx, s, t, m, merged.Tree, string(sub.ID), func(check string) {
		g.Watcher.WatchCheck(e.Task, e.Subtask, check)
	})
	// What the ticket's tests show is known of the tree that they were run on.
	out.Result.RedGreen = nil
	if g := sub.Gate; g != nil && g.Result.Tree == merged.Tree {
		out.Result.RedGreen = g.Result.RedGreen
	}
	return out, err
}

// hasOverlap says whether the integration branch moved, since the review, in a
// file of the reviewed diff: then the verdict no longer stands.
func (g *Merger) hasOverlap(ctx context.Context, m *gitops.Mirror, t *company.Task, sub *company.Subtask) (bool, error) {
	last := sub.Review.Last
	if last == nil || last.Onto == t.Head || sub.Review.Waived == sub.Head {
		return false, nil
	}
	moved, err := m.Diff(ctx, last.Onto, t.Head, 0)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(moved.Changes, func(c gitops.FileChange) bool {
		return slices.ContainsFunc(sub.Changes, func(own company.Change) bool { return own.Path == c.Path })
	}), nil
}

// Merge makes the decided commit and moves the integration branch. A repeat
// finds its own result: the commit takes its date from the decision.
func (g *Merger) Merge(ctx context.Context, e company.Effect) (company.Command, error) {
	t, err := g.Decider.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	in := t.MergeIntent
	if in == nil {
		return nil, nil
	}
	m, err := g.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	ref := "refs/heads/" + t.IntegrationBranch()
	at, err := m.Ref(ctx, ref)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return nil, err
	}
	if at != "" && at != in.Onto {
		// Done before a restart, or the branch was moved by hand. A signature
		// need not be the same twice, so the commit is recognised by its tree
		// and parents.
		done, err := m.Log(ctx, "", at, 1)
		if err != nil {
			return nil, err
		}
		if c := done[0]; c.Tree != in.Tree || !slices.Equal(c.Parents, []company.OID{in.Onto, in.Head}) {
			return nil, movedBranchError(ref, string(at), in.Onto)
		}
		return company.RecordMerge{Task: t.ID, Commit: at}, nil
	}
	if at == "" && in.Onto != t.Prepared.Base.OID { // the first merge makes the branch
		return nil, movedBranchError(ref, "nothing", in.Onto)
	}
	commit, err := m.CommitTree(ctx, gitops.CommitSpec{
		Tree: in.Tree, Parents: []company.OID{in.Onto, in.Head}, Message: in.Message,
		Author: g.Author, Committer: g.Author, When: in.At,
	})
	if err == nil {
		err = m.UpdateRef(ctx, ref, commit, at)
	}
	if err != nil {
		return nil, err
	}
	return company.RecordMerge{Task: t.ID, Commit: commit}, nil
}

// movedBranchError is a branch of ours that was moved from outside: a person
// decides.
func movedBranchError(ref, at string, want company.OID) error {
	return company.E(company.EConflict, fmt.Sprintf("%s is at %s, not at %s", strings.TrimPrefix(ref, "refs/heads/"), at, want.Short())).
		Because("another process moved the integration branch in the office's mirror").
		Fix("put the branch back, or cancel the task").NeedsPerson()
}
