package prepare

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
)

// takeMerged returns the base of a task that starts after others were merged. Work that people merged at a forge is
// missing in the checkout until they pull. So the remote's branch is the base if it contains everything from the
// checkout's branch and more. If each has commits that the other lacks, it fails, and a person must merge them.
func (in *Intake) takeMerged(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, base gitops.BaseInfo,
) (gitops.BaseInfo, error) {
	branch := base.Branch
	if !base.RemoteHasBranch {
		branch = base.DefaultBranch // the target branch of its pull requests
	}
	if base.RemoteURL == "" || base.Detached || branch == "" {
		return base, nil
	}
	remote, err := mirror.FetchBase(ctx, in.Log, gitops.Source{URL: base.RemoteURL}, branch)
	if company.CodeOf(err) == company.ENotFound {
		return base, nil // the branch no longer exists there
	}
	if err != nil {
		return base, err
	}
	if holds, err := mirror.IsAncestor(ctx, remote.OID, base.OID); err != nil || holds {
		return base, err
	}
	holds, err := mirror.IsAncestor(ctx, base.OID, remote.OID)
	if err != nil {
		return base, err
	}
	if !holds {
		return base, company.E(company.EConflict,
			fmt.Sprintf("%s here and %s at the remote have diverged", base.Branch, branch)).
			Because("the tasks that " + string(task.ID) + " waits for are merged at the remote").
			Fix(fmt.Sprintf("in %s: git switch %s && git pull; then company approve %s", task.Project.Path,
				base.Branch, task.ID))
	}
	base.OID, base.AheadOfRemote = remote.OID, 0
	return base, nil
}
