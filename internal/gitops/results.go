package gitops

import (
	"context"
	"strings"

	"company/internal/company"
)

// Results lists the runs whose taken commits are in the mirror.
func (m *Mirror) Results(ctx context.Context) ([]company.RunID, error) {
	result, err := m.s.runOK(ctx, call{dir: m.dir, args: []string{"for-each-ref", "--format=%(refname)", ResultRef("")}})
	if err != nil {
		return nil, err
	}
	var out []company.RunID
	for ref := range strings.SplitSeq(result.outputText(), "\n") {
		if run := company.RunID(strings.TrimPrefix(ref, ResultRef(""))); run.Valid() {
			out = append(out, run)
		}
	}
	return out, nil
}

// Merged reports whether the commit that the host took from a run is in a branch of the mirror or in a branch of the
// origin as last seen. It returns true if no commit was taken, since none can be lost.
func (m *Mirror) Merged(ctx context.Context, run company.RunID) (bool, error) {
	id, err := m.Ref(ctx, ResultRef(run))
	if company.CodeOf(err) == company.ENotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	result, err := m.s.runOK(
		ctx, call{dir: m.dir, args: []string{"rev-list", "--max-count=1", string(id), "--not", "--branches", "--remotes"}})
	if err != nil {
		return false, err
	}
	return strings.TrimSpace(result.outputText()) == "", nil
}

// DropResult removes the reference to a run's result. Merged commits stay reachable, and git's garbage collection
// removes the rest. A missing reference is not an error.
func (m *Mirror) DropResult(ctx context.Context, run company.RunID) error {
	if !run.Valid() {
		return company.E(company.EInvalid, "invalid run id "+string(run))
	}
	unlock, err := m.s.lockRepo(ctx, m.dir)
	if err != nil {
		return err
	}
	defer unlock()
	return m.dropRefs(ctx, ResultRef(run), func(ref string) bool { return ref == ResultRef(run) })
}
