// Package github is the forge of repositories on GitHub and GitHub Enterprise.
// It owns the calls to its API: finding or opening exactly one pull request per
// task, keeping its text up to date, a fork where there is no right to push,
// feedback, and logging in with a token or as a GitHub App. It promises that a
// token goes to the API's own host only, that rate limits are kept to and
// waited for within a bound, and that every call ends. It does not push, and it
// merges for a person's command alone.
package github

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/retry"
)

// Driver is what the wiring registers.
var Driver = forge.Driver{
	Open: func(o forge.Options) (forge.Forge, error) { return New(o) },
	Home: "https://github.com",
	User: "x-access-token",
	// What gh reads: for github.com, and for an Enterprise.
	TokenEnvs:        []string{"GITHUB_TOKEN", "GH_TOKEN"},
	OtherTokenEnvs:   []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"},
	TokenPermissions: "contents and pull requests: read and write, checks and commit statuses: read; of a classic one: repo",
}

// Client is one repository on GitHub.
type Client struct {
	repo          forge.Repo
	site          *url.URL // for people
	api           *github.Client
	graphURL      string // address of the GraphQL API
	log           *slog.Logger
	login         func(ctx context.Context) (forge.Credential, error)
	app           *appLogin         // nil: not a GitHub App
	bareTransport http.RoundTripper // without a login

	mu     sync.Mutex
	target *forge.Target
	// me is the account of the login, as user tells it, where that is known.
	me      string
	meKnown bool
}

var _ forge.Forge = (*Client)(nil)

// New is the forge of one repository. Nothing is asked yet.
func New(o forge.Options) (*Client, error) {
	api := *o.URL
	graph := api
	if o.URL.Hostname() == "github.com" {
		api.Host, api.Path = "api.github.com", "/"
		graph.Host, graph.Path = "api.github.com", "/graphql"
	} else {
		root := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(api.Path, "/"), "/v3"), "/api")
		api.Path, graph.Path = root+"/api/v3/", root+"/api/graphql"
	}
	c := &Client{repo: o.Repo, site: o.URL, graphURL: graph.String(), log: o.Log, login: o.Login}
	c.log = cmp.Or(c.log, slog.New(slog.DiscardHandler))
	base := o.Transport
	base = cmp.Or(base, http.DefaultTransport)
	c.bareTransport = base
	if o.App.ID != 0 {
		var err error
		if c.app, err = newApp(o.App, o.AppKey, api.String(), c.repo, base); err != nil {
			return nil, err
		}
	}
	c.api = github.NewClient(&http.Client{
		Transport: &timeoutTransport{&authTransport{scheme: api.Scheme, host: api.Host, credential: c.Credential, next: &etagTransport{next: forge.LimitReplies(base)}}},
	})
	c.api.BaseURL, c.api.UserAgent = &api, "company"
	return c, nil
}

// Kind is github.
func (*Client) Kind() string { return "github" }

// Credential is the operator's token, or one of the App's installation.
func (c *Client) Credential(ctx context.Context) (forge.Credential, error) {
	if c.app == nil {
		return c.login(ctx)
	}
	cred, err := c.app.installationToken(ctx)
	if err != nil {
		return cred, c.explainError(ctx, "logging in as the GitHub App", err)
	}
	return cred, nil
}

// Target is the repository where the login may push to it, and its fork where
// not. A GitHub App has no fork: it is installed where it may push.
func (c *Client) Target(ctx context.Context) (forge.Target, error) {
	c.mu.Lock()
	known := c.target
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	t, err := c.findTarget(ctx)
	if err == nil {
		c.mu.Lock()
		c.target = &t
		c.mu.Unlock()
	}
	return t, err
}

func (c *Client) findTarget(ctx context.Context) (forge.Target, error) {
	if c.app != nil {
		return forge.Target{}, nil
	}
	r, err := c.getRepository(ctx)
	if err != nil {
		return forge.Target{}, err
	}
	switch {
	case r.GetArchived():
		return forge.Target{}, c.repo.Archived()
	case r.GetPermissions()["push"]:
		return forge.Target{}, nil
	}
	return c.ensureFork(ctx)
}

func (c *Client) getRepository(ctx context.Context) (*github.Repository, error) {
	return c.getRepositoryOf(ctx, "looking at the repository", c.repo.Owner, c.repo.Name)
}

func (c *Client) getRepositoryOf(ctx context.Context, doing, owner, name string) (*github.Repository, error) {
	return repeat(ctx, c, doing, func() (*github.Repository, *github.Response, error) { return c.api.Repositories.Get(ctx, owner, name) })
}

// forkWait is how long a new fork may take to be there.
const forkWait = time.Minute

