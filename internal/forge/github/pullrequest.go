package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
)

// Open finds our pull request or opens it. A repeated call finds the existing one. GitHub refuses a second open one
// for a branch, so looking again shows the result of an unclear answer.
func (c *Client) Open(ctx context.Context, pr forge.PR) (forge.OpenedPR, error) {
	looked := false // the lookup succeeded; only a creation may be unclear
	unclear := func(err error) bool { return looked && (errors.Is(err, errExists) || isOutcomeUnknown(err)) }
	return forge.OpenOnce(ctx, pr, c.repo, unclear, func(pr forge.PR) (*github.PullRequest, error) {
		p, err := c.findExisting(ctx, pr)
		if looked = err == nil; p != nil || err != nil {
			return p, err
		}
		return c.createPull(ctx, pr)
	}, func(pr forge.PR, p *github.PullRequest) (forge.OpenedPR, error) { return c.syncPull(ctx, pr, p) })
}

// findExisting returns the pull request of this office and task, in any state, or nil. It fails if there is only a
// foreign open one on our branch.
func (c *Client) findExisting(ctx context.Context, pr forge.PR) (*github.PullRequest, error) {
	all, err := repeat(ctx, c, "looking for the pull request", func() ([]*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.List(ctx, c.repo.Owner, c.repo.Name, &github.PullRequestListOptions{
			State: "all", Head: pr.Owner + ":" + pr.Branch, ListOptions: github.ListOptions{PerPage: 100},
		})
	})
	if err != nil {
		return nil, err
	}
	var ours, theirs *github.PullRequest
	for _, p := range all {
		// An old server that does not know the filter lists all pull requests.
		if p.GetHead().GetRef() != pr.Branch || !strings.EqualFold(p.GetHead().GetUser().GetLogin(), pr.Owner) {
			continue
		}
		switch mine := pr.Owns(p.GetNumber(), p.GetBody()); {
		case mine && (ours == nil || ours.GetState() != "open"):
			ours = p
		case !mine && p.GetState() == "open":
			theirs = p
		}
	}
	if ours == nil && theirs != nil {
		return nil, pr.BranchTaken(theirs.GetNumber(), theirs.GetHTMLURL())
	}
	return ours, nil
}

// errExists means that GitHub has an open pull request for the branch that the list did not show yet.
var errExists = errors.New("it exists already")

func (c *Client) createPull(ctx context.Context, pr forge.PR) (*github.PullRequest, error) {
	title := forge.CleanTitle(pr.Title)
	body := pr.MarkedBody()
	draft := pr.Draft
	head, fork := pr.HeadIn(c.repo)
	for {
		p, err := once(ctx, c, "opening the pull request", func() (*github.PullRequest, *github.Response, error) {
			in := &github.NewPullRequest{Title: &title, Head: &head, Base: &pr.Base, Body: &body, Draft: &draft}
			if fork {
				in.MaintainerCanModify = new(true)
			}
			return c.api.PullRequests.Create(ctx, c.repo.Owner, c.repo.Name, in)
		})
		var e *github.ErrorResponse
		if !errors.As(err, &e) || e.Response.StatusCode != http.StatusUnprocessableEntity {
			return p, err
		}
		said := strings.ToLower(e.Error())
		switch {
		case strings.Contains(said, "already exists"):
			// The list shows the branches of an owner, and a transferred repository no longer has the old owner's name.
			if r, err := c.getRepository(ctx); err == nil && r.GetFullName() != "" &&
				!strings.EqualFold(r.GetFullName(), c.repo.String()) {
				return nil, c.repo.SentOn("GitHub", r.GetHTMLURL(), e)
			}
			return nil, errors.Join(errExists,
				company.E(company.EForge, "GitHub says that the pull request exists, but does not list it").
					Because("its lists lag behind"))
		case draft && strings.Contains(said, "draft"):
			// This repository's plan has no drafts. The draft mark is removed too, so that a draft made later by a person is
			// not marked ready.
			draft, pr.Draft = false, false
			body = pr.MarkedBody()
			continue
		case strings.Contains(said, "no commits between"):
			return nil, company.E(company.EForge, fmt.Sprintf("%s already contains %s", pr.Base, pr.Branch)).
				Because("there is nothing to merge").
				Fix("see git log " + pr.Base + "; company cancel " + string(pr.Task) + " ends the task").NeedsPerson()
		}
		return nil, err
	}
}

