package app

import (
	"context"
	"fmt"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/shell"
)

// undoTimeout bounds taking back a merge that conflicts.
const undoTimeout = 30 * time.Second

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
			Do:       func(ctx context.Context) error { return f.MergePull(ctx, ref, t.PR.Head) },
		}, nil
	}
	return r.prepareMergeHere(ctx, t, git)
}

// prepareMergeHere looks whether the project's checkout is ready for the merge: it is on
// the base branch, clean, and where the remote is.
func (r PullReview) prepareMergeHere(ctx context.Context, t *company.Task, git PersonGit) (PullMerge, error) {
	m, remote, err := r.openMirror(ctx, t)
	if err != nil {
		return PullMerge{}, err
	}
	refuse := func(what, why, fix string) (PullMerge, error) {
		return PullMerge{}, company.E(company.EConflict, what).Because(why).Fix(fmt.Sprintf("%s, then: company pr merge %d", fix, t.PR.Number))
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
		return PullMerge{}, err
	}
	if changed != "" {
		return refuse("there are uncommitted changes in "+git.Dir, "a merge could not be told from them", in+"git stash, or git commit")
	}
	name, where := r.Config.Git.Remote, git.Dir
	if remote != "" {
		if err := git.runVisibly(ctx, "fetch", "--quiet", name, t.PR.Base); err != nil {
			return PullMerge{}, err
		}
		there, err := git.readOutput(ctx, "rev-parse", "FETCH_HEAD")
		if err != nil {
			return PullMerge{}, err
		}
		if here, err := git.readOutput(ctx, "rev-parse", "HEAD"); err != nil || here != there {
			return refuse(fmt.Sprintf("%s here is not where %s has it", t.PR.Base, name), fmt.Sprintf("it is at %s here and at %s there", company.OID(here).Short(), company.OID(there).Short()),
				in+fmt.Sprintf("git pull --ff-only %s %s, or push what is yours", name, t.PR.Base))
		}
		where += ", and push it to " + name
	}
	return PullMerge{
		Question: fmt.Sprintf("merge #%d into %s, at %s, with your git in %s?", t.PR.Number, t.PR.Base, t.PR.Head.Short(), where),
		Do:       func(ctx context.Context) error { return mergeHere(ctx, m, t, git, remote, name) },
	}, nil
}

func nameBranch(on string) string {
	if on == "" {
		return "no branch"
	}
	return on
}

// mergeHere merges with the person's git, and pushes where there is a remote. A merge that
// conflicts is taken back.
func mergeHere(ctx context.Context, m *gitops.Mirror, t *company.Task, git PersonGit, remote, name string) error {
	if err := git.runVisibly(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", m.Dir(), string(t.PR.Head)); err != nil {
		return err
	}
	message := fmt.Sprintf("Merge pull request #%d: %s", t.PR.Number, t.PR.Title)
	if err := git.runVisibly(ctx, "merge", "--no-ff", "--no-edit", "-m", message, string(t.PR.Head)); err != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		defer cancel()
		if _, begun := git.readOutput(late, "rev-parse", "-q", "--verify", "MERGE_HEAD"); begun == nil {
			if undo := git.runVisibly(late, "merge", "--abort"); undo != nil {
				return undo
			}
		}
		return company.E(company.EConflict, fmt.Sprintf("%s takes no merge of #%d without a conflict; nothing was changed", t.PR.Base, t.PR.Number)).Wrap(err).
			Fix(fmt.Sprintf("company submit --follows %s \"merge %s and resolve the conflict\"", t.ID, t.PR.Base))
	}
	if remote == "" {
		return nil
	}
	if err := git.runVisibly(ctx, "push", name, "HEAD:refs/heads/"+t.PR.Base); err != nil {
		return company.E(company.EGit, fmt.Sprintf("#%d is merged here, and %s does not take it", t.PR.Number, name)).Wrap(err).
			Fix(fmt.Sprintf("cd %s && git push %s %s, then: company pr merge %d", shell.Quote(git.Dir), name, t.PR.Base, t.PR.Number))
	}
	return nil
}
