package app

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/shell"
)

// Checkout puts what a pull request asks to merge on a branch of a person's clone,
// and switches to it. It never moves a branch but forward, and changes no file that
// has uncommitted changes: git itself refuses both.
func (r PullReview) Checkout(ctx context.Context, t *company.Task, git PersonGit) (branch string, err error) {
	git = git.withoutHooks()
	m, _, err := r.openMirror(ctx, t)
	if err != nil {
		return "", err
	}
	if !git.hasCommit(ctx, t.Prepared.Base.OID) {
		return "", company.E(company.EConflict, git.Dir+" is no clone of the pull request's repository").
			Because("it does not hold " + t.Prepared.Base.OID.Short() + ", which the work began at").Fix(fmt.Sprintf("company pr checkout %d --repo %s", t.PR.Number, shell.Quote(t.Project.Path)))
	}
	branch = t.PR.Branch
	ref := "refs/heads/" + branch
	have, err := git.readOutput(ctx, "for-each-ref", "--format=%(objectname)", ref)
	if err != nil {
		return "", err
	}
	if have != string(t.PR.Head) {
		if err := git.runVisibly(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", m.Dir(), string(t.PR.Head)); err != nil {
			return "", err
		}
	}
	on := git.currentBranch(ctx) == branch
	switch {
	case have == string(t.PR.Head):
	case have != "":
		behind, err := git.isTrue(ctx, "merge-base", "--is-ancestor", have, string(t.PR.Head))
		if err != nil {
			return "", err
		}
		if !behind {
			return "", company.E(company.EConflict, "the branch "+branch+" of this clone holds other commits than the pull request").
				Because(fmt.Sprintf("it is at %s, the pull request at %s", company.OID(have).Short(), t.PR.Head.Short())).
				Fix(fmt.Sprintf("keep yours under another name: git branch -m %s %s-mine; then: company pr checkout %d", branch, branch, t.PR.Number))
		}
		if on {
			return branch, git.runVisibly(ctx, "merge", "--quiet", "--ff-only", string(t.PR.Head))
		}
		fallthrough
	default:
		// Without a plus it only goes forward, and not below another work tree.
		if err := git.runVisibly(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", m.Dir(), string(t.PR.Head)+":"+ref); err != nil {
			return "", err
		}
	}
	if on {
		return branch, nil
	}
	return branch, git.runVisibly(ctx, "switch", "--quiet", "--no-guess", branch)
}
