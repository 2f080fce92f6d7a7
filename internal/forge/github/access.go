package github

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
)

// Access returns the permissions of the login. A fine-grained token's permissions cannot be queried, so Access tries
// to open a pull request in a way that has no effect: from a branch with an invalid name. An App's permissions were
// granted at its installation.
func (c *Client) Access(ctx context.Context) (forge.Access, error) {
	var access forge.Access
	r, err := c.getRepository(ctx)
	if err != nil || c.app != nil {
		return forge.Access{Push: err == nil}, err
	}
	_, err = once(ctx, c, "asking what the token may", func() (*github.PullRequest, *github.Response, error) {
		title := "-"
		head := "no..branch"
		base := r.GetDefaultBranch()
		return c.api.PullRequests.Create(
			ctx, c.repo.Owner, c.repo.Name, &github.NewPullRequest{Title: &title, Head: &head, Base: &base})
	})
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		access.MissingPermissions = append(access.MissingPermissions, "pull requests: write")
	case status == http.StatusUnauthorized, err != nil && status == 0:
		return access, err
	}
	if r.GetPermissions()["push"] && !r.GetArchived() {
		cred, err := c.Credential(ctx)
		if err != nil {
			return access, err
		}
		if access.Push, err = forge.MayPush(ctx, c.bareTransport, c.site, c.repo, cred); err != nil {
			return access, err
		}
		if !access.Push {
			access.MissingPermissions = append(access.MissingPermissions, "contents: write")
		}
		return access, nil
	}
	access.Fork, err = c.findFork(ctx)
	return access, err
}

// findFork returns the clone URL of the login's fork with the repository's name, or "" if there is none. A fork with
// another name is found later, when it is needed.
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

// permissionChecker checks whether people may push, once per login. An author's association alone is not sufficient,
// because a member of the organisation may have read permission only. But an author without an association may not
// push, and needs no request.
type permissionChecker struct {
	c            *Client
	associations map[string]string // by login
	cache        map[string]bool
	denied       bool // GitHub does not show this login other people's permissions
	personalRepo bool // the repository belongs to a person: invited people may push
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

// mayPush reports whether a person may push to the repository or to the branch. The login's own user may push to a
// branch in their fork.
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

// queryPermission asks GitHub, which only answers logins that may push themselves. Otherwise, as from a fork, it uses
// the association if that is unambiguous.
func (a *permissionChecker) queryPermission(ctx context.Context, login string) (bool, error) {
	if a.denied {
		return a.associations[login] == "OWNER" || a.associations[login] == "COLLABORATOR" && a.personalRepo, nil
	}
	level, err := repeat(ctx, a.c, "asking what "+login+" may",
		func() (*github.RepositoryPermissionLevel, *github.Response, error) {
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
			a.c.log.Warn("GitHub shows rights to push only to accounts that have it: only the owner is heard", "repository",
				a.c.repo.String())
		}
		return a.queryPermission(ctx, login)
	case status == http.StatusNotFound: // the user no longer exists
		return false, nil
	}
	// GitHub reports maintain as write, triage as read.
	return level.GetPermission() == "write" || level.GetPermission() == "admin", err
}
