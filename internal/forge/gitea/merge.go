package gitea

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"code.gitea.io/sdk/gitea"

	"company/internal/company"
	"company/internal/forge"
)

// mergeRefusals lists the status codes with which Gitea refuses a merge: it is not allowed or not ready (405), the
// head has moved (409), or the request is invalid (422).
var mergeRefusals = []int{http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity}

// mergeRefusalText explains the refusals.
var mergeRefusalText = map[int]string{
	http.StatusMethodNotAllowed:    "checks, approvals or a conflict stand against it, or this login may not merge it",
	http.StatusConflict:            "its head has moved, or it conflicts with its base",
	http.StatusUnprocessableEntity: "it takes no merge of this kind",
}

// MergePull merges a pull request of ours with a merge commit. Gitea compares its head with ours first.
func (c *Client) MergePull(ctx context.Context, ref forge.Ref, head company.OID, base string) error {
	url := ""
	return ref.MergeOnce(ctx, head, base, isOutcomeUnknown, func() (forge.MergeablePull, error) {
		p, err := c.getPull(ctx, ref.Number)
		if err != nil {
			return forge.MergeablePull{}, err
		}
		out := forge.MergeablePull{State: pullState(p), Body: p.Body, URL: p.HTMLURL}
		if url = p.HTMLURL; p.Head != nil {
			out.Head = company.OID(p.Head.Sha)
		}
		if p.Base != nil {
			out.Base = p.Base.Ref
		}
		return out, nil
	}, func() error {
		err := c.tryCall(ctx, "merging the pull request", false, func(api *gitea.Client) (*gitea.Response, error) {
			done, resp, err := api.MergePullRequest(
				c.repo.Owner, c.repo.Name, int64(ref.Number),
				gitea.MergePullRequestOption{Style: gitea.MergeStyleMerge, HeadCommitId: string(head)})
			if err == nil && !done { // the library returns only the status
				err = errors.New(mergeRefusalText[resp.StatusCode])
			}
			return resp, err
		})
		var e *apiError
		if errors.As(err, &e) && slices.Contains(mergeRefusals, e.status) {
			return ref.MergeRefused(e.message, url, err)
		}
		return err
	})
}
