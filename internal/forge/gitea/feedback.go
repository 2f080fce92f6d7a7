package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"

	"company/internal/company"
	"company/internal/forge"
)

// Feedback returns the state of a pull request and its feedback.
func (c *Client) Feedback(ctx context.Context, ref forge.Ref) (forge.Feedback, error) {
	p, err := c.getPull(ctx, ref.Number)
	if statusOf(err) == http.StatusNotFound {
		p, err = c.confirmGone(ctx, ref.Number)
	}
	if err != nil {
		return forge.Feedback{}, err
	}
	feedback := forge.Feedback{State: pullState(p)}
	if p.Head != nil {
		feedback.Head = company.OID(p.Head.Sha)
	}
	if p.Base != nil {
		feedback.Base = p.Base.Ref
	}
	if feedback.State == company.PRMerged && p.MergedCommitID != nil {
		feedback.MergeCommit = company.OID(*p.MergedCommitID)
	}
	if feedback.State != company.PROpen {
		return feedback, nil // comments on a closed one start no work, and a failing list must not hide its end
	}
	feedback.Conflict = !p.Mergeable
	said, err := c.readDiscussion(ctx, ref)
	if err != nil {
		return feedback, err
	}
	failed, pending, err := c.listFailedStatuses(ctx, feedback.Head)
	if err != nil {
		return feedback, err
	}
	feedback.Items, feedback.Pending = append(said, failed...), pending
	feedback.Items = forge.SortItems(feedback.Items)
	return feedback, nil
}

// confirmGone interprets a 404 for a pull request. It is gone if the forge shows the repository and repeats the 404.
// A proxy or an outage can also cause a 404.
func (c *Client) confirmGone(ctx context.Context, number int) (*gitea.PullRequest, error) {
	if _, err := c.getRepository(ctx, c.repo.Owner, c.repo.Name); err != nil {
		return nil, err
	}
	p, err := c.getPull(ctx, number)
	if statusOf(err) == http.StatusNotFound && isGiteaError(err) {
		err = c.repo.Gone(number, "the forge", err)
	}
	return p, err
}

// listPages reads a list page by page until a page is empty, at most maxPages.
func listPages[T any](
	ctx context.Context, client *Client, doing string,
	get func(api *gitea.Client, o gitea.ListOptions) ([]*T, *gitea.Response, error),
) ([]*T, error) {
	var all []*T
	for page := 1; page <= maxPages; page++ {
		some, err := repeatList(ctx, client, doing, func(api *gitea.Client) ([]*T, *gitea.Response, error) {
			return get(api, gitea.ListOptions{Page: page, PageSize: pageSize})
		})
		if err != nil {
			return nil, err
		}
		all = append(all, some[:min(len(some), pageSize)]...) // no more than was asked for
		if len(some) == 0 {
			break
		}
	}
	return all, nil
}

// listComments returns all comments from one reply, since the server has no pages for this list.
func (c *Client) listComments(ctx context.Context, number int) ([]*gitea.Comment, error) {
	return repeatList(ctx, c, "reading the comments", func(api *gitea.Client) ([]*gitea.Comment, *gitea.Response, error) {
		return api.ListIssueComments(c.repo.Owner, c.repo.Name, int64(number), gitea.ListIssueCommentOptions{})
	})
}

