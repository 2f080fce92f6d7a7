package github

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
)

// mergeRefusals lists the status codes with which GitHub refuses a merge: it is not allowed (405), the head has moved
// (409), or the request is invalid (422).
var mergeRefusals = []int{http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity}

// MergePull merges a pull request of ours with a merge commit. GitHub compares its head with ours first.
func (c *Client) MergePull(ctx context.Context, ref forge.Ref, head company.OID, base string) error {
	url := ""
	return ref.MergeOnce(ctx, head, base, isOutcomeUnknown, func() (forge.MergeablePull, error) {
		p, err := c.getPull(ctx, ref.Number)
		url = p.GetHTMLURL()
		return forge.MergeablePull{State: pullState(p), Head: company.OID(p.GetHead().GetSHA()), Base: p.GetBase().GetRef(),
			Body: p.GetBody(), URL: url}, err
	}, func() error {
		_, err := once(ctx, c, "merging the pull request", func() (*github.PullRequestMergeResult, *github.Response, error) {
			return c.api.PullRequests.Merge(
				ctx, c.repo.Owner, c.repo.Name, ref.Number, "", &github.PullRequestOptions{SHA: string(head), MergeMethod: "merge"})
		})
		var e *github.ErrorResponse
		if errors.As(err, &e) && slices.Contains(mergeRefusals, statusOf(err)) {
			return ref.MergeRefused(e.Message, url, err)
		}
		return err
	})
}
