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
	r, err := c.look(ctx)
	if err != nil || c.app != nil {
		return forge.Access{Push: err == nil}, err
	}
	err = c.once(ctx, "asking what the token may", func() (*github.Response, error) {
		title, head, base := "-", "no..branch", r.GetDefaultBranch()
		_, resp, err := c.api.PullRequests.Create(ctx, c.repo.Owner, c.repo.Name, &github.NewPullRequest{Title: &title, Head: &head, Base: &base})
		return resp, err
	})
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		a.Lacks = append(a.Lacks, "pull requests: write")
	case status == http.StatusUnauthorized, err != nil && status == 0:
		return a, err
	}
	if r.GetPermissions()["push"] && !r.GetArchived() {
		cred, err := c.Credential(ctx)
		if err != nil {
			return a, err
		}
		if a.Push, err = forge.MayPush(ctx, c.via, c.site, c.repo, cred); err != nil {
			return a, err
		}
		if !a.Push {
			a.Lacks = append(a.Lacks, "contents: write")
		}
		return a, nil
	}
	a.Fork, err = c.findFork(ctx)
	return a, err
}

// findFork is the clone URL of the login's fork, under the repository's name;
// empty where there is none. (One of another name is found when it is needed.)
func (c *Client) findFork(ctx context.Context) (string, error) {
	me, err := c.user(ctx)
	if err != nil || me == "" {
		return "", err
	}
	var f *github.Repository
	err = c.do(ctx, "looking for the fork", func() (resp *github.Response, err error) {
		f, resp, err = c.api.Repositories.Get(ctx, me, c.repo.Name)
		return resp, err
	})
	switch {
	case company.CodeOf(err) == company.ENotFound:
		return "", nil
	case err != nil || !strings.EqualFold(f.GetParent().GetFullName(), c.repo.String()):
		return "", err
	}
	return f.GetCloneURL(), nil
}

// asker asks who may push, each person once. The association of an author
// tells less: a member of the organisation may only read. But whoever has none
// may not push, and costs no request.
type asker struct {
	c      *Client
	near   map[string]string // association, by login
	known  map[string]bool
	silent bool // GitHub does not tell this login
	own    bool // the repository is a person's: whoever was invited may push
}

func (c *Client) asker() *asker {
	return &asker{c: c, near: map[string]string{}, known: map[string]bool{}}
}

func (a *asker) among(login, association string) {
	switch association {
	case "OWNER", "MEMBER", "COLLABORATOR":
		a.near[login] = association
	}
}

// push says whether somebody may push to the repository, or to the branch: the
// login's own user may where that is in the user's fork.
func (a *asker) push(ctx context.Context, login string) (bool, error) {
	if login == "" {
		return false, nil
	}
	if may, ok := a.known[login]; ok {
		return may, nil
	}
	me, err := a.c.user(ctx)
	if err != nil {
		return false, err
	}
	may := a.c.app == nil && strings.EqualFold(login, me)
	if !may && a.near[login] != "" {
		may, err = a.ask(ctx, login)
	}
	if err != nil {
		return false, err
	}
	a.known[login] = may
	return may, nil
}

// ask asks GitHub, which tells whoever may push itself. Else, as from a fork,
// the association has to do where it leaves no doubt.
func (a *asker) ask(ctx context.Context, login string) (bool, error) {
	if a.silent {
		return a.near[login] == "OWNER" || a.near[login] == "COLLABORATOR" && a.own, nil
	}
	var level *github.RepositoryPermissionLevel
	err := a.c.do(ctx, "asking what "+login+" may", func() (resp *github.Response, err error) {
		level, resp, err = a.c.api.Repositories.GetPermissionLevel(ctx, a.c.repo.Owner, a.c.repo.Name, login)
		return resp, err
	})
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		r, err := a.c.look(ctx)
		if err != nil {
			return false, err
		}
		a.silent, a.own = true, r.GetOwner().GetType() == "User"
		if !a.own {
			a.c.log.Warn("GitHub tells who may push to those alone who may: of others only the owner is heard", "repository", a.c.repo.String())
		}
		return a.ask(ctx, login)
	case status == http.StatusNotFound: // it knows nobody of that name any more
		return false, nil
	}
	// maintain is told as write, triage as read.
	return level.GetPermission() == "write" || level.GetPermission() == "admin", err
}