// readDiscussion returns the comments, the reviews and their line comments.
func (c *Client) readDiscussion(ctx context.Context, ref forge.Ref) ([]forge.Item, error) {
	may := c.newPermissionChecker()
	item := func(kind forge.ItemKind, id int64, u *gitea.User, body, url string, at time.Time) forge.Item {
		it := forge.Item{ID: itemID(kind, id), Kind: kind, Body: forge.CleanText(body, forge.MaxItemBytes),
			URL: url, Time: at}
		if u != nil {
			it.Author = u.UserName
		}
		return it
	}
	comments, err := c.listComments(ctx, ref.Number)
	if err != nil {
		return nil, err
	}
	me := ""
	if len(comments) > 0 {
		if me, err = c.currentUser(ctx); err != nil {
			return nil, err
		}
	}
	var out []forge.Item
	for _, m := range comments {
		it := item(forge.ItemComment, m.ID, m.Poster, m.Body, m.HTMLURL, m.Created)
		office, _ := forge.ParseNote(m.Body)
		it.Ours = office == ref.Office && strings.EqualFold(it.Author, me)
		out = append(out, it)
	}
	reviews, err := listPages(ctx, c, "reading the reviews",
		func(api *gitea.Client, o gitea.ListOptions) ([]*gitea.PullReview, *gitea.Response, error) {
			return api.ListPullReviews(c.repo.Owner, c.repo.Name, int64(ref.Number),
				gitea.ListPullReviewsOptions{ListOptions: o})
		})
	if err != nil {
		return nil, err
	}
	var threads threads
	for _, r := range reviews {
		if r.State == gitea.ReviewStatePending || r.State == gitea.ReviewStateRequestReview {
			continue
		}
		it := item(forge.ItemReview, r.ID, r.Reviewer, r.Body, r.HTMLURL, r.Submitted)
		it.Verdict, it.Head = reviewVerdict(r), company.OID(r.CommitID)
		if it.Body != "" || it.Verdict != "commented" {
			out = append(out, it)
		}
		if r.CodeCommentsCount == 0 {
			continue
		}
		lines, err := repeatList(ctx, c, "reading the comments at lines",
			func(api *gitea.Client) ([]*gitea.PullReviewComment, *gitea.Response, error) {
				return api.ListPullReviewComments(c.repo.Owner, c.repo.Name, int64(ref.Number), r.ID)
			})
		if err != nil {
			return nil, err
		}
		for _, m := range lines[:min(len(lines), maxLineComments-len(threads))] {
			threads.add(m)
			it := item(forge.ItemLine, m.ID, m.Reviewer, m.Body, m.HTMLURL, m.Created)
			it.Path = m.Path
			it.Line = int(min(m.LineNum, 1<<30))
			it.Head = company.OID(m.CommitID)
			out = append(out, it)
		}
	}
	for i := range out {
		if out[i].Kind == forge.ItemLine {
			out[i].Reply, out[i].Resolved = threads.threadState(out[i].ID)
		}
		if !out[i].Ours && out[i].Author != "" {
			if out[i].Trusted, err = may.mayPush(ctx, out[i].Author); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// maxLineComments limits the line comments, because each is compared with all others.
const maxLineComments = 5000

// threads holds the conversations at lines. Gitea shows all comments at one line as one conversation and marks its
// first comment when a person resolves it. A reply belongs to the review of the comment that it answers.
type threads []*gitea.PullReviewComment

func (t *threads) add(m *gitea.PullReviewComment) { *t = append(*t, m) }

func (t threads) threadState(id string) (reply string, resolved bool) {
	index := slices.IndexFunc(t, func(m *gitea.PullReviewComment) bool { return itemID(forge.ItemLine, m.ID) == id })
	if index < 0 {
		return "", false
	}
	m := t[index]
	var first int64
	for _, o := range t {
		if o.Path != m.Path || o.LineNum != m.LineNum || o.OldLineNum != m.OldLineNum {
			continue
		}
		resolved = resolved || o.Resolver != nil
		if o.ReviewID == m.ReviewID && o.ID < m.ID && (first == 0 || o.ID < first) {
			first = o.ID
		}
	}
	if first != 0 {
		reply = itemID(forge.ItemLine, first)
	}
	return reply, resolved
}

func itemID(kind forge.ItemKind, id int64) string { return fmt.Sprintf("%s:%d", kind, id) }

func reviewVerdict(r *gitea.PullReview) string {
	switch {
	case r.Dismissed:
		return "dismissed"
	case r.State == gitea.ReviewStateApproved:
		return "approved"
	case r.State == gitea.ReviewStateRequestChanges:
		return "changes_requested"
	}
	return "commented"
}

// listFailedStatuses returns the failed statuses of a commit, which include Gitea's actions. pending reports whether
// some are still running.
func (c *Client) listFailedStatuses(ctx context.Context, head company.OID) (out []forge.Item, pending bool, err error) {
	// Read all statuses of the commit, newest first. The combined status also has pages, but the SDK does not read them.
	all, err := listPages(ctx, c, "reading the statuses",
		func(api *gitea.Client, o gitea.ListOptions) ([]*gitea.Status, *gitea.Response, error) {
			return api.ListStatuses(c.repo.Owner, c.repo.Name, string(head), gitea.ListStatusesOption{ListOptions: o})
		})
	if err != nil {
		return nil, false, err
	}
	last := map[string]*gitea.Status{}
	for _, s := range all {
		if l := last[s.Context]; l == nil || s.ID > l.ID {
			last[s.Context] = s
		}
	}
	for _, s := range last {
		switch s.State {
		case gitea.StatusPending:
			pending = true
		case gitea.StatusFailure, gitea.StatusError:
			item := forge.Item{
				ID: fmt.Sprintf("status:%s@%s", s.Context, head), Kind: forge.ItemCheck, Trusted: true, Bot: true,
				Verdict: string(s.State),
				Name:    s.Context, URL: s.TargetURL, Body: forge.CleanText(s.Description, forge.MaxItemBytes), Head: head,
				Time: s.Updated,
			}
			if s.Creator != nil {
				item.Author = s.Creator.UserName
			}
			out = append(out, item)
		}
	}
	return out, pending, nil
}

// Comment writes a comment on a pull request, once per key. Comments of others with our marker are ignored, because
// they could suppress ours.
func (c *Client) Comment(ctx context.Context, ref forge.Ref, key, text string) error {
	if err := ref.CheckNote(key, text); err != nil {
		return err
	}
	// For an unknown number, the server answers the list of comments with an error other than 404.
	if _, err := c.getPull(ctx, ref.Number); err != nil {
		return err
	}
	me, err := c.currentUser(ctx)
	if err != nil {
		return err
	}
	said := func() (bool, error) {
		comments, err := c.listComments(ctx, ref.Number)
		return slices.ContainsFunc(comments, func(m *gitea.Comment) bool {
			office, k := forge.ParseNote(m.Body)
			return office == ref.Office && k == key && m.Poster != nil && strings.EqualFold(m.Poster.UserName, me)
		}), err
	}
	return ref.CommentOnce(ctx, key, text, isOutcomeUnknown, said, func(body string) error {
		_, err := once(ctx, c, "commenting", func(api *gitea.Client) (*gitea.Comment, *gitea.Response, error) {
			return api.CreateIssueComment(
				c.repo.Owner, c.repo.Name, int64(ref.Number), gitea.CreateIssueCommentOption{Body: body})
		})
		return err
	})
}
