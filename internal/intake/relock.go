package intake

import (
	"context"
	"maps"

	"company/internal/company"
	"company/internal/depaccess"
	"company/internal/ecosystem"
	"company/internal/gates"
	"company/internal/gitops"
)

var _ gates.LockMaker = (*TreeImages)(nil)

// RemakeLocks has the clients in the task's image make lock files of a tree anew. They may
// fetch what the base's lock files name, what the task has added, and what those need;
// with a side that names others nothing is made.
func (st *TreeImages) RemakeLocks(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict) ([]ecosystem.MadeLock, error) {
	store := st.stores.ForCheckout(ctx, t.Project.Path)
	if store == nil {
		return nil, company.E(company.EImage, "no client is run, since container.deps is off")
	}
	was, err := depaccess.Locks(ctx, m, t.Prepared.LockTree())
	if err != nil {
		return nil, err
	}
	named := map[string][]byte{}
	for _, l := range locks {
		named["ours/"+l.Path], named["theirs/"+l.Path] = l.Ours, l.Theirs
	}
	is, err := depaccess.Locks(ctx, m, tree)
	if err != nil {
		return nil, err
	}
	maps.Copy(named, is)
	outside, policy, err := store.Unrequested(ctx, was, t.Dependencies, named)
	if err != nil {
		return nil, err
	}
	if len(outside) > 0 {
		return nil, company.E(company.EImage, "a side names "+outside[0].String()+", which nobody has asked for")
	}
	req, err := st.intake.requestImage(ctx, t, m)
	if err != nil {
		return nil, err
	}
	req.Repo.Locks, req.Repo.Policy = tree, policy
	return st.intake.Images.Relock(ctx, req, locks)
}
