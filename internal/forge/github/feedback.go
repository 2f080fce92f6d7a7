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
)

// Feedback is what has become of a pull request.
func (c *Client) Feedback(ctx context.Context, ref forge.Ref) (forge.Feedback, error) {
	p, err := c.getPull(ctx, ref.Number)
	if company.CodeOf(err) == company.ENotFound {
		p, err = c.confirmGone(ctx, ref.Number)
	}
	if err != nil {
		return forge.Feedback{}, err
	}
	f := forge.Feedback{State: pullState(p), Head: company.OID(p.GetHead().GetSHA()), Base: p.GetBase().GetRef()}
	if f.State == company.PRMerged {
		f.MergeCommit = company.OID(p.GetMergeCommitSHA())
	}
	if f.State != company.PROpen {
		return f, nil // comments there start no work, and a list that fails must not hide the end
	}
	f.Conflict = p.Mergeable != nil && !*p.Mergeable
	said, err := c.readDiscussion(ctx, ref, p.GetNodeID())
	if err != nil {
		return f, err
	}
	failed, pending, err := c.listFailedChecks(ctx, f.Head)
	if err != nil {
		return f, err
	}
	f.Items, f.Pending = append(said, failed...), pending || p.Mergeable == nil
	f.Items = forge.SortItems(f.Items)
	return f, nil
}

// confirmGone is what a 404 of a pull request means: it is gone where GitHub
// shows the repository and says it once more. A proxy or an outage between
// says 404 as well.
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

// maxPages bounds the pages of one list: a hundred entries each.
const maxPages = 10

// listPages reads a list to its end, or to maxPages.
func listPages[T any](ctx context.Context, c *Client, doing string, get func(o github.ListOptions) ([]T, *github.Response, error)) ([]T, error) {
	const pageSize = 100
	var all []T
	for n := 1; n != 0 && n <= maxPages; {
		var some []T
		var next int
		err := c.tryCall(ctx, doing, true, func() (*github.Response, error) {
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
	return listPages(ctx, c, "reading the comments", func(o github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		return c.api.Issues.ListComments(ctx, c.repo.Owner, c.repo.Name, number, &github.IssueListCommentsOptions{ListOptions: o})
	})
}

// readDiscussion are the comments, the comments at lines, and the reviews.
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
		it := newItem(forge.ItemComment, m.GetID(), m.GetUser(), m.GetBody(), m.GetHTMLURL())
		may.noteAssociation(m.GetUser().GetLogin(), m.GetAuthorAssociation())
		// The mark alone would do for an honest author; with the account, no
		// other comment passes for ours.
		office, _ := forge.ParseNote(m.GetBody())
		it.Ours = office == ref.Office && isOwnAuthor(me, m.GetUser())
		it.Time = m.GetCreatedAt().Time
		out = append(out, it)
	}
	lines, err := listPages(ctx, c, "reading the comments at lines", func(o github.ListOptions) ([]*github.PullRequestComment, *github.Response, error) {
		return c.api.PullRequests.ListComments(ctx, c.repo.Owner, c.repo.Name, ref.Number, &github.PullRequestListCommentsOptions{ListOptions: o})
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
		it := newItem(forge.ItemLine, m.GetID(), m.GetUser(), m.GetBody(), m.GetHTMLURL())
		may.noteAssociation(m.GetUser().GetLogin(), m.GetAuthorAssociation())
		it.Path, it.Line, it.Head, it.Time = m.GetPath(), m.GetLine(), company.OID(m.GetCommitID()), m.GetCreatedAt().Time
		if id := m.GetInReplyTo(); id != 0 {
			it.Reply = fmt.Sprintf("%s:%d", forge.ItemLine, id)
		}
		it.Resolved = resolved[it.ID] || resolved[it.Reply]
		out = append(out, it)
	}
	reviews, err := listPages(ctx, c, "reading the reviews", func(o github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, c.repo.Owner, c.repo.Name, ref.Number, &o)
	})
	if err != nil {
		return nil, err
	}
	for _, m := range reviews {
		it := newItem(forge.ItemReview, m.GetID(), m.GetUser(), m.GetBody(), m.GetHTMLURL())
		may.noteAssociation(m.GetUser().GetLogin(), m.GetAuthorAssociation())
		it.Verdict, it.Head, it.Time = strings.ToLower(m.GetState()), company.OID(m.GetCommitID()), m.GetSubmittedAt().Time
		// A review that only carries comments at lines has no text itself, and
		// a pending one is its author's alone.
		if it.Verdict == "pending" || it.Body == "" && it.Verdict == "commented" {
			continue
		}
		out = append(out, it)
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
	return forge.Item{ID: fmt.Sprintf("%s:%d", kind, id), Kind: kind, Author: u.GetLogin(), Bot: u.GetType() == "Bot", Body: forge.CleanText(body, forge.MaxItemBytes), URL: url}
}

// listFailedChecks are the checks and statuses of a commit that failed. pending says
// that some are still under way.
func (c *Client) listFailedChecks(ctx context.Context, head company.OID) (out []forge.Item, pending bool, err error) {
	runs, err := listPages(ctx, c, "reading the checks", func(o github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
		r, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, c.repo.Owner, c.repo.Name, string(head), &github.ListCheckRunsOptions{Filter: new("latest"), ListOptions: o})
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
			ID: fmt.Sprintf("%s:%d", forge.ItemCheck, r.GetID()), Kind: forge.ItemCheck, Author: r.GetApp().GetSlug(), Trusted: true, Bot: true, Verdict: r.GetConclusion(),
			Name: r.GetName(), URL: r.GetHTMLURL(), Body: c.describeCheck(ctx, r), Head: head, Time: r.GetCompletedAt().Time,
		})
	}
	statuses, err := listPages(ctx, c, "reading the statuses", func(o github.ListOptions) ([]*github.RepoStatus, *github.Response, error) {
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
				ID: fmt.Sprintf("status:%s@%s", s.GetContext(), head), Kind: forge.ItemCheck, Author: s.GetCreator().GetLogin(), Trusted: true, Bot: true, Verdict: s.GetState(),
				Name: s.GetContext(), URL: s.GetTargetURL(), Body: forge.CleanText(s.GetDescription(), forge.MaxItemBytes), Head: head, Time: s.GetUpdatedAt().Time,
			})
		}
	}
	return out, pending, nil
}

