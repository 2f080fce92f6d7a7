package intake

import (
	"context"
	"encoding/json"
	"maps"

	"company/internal/company"
	"company/internal/depaccess"
	"company/internal/ecosystem"
	"company/internal/gates"
	"company/internal/gitops"
)

var _ gates.FileMaker = (*TreeImages)(nil)

// RemakeLocks has the clients in the task's image make lock files of a tree anew. They may
// fetch what the base's lock files name, what the task has added, and what those need;
// with a side that names others nothing is made.
func (st *TreeImages) RemakeLocks(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict) ([]ecosystem.MadeFile, error) {
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

// RemakeGenerated has generated files of a tree made, and keeps them, or why they cannot be
// made: a gate, the test of its merge, a stack and a new try get the same.
func (st *TreeImages) RemakeGenerated(ctx context.Context, t *company.Task, tree company.OID, inputs []string, generate func(context.Context) (ecosystem.Generated, error)) (ecosystem.Generated, error) {
	var made ecosystem.Generated
	inputs = append([]string{"generated", string(tree), t.Prepared.Image}, inputs...)
	text, err := st.intake.Images.KeepMade(ctx, t.Project.ID, inputs, func(ctx context.Context) ([]byte, error) {
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
