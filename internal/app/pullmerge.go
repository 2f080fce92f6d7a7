package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/safedir"
	"company/internal/lib/shellquote"
)

// undoTimeout limits the rollback of a conflicting merge.
const undoTimeout = 30 * time.Second

// mergeLockPatience limits how long a merge waits for another one in the same checkout.
const mergeLockPatience = 2 * time.Second

// PullMerge is a merge of a pull request for a person to confirm. Only commands at a terminal
// create one (docs/decisions/pull-requests.md). Automatic work and requests over the socket cannot reach it.
type PullMerge struct {
	Question string // for the person
	Do       func(ctx context.Context) error
}

// PrepareMerge checks whether an open pull request can be merged at the reviewed head. The merge
// is made by its forge, or by the person's git in the project's checkout. PrepareMerge changes
// nothing.
func (r PullReview) PrepareMerge(ctx context.Context, task *company.Task, git PersonGit) (PullMerge, error) {
	if task.BranchChange != nil {
		return PullMerge{}, company.E(
			company.EConflict, fmt.Sprintf("the branch of #%d %s", task.PR.Number, task.BranchChange)).
			Because("commits of people went through no gate and no review here").
			Fix(fmt.Sprintf("company submit --follows %s %q goes on from it; or merge it yourself, then: company pr merge %d",
				task.ID, "…", task.PR.Number))
	}
	if task.PR.IsOnForge() {
		forge, ref, err := r.findForge(ctx, task)
		if err != nil {
			return PullMerge{}, err
		}
		return PullMerge{
			Question: fmt.Sprintf("merge #%d into %s, at %s, on %s?", task.PR.Number, task.PR.Base, task.PR.Head.Short(),
				task.PR.URL),
			Do: func(ctx context.Context) error { return forge.MergePull(ctx, ref, task.PR.Head, task.PR.Base) },
		}, nil
	}
	return r.prepareMergeHere(ctx, task, git)
}

// prepareMergeHere prepares a merge by the person's git in the project's checkout. The person may
// work in the checkout before they answer, so Do checks it again.
func (r PullReview) prepareMergeHere(ctx context.Context, task *company.Task, git PersonGit) (PullMerge, error) {
	mirror, remote, err := r.openMirror(ctx, task)
	if err != nil {
		return PullMerge{}, err
	}
	name, where := r.Config.Git.Remote, git.Dir
	if err := r.checkedAlone(ctx, task, git, remote, func() error { return nil }); err != nil {
		return PullMerge{}, err
	}
	pushTo := remote
	if task.PR.Unpushed { // the president's git pushes nothing
		pushTo = ""
	}
	if pushTo != "" {
		where += ", and push it to " + name
	}
	return PullMerge{
		Question: fmt.Sprintf("merge #%d into %s, at %s, with your git in %s?", task.PR.Number, task.PR.Base,
			task.PR.Head.Short(), where),
		Do: func(ctx context.Context) error {
			return r.checkedAlone(ctx, task, git, remote,
				func() error { return mergeHere(ctx, mirror, task, git, pushTo, name) })
		},
	}, nil
}

// checkedAlone runs a function in a checkout that is ready for the merge, while no other command
// of company merges there.
func (r PullReview) checkedAlone(
	ctx context.Context, task *company.Task, git PersonGit, remote string, do func() error,
) error {
	unlock, err := lockMerges(ctx, task, git)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.checkMergeHere(ctx, task, git, remote); err != nil {
		return err
	}
	return do()
}

// lockMerges excludes other merges by company from a checkout. A merge in progress looks like
// changes of a person. The advice for those (git stash, git merge --abort) would destroy it, and
// so would the rollback of a failed merge.
func lockMerges(ctx context.Context, task *company.Task, git PersonGit) (unlock func(), err error) {
	dir, err := safedir.Open(git.Dir)
	if err != nil {
		return func() {}, nil // git reports the error
	}
	defer dir.Close()
	before, cancel := context.WithTimeout(ctx, mergeLockPatience)
	defer cancel()
	unlock, err = dir.LockBefore(before)
	switch {
	case err == nil:
		return unlock, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case before.Err() != nil:
		return nil, company.E(company.EConflict, "another company pr merge is running in "+git.Dir).
			Because("its hooks or its push take a while").
			Fix(fmt.Sprintf("wait for it to end, then: company pr merge %d", task.PR.Number))
	}
	return func() {}, nil // the file system has no locks, such as some network file systems
}

