package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"company/internal/company"
	"company/internal/folder"
	"company/internal/gitops"
	"company/internal/shell"
)

// undoTimeout bounds taking back a merge that conflicts.
const undoTimeout = 30 * time.Second

// mergeLockPatience is how long a merge waits for another one in the same checkout.
const mergeLockPatience = 2 * time.Second

// PullMerge is a merge of a pull request that a person may confirm. It is made by
// the commands at a terminal alone (decision 0112): nothing that runs by itself,
// and nothing that comes over the socket, reaches it.
type PullMerge struct {
	Question string // for the person
	Do       func(ctx context.Context) error
}

// PrepareMerge looks whether an open pull request can be merged at the head that was
// reviewed, and how: by its forge, or by the person's git in the project's checkout. It
// changes nothing.
func (r PullReview) PrepareMerge(ctx context.Context, t *company.Task, git PersonGit) (PullMerge, error) {
	if t.BranchChange != nil {
		return PullMerge{}, company.E(company.EConflict, fmt.Sprintf("the branch of #%d %s", t.PR.Number, t.BranchChange)).
			Because("what people put there went through no gate and no review here").
			Fix(fmt.Sprintf("company submit --follows %s %q goes on from it; or merge it yourself, then: company pr merge %d", t.ID, "…", t.PR.Number))
	}
	if t.PR.IsOnForge() {
		f, ref, err := r.findForge(ctx, t)
		if err != nil {
			return PullMerge{}, err
		}
		return PullMerge{
			Question: fmt.Sprintf("merge #%d into %s, at %s, on %s?", t.PR.Number, t.PR.Base, t.PR.Head.Short(), t.PR.URL),
			Do:       func(ctx context.Context) error { return f.MergePull(ctx, ref, t.PR.Head, t.PR.Base) },
		}, nil
	}
	return r.prepareMergeHere(ctx, t, git)
}

// prepareMergeHere prepares a merge by the person's git in the project's checkout. A person
// may work in the checkout before they answer the question, so the checkout is looked at
// again behind it.
func (r PullReview) prepareMergeHere(ctx context.Context, t *company.Task, git PersonGit) (PullMerge, error) {
	m, remote, err := r.openMirror(ctx, t)
	if err != nil {
		return PullMerge{}, err
	}
	name, where := r.Config.Git.Remote, git.Dir
	if err := r.checkedAlone(ctx, t, git, remote, func() error { return nil }); err != nil {
		return PullMerge{}, err
	}
	if remote != "" {
		where += ", and push it to " + name
	}
	return PullMerge{
		Question: fmt.Sprintf("merge #%d into %s, at %s, with your git in %s?", t.PR.Number, t.PR.Base, t.PR.Head.Short(), where),
		Do: func(ctx context.Context) error {
			return r.checkedAlone(ctx, t, git, remote, func() error { return mergeHere(ctx, m, t, git, remote, name) })
		},
	}, nil
}

// checkedAlone does something in a checkout that is ready for the merge, while no other
// command of company merges there.
func (r PullReview) checkedAlone(ctx context.Context, t *company.Task, git PersonGit, remote string, do func() error) error {
	unlock, err := lockMerges(ctx, t, git)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.checkMergeHere(ctx, t, git, remote); err != nil {
		return err
	}
	return do()
}

// lockMerges keeps other merges by company out of a checkout. What such a merge has begun
// looks like changes of a person: the way out of those (git stash, git merge --abort) would
// take it apart, and so would the end of a merge that git refuses.
func lockMerges(ctx context.Context, t *company.Task, git PersonGit) (unlock func(), err error) {
	dir, err := folder.Open(git.Dir)
	if err != nil {
		return func() {}, nil // git tells its fault
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
		return nil, company.E(company.EConflict, "another company pr merge is at work in "+git.Dir).
			Because("its hooks or its push take their time").Fix(fmt.Sprintf("wait for its end, then: company pr merge %d", t.PR.Number))
	}
	return func() {}, nil // a file system without locks, such as some of a network
}

