package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"code.gitea.io/sdk/gitea"

	"company/internal/company"
	"company/internal/forge"
)

// draftPrefix is the title prefix by which Gitea recognises a draft.
const draftPrefix = "WIP: "

// Open finds our pull request or opens it. The forge refuses a second open one for a branch. After an unclear answer,
// looking again shows whether it was opened. The forge does not refuse two that are opened at the same moment: see
// closeDuplicates.
func (c *Client) Open(ctx context.Context, pr forge.PR) (forge.OpenedPR, error) {
	return forge.OpenOnce(ctx, pr, c.repo,
		func(err error) bool { return statusOf(err) == http.StatusConflict || isOutcomeUnknown(err) },
		func(pr forge.PR) (*gitea.PullRequest, error) { return c.findOrCreate(ctx, pr) },
		func(pr forge.PR, p *gitea.PullRequest) (forge.OpenedPR, error) { return c.syncPull(ctx, pr, p) })
}

// findOrCreate looks again after creating one, because another may have been created at the same moment.
func (c *Client) findOrCreate(ctx context.Context, pr forge.PR) (*gitea.PullRequest, error) {
	p, err := c.findExisting(ctx, pr)
	if err != nil || p != nil {
		return p, err
	}
	created, err := c.createPull(ctx, pr)
	if err != nil {
		return nil, err
	}
	if p, err = c.findExisting(ctx, pr); p == nil {
		p = created
	}
	return p, err
}

// maxPages limits the pages of one list, and pageSize is the number of entries per page.
const (
	maxPages = 20
	pageSize = 50
)

// findExisting returns the pull request of this office and task, in any state, or nil. Of several open ones it leaves
// one open.
func (c *Client) findExisting(ctx context.Context, pr forge.PR) (*gitea.PullRequest, error) {
	open, err := c.listByBranch(ctx, pr, gitea.StateOpen)
	if err != nil {
		return nil, err
	}
	if ours := pickOurs(pr, open); ours != nil {
		return ours, c.closeDuplicates(ctx, pr, ours, open)
	}
	all, err := c.listByBranch(ctx, pr, gitea.StateAll)
	if err != nil {
		return nil, err
	}
	if ours := pickOurs(pr, all); ours != nil || len(open) == 0 {
		return ours, nil
	}
	return nil, pr.BranchTaken(int(open[0].Index), open[0].HTMLURL)
}

// pickOurs returns the one of our pull requests that takes precedence, or nil if there is none.
func pickOurs(pr forge.PR, all []*gitea.PullRequest) (ours *gitea.PullRequest) {
	for _, p := range all {
		if pr.Owns(int(p.Index), p.Body) && (ours == nil || takesPrecedence(pr, p, ours)) {
			ours = p
		}
	}
	return ours
}

// takesPrecedence reports whether a takes precedence over b: the open one, then the merged one, then the one that was
// delivered before, then the older one.
func takesPrecedence(pr forge.PR, a, b *gitea.PullRequest) bool {
	rank := map[company.PRState]int{company.PROpen: 0, company.PRMerged: 1, company.PRClosed: 2}
	if x, y := rank[pullState(a)], rank[pullState(b)]; x != y {
		return x < y
	}
	if a, b := int(a.Index) == pr.Known, int(b.Index) == pr.Known; a != b {
		return a
	}
	return a.Index < b.Index
}

// closeDuplicates closes a pull request that was opened at the same moment as ours. Gitea checks for another one and
// opens in two steps, so two simultaneous requests both succeed. Each delivery looks for duplicates, since an earlier
// one may have ended before closing them. Only a pull request with our mark and the same base is a duplicate: a
// person may open our branch elsewhere, with our text.
func (c *Client) closeDuplicates(
	ctx context.Context, pr forge.PR, ours *gitea.PullRequest, open []*gitea.PullRequest,
) error {
	for _, p := range open {
		if p.Index == ours.Index || !forge.IsOurs(p.Body, pr.Office, pr.Task) ||
			baseBranch(p) != pr.Base && baseBranch(p) != baseBranch(ours) {
			continue
		}
		if err := c.Close(ctx, forge.Ref{Office: pr.Office, Task: pr.Task, Number: int(p.Index)}); err != nil {
			return err
		}
		c.log.Info("a second pull request of one delivery was closed", "closed", p.HTMLURL, "stays", ours.HTMLURL)
	}
	return nil
}