// checkMergeHere checks that the project's checkout is ready for the merge: on the base branch,
// clean, and level with the remote.
func (r PullReview) checkMergeHere(ctx context.Context, task *company.Task, git PersonGit, remote string) error {
	refuse := func(what, reason, fix string) error {
		return company.E(company.EConflict, what).Because(reason).
			Fix(fmt.Sprintf("%s, then: company pr merge %d", fix, task.PR.Number))
	}
	in := "cd " + shellquote.Quote(git.Dir) + " && "
	if on := git.currentBranch(ctx); on != task.PR.Base {
		return refuse(
			fmt.Sprintf("the base of #%d is %s, but %s is on %s", task.PR.Number, task.PR.Base, git.Dir, nameBranch(on)),
			"the base must be checked out", in+"git switch "+shellquote.Quote(task.PR.Base))
	}
	if _, err := git.readOutput(ctx, "rev-parse", "-q", "--verify", "MERGE_HEAD"); err == nil {
		return refuse("a merge is in progress in "+git.Dir, "a second one would replace it",
			in+"git merge --continue, or git merge --abort")
	}
	changed, err := git.readOutput(ctx, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return err
	}
	if changed != "" {
		return refuse("there are uncommitted changes in "+git.Dir, "they would mix with the merge",
			in+"git stash, or git commit")
	}
	if remote == "" {
		return nil
	}
	name := r.Config.Git.Remote
	if err := git.runVisibly(ctx, "fetch", "--quiet", name, task.PR.Base); err != nil {
		return err
	}
	there, err := git.readOutput(ctx, "rev-parse", "FETCH_HEAD")
	if err != nil {
		return err
	}
	here, err := git.readOutput(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if here != there && !git.isMergeOf(ctx, here, there, string(task.PR.Head)) {
		return refuse(fmt.Sprintf("%s differs from the one at %s", task.PR.Base, name),
			fmt.Sprintf("it is at %s here and at %s there", company.OID(here).Short(), company.OID(there).Short()),
			in+fmt.Sprintf("git pull --ff-only %s %s, or push what is yours", name, task.PR.Base))
	}
	return nil
}

// isMergeOf reports whether a commit is exactly the merge of head into base. A command killed
// before its push leaves the checkout in this state.
func (g PersonGit) isMergeOf(ctx context.Context, commit, base, head string) bool {
	parents, err := g.readOutput(ctx, "rev-parse", commit+"^@")
	return err == nil && parents == base+"\n"+head
}

func nameBranch(on string) string {
	if on == "" {
		return "no branch"
	}
	return on
}

// mergeHere merges with the person's git, and pushes if there is a remote. A failed merge is
// rolled back.
func mergeHere(ctx context.Context, m *gitops.Mirror, task *company.Task, git PersonGit, remote, name string) error {
	if err := git.runVisibly(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", m.Dir(),
		string(task.PR.Head)); err != nil {
		return err
	}
	message := fmt.Sprintf("Merge pull request #%d: %s", task.PR.Number, task.PR.Title)
	if err := git.runVisibly(ctx, "merge", "--no-ff", "--no-edit", "-m", message, string(task.PR.Head)); err != nil {
		return undoMerge(ctx, task, git, err)
	}
	base := "refs/heads/" + task.PR.Base
	if in, err := git.isTrue(ctx, "merge-base", "--is-ancestor", string(task.PR.Head), base); err != nil || !in {
		return company.E(company.EConflict,
			fmt.Sprintf("another branch than %s was checked out during the merge", task.PR.Base)).Wrap(err).
			Because("the merge of #" + fmt.Sprint(task.PR.Number) + " is on that branch").
			Fix("take it back there with git reset --keep HEAD~1, and see company pr merge --help")
	}
	if remote == "" {
		return nil
	}
	if err := git.runVisibly(ctx, "push", name, base+":"+base); err != nil {
		return company.E(company.EGit,
			fmt.Sprintf("#%d is merged here, but %s refuses the push", task.PR.Number, name)).Wrap(err).
			Fix(fmt.Sprintf("company pr merge %d, which pushes again; where others pushed to %s meanwhile, first: cd %s && "+
				"git pull --no-rebase %s %s && git push %s %s", task.PR.Number, task.PR.Base, shellquote.Quote(git.Dir), name,
				task.PR.Base,
				name, task.PR.Base))
	}
	return nil
}

// undoMerge rolls back a failed merge and returns the reason. Only unmerged files are reported as
// a conflict. For a failed hook, a lock, a signature or a file in the way, a follow-up would cost
// money and fix none of them.
func undoMerge(ctx context.Context, task *company.Task, git PersonGit, refusal error) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	unmerged := ""
	if _, begun := git.readOutput(late, "rev-parse", "-q", "--verify", "MERGE_HEAD"); begun == nil {
		var err error
		if unmerged, err = git.readOutput(late, "ls-files", "--unmerged"); err != nil {
			return err
		}
		if err := git.runVisibly(late, "merge", "--abort"); err != nil {
			return err
		}
	}
	if unmerged == "" {
		failed := company.E(company.EGit,
			fmt.Sprintf("git did not merge #%d; nothing was changed", task.PR.Number)).Wrap(refusal)
		if e := (*company.Error)(nil); errors.As(refusal, &e) {
			failed = failed.Because(e.Why)
		}
		return failed.Fix(fmt.Sprintf("see what it says in %s, then: company pr merge %d", git.Dir, task.PR.Number))
	}
	return company.E(company.EConflict,
		fmt.Sprintf("merging #%[2]d into %[1]s has conflicts; nothing was changed", task.PR.Base, task.PR.Number)).
		Wrap(refusal).
		Fix(fmt.Sprintf("company submit --follows %s \"merge %s and resolve the conflict\"", task.ID, task.PR.Base))
}