// ensureFork finds the login's fork of the repository or makes it: GitHub does both
// with one call.
func (c *Client) ensureFork(ctx context.Context) (forge.Target, error) {
	f, err := repeat(ctx, c, "forking "+c.repo.String()+", since the login may not push to it", func() (*github.Repository, *github.Response, error) {
		f, resp, err := c.api.Repositories.CreateFork(ctx, c.repo.Owner, c.repo.Name, &github.RepositoryCreateForkOptions{DefaultBranchOnly: true})
		if _, later := err.(*github.AcceptedError); later { //nolint:errorlint // as its documentation says
			err = nil
		}
		return f, resp, err
	})
	if err != nil {
		return forge.Target{}, err
	}
	owner, name := f.GetOwner().GetLogin(), f.GetName()
	for start, wait := time.Now(), 250*time.Millisecond; ; wait = min(2*wait, 4*time.Second) {
		there, err := c.getRepositoryOf(ctx, "waiting for the fork", owner, name)
		switch {
		case err == nil && !strings.EqualFold(there.GetParent().GetFullName(), c.repo.String()):
			return forge.Target{}, company.E(company.EConflict, fmt.Sprintf("%s/%s is not a fork of %s", owner, name, c.repo)).Fix("rename it, then answer with approve to try again").NeedsPerson()
		case err == nil:
			return forge.Target{URL: there.GetCloneURL(), Owner: owner}, nil
		case company.CodeOf(err) != company.ENotFound && company.CodeOf(err) != company.EAuth:
			return forge.Target{}, err
		case time.Since(start) > forkWait:
			return forge.Target{}, company.E(company.EForge, fmt.Sprintf("the fork %s/%s is not there yet", owner, name)).Because("GitHub is still making it")
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return forge.Target{}, err
		}
	}
}

// currentUser is the account that this login writes with. It is empty where GitHub
// does not tell: a token that some App made and that is given to us as a plain
// one, as in a workflow, belongs to a bot without a name.
func (c *Client) currentUser(ctx context.Context) (string, error) {
	c.mu.Lock()
	me, known := c.me, c.meKnown
	c.mu.Unlock()
	if known {
		return me, nil
	}
	var err error
	if c.app != nil {
		if me, err = c.app.botName(ctx); err != nil {
			return "", c.explainError(ctx, "asking who the GitHub App is", err)
		}
	} else if me, err = c.tokenUser(ctx); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.me, c.meKnown = me, true
	return me, nil
}

func (c *Client) tokenUser(ctx context.Context) (string, error) {
	u, err := repeat(ctx, c, "asking who is logged in", func() (*github.User, *github.Response, error) { return c.api.Users.Get(ctx, "") })
	if _, limited := rateLimitWait(err); !limited && statusOf(err) == http.StatusForbidden {
		return "", nil
	}
	return u.GetLogin(), err
}

// isOwnAuthor says whether this login wrote something, where me is its user. A login
// without a name is a bot's, which no person can be: only Apps that the owner
// of the repository let in are.
func isOwnAuthor(me string, author *github.User) bool {
	if me == "" {
		return author.GetType() == "Bot"
	}
	return strings.EqualFold(author.GetLogin(), me)
}

// Close closes a pull request of ours without merging it.
func (c *Client) Close(ctx context.Context, ref forge.Ref) error {
	p, err := c.getPull(ctx, ref.Number)
	if err != nil {
		return err
	}
	if p.GetState() != "open" {
		return nil
	}
	if err := ref.CheckOurs(p.GetBody(), p.GetHTMLURL()); err != nil {
		return err
	}
	return c.editPull(ctx, "closing the pull request", ref.Number, &github.PullRequest{State: new("closed")})
}

func (c *Client) getPull(ctx context.Context, number int) (*github.PullRequest, error) {
	return repeat(ctx, c, fmt.Sprintf("looking at pull request #%d", number), func() (*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.Get(ctx, c.repo.Owner, c.repo.Name, number)
	})
}

// Comment writes a comment under a pull request, once per key. Comments of
// others with our mark do not count: they would suppress ours.
func (c *Client) Comment(ctx context.Context, ref forge.Ref, key, text string) error {
	if err := ref.CheckNote(key, text); err != nil {
		return err
	}
	me, err := c.currentUser(ctx)
	if err != nil {
		return err
	}
	said := func() (bool, error) {
		comments, err := c.listComments(ctx, ref.Number)
		return slices.ContainsFunc(comments, func(m *github.IssueComment) bool {
			office, k := forge.ParseNote(m.GetBody())
			return office == ref.Office && k == key && isOwnAuthor(me, m.GetUser())
		}), err
	}
	return ref.CommentOnce(ctx, key, text, isOutcomeUnknown, said, func(body string) error {
		_, err := once(ctx, c, "commenting", func() (*github.IssueComment, *github.Response, error) {
			return c.api.Issues.CreateComment(ctx, c.repo.Owner, c.repo.Name, ref.Number, &github.IssueComment{Body: &body})
		})
		return err
	})
}