func baseBranch(p *gitea.PullRequest) string {
	if p.Base == nil {
		return ""
	}
	return p.Base.Ref
}

// listByBranch returns the pull requests of a branch in a state, among its newest thousand. Gitea's list has no
// filter for the head.
func (c *Client) listByBranch(ctx context.Context, pr forge.PR, in gitea.StateType) ([]*gitea.PullRequest, error) {
	all, err := listPages(ctx, c, "looking for the pull request",
		func(api *gitea.Client, o gitea.ListOptions) ([]*gitea.PullRequest, *gitea.Response, error) {
			return api.ListRepoPullRequests(
				c.repo.Owner, c.repo.Name, gitea.ListPullRequestsOptions{State: in, Sort: "recentupdate", ListOptions: o})
		})
	return slices.DeleteFunc(all, func(p *gitea.PullRequest) bool {
		return p.Head == nil || p.Head.Ref != pr.Branch || !strings.EqualFold(headOwner(p, c.repo.Owner), pr.Owner)
	}), err
}

// headOwner returns the owner of the head's repository. A deleted fork has no repository, so the owner is "".
func headOwner(p *gitea.PullRequest, owner string) string {
	switch {
	case p.Head.Repository != nil && p.Head.Repository.Owner != nil:
		return p.Head.Repository.Owner.UserName
	case p.Base != nil && p.Head.RepoID == p.Base.RepoID:
		return owner
	}
	return ""
}

func (c *Client) createPull(ctx context.Context, pr forge.PR) (*gitea.PullRequest, error) {
	title := forge.CleanTitle(pr.Title)
	if pr.Draft {
		title = draftPrefix + title
	}
	head, _ := pr.HeadIn(c.repo)
	return once(ctx, c, "opening the pull request", func(api *gitea.Client) (*gitea.PullRequest, *gitea.Response, error) {
		return api.CreatePullRequest(c.repo.Owner, c.repo.Name,
			gitea.CreatePullRequestOption{Head: head, Base: pr.Base, Title: title, Body: pr.MarkedBody()})
	})
}

// syncPull updates a pull request. It leaves one that a person closed or merged unchanged.
func (c *Client) syncPull(ctx context.Context, pr forge.PR, p *gitea.PullRequest) (forge.OpenedPR, error) {
	out := forge.OpenedPR{Number: int(p.Index), URL: p.HTMLURL, State: pullState(p)}
	if p.Base != nil {
		out.Base = p.Base.Ref
	}
	if out.State != company.PROpen {
		if p.Head != nil {
			out.Head = company.OID(p.Head.Sha)
		}
		return out, nil
	}
	was, _ := forge.ParseOwnership(p.Body)
	now, prefixed := strings.CutPrefix(p.Title, draftPrefix)
	title := pr.ResolveTitle(now, p.Body)
	// A draft of ours becomes ready when its reason is gone. A draft made by a person stays a draft, and one that a
	// person marked ready stays ready.
	switch {
	case p.Draft && prefixed && (pr.Draft || !was.Draft):
		title = draftPrefix + title
	case p.Draft && !prefixed: // with the person's own mark
		title = p.Title
	}
	pr.Draft = pr.Draft && was.Draft
	body := pr.UpdateBody(p.Body)
	if title != p.Title || !forge.SameText(body, p.Body) {
		if err := c.editPull(ctx, "bringing the pull request up to date", p,
			gitea.EditPullRequestOption{Title: title, Body: &body}); err != nil {
			return out, err
		}
	}
	if err := c.addLabels(ctx, pr, p); err != nil {
		c.log.Warn("labels are not set", "pull_request", out.URL, "err", err)
	}
	if err := c.requestReviews(ctx, pr, p); err != nil {
		c.log.Warn("code owners are not asked", "pull_request", out.URL, "err", err)
	}
	return out, nil
}

func (c *Client) editPull(
	ctx context.Context, doing string, p *gitea.PullRequest, edit gitea.EditPullRequestOption,
) error {
	_, err := repeat(ctx, c, doing, func(api *gitea.Client) (*gitea.PullRequest, *gitea.Response, error) {
		return api.EditPullRequest(c.repo.Owner, c.repo.Name, p.Index, edit)
	})
	return err
}

func pullState(p *gitea.PullRequest) company.PRState {
	switch {
	case p.HasMerged:
		return company.PRMerged
	case p.State == gitea.StateClosed:
		return company.PRClosed
	}
	return company.PROpen
}

