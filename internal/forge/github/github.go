// Package github implements the forge for repositories on GitHub and GitHub Enterprise. It calls their API to find or
// open exactly one pull request per task and keep its text up to date. It also creates a fork if the login may not
// push, and reads feedback. It logs in with a token or as a GitHub App. A token goes only to the API's own host. Rate
// limits are respected and waited for up to a limit, and every call ends. The package does not push, and merges only
// at a person's command.
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
	"company/internal/lib/retry"
)

const kind = "github"

// Driver describes GitHub.
var Driver = forge.Driver{
	Kind:         kind,
	Name:         "GitHub",
	Open:         func(o forge.Options) (forge.Forge, error) { return New(o) },
	Home:         "https://github.com",
	OtherHosts:   []string{"www.github.com", "ssh.github.com"},
	TenantSuffix: ".ghe.com",
	APIPath:      "/api/v3",
	User:         "x-access-token",
	StoredToken:  readStoredToken,
	StoredBy:     "gh",
	LoginCommand: "gh auth login --hostname",
	HasApps:      true,
	Webhook: forge.Webhook{
		Event: []string{"X-GitHub-Event"}, Delivery: []string{"X-GitHub-Delivery"},
		Sign: func(h http.Header) string { return forge.CutSignature(h.Get("X-Hub-Signature-256")) },
	},
	OpenByHand: openByHand,
	// The variables that gh reads, for github.com and for an Enterprise.
	TokenEnvs:      []string{"GITHUB_TOKEN", "GH_TOKEN"},
	OtherTokenEnvs: []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"},
	TokenPermissions: "contents and pull requests: read and write, checks and commit statuses: read; of a classic one: " +
		"repo",
}

// Client accesses one repository on GitHub.
type Client struct {
	repo          forge.Repo
	site          *url.URL // web address of the forge
	api           *github.Client
	graphURL      string // address of the GraphQL API
	log           *slog.Logger
	login         func(ctx context.Context) (forge.Credential, error)
	app           *appLogin         // nil if the login is not a GitHub App
	bareTransport http.RoundTripper // sends requests without a login

	mu     sync.Mutex
	target *forge.Target
	// me is the login's account, as returned by currentUser.
	me      string
	meKnown bool
}

var _ forge.Forge = (*Client)(nil)

// New returns the forge of one repository. It sends no request.
func New(options forge.Options) (*Client, error) {
	api := *options.URL
	graph := api
	if options.URL.Hostname() == "github.com" {
		api.Host, api.Path = "api.github.com", "/"
		graph.Host, graph.Path = "api.github.com", "/graphql"
	} else {
		root := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(api.Path, "/"), "/v3"), "/api")
		api.Path, graph.Path = root+"/api/v3/", root+"/api/graphql"
	}
	client := &Client{repo: options.Repo, site: options.URL, graphURL: graph.String(), log: options.Log,
		login: options.Login}
	client.log = cmp.Or(client.log, slog.New(slog.DiscardHandler))
	base := options.Transport
	base = cmp.Or(base, http.DefaultTransport)
	client.bareTransport = base
	if options.App.ID != 0 {
		var err error
		if client.app, err = newApp(options.App, options.AppKey, api.String(), client.repo, base); err != nil {
			return nil, err
		}
	}
	client.api = github.NewClient(&http.Client{
		Transport: &timeoutTransport{&authTransport{scheme: api.Scheme, host: api.Host, credential: client.Credential,
			next: &etagTransport{next: forge.LimitReplies(base)}}},
	})
	client.api.BaseURL, client.api.UserAgent = &api, "company"
	return client, nil
}

// Kind returns the value of forge.kind.
func (*Client) Kind() string { return kind }

// Templates lists where GitHub looks for the template of a pull request.
func (*Client) Templates() []string {
	const name = "pull_request_template"
	return []string{".github/" + name, name, "docs/" + name}
}

// Credential returns the operator's token, or a token of the App's installation.
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

// Target returns the repository if the login may push to it, else its fork. A GitHub App has no fork, because it is
// installed where it may push.
func (c *Client) Target(ctx context.Context) (forge.Target, error) {
	c.mu.Lock()
	known := c.target
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	target, err := c.findTarget(ctx)
	if err == nil {
		c.mu.Lock()
		c.target = &target
		c.mu.Unlock()
	}
	return target, err
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
	return repeat(ctx, c, doing, func() (*github.Repository, *github.Response, error) {
		return c.api.Repositories.Get(ctx, owner, name)
	})
}

// forkWait limits how long a new fork may take to appear.
const forkWait = time.Minute

// ensureFork finds or creates the login's fork of the repository. GitHub does both with one call.
func (c *Client) ensureFork(ctx context.Context) (forge.Target, error) {
	f, err := repeat(ctx, c, "forking "+c.repo.String()+", since the login may not push to it",
		func() (*github.Repository, *github.Response, error) {
			f, resp, err := c.api.Repositories.CreateFork(
				ctx, c.repo.Owner, c.repo.Name, &github.RepositoryCreateForkOptions{DefaultBranchOnly: true})
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
			return forge.Target{}, company.E(company.EConflict, fmt.Sprintf("%s/%s is not a fork of %s", owner, name, c.repo)).
				Fix("rename it, then answer with approve to try again").NeedsPerson()
		case err == nil:
			return forge.Target{URL: there.GetCloneURL(), Owner: owner}, nil
		case company.CodeOf(err) != company.ENotFound && company.CodeOf(err) != company.EAuth:
			return forge.Target{}, err
		case time.Since(start) > forkWait:
			return forge.Target{}, company.E(company.EForge, fmt.Sprintf("the fork %s/%s does not exist yet", owner, name)).
				Because("GitHub is still creating it")
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return forge.Target{}, err
		}
	}
}

// currentUser returns the account that this login writes as. It is empty if GitHub does not name it. For example, an
// App's token that was given to us as a plain token, as in a workflow, belongs to an unnamed bot.
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
	u, err := repeat(ctx, c, "asking who is logged in",
		func() (*github.User, *github.Response, error) { return c.api.Users.Get(ctx, "") })
	if _, limited := rateLimitWait(err); !limited && statusOf(err) == http.StatusForbidden {
		return "", nil
	}
	return u.GetLogin(), err
}

// isOwnAuthor reports whether this login wrote a text, where me is its user. A login without a name is a bot's. A
// person cannot be a bot, and only Apps that the repository's owner allowed can.
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
	return repeat(ctx, c, fmt.Sprintf("looking at pull request #%d", number),
		func() (*github.PullRequest, *github.Response, error) {
			return c.api.PullRequests.Get(ctx, c.repo.Owner, c.repo.Name, number)
		})
}

// Comment writes a comment on a pull request, once per key. Comments of others with our marker are ignored, because
// they could suppress ours.
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
