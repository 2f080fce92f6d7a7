package prepare

import (
	"context"
	"encoding/json"
	"maps"

	"company/internal/agentrun/depaccess"
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/gates"
	"company/internal/gitops"
)

var _ gates.FileMaker = (*TreeImages)(nil)

// RemakeLocks recreates lock files of a tree with the clients in the task's image. They may fetch the packages that
// the base's lock files name, the task's additions, and their dependencies. It fails if a side names other packages.
func (st *TreeImages) RemakeLocks(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict,
) ([]ecosystem.MadeFile, error) {
	store := st.stores.ForCheckout(ctx, task.Project.Path)
	if store == nil {
		return nil, company.E(company.EImage, "no client runs, since container.deps is off")
	}
	was, err := depaccess.Locks(ctx, mirror, task.Prepared.Base.OID, task.Prepared.LockTree())
	if err != nil {
		return nil, err
	}
	named := map[string][]byte{}
	for _, l := range locks {
		named["ours/"+l.Path], named["theirs/"+l.Path] = l.Ours, l.Theirs
	}
	is, err := depaccess.Locks(ctx, mirror, task.Prepared.Base.OID, tree)
	if err != nil {
		return nil, err
	}
	maps.Copy(named, is)
	outside, policy, err := store.Unrequested(ctx, was, task.Dependencies, named)
	if err != nil {
		return nil, err
	}
	if len(outside) > 0 {
		return nil, company.E(company.EImage, "a side names "+outside[0].String()+", which was not requested")
	}
	req, err := st.intake.requestImage(ctx, task, mirror)
	if err != nil {
		return nil, err
	}
	req.Repo.Locks, req.Repo.Policy = tree, policy
	return st.intake.Images.Relock(ctx, req, locks)
}

// RemakeGenerated generates files of a tree and stores the result, or the reason why that failed. A gate, the test of
// its merge, a stack and a retry all get the same result.
func (st *TreeImages) RemakeGenerated(
	ctx context.Context, task *company.Task, tree company.OID, inputs []string,
	generate func(context.Context) (ecosystem.Generated, error),
) (ecosystem.Generated, error) {
	var made ecosystem.Generated
	inputs = append([]string{"generated", string(tree), task.Prepared.Image}, inputs...)
	text, err := st.intake.Images.KeepMade(ctx, task.Project.ID, inputs, func(ctx context.Context) ([]byte, error) {
		var err error
		if made, err = generate(ctx); err != nil || made.MayPass {
			return nil, err
		}
		return json.Marshal(made)
	})
	if err == nil && text != nil {
		err = json.Unmarshal(text, &made)
	}
	return made, err
}
