package reviewer

import (
	"context"

	"company/internal/company"
	"company/internal/gitops"
)

// maxSince limits the changes since the last round in the first message, in bytes.
const maxSince = 48 << 10

// lastRound holds facts about the previous round for a reviewer of a later round.
type lastRound struct {
	Head     company.OID // the reviewed head; empty if the changes since are not shown
	Since    gitops.Diff // changes from there to the current head, empty without changes
	Findings []company.Finding
	Second   string // the verdict of the first reviewer, for a second one of the same head; empty otherwise
	Approved bool   // the review approved, but the ticket was sent back later by its merge or by the president
}

// loadLastRound reads the changes since the last review. It returns nil for a first review, after a withdrawn
// verdict, and after the approval of a whole task.
func loadLastRound(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, sub *company.Subtask, head company.OID,
) (*lastRound, error) {
	last := task.Review.Last
	if sub != nil {
		last = sub.Review.Last
	}
	switch {
	case last == nil:
		return nil, nil
	case task.AwaitsSecondReview(sub):
		return &lastRound{Head: last.Head, Findings: last.Findings, Second: last.Verdict}, nil
	case last.Verdict != company.RequestChanges:
		return loadApprovedRound(ctx, mirror, task, sub, head)
	}
	r := &lastRound{Head: last.Head, Findings: last.Findings}
	if !last.Head.Valid() || last.Head == head {
		return r, nil
	}
	var err error
	r.Since, err = mirror.Diff(ctx, last.Head, head, maxSince)
	return r, err
}

// loadApprovedRound reads the changes and the findings after an approval, for a ticket that was sent back later.
// This reviewer judges the findings. The changes are left out if the head is the approved one, or if they would
// include merged work of other tickets. Without changes and findings it returns nil.
func loadApprovedRound(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, sub *company.Subtask, head company.OID,
) (*lastRound, error) {
	if sub == nil {
		return nil, nil
	}
	last := sub.Review.Last
	var unseen *lastRound
	if len(last.Findings) > 0 {
		unseen = &lastRound{Findings: last.Findings, Approved: true}
	}
	if !last.Head.Valid() || last.Head == head {
		return unseen, nil
	}
	r := &lastRound{Head: last.Head, Findings: last.Findings, Approved: true}
	var froms [2]company.OID
	for i, at := range []company.OID{r.Head, head} {
		var err error
		froms[i], err = mirror.MergeBase(ctx, task.Head, at)
		if company.CodeOf(err) == company.EObjects {
			return unseen, nil // several merge bases: both heads merged the same other work
		}
		if err != nil {
			return nil, err
		}
	}
	if froms[0] != froms[1] {
		return unseen, nil
	}
	var err error
	r.Since, err = mirror.Diff(ctx, r.Head, head, maxSince)
	return r, err
}