// checkMergeHere looks whether the project's checkout is ready for the merge: it is on
// the base branch, clean, and where the remote is.
func (r PullReview) checkMergeHere(ctx context.Context, t *company.Task, git PersonGit, remote string) error {
	refuse := func(what, why, fix string) error {
		return company.E(company.EConflict, what).Because(why).Fix(fmt.Sprintf("%s, then: company pr merge %d", fix, t.PR.Number))
	}
	in := "cd " + shell.Quote(git.Dir) + " && "
	if on := git.currentBranch(ctx); on != t.PR.Base {
		return refuse(fmt.Sprintf("the base of #%d is %s, and %s is on %s", t.PR.Number, t.PR.Base, git.Dir, nameBranch(on)), "a branch is merged where it is checked out", in+"git switch "+shell.Quote(t.PR.Base))
	}
	if _, err := git.readOutput(ctx, "rev-parse", "-q", "--verify", "MERGE_HEAD"); err == nil {
		return refuse("a merge is under way in "+git.Dir, "another one would take its place", in+"git merge --continue, or git merge --abort")
	}
	changed, err := git.readOutput(ctx, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return err
	}
	if changed != "" {
		return refuse("there are uncommitted changes in "+git.Dir, "a merge could not be told from them", in+"git stash, or git commit")
	}
	if remote == "" {
		return nil
	}
	name := r.Config.Git.Remote
	if err := git.runVisibly(ctx, "fetch", "--quiet", name, t.PR.Base); err != nil {
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
	if here != there && !git.isMergeOf(ctx, here, there, string(t.PR.Head)) {
		return refuse(fmt.Sprintf("%s here is not where %s has it", t.PR.Base, name), fmt.Sprintf("it is at %s here and at %s there", company.OID(here).Short(), company.OID(there).Short()),
			in+fmt.Sprintf("git pull --ff-only %s %s, or push what is yours", name, t.PR.Base))
	}
	return nil
}

// isMergeOf says whether a commit is the merge of a head into a base, and nothing else. A
// command that was killed before its push leaves the checkout so.
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

// mergeHere merges with the person's git, and pushes where there is a remote. A merge that
// git does not make is taken back.
func mergeHere(ctx context.Context, m *gitops.Mirror, t *company.Task, git PersonGit, remote, name string) error {
	if err := git.runVisibly(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", m.Dir(), string(t.PR.Head)); err != nil {
		return err
	}
	message := fmt.Sprintf("Merge pull request #%d: %s", t.PR.Number, t.PR.Title)
	if err := git.runVisibly(ctx, "merge", "--no-ff", "--no-edit", "-m", message, string(t.PR.Head)); err != nil {
		return undoMerge(ctx, t, git, err)
	}
	base := "refs/heads/" + t.PR.Base
	if in, err := git.isTrue(ctx, "merge-base", "--is-ancestor", string(t.PR.Head), base); err != nil || !in {
		return company.E(company.EConflict, fmt.Sprintf("another branch than %s was checked out during the merge", t.PR.Base)).Wrap(err).
			Because("the merge of #" + fmt.Sprint(t.PR.Number) + " is on that branch").Fix("take it back there with git reset --keep HEAD~1, and see company pr merge --help")
	}
	if remote == "" {
		return nil
	}
	if err := git.runVisibly(ctx, "push", name, base+":"+base); err != nil {
		return company.E(company.EGit, fmt.Sprintf("#%d is merged here, and %s does not take it", t.PR.Number, name)).Wrap(err).
			Fix(fmt.Sprintf("company pr merge %d, which pushes again; where others pushed to %s meanwhile, first: cd %s && git pull --no-rebase %s %s && git push %s %s", t.PR.Number, t.PR.Base, shell.Quote(git.Dir), name, t.PR.Base, name, t.PR.Base))
	}
	return nil
}

// undoMerge takes back a merge that the person's git did not make, and says why it was not
// made. A hook, a lock, a signature or a file in the way is no conflict: a follow-up, which
// costs money, would mend none of them.
func undoMerge(ctx context.Context, t *company.Task, git PersonGit, refusal error) error {
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
		failed := company.E(company.EGit, fmt.Sprintf("your git did not merge #%d; nothing was changed", t.PR.Number)).Wrap(refusal)
		if e := (*company.Error)(nil); errors.As(refusal, &e) {
			failed = failed.Because(e.Why)
		}
		return failed.Fix(fmt.Sprintf("see what it says in %s, then: company pr merge %d", git.Dir, t.PR.Number))
	}
	return company.E(company.EConflict, fmt.Sprintf("%s takes no merge of #%d without a conflict; nothing was changed", t.PR.Base, t.PR.Number)).Wrap(refusal).
		Fix(fmt.Sprintf("company submit --follows %s \"merge %s and resolve the conflict\"", t.ID, t.PR.Base))
}
