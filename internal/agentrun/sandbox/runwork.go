package sandbox

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
)

// unfinishedSubject is the subject of the commit with what a run left uncommitted.
const unfinishedSubject = "Work so far, not finished"

// runWork is the work that a run left in its quarantine, with its start. No more pushes happen there.
type runWork struct {
	mirror     *gitops.Mirror
	quarantine *gitops.Quarantine
	start      company.OID
	branch     string
	author     gitops.Person
}

// takeHead checks the branch's head and copies it to a ref of the run. With unsaved, it adds the uncommitted
// work of the last checkpoint as a commit on top. It returns "" if the run left no work.
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

// takeUnsaved turns the last checkpoint's tree into a commit if the checkpoint is newer than head, and returns
// the new head.
func (w runWork) takeUnsaved(ctx context.Context, head company.OID) (company.OID, error) {
	mirror, run := w.mirror, w.quarantine.Run()
	ref := gitops.ResultRef(run)
	saved, ok, err := w.quarantine.Checkpoint(ctx)
	if err != nil || !ok || saved == head {
		return head, err
	}
	if _, err := mirror.Take(ctx, w.quarantine, saved, ref); err != nil {
		return head, err
	}
	newer, err := mirror.IsAncestor(ctx, head, saved)
	if err != nil {
		return head, err
	}
	keep := head
	if newer {
		commits, err := mirror.Log(ctx, "", saved, 2)
		if err != nil {
			return head, err
		}
		cp := commits[0]
		if len(cp.Parents) == 0 {
			return head, company.E(company.EObjects, "the checkpoint is not a commit on top of another")
		}
		keep = cp.Parents[0] // this includes commits that were not pushed
		tree, err := mirror.Tree(ctx, keep)
		if err != nil {
			return head, err
		}
		if cp.Tree != tree {
			ticket, err := gitops.Ticket(run)
			if err != nil {
				return head, err
			}
			// With the checkpoint's time, a repeated call makes the same commit.
			keep, err = mirror.CommitTree(ctx, gitops.CommitSpec{
				Tree: cp.Tree, Parents: cp.Parents[:1], When: cp.When, Author: w.author, Committer: w.author,
				Message: gitops.CommitMessage(ticket, unfinishedSubject),
			})
			if err != nil {
				return head, err
			}
		}
	}
	return keep, mirror.UpdateRef(ctx, ref, keep, saved)
}

// Salvager takes the work of cut-off runs. It needs no container, because it reads the run's quarantine.
type Salvager struct {
	Git *gitops.Store
	// Author and Signoff apply to the commits that agents make.
	Author  gitops.Person
	Signoff bool
}

// Salvaged is the work of a cut-off run.
type Salvaged struct {
	Head    company.OID // empty if the run left no work
	Branch  string
	Changes []company.Change // against the integration branch
}

// TakeWork takes the work of a worker's run, including uncommitted work. It applies the checks of a submitted
// commit, and returns EObjects if they refuse the work. Runs of other roles leave no work of a subtask. Repeated
// calls return the same.
func (s Salvager) TakeWork(ctx context.Context, task *company.Task, run *company.Run) (Salvaged, error) {
	sub := task.Subtask(run.Subtask)
	if run.Role != company.Worker || sub == nil || sub.Base == "" {
		return Salvaged{}, nil
	}
	if left, err := s.Git.HasQuarantine(run.ID); err != nil || !left {
		return Salvaged{}, err
	}
	mirror, err := s.Git.MirrorOf(ctx, task)
	if err != nil {
		return Salvaged{}, err
	}
	spec := WorkerSpec(task, sub, run)
	quarantine, err := s.Git.Quarantine(ctx, mirror, run.ID, spec.Base, spec.seenCommits())
	if err != nil {
		return Salvaged{}, err
	}
	quarantine.OnlyIn(task.Settings.Paths)
	quarantine.OnlyBy(gitops.Identity{Person: s.Author, Signoff: s.Signoff})
	w := runWork{mirror: mirror, quarantine: quarantine, start: spec.Start, branch: spec.Branch, author: s.Author}
	head, err := w.takeHead(ctx, true)
	if err != nil || head == "" {
		return Salvaged{}, err
	}
	changes, err := changedPaths(ctx, mirror, task.Head, head)
	if err != nil {
		return Salvaged{}, err
	}
	if n := company.SizeOfChanges(changes); n > company.MaxChanges {
		return Salvaged{}, company.E(company.EObjects,
			fmt.Sprintf("the list of changed files has %d bytes; the limit is %d", n, company.MaxChanges))
	}
	return Salvaged{Head: head, Branch: w.branch, Changes: changes}, nil
}

// Salvager returns the Salvager of the office's sandboxes.
func (s *Factory) Salvager() Salvager {
	return Salvager{Git: s.Git, Author: s.Author, Signoff: s.Signoff}
}
