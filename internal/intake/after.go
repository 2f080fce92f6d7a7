package intake

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
)

// takeMerged is the base of a task that begins after others were merged. What people merged at
// a forge is not in the checkout until they pull: where the remote's branch holds all that the
// checkout's holds, and more, it is the base. Where each of them lacks something of the other a
// person has to bring them together.
func (in *Intake) takeMerged(ctx context.Context, m *gitops.Mirror, t *company.Task, base gitops.BaseInfo) (gitops.BaseInfo, error) {
	branch := base.Branch
	if !base.RemoteHasBranch {
		branch = base.DefaultBranch // which its pull requests go into
	}
	if base.RemoteURL == "" || base.Detached || branch == "" {
		return base, nil
	}
	remote, err := m.FetchBase(ctx, in.Log, gitops.Source{URL: base.RemoteURL}, branch)
	if company.CodeOf(err) == company.ENotFound {
		return base, nil // the branch is gone there
	}
	if err != nil {
		return base, err
	}
	if holds, err := m.IsAncestor(ctx, remote.OID, base.OID); err != nil || holds {
		return base, err
	}
	holds, err := m.IsAncestor(ctx, base.OID, remote.OID)
	if err != nil {
		return base, err
	}
	if !holds {
		return base, company.E(company.EConflict, fmt.Sprintf("%s here and %s at the remote each have commits that the other lacks", base.Branch, branch)).
			Because("what " + string(t.ID) + " begins after is merged at the remote").
			Fix(fmt.Sprintf("in %s: git switch %s && git pull; then company approve %s", t.Project.Path, base.Branch, t.ID))
	}
	base.OID, base.AheadOfRemote = remote.OID, 0
	return base, nil
}
