package app

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/lib/shellquote"
)

// Checkout puts the head of a pull request on a branch of a person's clone and switches to it. It
// only moves a branch forward, and does not change files with uncommitted changes. git itself
// refuses both.
func (r PullReview) Checkout(ctx context.Context, task *company.Task, git PersonGit) (branch string, err error) {
	git = git.withoutHooks()
	mirror, _, err := r.openMirror(ctx, task)
	if err != nil {
		return "", err
	}
	if !git.hasCommit(ctx, task.Prepared.Base.OID) {
		return "", company.E(company.EConflict, git.Dir+" is not a clone of the pull request's repository").
			Because("it lacks " + task.Prepared.Base.OID.Short() + ", the base of the work").
			Fix(fmt.Sprintf("company pr checkout %d --repo %s", task.PR.Number, shellquote.Quote(task.Project.Path)))
	}
	branch = task.PR.Branch
	ref := "refs/heads/" + branch
	have, err := git.readOutput(ctx, "for-each-ref", "--format=%(objectname)", ref)
	if err != nil {
		return "", err
	}
	if have != string(task.PR.Head) {
		if err := git.runVisibly(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", mirror.Dir(),
			string(task.PR.Head)); err != nil {
			return "", err
		}
	}
	on := git.currentBranch(ctx) == branch
	switch {
	case have == string(task.PR.Head):
	case have != "":
		behind, err := git.isTrue(ctx, "merge-base", "--is-ancestor", have, string(task.PR.Head))
		if err != nil {
			return "", err
		}
		if !behind {
			return "", company.E(company.EConflict,
				"the branch "+branch+" of this clone differs from the pull request").
				Because(fmt.Sprintf("it is at %s, the pull request at %s", company.OID(have).Short(), task.PR.Head.Short())).
				Fix(fmt.Sprintf("keep yours under another name: git branch -m %s %s-mine; then: company pr checkout %d", branch,
					branch, task.PR.Number))
		}
		if on {
			return branch, git.runVisibly(ctx, "merge", "--quiet", "--ff-only", string(task.PR.Head))
		}
		fallthrough
	default:
		// Without a plus, fetch only fast-forwards and refuses a branch that is checked out.
		if err := git.runVisibly(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", mirror.Dir(),
			string(task.PR.Head)+":"+ref); err != nil {
			return "", err
		}
	}
	if on {
		return branch, nil
	}
	return branch, git.runVisibly(ctx, "switch", "--quiet", "--no-guess", branch)
}
