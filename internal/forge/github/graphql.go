package github

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
)

// Features that the REST API lacks: marking a draft as ready, and reading which conversations are resolved.

type graphQLError struct{ Type, Message string }

// queryGraphQL sends a GraphQL query and decodes its data into out. Refusals in the reply are returned separately,
// because their HTTP status is 200.
func (c *Client) queryGraphQL(
	ctx context.Context, doing, query string, variables map[string]any, out any,
) ([]graphQLError, error) {
	input, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return nil, err
	}
	var reply struct {
		Data   json.RawMessage
		Errors []graphQLError
	}
	err = c.tryCall(ctx, doing, true, func() (*github.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.graphURL, bytes.NewReader(input))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("User-Agent", c.api.UserAgent)
		resp, err := c.api.Client().Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if err := github.CheckResponse(resp); err != nil {
			return nil, err
		}
		return nil, json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&reply)
	})
	if err != nil || len(reply.Errors) > 0 || out == nil {
		return reply.Errors, err
	}
	if err := json.Unmarshal(reply.Data, out); err != nil {
		return nil, company.E(company.EForge, "invalid reply of GitHub while "+doing).Wrap(err)
	}
	return nil, nil
}

// markReady marks a draft as ready for review.
func (c *Client) markReady(ctx context.Context, node string) error {
	const doing = "making the pull request ready for review"
	refused, err := c.queryGraphQL(
		ctx, doing, "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { "+
			"isDraft } } }",
		map[string]any{"id": node}, nil)
	switch {
	case err != nil:
		return err
	case len(refused) == 0:
		return nil
	case refused[0].Type == "FORBIDDEN":
		return company.E(company.EAuth, "GitHub refused the token while "+doing).Because(refused[0].Message).
			Fix("give it \"pull_requests: write\", then answer with approve to try again").NeedsPerson()
	}
	return company.E(company.EForge, "GitHub refused: "+doing).Because(refused[0].Message)
}

const threadsQuery = "query($id: ID!, $after: String) { node(id: $id) { ... on PullRequest { reviewThreads(first: " +
	"100, after: $after) " +
	"{ pageInfo { hasNextPage endCursor } nodes { isResolved comments(first: 1) { nodes { fullDatabaseId } } } } } } }"

// resolvedComments returns the first comments of resolved conversations. If the login lacks permission, all
// conversations count as open.
func (c *Client) resolvedComments(ctx context.Context, node string) (map[string]bool, error) {
	out, after := map[string]bool{}, any(nil)
	for range maxPages {
		var got struct {
			Node struct {
				ReviewThreads struct {
					PageInfo struct {
						HasNextPage bool
						EndCursor   string
					}
					Nodes []struct {
						IsResolved bool
						Comments   struct {
							Nodes []struct {
								FullDatabaseID json.Number `json:"fullDatabaseId"`
							}
						}
					}
				}
			}
		}
		refused, err := c.queryGraphQL(
			ctx, "reading which conversations are resolved", threadsQuery, map[string]any{"id": node, "after": after}, &got)
		if err != nil {
			return nil, err
		}
		if len(refused) > 0 {
			c.log.Warn("resolved conversations are not known", "repository", c.repo.String(), "why", refused[0].Message)
			return out, nil
		}
		threads := got.Node.ReviewThreads
		for _, t := range threads.Nodes {
			if t.IsResolved && len(t.Comments.Nodes) > 0 {
				out[fmt.Sprintf("%s:%s", forge.ItemLine, t.Comments.Nodes[0].FullDatabaseID)] = true
			}
		}
		if !threads.PageInfo.HasNextPage {
			break
		}
		after = threads.PageInfo.EndCursor
	}
	return out, nil
}
