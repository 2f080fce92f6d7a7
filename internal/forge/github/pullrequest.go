package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/retry"
)

// openTries is how often a pull request is looked for and opened in one call.
const openTries = 4

// Open finds our pull request or opens it. Whatever happens in between, a
// repeat finds what is there: GitHub itself refuses a second open one for a
// branch, so another look shows the result of an unclear answer.
func (c *Client) Open(ctx context.Context, pr forge.PR) (forge.OpenedPR, error) {
	if pr.Owner == "" {
		pr.Owner = c.repo.Owner
	}
	var err error
	for try := range openTries {
		if try > 0 {
			if err := retry.Sleep(ctx, time.Second<<(try-1)); err != nil {
				return forge.OpenedPR{}, err
			}
		}
		var p *github.PullRequest
		if p, err = c.findExisting(ctx, pr); err != nil {
			return forge.OpenedPR{}, err
		}
		if p == nil {
			p, err = c.createPull(ctx, pr)
		}
		switch {
		case err == nil:
			return c.syncPull(ctx, pr, p)
		case !errors.Is(err, errExists) && !isOutcomeUnknown(err):
			return forge.OpenedPR{}, err
		}
	}
	return forge.OpenedPR{}, err
}

// findExisting is the pull request of this office and task, in any state; nil: there
// is none. An open one on our branch that is not ours is in the way.
func (c *Client) findExisting(ctx context.Context, pr forge.PR) (*github.PullRequest, error) {
	var all []*github.PullRequest
	err := c.callWithRetry(ctx, "looking for the pull request", func() (resp *github.Response, err error) {
		all, resp, err = c.api.PullRequests.List(ctx, c.repo.Owner, c.repo.Name, &github.PullRequestListOptions{
			State: "all", Head: pr.Owner + ":" + pr.Branch, ListOptions: github.ListOptions{PerPage: 100},
		})
		return resp, err
	})
	if err != nil {
		return nil, err
	}
	var ours, theirs *github.PullRequest
	for _, p := range all {
		// An old server that does not know the filter lists everything.
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
		return nil, company.E(company.EConflict, fmt.Sprintf("pull request #%d of branch %s is not this office's", theirs.GetNumber(), pr.Branch)).
			Because("its text does not carry the mark of office " + pr.Office + " and " + string(pr.Task)).
			Fix("close it (" + theirs.GetHTMLURL() + "), then answer with approve to try again").NeedsPerson()
	}
	return ours, nil
}

// errExists: GitHub has an open pull request for the branch, which the list
// did not show yet.
var errExists = errors.New("there is one already")

func (c *Client) createPull(ctx context.Context, pr forge.PR) (*github.PullRequest, error) {
	title, body, draft := forge.CleanTitle(pr.Title), pr.MarkedBody(), pr.Draft
	fork := !strings.EqualFold(pr.Owner, c.repo.Owner)
	head := pr.Branch
	if fork {
		head = pr.Owner + ":" + pr.Branch
	}
	for {
		var p *github.PullRequest
		err := c.callOnce(ctx, "opening the pull request", func() (resp *github.Response, err error) {
			in := &github.NewPullRequest{Title: &title, Head: &head, Base: &pr.Base, Body: &body, Draft: &draft}
			if fork {
				in.MaintainerCanModify = new(true)
			}
			p, resp, err = c.api.PullRequests.Create(ctx, c.repo.Owner, c.repo.Name, in)
			return resp, err
		})
		var e *github.ErrorResponse
		if !errors.As(err, &e) || e.Response.StatusCode != http.StatusUnprocessableEntity {
			return p, err
		}
		said := strings.ToLower(e.Error())
		switch {
		case strings.Contains(said, "already exists"):
			return nil, errors.Join(errExists, company.E(company.EForge, "GitHub says that the pull request exists, and does not list it").
				Because("its lists are behind for a while"))
		case draft && strings.Contains(said, "draft"):
			// This repository's plan has no drafts. The mark goes with it, so that
			// nothing is made ready later that a person turned into a draft.
			draft, pr.Draft = false, false
			body = pr.MarkedBody()
			continue
		case strings.Contains(said, "no commits between"):
			return nil, company.E(company.EForge, fmt.Sprintf("%s holds all of %s already", pr.Base, pr.Branch)).Because("there is nothing to ask for").
				Fix("see git log " + pr.Base + "; company cancel " + string(pr.Task) + " ends the task").NeedsPerson()
		}
		return nil, err
	}
}

