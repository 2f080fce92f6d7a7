package gitea

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"code.gitea.io/sdk/gitea"

	"company/internal/forge"
)

// Access is what the login may do. A token of Gitea's cannot be asked what it
// may, so it is tried with requests that nothing comes of: a pull request from
// nowhere to nowhere, no labels on number 0.
func (c *Client) Access(ctx context.Context) (forge.Access, error) {
	var a forge.Access
	r, err := c.look(ctx, c.repo.Owner, c.repo.Name)
	if err != nil {
		return a, err
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
		err := c.once(ctx, "asking what the token may", try)
		switch status := statusOf(err); {
		case status == http.StatusForbidden:
			a.Lacks = append(a.Lacks, scopesIn(err))
		case status == http.StatusUnauthorized, err != nil && status == 0:
			return a, err
		}
	}
	if may {
		cred, err := c.login(ctx)
		if err != nil {
			return a, err
		}
		if a.Push, err = forge.MayPush(ctx, c.http.Transport, c.site, c.repo, cred); err != nil {
			return a, err
		}
		if !a.Push && len(a.Lacks) == 0 {
			a.Lacks = append(a.Lacks, "write:repository")
		}
		return a, nil
	}
	if slices.Contains(a.Lacks, "read:user") {
		return a, nil // whose fork it would be is not known
	}
	t, err := c.findFork(ctx)
	a.Fork = t.URL
	return a, err
}

var scopeRE = regexp.MustCompile(`required=\[([a-z:, ]+)\]`)

// scopesIn are the scopes that a refusal names.
func scopesIn(err error) string {
	var e *apiError
	if !errors.As(err, &e) {
		return "a permission"
	}
	if m := scopeRE.FindStringSubmatch(e.said); m != nil {
		return m[1]
	}
	return e.said
}

// asker asks who may push, each person once.
type asker struct {
	c      *Client
	people map[string]bool // who can be assigned; nil: not read yet
	known  map[string]bool
	silent bool // the forge tells this login nothing of others
	teams  []*gitea.Team
}

func (c *Client) asker() *asker { return &asker{c: c, known: map[string]bool{}} }

// push says whether somebody may push. Those who can be assigned are everybody
// who may, and members of teams that only read. Of a person's permission Gitea
// tells administrators of the repository, and it says "read" of a member of a team that writes, since a team's rights are by
// unit. So the list is believed where every team of the repository may push,
// and else a writing team is asked for its member, which its members and the
// organisation's owners may do. Whom nothing vouches for is not heard.
func (a *asker) push(ctx context.Context, who string) (bool, error) {
	who = strings.ToLower(who)
	if may, ok := a.known[who]; ok {
		return may, nil
	}
	if a.people == nil {
		if err := a.read(ctx); err != nil {
			return false, err
		}
	}
	me, err := a.c.user(ctx)
	if err != nil {
		return false, err
	}
	may := who == strings.ToLower(me) // the branch is in this user's fork, or may be pushed to
	if !may && a.people[who] {
		if may, err = a.ask(ctx, who); err == nil && !may {
			may, err = a.inTeam(ctx, who)
		}
		if err != nil {
			return false, err
		}
	}
	a.known[who] = may
	return may, nil
}

// read reads who can be assigned, and the teams of the repository: a person's
// own has none.
func (a *asker) read(ctx context.Context) error {
	people := map[string]bool{}
	err := a.c.do(ctx, "asking who can be assigned", func(api *gitea.Client) (*gitea.Response, error) {
		users, resp, err := api.GetAssignees(a.c.repo.Owner, a.c.repo.Name)
		for _, u := range users {
			people[strings.ToLower(u.UserName)] = true
		}
		return resp, err
	})
	if err != nil {
		return err
	}
	err = a.c.do(ctx, "reading the teams", func(api *gitea.Client) (resp *gitea.Response, err error) {
		a.teams, resp, err = api.GetRepoTeams(a.c.repo.Owner, a.c.repo.Name)
		return resp, err
	})
	if err == nil || statusOf(err) == http.StatusMethodNotAllowed { // so says Gitea of a person's repository
		a.people = people
		return nil
	}
	return err
}

// ask asks for the permission of a person.
func (a *asker) ask(ctx context.Context, who string) (bool, error) {
	if a.silent {
		return false, nil
	}
	var got *gitea.CollaboratorPermissionResult
	err := a.c.do(ctx, "asking what "+who+" may", func(api *gitea.Client) (resp *gitea.Response, err error) {
		got, resp, err = api.CollaboratorPermission(a.c.repo.Owner, a.c.repo.Name, who)
		return resp, err
	})
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		a.silent = true
		return false, nil
	case status == http.StatusNotFound:
		return false, nil
	}
	return err == nil && got != nil && writes(got.Permission), err
}

// inTeam says whether somebody who can be assigned may push by a team.
func (a *asker) inTeam(ctx context.Context, who string) (bool, error) {
	if !slices.ContainsFunc(a.teams, func(t *gitea.Team) bool { return !teamWrites(t) }) {
		return true, nil
	}
	for _, t := range a.teams {
		if !teamWrites(t) {
			continue
		}
		err := a.c.do(ctx, "asking whether "+who+" is in "+t.Name, func(api *gitea.Client) (*gitea.Response, error) {
			_, resp, err := api.GetTeamMember(t.ID, who)
			return resp, err
		})
		switch statusOf(err) {
		case http.StatusForbidden, http.StatusNotFound:
			a.c.log.Info("a team does not tell whether somebody is its member", "team", t.Name, "person", who)
		default:
			return err == nil, err
		}
	}
	return false, nil
}

func teamWrites(t *gitea.Team) bool {
	return writes(t.Permission) || writes(gitea.AccessMode(t.UnitsMap["repo.code"]))
}

func writes(m gitea.AccessMode) bool {
	return m == gitea.AccessModeWrite || m == gitea.AccessModeAdmin || m == gitea.AccessModeOwner
}
