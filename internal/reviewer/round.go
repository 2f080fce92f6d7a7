package reviewer

import (
	"context"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
)

// maxSince limits the changes since the last round in the first message, in bytes.
const maxSince = 48 << 10

// lastRound holds facts about the previous round for a reviewer of a later round.
type lastRound struct {
	head     company.OID // the reviewed head; empty if the changes since are not shown
	since    gitops.Diff // changes from there to the current head, empty without changes
	findings []company.Finding
	second   string // instructions for a second reviewer of the same head
	approved bool   // the review approved, but the ticket was sent back later by its merge or by the president
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
		return &lastRound{head: last.Head, findings: last.Findings,
			second: secondReviewerText(last.Verdict, task.Settings.ConfirmReview)}, nil
	case last.Verdict != company.RequestChanges:
		return loadApprovedRound(ctx, mirror, task, sub, head)
	}
	r := &lastRound{head: last.Head, findings: last.Findings}
	if !last.Head.Valid() || last.Head == head {
		return r, nil
	}
	var err error
	r.since, err = mirror.Diff(ctx, last.Head, head, maxSince)
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
		unseen = &lastRound{findings: last.Findings, approved: true}
	}
	if !last.Head.Valid() || last.Head == head {
		return unseen, nil
	}
	r := &lastRound{head: last.Head, findings: last.Findings, approved: true}
	var froms [2]company.OID
	for i, at := range []company.OID{r.head, head} {
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
	r.since, err = mirror.Diff(ctx, r.head, head, maxSince)
	return r, err
}

// Instructions for a second reviewer, after a review that requested changes, and after one that approved.
const (
	secondReviewer = "You are the second reviewer of this very head; its author has not seen these findings. Find out " +
		"by reading and running whether each blocking one is right. " +
		"What you confirm goes to the author as it stands: do not repeat it in findings. Where none of the blocking ones " +
		"is right and nothing else blocks, approve, with evidence."
	secondApproval = "You are the second reviewer of this very head, which the first one approved with these findings; " +
		"none of them blocks. Find out by reading and running whether each one is right. " +
		"What you confirm stands in the pull request: do not repeat it in findings. Approve, with evidence, unless you " +
		"find what blocks."
	judgeMinor = " Judge the minor ones, too."
)

func secondReviewerText(first, confirm string) string {
	switch {
	case first == company.Approve:
		return secondApproval
	case confirm == company.ConfirmAll:
		return secondReviewer + judgeMinor
	}
	return secondReviewer
}

// Instructions for judging the findings of the last review, for the next round and for a second reviewer.
const (
	judgeEarlier = "Say of each in earlier, by its number: mended; confirmed if it is right and still there, so that it " +
		"goes on as it stands (do not repeat it in findings); or rejected if it was wrong, and why.\n"
	judgeFirst = "Say of each in earlier, by its number: confirmed if it is right; or rejected if it is wrong, and why.\n"
)

// writeRound returns the part of the first message about the last round. whole is the diff that follows it.
func (r *lastRound) writeRound(now company.OID, whole gitops.Diff) string {
	if r == nil {
		return ""
	}
	var w strings.Builder
	if len(r.findings) > 0 {
		w.WriteString("\n## Findings of the last review\n")
		for i, f := range r.findings {
			fmt.Fprintf(&w, "%d. %s", i+1, strings.TrimPrefix(findingLine(f), "- "))
		}
		if r.second != "" {
			w.WriteString(judgeFirst)
		} else {
			w.WriteString(judgeEarlier)
		}
	}
	if r.approved {
		w.WriteString("\n## Sent back after an approval\nAn earlier head was approved, and then sent back to its author: " +
			"its merge failed a check, or the president wanted more.\n")
		if len(r.findings) > 0 {
			w.WriteString("The author was free to mend the findings above.\n")
		}
	}
	if r.second != "" {
		w.WriteString("\n" + r.second + "\n")
	} else if r.head == now {
		w.WriteString("\nNothing has changed since that review.\n")
	} else if r.head.Valid() {
		question := "Is each finding mended, and does this break anything else?"
		if r.approved {
			question = "Is it right, and does what was approved still hold?"
		}
		fmt.Fprintf(&w, "\n## What changed since that review, %s..%s\n%s The whole diff follows below.\n", r.head.Short(),
			now.Short(), question)
		w.WriteString(agent.Quote("changed_since", "", withoutShown(string(r.since.Patch), string(whole.Patch))))
		if r.since.Truncated {
			fmt.Fprintf(&w, "It is longer than this: git diff %s HEAD shows all of it.\n", r.head)
		}
	}
	return w.String()
}
