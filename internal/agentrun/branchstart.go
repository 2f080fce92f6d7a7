package agentrun

import (
	"context"

	"company/internal/company"
	"company/internal/gitops"
)

// FindBranchStart returns the commit at which a diff of a ticket's branch begins: the merge base of its head and
// the commit onto. If there are several merge bases, because both sides merged each other, it returns the commit
// that the branch began at. A diff from there includes changes that the branch merged in. Other errors are those
// of gitops.Mirror.MergeBase.
func FindBranchStart(
	ctx context.Context, mirror *gitops.Mirror, sub *company.Subtask, onto, head company.OID,
) (company.OID, error) {
	from, err := mirror.MergeBase(ctx, onto, head)
	if company.CodeOf(err) == company.EObjects && sub.Base.Valid() {
		return sub.Base, nil
	}
	return from, err
}
