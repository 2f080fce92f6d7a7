package session

import (
	"context"

	"company/internal/company"
	"company/internal/gitops"
)

// FindBranchStart returns the commit that a diff of a ticket's branch begins at: the merge base of
// its head with the commit onto. Where merges of both sides go around each other, so that there
// are several merge bases, it is the commit that the branch began at; a diff from there has what
// the branch took in beside its own work. Other errors are those of gitops.Mirror.MergeBase.
func FindBranchStart(ctx context.Context, m *gitops.Mirror, sub *company.Subtask, onto, head company.OID) (company.OID, error) {
	from, err := m.MergeBase(ctx, onto, head)
	if company.CodeOf(err) == company.EObjects && sub.Base.Valid() {
		return sub.Base, nil
	}
	return from, err
}
