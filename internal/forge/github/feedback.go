package github

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/lib/safetext"
)

// Feedback returns the state of a pull request and its feedback.
func (c *Client) Feedback(ctx context.Context, ref forge.Ref) (forge.Feedback, error) {
	p, err := c.getPull(ctx, ref.Number)
	if company.CodeOf(err) == company.ENotFound {
		p, err = c.confirmGone(ctx, ref.Number)
	}
	if err != nil {
		return forge.Feedback{}, err
	}
	feedback := forge.Feedback{State: pullState(p), Head: company.OID(p.GetHead().GetSHA()), Base: p.GetBase().GetRef()}
	if feedback.State == company.PRMerged {
		feedback.MergeCommit = company.OID(p.GetMergeCommitSHA())
	}
	if feedback.State != company.PROpen {
		return feedback, nil // comments on a closed one start no work, and a failing list must not hide its end
	}
	feedback.Conflict = p.Mergeable != nil && !*p.Mergeable
	said, err := c.readDiscussion(ctx, ref, p.GetNodeID())
	if err != nil {
		return feedback, err
	}
	failed, pending, err := c.listFailedChecks(ctx, feedback.Head)
	if err != nil {
		return feedback, err
	}
	feedback.Items, feedback.Pending = append(said, failed...), pending || p.Mergeable == nil
	feedback.Items = forge.SortItems(feedback.Items)
	return feedback, nil
}

// confirmGone interprets a 404 for a pull request. It is gone if GitHub shows the repository and repeats the 404. A
// proxy or an outage can also cause a 404.
func (c *Client) confirmGone(ctx context.Context, number int) (*github.PullRequest, error) {
	if _, err := c.getRepository(ctx); err != nil {
		return nil, err
	}
	p, err := c.getPull(ctx, number)
	if company.CodeOf(err) == company.ENotFound {
		err = c.repo.Gone(number, "GitHub", err)
	}
	return p, err
}

// maxPages limits the pages of one list, with a hundred entries each.
const maxPages = 10

// listPages reads a list to its end, or to maxPages.
func listPages[T any](
	ctx context.Context, client *Client, doing string, get func(o github.ListOptions) ([]T, *github.Response, error),
) ([]T, error) {
	const pageSize = 100
	var all []T
	for n := 1; n != 0 && n <= maxPages; {
		var some []T
		var next int
		err := client.tryCall(ctx, doing, true, func() (*github.Response, error) {
			list, resp, err := get(github.ListOptions{Page: n, PerPage: pageSize})
			if err == nil {
				some, next = list, resp.NextPage
			}
			return resp, err
		})
		if err != nil {
			return nil, err
		}
		all, n = append(all, some[:min(len(some), pageSize)]...), next // no more than was asked for
	}
	return all, nil
}

func (c *Client) listComments(ctx context.Context, number int) ([]*github.IssueComment, error) {
	return listPages(ctx, c, "reading the comments",
		func(o github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
			return c.api.Issues.ListComments(
				ctx, c.repo.Owner, c.repo.Name, number, &github.IssueListCommentsOptions{ListOptions: o})
		})
}