// syncPull brings a pull request up to date. One that a person has closed or
// merged is left as it is.
func (c *Client) syncPull(ctx context.Context, pr forge.PR, p *github.PullRequest) (forge.OpenedPR, error) {
	out := forge.OpenedPR{Number: p.GetNumber(), URL: p.GetHTMLURL(), State: pullState(p)}
	if out.State != company.PROpen {
		return out, nil
	}
	was, _ := forge.ParseOwnership(p.GetBody())
	// Opened as a draft by us, and its reasons are gone: ready. A draft that a
	// person made stays one.
	ready := was.Draft && !pr.Draft && p.GetDraft()
	if pr.Draft && !was.Draft {
		pr.Draft = false // a person made it ready, or it never was one
	}
	title, body := pr.ResolveTitle(p.GetTitle(), p.GetBody()), pr.UpdateBody(p.GetBody())
	if title != p.GetTitle() || !sameText(body, p.GetBody()) {
		if err := c.callWithRetry(ctx, "bringing the pull request up to date", func() (*github.Response, error) {
			_, resp, err := c.api.PullRequests.Edit(ctx, c.repo.Owner, c.repo.Name, out.Number, &github.PullRequest{Title: &title, Body: &body})
			return resp, err
		}); err != nil {
			return out, err
		}
	}
	if ready {
		if err := c.markReady(ctx, p.GetNodeID()); err != nil {
			return out, err
		}
	}
	// What follows is a courtesy: without the right to it, the pull request is
	// open all the same.
	if err := c.addLabels(ctx, pr, p); err != nil {
		c.log.Warn("labels are not set", "pull_request", out.URL, "err", err)
	}
	if err := c.requestReviews(ctx, pr, p); err != nil {
		c.log.Warn("code owners are not asked", "pull_request", out.URL, "err", err)
	}
	return out, nil
}

// sameText compares bodies as GitHub keeps them: with CRLF after an edit on
// the page.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
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
	var missing []string
	for _, l := range pr.Labels {
		if !slices.ContainsFunc(p.Labels, func(have *github.Label) bool { return strings.EqualFold(have.GetName(), l) }) {
			missing = append(missing, l)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return c.callWithRetry(ctx, "labelling the pull request", func() (*github.Response, error) {
		_, resp, err := c.api.Issues.AddLabelsToIssue(ctx, c.repo.Owner, c.repo.Name, p.GetNumber(), missing)
		return resp, err
	})
}

// requestReviews asks for the reviews of the code owners that the base names.
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
			slices.ContainsFunc(p.RequestedReviewers, func(u *github.User) bool { return strings.EqualFold(u.GetLogin(), login) })
	}
	users = slices.DeleteFunc(users, asked)
	for i, t := range teams {
		teams[i] = t[strings.LastIndexByte(t, '/')+1:]
	}
	teams = slices.DeleteFunc(teams, func(slug string) bool {
		return slices.ContainsFunc(p.RequestedTeams, func(t *github.Team) bool { return t.GetSlug() == slug })
	})
	request := func(users, teams []string) error {
		if len(users)+len(teams) == 0 {
			return nil
		}
		return c.callWithRetry(ctx, "asking for reviews", func() (*github.Response, error) {
			_, resp, err := c.api.PullRequests.RequestReviewers(ctx, c.repo.Owner, c.repo.Name, p.GetNumber(), github.ReviewersRequest{Reviewers: users, TeamReviewers: teams})
			return resp, err
		})
	}
	if err = request(users, teams); err == nil || statusOf(err) != http.StatusUnprocessableEntity {
		return err
	}
	// One person without the right to review fails the whole request: each by
	// itself.
	var all []error
	for _, u := range users {
		all = append(all, request([]string{u}, nil))
	}
	for _, t := range teams {
		all = append(all, request(nil, []string{t}))
	}
	return errors.Join(all...)
}

func (c *Client) readCodeOwners(ctx context.Context, base string) (string, error) {
	for _, file := range forge.CodeOwnerFiles[:3] {
		var f *github.RepositoryContent
		err := c.callWithRetry(ctx, "reading "+file, func() (resp *github.Response, err error) {
			f, _, resp, err = c.api.Repositories.GetContents(ctx, c.repo.Owner, c.repo.Name, file, &github.RepositoryContentGetOptions{Ref: base})
			return resp, err
		})
		switch {
		case statusOf(err) == http.StatusNotFound:
			continue
		case err != nil:
			return "", err
		case f == nil: // a folder of that name
			continue
		}
		return f.GetContent()
	}
	return "", nil
}
