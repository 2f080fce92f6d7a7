package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
)

// FeedbackPoller reads the state of pull requests from their forges: whether people merged or closed them, changes to
// the branch, requests in reviews, failing checks, and conflicts with the base. It decides and writes no state. It
// returns a command.
type FeedbackPoller struct {
	Office  string
	Mirrors gitops.MirrorSource
	Forges  forge.Source
}

// NewFeedbackPoller returns a poller. It fails if a dependency is missing.
func NewFeedbackPoller(office string, mirrors gitops.MirrorSource, forges forge.Source) (*FeedbackPoller, error) {
	l := &FeedbackPoller{office, mirrors, forges}
	return l, company.CheckParts(l)
}

// commandPrefix is the required prefix of a general comment that is addressed to the company.
const commandPrefix = "/company"

// Poll asks the forge about a pull request that is open or was closed. A pull request that no longer exists counts as
// closed. left counts the ignored items: items of strangers, programs and ourselves, and items without a request.
func (l *FeedbackPoller) Poll(
	ctx context.Context, pull company.Pull,
) (prFeedback company.RecordPRFeedback, left int, err error) {
	prFeedback = company.RecordPRFeedback{Task: pull.Lead.ID, State: company.PROpen}
	mirror, err := l.Mirrors.MirrorOf(ctx, pull.Lead)
	if err != nil {
		return prFeedback, 0, err
	}
	remote, err := mirror.RemoteURL(ctx, pull.Lead.Project.Path)
	if err != nil {
		return prFeedback, 0, err
	}
	ref := forge.Ref{Office: l.Office, Task: pull.Lead.ID, Number: pull.Number, URL: pull.URL, Branch: pull.Branch}
	ref, _, err = FindPushed(ctx, mirror, ref, pull.Lead.Project.Path, remote)
	if err != nil {
		return prFeedback, 0, err
	}
	ref.Unpushed = ref.Unpushed || pull.Last().PR.Unpushed
	f, err := l.Forges.ForPullRequest(ctx, ref, remote)
	if err != nil {
		return prFeedback, 0, err
	}
	fb, err := f.Feedback(ctx, ref)
	if errors.Is(err, forge.ErrPRGone) {
		prFeedback.State, prFeedback.Why = company.PRClosed, "it is gone from "+f.Kind()
		return prFeedback, 0, nil
	}
	if err != nil {
		return prFeedback, 0, err
	}
	if fb.State == company.PRMerged || fb.State == company.PRClosed {
		prFeedback.State, prFeedback.Why = fb.State, "so says "+f.Kind()
		return prFeedback, 0, nil
	}
	if pull.State == company.PRClosed && fb.State == company.PROpen && l.ownsBranch(pull) {
		prFeedback.Reopened, prFeedback.Why = true, "so says "+f.Kind()
		return prFeedback, 0, nil
	}
	base, err := l.remoteBase(ctx, mirror, pull, remote)
	if err != nil && fb.State == "" {
		return prFeedback, 0, err // there is no other source
	}
	if fb.State == "" {
		if in, err := mirror.IsAncestor(ctx, pull.Head, base); err != nil {
			return prFeedback, 0, err
		} else if in {
			prFeedback.State = company.PRMerged
			prFeedback.Why = pull.Base + " holds its head"
			prFeedback.Head = pull.Head
			return prFeedback, 0, nil
		}
	}
	if ref.Unpushed {
		remote = "" // has no branch to look at
	}
	now, err := l.branchAt(ctx, mirror, f, pull, fb, remote)
	if err == nil {
		prFeedback.Branch, err = compareBranch(ctx, mirror, pull.Head, now, base)
	}
	conflict := false
	if base != "" && (fb.State == "" || fb.Conflict) {
		var attributes company.OID
		if fb.State == "" { // a person's git merges it: forges know no merge drivers
			attributes = base
		}
		if err == nil {
			conflict, err = hasConflict(ctx, mirror, pull, now, base, attributes)
		}
		if err != nil {
			return prFeedback, 0, err
		}
	}
	for _, item := range fb.Items {
		if r, ok := feedbackItem(item, fb); ok {
			prFeedback.Items = append(prFeedback.Items, r)
		} else {
			left++
		}
	}
	if conflict {
		// The base may move and conflict again. That is then a new remark.
		head := pull.Head
		if fb.Head != "" {
			head = fb.Head
		}
		prFeedback.Items = append(
			prFeedback.Items,
			company.FeedbackItem{ID: fmt.Sprintf("conflict:%s+%s", head, base), Kind: company.FeedbackConflict})
	}
	return prFeedback, left, nil
}

// ownsBranch reports whether the branch of a pull request has this office's name. A copy of an office sees the
// original's pull requests as closed, and the original continues them.
func (l *FeedbackPoller) ownsBranch(p company.Pull) bool {
	return strings.HasSuffix(p.Branch, "-"+l.Office)
}

// hasConflict asks git whether the current branch merges into its base. A forge also reports a conflict for drafts
// and while it computes the result. attributes names the commit whose merge drivers apply, if any do.
func hasConflict(
	ctx context.Context, mirror *gitops.Mirror, p company.Pull, now branchNow, base, attributes company.OID,
) (bool, error) {
	head := p.Head
	if now.head != "" { // a person pushed
		head = now.head
	}
	merged, err := mirror.MergeTreeBy(ctx, base, head, attributes)
	return err == nil && !merged.Clean, err
}

// remoteBase returns the current commit of the pull request's target branch.
func (l *FeedbackPoller) remoteBase(
	ctx context.Context, mirror *gitops.Mirror, pull company.Pull, remote string,
) (company.OID, error) {
	src := gitops.Source{URL: remote}
	if remote == "" {
		src = gitops.Source{Path: pull.Lead.Project.Path}
	}
	info, err := mirror.FetchBase(ctx, nil, src, pull.Base)
	return info.OID, err
}

// feedbackItem converts an item to a request to the company. It returns false if the item has none. Only people with
// push permission count, because anyone may comment on a public pull request and work costs money (T22). Checks count
// only when all have finished.
func feedbackItem(item forge.Item, fb forge.Feedback) (company.FeedbackItem, bool) {
	r := company.FeedbackItem{ID: item.ID, Author: item.Author, Path: item.Path, Line: item.Line, Text: item.Body,
		URL: item.URL}
	if item.Ours {
		return r, false
	}
	if item.Kind == forge.ItemCheck {
		r.Kind, r.Author = company.FeedbackCheck, ""
		r.Text = strings.TrimSpace(item.Name + "\n" + item.Body)
		return r, !fb.Pending
	}
	if !item.Trusted || item.Bot || item.Resolved {
		return r, false
	}
	words, called := strings.CutPrefix(strings.TrimSpace(item.Body), commandPrefix)
	if called {
		r.Text = strings.TrimSpace(words)
	}
	switch item.Kind {
	case forge.ItemReview:
		r.Kind = company.FeedbackReview
		return r, item.Body != "" && (called || item.Verdict == "changes_requested")
	case forge.ItemLine:
		r.Kind = company.FeedbackComment
		return r, called || item.Reply == ""
	case forge.ItemComment:
		r.Kind = company.FeedbackComment
		return r, called
	}
	return r, false
}
