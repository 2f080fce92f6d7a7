package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
)

// Issue reads an open issue with the comments of maintainers.
func (c *Client) Issue(ctx context.Context, number int) (forge.Issue, error) {
	return c.repo.ReadIssue(number, forge.IssueQuestions{
		Site: c.site,
		Ask: func() (forge.IssueAnswer, error) {
			i, err := repeat(ctx, c, fmt.Sprintf("reading issue #%d", number), func() (*github.Issue, *github.Response, error) {
				return c.api.Issues.Get(ctx, c.repo.Owner, c.repo.Name, number)
			})
			if err != nil {
				return forge.IssueAnswer{}, err
			}
			return forge.IssueAnswer{
				Title: i.GetTitle(), Body: i.GetBody(), Author: i.GetUser().GetLogin(), Open: i.GetState() == "open",
				PullRequest: i.IsPullRequest(), Page: i.GetHTMLURL(), Comments: i.GetComments(),
			}, nil
		},
		Repository: func() error {
			_, err := c.getRepository(ctx)
			return err
		},
		Discuss: func() ([]forge.IssueComment, int, error) { return c.readIssueComments(ctx, number) },
	})
}

// readIssueComments returns the comments of maintainers and the number of others.
func (c *Client) readIssueComments(
	ctx context.Context, number int,
) (heard []forge.IssueComment, unheard int, err error) {
	all, err := c.listComments(ctx, number)
	if err != nil {
		return nil, 0, err
	}
	may := c.newPermissionChecker()
	for _, m := range all {
		login, trusted := m.GetUser().GetLogin(), false
		may.noteAssociation(login, m.GetAuthorAssociation())
		if office, _ := forge.ParseNote(m.GetBody()); office == "" && m.GetUser().GetType() != "Bot" {
			if trusted, err = may.mayPush(ctx, login); err != nil {
				return nil, 0, err
			}
		}
		if !trusted {
			unheard++
			continue
		}
		heard = append(heard, forge.IssueComment{Author: login, Body: m.GetBody()})
	}
	return heard, unheard, nil
}

// ClosingLine returns the line that closes an issue when the pull request is merged.
func (c *Client) ClosingLine(i company.IssueRef) string { return c.repo.ClosingLine(i) }
