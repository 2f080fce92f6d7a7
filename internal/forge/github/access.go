package github

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
)

// Access is what the login may do. A fine-grained token cannot be asked what
// it may, so opening is tried with a request that nothing comes of: a pull
// request of a branch whose name no branch can have. An App's permissions were
// agreed to when it was installed.
func (c *Client) Access(ctx context.Context) (forge.Access, error) {
	var a forge.Access
	r, err := c.getRepository(ctx)
	if err != nil || c.app != nil {
		return forge.Access{Push: err == nil}, err
	}
	_, err = once(ctx, c, "asking what the token may", func() (*github.PullRequest, *github.Response, error) {
		title, head, base := "-", "no..branch", r.GetDefaultBranch()
		return c.api.PullRequests.Create(ctx, c.repo.Owner, c.repo.Name, &github.NewPullRequest{Title: &title, Head: &head, Base: &base})
	})
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		a.MissingPermissions = append(a.MissingPermissions, "pull requests: write")
	case status == http.StatusUnauthorized, err != nil && status == 0:
		return a, err
	}
	if r.GetPermissions()["push"] && !r.GetArchived() {
		cred, err := c.Credential(ctx)
		if err != nil {
			return a, err
		}
		if a.Push, err = forge.MayPush(ctx, c.bareTransport, c.site, c.repo, cred); err != nil {
			return a, err
		}
		if !a.Push {
			a.MissingPermissions = append(a.MissingPermissions, "contents: write")
		}
		return a, nil
	}
	a.Fork, err = c.findFork(ctx)
	return a, err
}

// findFork is the clone URL of the login's fork, under the repository's name;
// empty where there is none. (One of another name is found when it is needed.)
func (c *Client) findFork(ctx context.Context) (string, error) {
	me, err := c.currentUser(ctx)
	if err != nil || me == "" {
		return "", err
	}
	f, err := c.getRepositoryOf(ctx, "looking for the fork", me, c.repo.Name)
	switch {
	case company.CodeOf(err) == company.ENotFound:
		return "", nil
	case err != nil || !strings.EqualFold(f.GetParent().GetFullName(), c.repo.String()):
		return "", err
	}
	return f.GetCloneURL(), nil
}

// permissionChecker asks whether people may push, once each. An author's
// association alone does not decide: a member of the organisation may only
// read. But an author without one may not push, and costs no request.
type permissionChecker struct {
	c            *Client
	associations map[string]string // association, by login
	cache        map[string]bool
	denied       bool // GitHub does not tell this login
	personalRepo bool // the repository is a person's: invited people may push
}

func (c *Client) newPermissionChecker() *permissionChecker {
	return &permissionChecker{c: c, associations: map[string]string{}, cache: map[string]bool{}}
}

func (a *permissionChecker) noteAssociation(login, association string) {
	switch association {
	case "OWNER", "MEMBER", "COLLABORATOR":
		a.associations[login] = association
	}
}

// mayPush says whether a person may push to the repository, or to the branch:
// the login's own user may where that is in the user's fork.
func (a *permissionChecker) mayPush(ctx context.Context, login string) (bool, error) {
	if login == "" {
		return false, nil
	}
	if may, ok := a.cache[login]; ok {
		return may, nil
	}
	me, err := a.c.currentUser(ctx)
	if err != nil {
		return false, err
	}
	may := a.c.app == nil && strings.EqualFold(login, me)
	if !may && a.associations[login] != "" {
		may, err = a.queryPermission(ctx, login)
	}
	if err != nil {
		return false, err
	}
	a.cache[login] = may
	return may, nil
}

// queryPermission asks GitHub, which answers logins that may push themselves.
// Else, as from a fork, the association has to do where it leaves no doubt.
func (a *permissionChecker) queryPermission(ctx context.Context, login string) (bool, error) {
	if a.denied {
		return a.associations[login] == "OWNER" || a.associations[login] == "COLLABORATOR" && a.personalRepo, nil
	}
	level, err := repeat(ctx, a.c, "asking what "+login+" may", func() (*github.RepositoryPermissionLevel, *github.Response, error) {
		return a.c.api.Repositories.GetPermissionLevel(ctx, a.c.repo.Owner, a.c.repo.Name, login)
	})
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		r, err := a.c.getRepository(ctx)
		if err != nil {
			return false, err
		}
		a.denied, a.personalRepo = true, r.GetOwner().GetType() == "User"
		if !a.personalRepo {
			a.c.log.Warn("GitHub shows rights to push only to accounts that have it: only the owner is heard", "repository", a.c.repo.String())
		}
		return a.queryPermission(ctx, login)
	case status == http.StatusNotFound: // it has no user of that name any more
		return false, nil
	}
	// GitHub reports maintain as write, triage as read.
	return level.GetPermission() == "write" || level.GetPermission() == "admin", err
}
