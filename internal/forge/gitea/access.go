package gitea

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"code.gitea.io/sdk/gitea"

	"company/internal/forge"
	"company/internal/lib/lazyregexp"
)

// Access returns the permissions of the login. Gitea cannot list a token's permissions, so Access sends requests
// without effect: a pull request without branches, and no labels for the issue of number 0.
func (c *Client) Access(ctx context.Context) (forge.Access, error) {
	var access forge.Access
	r, err := c.getRepository(ctx, c.repo.Owner, c.repo.Name)
	if err != nil {
		return access, err
	}
	may := r.Permissions != nil && r.Permissions.Push && !r.Archived
	tries := []func(api *gitea.Client) (*gitea.Response, error){
		func(api *gitea.Client) (*gitea.Response, error) {
			_, resp, err := api.GetMyUserInfo()
			return resp, err
		},
		func(api *gitea.Client) (*gitea.Response, error) {
			_, resp, err := api.GetOrg(c.repo.Owner)
			return resp, err
		},
		func(api *gitea.Client) (*gitea.Response, error) {
			_, resp, err := api.CreatePullRequest(c.repo.Owner, c.repo.Name, gitea.CreatePullRequestOption{})
			return resp, err
		},
		func(api *gitea.Client) (*gitea.Response, error) {
			_, resp, err := api.AddIssueLabels(c.repo.Owner, c.repo.Name, 0, gitea.IssueLabelsOption{})
			return resp, err
		},
	}
	for _, try := range tries {
		err := c.tryCall(ctx, "asking what the token may", false, try)
		switch status := statusOf(err); {
		case status == http.StatusForbidden:
			access.MissingPermissions = append(access.MissingPermissions, scopesIn(err))
		case status == http.StatusUnauthorized, err != nil && status == 0:
			return access, err
		}
	}
	if may {
		cred, err := c.login(ctx)
		if err != nil {
			return access, err
		}
		if access.Push, err = forge.MayPush(ctx, c.http.Transport, c.site, c.repo, cred); err != nil {
			return access, err
		}
		if !access.Push && len(access.MissingPermissions) == 0 {
			access.MissingPermissions = append(access.MissingPermissions, "write:repository")
		}
		return access, nil
	}
	if slices.Contains(access.MissingPermissions, "read:user") {
		return access, nil // the owner of a fork is unknown
	}
	t, err := c.findFork(ctx)
	access.Fork = t.URL
	return access, err
}

var scopeRE = lazyregexp.New(`required=\[([a-z:, ]+)\]`)

// scopesIn returns the missing scopes that an error names.
func scopesIn(err error) string {
	var e *apiError
	if !errors.As(err, &e) {
		return "a permission"
	}
	if m := scopeRE.FindStringSubmatch(e.message); m != nil {
		return m[1]
	}
	return e.message
}

// permissionChecker checks whether people may push, once per login.
type permissionChecker struct {
	c         *Client
	assignees map[string]bool // logins that can be assigned; nil until loaded
	cache     map[string]bool
	denied    bool // the forge does not show this login other people's permissions
	teams     []*gitea.Team
}

func (c *Client) newPermissionChecker() *permissionChecker {
	return &permissionChecker{c: c, cache: map[string]bool{}}
}

// mayPush reports whether a person may push. The assignable people are all with push permission, plus members of
// read-only teams. Gitea shows a person's permission only to repository administrators, and reports "read" for a
// member of a writing team, since a team's rights are per unit. So the list is trusted if every team of the
// repository may push. Otherwise the writing teams are asked for the member, which only their members and the
// organisation's owners may do. A person that neither confirms does not count.
func (a *permissionChecker) mayPush(ctx context.Context, who string) (bool, error) {
	who = strings.ToLower(who)
	if may, ok := a.cache[who]; ok {
		return may, nil
	}
	if a.assignees == nil {
		if err := a.loadAssignees(ctx); err != nil {
			return false, err
		}
	}
	me, err := a.c.currentUser(ctx)
	if err != nil {
		return false, err
	}
	may := who == strings.ToLower(me) // the branch is in this user's fork, or this user may push to it
	if !may && a.assignees[who] {
		if may, err = a.queryPermission(ctx, who); err == nil && !may {
			may, err = a.inWritingTeam(ctx, who)
		}
		if err != nil {
			return false, err
		}
	}
	a.cache[who] = may
	return may, nil
}

// loadAssignees reads the assignable people and the repository's teams. A person's own repository has no teams.
func (a *permissionChecker) loadAssignees(ctx context.Context) error {
	users, err := repeatList(ctx, a.c, "asking who can be assigned",
		func(api *gitea.Client) ([]*gitea.User, *gitea.Response, error) {
			return api.GetAssignees(a.c.repo.Owner, a.c.repo.Name)
		})
	if err != nil {
		return err
	}
	people := map[string]bool{}
	for _, u := range users {
		people[strings.ToLower(u.UserName)] = true
	}
	a.teams, err = repeatList(ctx, a.c, "reading the teams",
		func(api *gitea.Client) ([]*gitea.Team, *gitea.Response, error) {
			return api.GetRepoTeams(a.c.repo.Owner, a.c.repo.Name)
		})
	if err == nil || statusOf(err) == http.StatusMethodNotAllowed { // Gitea's answer for a person's repository
		a.assignees = people
		return nil
	}
	return err
}

// queryPermission reports whether the forge confirms a person's permission to write.
func (a *permissionChecker) queryPermission(ctx context.Context, who string) (bool, error) {
	if a.denied {
		return false, nil
	}
	got, err := repeat(ctx, a.c, "asking what "+who+" may",
		func(api *gitea.Client) (*gitea.CollaboratorPermissionResult, *gitea.Response, error) {
			return api.CollaboratorPermission(a.c.repo.Owner, a.c.repo.Name, who)
		})
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		a.denied = true
		return false, nil
	case status == http.StatusNotFound:
		return false, nil
	}
	return err == nil && got != nil && canWrite(got.Permission), err
}

// inWritingTeam reports whether an assignable person may push through a team.
func (a *permissionChecker) inWritingTeam(ctx context.Context, who string) (bool, error) {
	if !slices.ContainsFunc(a.teams, func(t *gitea.Team) bool { return !teamCanWrite(t) }) {
		return true, nil
	}
	for _, t := range a.teams {
		if !teamCanWrite(t) {
			continue
		}
		_, err := repeat(ctx, a.c, "asking whether "+who+" is in "+t.Name,
			func(api *gitea.Client) (*gitea.User, *gitea.Response, error) {
				return api.GetTeamMember(t.ID, who)
			})
		switch statusOf(err) {
		case http.StatusForbidden, http.StatusNotFound:
			a.c.log.Info("a team does not show its members", "team", t.Name, "person", who)
		default:
			return err == nil, err
		}
	}
	return false, nil
}

func teamCanWrite(t *gitea.Team) bool {
	return canWrite(t.Permission) || canWrite(gitea.AccessMode(t.UnitsMap["repo.code"]))
}

func canWrite(m gitea.AccessMode) bool {
	return m == gitea.AccessModeWrite || m == gitea.AccessModeAdmin || m == gitea.AccessModeOwner
}