// lacksPermission: fine-grained tokens and Apps often lack the right to read checks.
// The rest of the feedback is worth having without them.
func (c *Client) lacksPermission(err error) bool {
	if err == nil || statusOf(err) != http.StatusForbidden {
		return false
	}
	c.log.Warn("checks cannot be read", "repository", c.repo.String(), "err", err)
	return true
}

// maxLogBytes is how much of the end of a job's log is shown.
const maxLogBytes = 3 << 10

// describeCheck is what a check says, where it points to, and the end of its log.
func (c *Client) describeCheck(ctx context.Context, r *github.CheckRun) string {
	var b strings.Builder
	for _, s := range []string{r.GetOutput().GetTitle(), r.GetOutput().GetSummary(), r.GetOutput().GetText()} {
		if s = forge.CleanText(s, 1500); s != "" {
			b.WriteString(s + "\n")
		}
	}
	if r.GetOutput().GetAnnotationsCount() > 0 {
		notes, resp, err := c.api.Checks.ListCheckRunAnnotations(ctx, c.repo.Owner, c.repo.Name, r.GetID(), &github.ListOptions{PerPage: 20})
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

// readJobLog is the end of an Actions job's log; its id is its check's. The log
// itself is elsewhere, behind a signed address that must not see our login.
func (c *Client) readJobLog(ctx context.Context, id int64) string {
	at, _, err := c.api.Actions.GetWorkflowJobLogs(ctx, c.repo.Owner, c.repo.Name, id, 0)
	if err != nil || at == nil {
		return ""
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
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
	var tail []byte
	buf := make([]byte, 32<<10)
	for read := 0; read < 64<<20; {
		n, err := resp.Body.Read(buf)
		read += n
		if tail = append(tail, buf[:n]...); len(tail) > 2*maxLogBytes {
			tail = append([]byte(nil), tail[len(tail)-maxLogBytes:]...)
		}
		if err != nil {
			if err != io.EOF { //nolint:errorlint // a reader's own
				return ""
			}
			break
		}
	}
	return forge.CleanText(string(tail[max(0, len(tail)-maxLogBytes):]), maxLogBytes)
}
