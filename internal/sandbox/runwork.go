package sandbox

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
)

// runWork is what a run has left in its quarantine, with where it began. Nothing is pushed there
// any more.
type runWork struct {
	mirror     *gitops.Mirror
	quarantine *gitops.Quarantine
	start      company.OID
	branch     string
	author     gitops.Person
}

// takeHead takes the branch's head after every check, into a ref of the run. With unsaved it adds the
// uncommitted work of the last checkpoint as a commit on top. It returns "" where the run left no work.
func (w runWork) takeHead(ctx context.Context, unsaved bool) (company.OID, error) {
	head, pushed, err := w.quarantine.Head(ctx, w.branch)
	if err != nil {
		return "", err
	}
	if !pushed {
		head = w.start
	} else if _, err := w.mirror.Take(ctx, w.quarantine, head, gitops.ResultRef(w.quarantine.Run())); err != nil {
		return "", err
	}
	if unsaved {
		if head, err = w.takeUnsaved(ctx, head); err != nil {
			return "", err
		}
	}
	if head == w.start {
		return "", nil
	}
	return head, nil
}

// takeUnsaved makes a commit of the last checkpoint's tree, if that is newer
// than head, and returns the new head.
func (w runWork) takeUnsaved(ctx context.Context, head company.OID) (company.OID, error) {
	m, run := w.mirror, w.quarantine.Run()
	ref := gitops.ResultRef(run)
	saved, ok, err := w.quarantine.Checkpoint(ctx)
	if err != nil || !ok || saved == head {
		return head, err
	}
	if _, err := m.Take(ctx, w.quarantine, saved, ref); err != nil {
		return head, err
	}
	newer, err := m.IsAncestor(ctx, head, saved)
	if err != nil {
		return head, err
	}
	keep := head
	if newer {
		commits, err := m.Log(ctx, "", saved, 2)
		if err != nil {
			return head, err
		}
		cp := commits[0]
		if len(cp.Parents) == 0 {
			return head, company.E(company.EObjects, "the checkpoint is not a commit on top of another")
		}
		keep = cp.Parents[0] // commits that were not pushed came along with it
		tree, err := m.Tree(ctx, keep)
		if err != nil {
			return head, err
		}
		if cp.Tree != tree {
			ticket, err := gitops.Ticket(run)
			if err != nil {
				return head, err
			}
			// Its time is the checkpoint's: taken again, it is the same commit.
			keep, err = m.CommitTree(ctx, gitops.CommitSpec{
				Tree: cp.Tree, Parents: cp.Parents[:1], When: cp.When, Author: w.author, Committer: w.author,
				Message: gitops.CommitMessage(ticket, "Work so far, not finished"),
			})
			if err != nil {
				return head, err
			}
		}
	}
	return keep, m.UpdateRef(ctx, ref, keep, saved)
}

// Salvager takes the work of runs that were cut off. It needs no container: it reads what a run has
// left in its quarantine.
type Salvager struct {
	Git *gitops.Store
	// Author and Signoff are those of the commits that agents make.
	Author  gitops.Person
	Signoff bool
}

// Salvaged is the work of a run that was cut off.
type Salvaged struct {
	Head    company.OID // empty: the run left no work
	Branch  string
	Changes []company.Change // against the integration branch
}

// TakeWork takes the work of a worker's run, its uncommitted work too: the checks are those of a commit
// that is handed in. Runs of other roles leave no work of a subtask. Called again, it returns the same.
// The error is EObjects where the checks refuse the work.
func (s Salvager) TakeWork(ctx context.Context, t *company.Task, r *company.Run) (Salvaged, error) {
	sub := t.Subtask(r.Subtask)
	if r.Role != company.Worker || sub == nil || sub.Base == "" {
		return Salvaged{}, nil
	}
	if left, err := s.Git.HasQuarantine(r.ID); err != nil || !left {
		return Salvaged{}, err
	}
	m, err := s.Git.MirrorOf(ctx, t)
	if err != nil {
		return Salvaged{}, err
	}
	spec := WorkerSpec(t, sub, r)
	q, err := s.Git.Quarantine(ctx, m, r.ID, spec.Base, spec.seenCommits())
	if err != nil {
		return Salvaged{}, err
	}
	q.OnlyIn(t.Settings.Paths)
	q.OnlyBy(gitops.Identity{Person: s.Author, Signoff: s.Signoff})
	w := runWork{mirror: m, quarantine: q, start: spec.Start, branch: spec.Branch, author: s.Author}
	head, err := w.takeHead(ctx, true)
	if err != nil || head == "" {
		return Salvaged{}, err
	}
	changes, err := changedPaths(ctx, m, t.Head, head)
	if err != nil {
		return Salvaged{}, err
	}
	if n := company.SizeOfChanges(changes); n > company.MaxChanges {
		return Salvaged{}, company.E(company.EObjects, fmt.Sprintf("the list of the changed files has %d bytes and may have %d", n, company.MaxChanges))
	}
	return Salvaged{Head: head, Branch: w.branch, Changes: changes}, nil
}

// Salvager returns the Salvager of the office's sandboxes.
func (s *Factory) Salvager() Salvager {
	return Salvager{Git: s.Git, Author: s.Author, Signoff: s.Signoff}
}