// syncPull updates a pull request. It leaves one that a person closed or merged unchanged.
func (c *Client) syncPull(ctx context.Context, pr forge.PR, p *github.PullRequest) (forge.OpenedPR, error) {
	out := forge.OpenedPR{Number: p.GetNumber(), URL: p.GetHTMLURL(), Base: p.GetBase().GetRef(), State: pullState(p)}
	if out.State != company.PROpen {
		out.Head = company.OID(p.GetHead().GetSHA())
		return out, nil
	}
	was, _ := forge.ParseOwnership(p.GetBody())
	// We opened it as a draft and the reason is gone, so it becomes ready. A draft made by a person stays a draft.
	ready := was.Draft && !pr.Draft && p.GetDraft()
	if pr.Draft && !was.Draft {
		pr.Draft = false // a person marked it ready, or it never was a draft
	}
	title, body := pr.ResolveTitle(p.GetTitle(), p.GetBody()), pr.UpdateBody(p.GetBody())
	if title != p.GetTitle() || !forge.SameText(body, p.GetBody()) {
		if err := c.editPull(ctx, "bringing the pull request up to date", out.Number,
			&github.PullRequest{Title: &title, Body: &body}); err != nil {
			return out, err
		}
	}
	if ready {
		if err := c.markReady(ctx, p.GetNodeID()); err != nil {
			return out, err
		}
	}
	// The rest is optional: without permission for it, the pull request is still open.
	if err := c.addLabels(ctx, pr, p); err != nil {
		c.log.Warn("labels are not set", "pull_request", out.URL, "err", err)
	}
	if err := c.requestReviews(ctx, pr, p); err != nil {
		c.log.Warn("code owners are not asked", "pull_request", out.URL, "err", err)
	}
	return out, nil
}

func (c *Client) editPull(ctx context.Context, doing string, number int, edit *github.PullRequest) error {
	_, err := repeat(ctx, c, doing, func() (*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.Edit(ctx, c.repo.Owner, c.repo.Name, number, edit)
	})
	return err
}

func pullState(p *github.PullRequest) company.PRState {
	switch {
	case p.GetMerged() || !p.GetMergedAt().IsZero():
		return company.PRMerged
	case p.GetState() == "closed":
		return company.PRClosed
	}
	return company.PROpen
}

func (c *Client) addLabels(ctx context.Context, pr forge.PR, p *github.PullRequest) error {
	missing := pr.MissingLabels(func(l string) bool {
		return slices.ContainsFunc(p.Labels, func(have *github.Label) bool { return strings.EqualFold(have.GetName(), l) })
	})
	if len(missing) == 0 {
		return nil
	}
	_, err := repeat(ctx, c, "labelling the pull request", func() ([]*github.Label, *github.Response, error) {
		return c.api.Issues.AddLabelsToIssue(ctx, c.repo.Owner, c.repo.Name, p.GetNumber(), missing)
	})
	return err
}

// requestReviews requests reviews from the code owners that the base names.
func (c *Client) requestReviews(ctx context.Context, pr forge.PR, p *github.PullRequest) error {
	if !pr.CodeOwners || p.GetDraft() || len(pr.Paths) == 0 {
		return nil
	}
	text, err := c.readCodeOwners(ctx, p.GetBase().GetRef())
	if err != nil || text == "" {
		return err
	}
	users, teams := forge.CodeOwnersOf(text, pr.Paths)
	asked := func(login string) bool {
		return strings.EqualFold(login, p.GetUser().GetLogin()) ||
			slices.ContainsFunc(p.RequestedReviewers,
				func(u *github.User) bool { return strings.EqualFold(u.GetLogin(), login) })
	}
	users = slices.DeleteFunc(users, asked)
	teams = slices.DeleteFunc(forge.TeamSlugs(teams), func(slug string) bool {
		return slices.ContainsFunc(p.RequestedTeams, func(t *github.Team) bool { return t.GetSlug() == slug })
	})
	refused := func(err error) bool { return statusOf(err) == http.StatusUnprocessableEntity }
	return forge.RequestReviews(users, teams, refused, func(users, teams []string) error {
		_, err := repeat(ctx, c, "asking for reviews", func() (*github.PullRequest, *github.Response, error) {
			return c.api.PullRequests.RequestReviewers(
				ctx, c.repo.Owner, c.repo.Name, p.GetNumber(), github.ReviewersRequest{Reviewers: users, TeamReviewers: teams})
		})
		return err
	})
}

func (c *Client) readCodeOwners(ctx context.Context, base string) (string, error) {
	for _, file := range []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"} {
		f, err := repeat(ctx, c, "reading "+file, func() (*github.RepositoryContent, *github.Response, error) {
			f, _, resp, err := c.api.Repositories.GetContents(
				ctx, c.repo.Owner, c.repo.Name, file, &github.RepositoryContentGetOptions{Ref: base})
			return f, resp, err
		})
		switch {
		case statusOf(err) == http.StatusNotFound:
			continue
		case err != nil:
			return "", err
		case f == nil: // the path is a folder
			continue
		}
		return f.GetContent()
	}
	return "", nil
}
