package delivery

import (
	"context"
	"slices"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
)

// branchNow is where the branch of a pull request stands.
type branchNow struct {
	head  company.OID // empty: it is gone
	known bool        // the remote could be asked
}

// branchAt looks at the branch where it was pushed to: at the project's remote,
// or at the fork. Without a remote it is in the office's own mirror, which only
// the company writes to: then there is nothing to check.
func (l *FeedbackPoller) branchAt(ctx context.Context, m *gitops.Mirror, f forge.Forge, p company.Pull, fb forge.Feedback, remote string) (branchNow, error) {
	switch {
	case fb.State != "" && fb.Head == p.Head:
		return branchNow{head: p.Head, known: true}, nil // and a forge closes the pull request of a branch that is gone
	case remote == "":
		return branchNow{}, nil
	}
	target, err := f.Target(ctx)
	if err != nil {
		return branchNow{}, err
	}
	if target.URL != "" {
		remote = target.URL
	}
	info, err := m.FetchBase(ctx, nil, gitops.Source{URL: remote}, p.Branch)
	if company.CodeOf(err) == company.ENotFound {
		// A repository that cannot be seen is not found either, and an empty
		// one was made anew: neither proves that a person deleted the branch.
		// Nor does its absence where a forge has an open pull request of it: it
		// is elsewhere.
		any, err := m.HasBranches(ctx, gitops.Remote{URL: remote})
		return branchNow{known: any && fb.State == ""}, err
	}
	return branchNow{head: info.OID, known: err == nil}, err
}

// compareBranch compares the branch with the delivered head; base is the pull
// request's base now, or empty. Nil: the remote could not be asked.
func compareBranch(ctx context.Context, m *gitops.Mirror, delivered company.OID, now branchNow, base company.OID) (*company.BranchChange, error) {
	b := &company.BranchChange{Kind: company.BranchGone, Delivered: delivered, Now: now.head}
	switch {
	case !now.known:
		return nil, nil
	case now.head == "":
		return b, nil
	case now.head == delivered:
		b.Kind = company.BranchAsDelivered
		return b, nil
	}
	held, err := m.IsAncestor(ctx, delivered, now.head)
	if err != nil {
		return nil, err
	}
	without := []company.OID{delivered}
	if base != "" {
		without = append(without, base) // an update of the branch adds one commit of its own
	}
	own, err := m.LogWithout(ctx, now.head, without, company.MaxBranchCommits)
	if err != nil {
		return nil, err
	}
	if held && len(own) == 0 {
		// The branch was moved into the base, which holds all of it: there is
		// nothing to review beside the delivery.
		return nil, nil
	}
	b.Kind, b.Commits = company.BranchAhead, len(own)
	if !held {
		b.Kind = company.BranchRewritten
	}
	var people []string
	for _, c := range own {
		// A rewrite keeps the authors: the committer did it.
		who := c.Author.Name
		if !held {
			who = c.Committer.Name
		}
		if who != "" && !slices.Contains(people, who) {
			people = append(people, who)
		}
	}
	b.By, b.People = people, len(people)
	bounded := b.Bounded()
	return &bounded, nil
}
