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

// FeedbackPoller hears what became of pull requests at their forges: whether people
// merged or closed them, what they did to the branch, what reviews ask for,
// which checks fail, and whether they still merge with their base. It decides nothing and writes nothing;
// what it brings back is a command.
type FeedbackPoller struct {
	Office  string
	Mirrors gitops.MirrorSource
	Forges  forge.Source
}

// NewFeedbackPoller checks that nothing is missing that a poller needs.
func NewFeedbackPoller(office string, mirrors gitops.MirrorSource, forges forge.Source) (*FeedbackPoller, error) {
	l := &FeedbackPoller{office, mirrors, forges}
	return l, company.CheckParts(l)
}

// commandPrefix is the first characters of a comment on no line that is for the
// company.
const commandPrefix = "/company"

// Poll asks the forge about a pull request that is open, or was closed. One that is gone
// there counts as closed. left counts the ignored items: those of strangers, of
// programs and of ourselves, and those that ask for nothing.
func (l *FeedbackPoller) Poll(ctx context.Context, p company.Pull) (c company.RecordPRFeedback, left int, err error) {
	c = company.RecordPRFeedback{Task: p.Lead.ID, State: company.PROpen}
	m, err := l.Mirrors.MirrorOf(ctx, p.Lead)
	if err != nil {
		return c, 0, err
	}
	remote, err := m.RemoteURL(ctx, p.Lead.Project.Path)
	if err != nil {
		return c, 0, err
	}
	ref := forge.Ref{Office: l.Office, Task: p.Lead.ID, Number: p.Number, URL: p.URL, Branch: p.Branch}
	f, err := l.Forges.ForPullRequest(ctx, ref, remote)
	if err != nil {
		return c, 0, err
	}
	fb, err := f.Feedback(ctx, ref)
	if errors.Is(err, forge.ErrPRGone) {
		c.State, c.Why = company.PRClosed, "it is gone from "+f.Kind()
		return c, 0, nil
	}
	if err != nil {
		return c, 0, err
	}
	if fb.State == company.PRMerged || fb.State == company.PRClosed {
		c.State, c.Why = fb.State, "so says "+f.Kind()
		return c, 0, nil
	}
	if p.State == company.PRClosed && fb.State == company.PROpen && l.ownsBranch(p) {
		c.Reopened, c.Why = true, "so says "+f.Kind()
		return c, 0, nil
	}
	base, err := l.remoteBase(ctx, m, p, remote)
	if err != nil && fb.State == "" {
		return c, 0, err // there is no other source
	}
	if fb.State == "" {
		if in, err := m.IsAncestor(ctx, p.Head, base); err != nil {
			return c, 0, err
		} else if in {
			c.State, c.Why, c.Head = company.PRMerged, p.Base+" holds its head", p.Head
			return c, 0, nil
		}
	}
	now, err := l.branchAt(ctx, m, f, p, fb, remote)
	if err == nil {
		c.Branch, err = compareBranch(ctx, m, p.Head, now, base)
	}
	conflict := false
	if base != "" && (fb.State == "" || fb.Conflict) {
		if err == nil {
			conflict, err = hasConflict(ctx, m, p, now, base)
		}
		if err != nil {
			return c, 0, err
		}
	}
	for _, it := range fb.Items {
		if r, ok := feedbackItem(it, fb); ok {
			c.Items = append(c.Items, r)
		} else {
			left++
		}
	}
	if conflict {
		// The base may move and conflict again: then it is another remark.
		head := p.Head
		if fb.Head != "" {
			head = fb.Head
		}
		c.Items = append(c.Items, company.FeedbackItem{ID: fmt.Sprintf("conflict:%s+%s", head, base), Kind: company.FeedbackConflict})
	}
	return c, left, nil
}

// ownsBranch says whether the branch of a pull request has the name of this office: a copy of an
// office has those of the original closed, which goes on with them.
func (l *FeedbackPoller) ownsBranch(p company.Pull) bool {
	return strings.HasSuffix(p.Branch, "-"+l.Office)
}

// hasConflict asks git whether the branch, as it stands, merges into its base:
// a forge also denies it for drafts, and while it works it out.
func hasConflict(ctx context.Context, m *gitops.Mirror, p company.Pull, now branchNow, base company.OID) (bool, error) {
	head := p.Head
	if now.head != "" { // a person pushed
		head = now.head
	}
	merged, err := m.MergeTree(ctx, base, head)
	return err == nil && !merged.Clean, err
}

// remoteBase is where the branch that the pull request asks to be merged into stands.
func (l *FeedbackPoller) remoteBase(ctx context.Context, m *gitops.Mirror, p company.Pull, remote string) (company.OID, error) {
	src := gitops.Source{URL: remote}
	if remote == "" {
		src = gitops.Source{Path: p.Lead.Project.Path}
	}
	info, err := m.FetchBase(ctx, nil, src, p.Base)
	return info.OID, err
}

// feedbackItem returns an item's request to the company, if there is one. Only
// people with the right to push are heard: all people may write under a public
// pull request, and work costs money (T22). A check counts when all are
// through.
func feedbackItem(it forge.Item, fb forge.Feedback) (company.FeedbackItem, bool) {
	r := company.FeedbackItem{ID: it.ID, Author: it.Author, Path: it.Path, Line: it.Line, Text: it.Body, URL: it.URL}
	if it.Ours {
		return r, false
	}
	if it.Kind == forge.ItemCheck {
		r.Kind, r.Author = company.FeedbackCheck, ""
		r.Text = strings.TrimSpace(it.Name + "\n" + it.Body)
		return r, !fb.Pending
	}
	if !it.Trusted || it.Bot || it.Resolved {
		return r, false
	}
	words, called := strings.CutPrefix(strings.TrimSpace(it.Body), commandPrefix)
	if called {
		r.Text = strings.TrimSpace(words)
	}
	switch it.Kind {
	case forge.ItemReview:
		r.Kind = company.FeedbackReview
		return r, it.Body != "" && (called || it.Verdict == "changes_requested")
	case forge.ItemLine:
		r.Kind = company.FeedbackComment
		return r, called || it.Reply == ""
	case forge.ItemComment:
		r.Kind = company.FeedbackComment
		return r, called
	}
	return r, false
}