// addLabels adds labels, which Gitea identifies by number. It creates labels that the repository lacks.
func (c *Client) addLabels(ctx context.Context, pr forge.PR, p *gitea.PullRequest) error {
	missing := pr.MissingLabels(func(l string) bool {
		return slices.ContainsFunc(p.Labels, func(have *gitea.Label) bool { return strings.EqualFold(have.Name, l) })
	})
	if len(missing) == 0 {
		return nil
	}
	all, err := listPages(ctx, c, "reading the labels",
		func(api *gitea.Client, o gitea.ListOptions) ([]*gitea.Label, *gitea.Response, error) {
			return api.ListRepoLabels(c.repo.Owner, c.repo.Name, gitea.ListLabelsOptions{ListOptions: o})
		})
	if err != nil {
		return err
	}
	var ids []int64
	for _, l := range missing {
		var known *gitea.Label
		if i := slices.IndexFunc(all, func(have *gitea.Label) bool { return strings.EqualFold(have.Name, l) }); i >= 0 {
			known = all[i]
		} else if known, err = once(ctx, c, "making a label", func(api *gitea.Client) (*gitea.Label, *gitea.Response, error) {
			return api.CreateLabel(c.repo.Owner, c.repo.Name, gitea.CreateLabelOption{Name: l, Color: "#ededed"})
		}); err != nil {
			return err
		}
		ids = append(ids, known.ID)
	}
	_, err = repeat(ctx, c, "labelling the pull request",
		func(api *gitea.Client) ([]*gitea.Label, *gitea.Response, error) {
			return api.AddIssueLabels(c.repo.Owner, c.repo.Name, p.Index, gitea.IssueLabelsOption{Labels: ids})
		})
	return err
}

// codeOwnerFiles lists the paths of a CODEOWNERS file, the first one first.
var codeOwnerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS"}

// requestReviews requests reviews from the code owners that the base names.
func (c *Client) requestReviews(ctx context.Context, pr forge.PR, p *gitea.PullRequest) error {
	if !pr.CodeOwners || p.Draft || len(pr.Paths) == 0 || p.Base == nil {
		return nil
	}
	var text []byte
	for _, file := range codeOwnerFiles {
		var err error
		text, err = repeat(ctx, c, "reading "+file, func(api *gitea.Client) ([]byte, *gitea.Response, error) {
			return api.GetFile(c.repo.Owner, c.repo.Name, p.Base.Ref, file)
		})
		if err == nil {
			break
		}
		if text = nil; statusOf(err) != http.StatusNotFound {
			return err
		}
	}
	users, teams := forge.CodeOwnersOf(string(text), pr.Paths)
	users = slices.DeleteFunc(users, func(login string) bool {
		return p.Poster != nil && strings.EqualFold(login, p.Poster.UserName) ||
			slices.ContainsFunc(p.RequestedReviewers,
				func(u *gitea.User) bool { return u != nil && strings.EqualFold(u.UserName, login) })
	})
	refused := func(err error) bool {
		s := statusOf(err)
		return s == http.StatusUnprocessableEntity || s == http.StatusNotFound
	}
	return forge.RequestReviews(users, forge.TeamSlugs(teams), refused, func(users, teams []string) error {
		return c.tryCall(ctx, "asking for reviews", true, func(api *gitea.Client) (*gitea.Response, error) {
			return api.CreateReviewRequests(
				c.repo.Owner, c.repo.Name, p.Index, gitea.PullReviewRequestOptions{Reviewers: users, TeamReviewers: teams})
		})
	})
}

// Close closes a pull request of ours without merging it.
func (c *Client) Close(ctx context.Context, ref forge.Ref) error {
	p, err := c.getPull(ctx, ref.Number)
	if err != nil {
		return err
	}
	if p.State != gitea.StateOpen {
		return nil
	}
	if err := ref.CheckOurs(p.Body, p.HTMLURL); err != nil {
		return err
	}
	return c.editPull(ctx, "closing the pull request", p, gitea.EditPullRequestOption{State: new(gitea.StateClosed)})
}

func (c *Client) getPull(ctx context.Context, number int) (*gitea.PullRequest, error) {
	return repeat(ctx, c, fmt.Sprintf("looking at pull request #%d", number),
		func(api *gitea.Client) (*gitea.PullRequest, *gitea.Response, error) {
			return api.GetPullRequest(c.repo.Owner, c.repo.Name, int64(number))
		})
}
