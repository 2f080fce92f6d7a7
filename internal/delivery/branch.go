package delivery

import (
	"context"
	"slices"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
)

// branchNow is the current state of a pull request's branch.
type branchNow struct {
	head  company.OID // empty if the branch no longer exists
	known bool        // the remote could be asked
}

// branchAt reads the branch where it was pushed to: the project's remote, or the fork. An empty remote means that it
// was not pushed. The branch is in the office's own mirror then, where only the company writes, so there is no change
// to check.
func (l *FeedbackPoller) branchAt(
	ctx context.Context, mirror *gitops.Mirror, f forge.Forge, pull company.Pull, fb forge.Feedback, remote string,
) (branchNow, error) {
	switch {
	case fb.State != "" && fb.Head == pull.Head:
		return branchNow{head: pull.Head, known: true}, nil // a forge would have closed the pull request of a deleted branch
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
	info, err := mirror.FetchBase(ctx, nil, gitops.Source{URL: remote}, pull.Branch)
	if company.CodeOf(err) == company.ENotFound {
		// An invisible repository also returns not found, and an empty one was recreated. Neither proves that a person
		// deleted the branch. If the forge has an open pull request for the branch, it exists elsewhere.
		any, err := mirror.HasBranches(ctx, gitops.Remote{URL: remote})
		return branchNow{known: any && fb.State == ""}, err
	}
	return branchNow{head: info.OID, known: err == nil}, err
}

// compareBranch compares the branch with the delivered head. base is the current base of the pull request, or empty.
// It returns nil if the remote could not be asked.
func compareBranch(
	ctx context.Context, mirror *gitops.Mirror, delivered company.OID, now branchNow, base company.OID,
) (*company.BranchChange, error) {
	branchChange := &company.BranchChange{Kind: company.BranchGone, Delivered: delivered, Now: now.head}
	switch {
	case !now.known:
		return nil, nil
	case now.head == "":
		return branchChange, nil
	case now.head == delivered:
		branchChange.Kind = company.BranchAsDelivered
		return branchChange, nil
	}
	held, err := mirror.IsAncestor(ctx, delivered, now.head)
	if err != nil {
		return nil, err
	}
	without := []company.OID{delivered}
	if base != "" {
		without = append(without, base) // merging the base into the branch then counts as one commit
	}
	own, err := mirror.LogWithout(ctx, now.head, without, company.MaxBranchCommits)
	if err != nil {
		return nil, err
	}
	if held && len(own) == 0 {
		// The branch was moved to a commit that the base fully contains, so there is no commit to review besides the
		// delivered ones.
		return nil, nil
	}
	branchChange.Kind, branchChange.Commits = company.BranchAhead, len(own)
	if !held {
		branchChange.Kind = company.BranchRewritten
	}
	var people []string
	for _, commit := range own {
		// A rewrite keeps the authors, so the committer made it.
		who := commit.Author.Name
		if !held {
			who = commit.Committer.Name
		}
		if who != "" && !slices.Contains(people, who) {
			people = append(people, who)
		}
	}
	branchChange.By, branchChange.People = people, len(people)
	bounded := branchChange.Bounded()
	return &bounded, nil
}
