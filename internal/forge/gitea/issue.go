package gitea

import (
	"context"
	"fmt"

	"code.gitea.io/sdk/gitea"

	"company/internal/company"
	"company/internal/forge"
)

// Issue reads an open issue with the comments of maintainers.
func (c *Client) Issue(ctx context.Context, number int) (forge.Issue, error) {
	return c.repo.ReadIssue(number, forge.IssueQuestions{
		Site: c.site,
		Ask: func() (forge.IssueAnswer, error) {
			i, err := repeat(ctx, c, fmt.Sprintf("reading issue #%d", number),
				func(api *gitea.Client) (*gitea.Issue, *gitea.Response, error) {
					return api.GetIssue(c.repo.Owner, c.repo.Name, int64(number))
				})
			if err != nil {
				return forge.IssueAnswer{}, err
			}
			// The address of the issue's page depends on the server's own settings, and redirects are not followed. So this is
			// the requested issue.
			answer := forge.IssueAnswer{Title: i.Title, Body: i.Body, Open: i.State == gitea.StateOpen,
				PullRequest: i.PullRequest != nil, Comments: i.Comments}
			if i.Poster != nil {
				answer.Author = i.Poster.UserName
			}
			return answer, nil
		},
		Repository: func() error {
			_, err := c.getRepository(ctx, c.repo.Owner, c.repo.Name)
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
		trusted := false
		if office, _ := forge.ParseNote(m.Body); office == "" && m.Poster != nil && m.Poster.UserName != "" {
			if trusted, err = may.mayPush(ctx, m.Poster.UserName); err != nil {
				return nil, 0, err
			}
		}
		if !trusted {
			unheard++
			continue
		}
		heard = append(heard, forge.IssueComment{Author: m.Poster.UserName, Body: m.Body})
	}
	return heard, unheard, nil
}

// ClosingLine returns the line that closes an issue when the pull request is merged.
func (c *Client) ClosingLine(i company.IssueRef) string { return c.repo.ClosingLine(i) }