// readDiscussion returns the comments, the line comments, and the reviews.
func (c *Client) readDiscussion(ctx context.Context, ref forge.Ref, node string) ([]forge.Item, error) {
	may := c.newPermissionChecker()
	var out []forge.Item
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
	for _, m := range comments {
		item := newItem(forge.ItemComment, m.GetID(), m.GetUser(), m.GetBody(), m.GetHTMLURL())
		may.noteAssociation(m.GetUser().GetLogin(), m.GetAuthorAssociation())
		// The mark is sufficient for an honest author. The account check prevents other comments from passing as ours.
		office, _ := forge.ParseNote(m.GetBody())
		item.Ours = office == ref.Office && isOwnAuthor(me, m.GetUser())
		item.Time = m.GetCreatedAt().Time
		out = append(out, item)
	}
	lines, err := listPages(ctx, c, "reading the comments at lines",
		func(o github.ListOptions) ([]*github.PullRequestComment, *github.Response, error) {
			return c.api.PullRequests.ListComments(
				ctx, c.repo.Owner, c.repo.Name, ref.Number, &github.PullRequestListCommentsOptions{ListOptions: o})
		})
	if err != nil {
		return nil, err
	}
	resolved := map[string]bool{}
	if len(lines) > 0 {
		if resolved, err = c.resolvedComments(ctx, node); err != nil {
			return nil, err
		}
	}
	for _, m := range lines {
		item := newItem(forge.ItemLine, m.GetID(), m.GetUser(), m.GetBody(), m.GetHTMLURL())
		may.noteAssociation(m.GetUser().GetLogin(), m.GetAuthorAssociation())
		item.Path = m.GetPath()
		item.Line = m.GetLine()
		item.Head = company.OID(m.GetCommitID())
		item.Time = m.GetCreatedAt().Time
		if id := m.GetInReplyTo(); id != 0 {
			item.Reply = fmt.Sprintf("%s:%d", forge.ItemLine, id)
		}
		item.Resolved = resolved[item.ID] || resolved[item.Reply]
		out = append(out, item)
	}
	reviews, err := listPages(ctx, c, "reading the reviews",
		func(o github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
			return c.api.PullRequests.ListReviews(ctx, c.repo.Owner, c.repo.Name, ref.Number, &o)
		})
	if err != nil {
		return nil, err
	}
	for _, m := range reviews {
		item := newItem(forge.ItemReview, m.GetID(), m.GetUser(), m.GetBody(), m.GetHTMLURL())
		may.noteAssociation(m.GetUser().GetLogin(), m.GetAuthorAssociation())
		item.Verdict = strings.ToLower(m.GetState())
		item.Head = company.OID(m.GetCommitID())
		item.Time = m.GetSubmittedAt().Time
		// A review that only contains line comments has no text of its own. A pending one is visible only to its author.
		if item.Verdict == "pending" || item.Body == "" && item.Verdict == "commented" {
			continue
		}
		out = append(out, item)
	}
	for i := range out {
		if out[i].Ours || out[i].Bot {
			continue
		}
		if out[i].Trusted, err = may.mayPush(ctx, out[i].Author); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func newItem(kind forge.ItemKind, id int64, u *github.User, body, url string) forge.Item {
	return forge.Item{ID: fmt.Sprintf("%s:%d", kind, id), Kind: kind, Author: u.GetLogin(), Bot: u.GetType() == "Bot",
		Body: forge.CleanText(body, forge.MaxItemBytes), URL: url}
}

// listFailedChecks returns the failed checks and statuses of a commit. pending reports whether some are still
// running.
func (c *Client) listFailedChecks(ctx context.Context, head company.OID) (out []forge.Item, pending bool, err error) {
	runs, err := listPages(ctx, c, "reading the checks",
		func(o github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
			r, resp, err := c.api.Checks.ListCheckRunsForRef(
				ctx, c.repo.Owner, c.repo.Name, string(head), &github.ListCheckRunsOptions{Filter: new("latest"), ListOptions: o})
			if err != nil {
				return nil, resp, err
			}
			return r.CheckRuns, resp, nil
		})
	if err != nil && !c.lacksPermission(err) {
		return nil, false, err
	}
	for _, r := range runs {
		if r.GetStatus() != "completed" {
			pending = true
			continue
		}
		switch r.GetConclusion() {
		case "failure", "timed_out", "startup_failure", "action_required":
		default:
			continue
		}
		out = append(out, forge.Item{
			ID: fmt.Sprintf("%s:%d", forge.ItemCheck, r.GetID()), Kind: forge.ItemCheck, Author: r.GetApp().GetSlug(),
			Trusted: true, Bot: true, Verdict: r.GetConclusion(),
			Name: r.GetName(), URL: r.GetHTMLURL(), Body: c.describeCheck(ctx, r), Head: head, Time: r.GetCompletedAt().Time,
		})
	}
	statuses, err := listPages(ctx, c, "reading the statuses",
		func(o github.ListOptions) ([]*github.RepoStatus, *github.Response, error) {
			combined, resp, err := c.api.Repositories.GetCombinedStatus(ctx, c.repo.Owner, c.repo.Name, string(head), &o)
			if err != nil {
				return nil, resp, err
			}
			return combined.Statuses, resp, nil
		})
	if err != nil {
		if c.lacksPermission(err) {
			return out, pending, nil
		}
		return nil, false, err
	}
	for _, s := range statuses {
		switch s.GetState() {
		case "pending":
			pending = true
		case "failure", "error":
			out = append(out, forge.Item{
				ID: fmt.Sprintf("status:%s@%s", s.GetContext(), head), Kind: forge.ItemCheck, Author: s.GetCreator().GetLogin(),
				Trusted: true, Bot: true, Verdict: s.GetState(),
				Name: s.GetContext(), URL: s.GetTargetURL(), Body: forge.CleanText(s.GetDescription(), forge.MaxItemBytes),
				Head: head, Time: s.GetUpdatedAt().Time,
			})
		}
	}
	return out, pending, nil
}

// lacksPermission reports whether an error is a missing permission to read checks, and logs it. Fine-grained tokens
// and Apps often lack it. The rest of the feedback is useful without the checks.
func (c *Client) lacksPermission(err error) bool {
	if err == nil || statusOf(err) != http.StatusForbidden {
		return false
	}
	c.log.Warn("checks cannot be read", "repository", c.repo.String(), "err", err)
	return true
}

// maxLogBytes limits how much of the end of a job's log is shown.
const maxLogBytes = 3 << 10

// describeCheck returns a check's texts, its annotations, and the end of its log.
func (c *Client) describeCheck(ctx context.Context, r *github.CheckRun) string {
	var b strings.Builder
	for _, s := range []string{r.GetOutput().GetTitle(), r.GetOutput().GetSummary(), r.GetOutput().GetText()} {
		if s = forge.CleanText(s, 1500); s != "" {
			b.WriteString(s + "\n")
		}
	}
	if r.GetOutput().GetAnnotationsCount() > 0 {
		notes, resp, err := c.api.Checks.ListCheckRunAnnotations(
			ctx, c.repo.Owner, c.repo.Name, r.GetID(), &github.ListOptions{PerPage: 20})
		if err == nil && resp != nil {
			for _, n := range notes {
				fmt.Fprintf(&b, "%s:%d: %s\n", n.GetPath(), n.GetStartLine(), forge.CleanText(n.GetMessage(), 300))
			}
		}
	}
	if r.GetApp().GetSlug() == "github-actions" {
		if log := c.readJobLog(ctx, r.GetID()); log != "" {
			b.WriteString("the end of its log:\n" + log)
		}
	}
	return forge.CleanText(b.String(), forge.MaxItemBytes)
}

// readJobLog returns the end of an Actions job's log; the job's id is its check's. The log is on another server,
// behind a signed address, which must not get our login.
func (c *Client) readJobLog(ctx context.Context, id int64) string {
	address, _, err := c.api.Actions.GetWorkflowJobLogs(ctx, c.repo.Owner, c.repo.Name, id, 0)
	if err != nil || address == nil {
		return ""
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return ""
	}
	resp, err := c.api.Client().Do(withoutLogin(req))
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return ""
	}
	screen := safetext.NewScreen(0, maxLogBytes)
	if _, err := io.Copy(screen, io.LimitReader(resp.Body, 64<<20)); err != nil {
		return ""
	}
	_, tail, _ := screen.HeadTail()
	return forge.CleanText(tail, maxLogBytes)
}
