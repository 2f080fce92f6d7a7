// Package gitea implements the forge for repositories on Gitea and Forgejo. It calls their API to find or open
// exactly one pull request per task and keep its text up to date. It also creates a fork if the login may not push,
// and reads feedback. A token goes only to its own host, and every call ends. The package does not push, and merges
// only at a person's command.
package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"code.gitea.io/sdk/gitea"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/lib/retry"
)

const kind = "gitea"

// Driver describes Gitea and Forgejo. It has no home address, so forge.url must be set. If a login's
// password is a token, Gitea ignores the user name.
var Driver = forge.Driver{
	Kind:        kind,
	Name:        "Gitea or Forgejo",
	Open:        func(o forge.Options) (forge.Forge, error) { return New(o), nil },
	User:        "x-access-token",
	StoredToken: readStoredToken,
	StoredBy:    "tea",
	Webhook: forge.Webhook{
		Event:    []string{"X-Gitea-Event", "X-Forgejo-Event"},
		Delivery: []string{"X-Gitea-Delivery", "X-Forgejo-Delivery"},
		// Gitea sends GitHub's header as well.
		Sign: func(h http.Header) string {
			return cmp.Or(forge.CutSignature(h.Get("X-Hub-Signature-256")), h.Get("X-Gitea-Signature"))
		},
	},
	OtherTokenEnvs:   []string{"GITEA_TOKEN", "GITEA_SERVER_TOKEN"},
	TokenPermissions: "read:user, read:organization, write:repository and write:issue",
}

// Client accesses one repository on a Gitea.
type Client struct {
	repo  forge.Repo
	site  *url.URL
	http  *http.Client
	log   *slog.Logger
	login func(ctx context.Context) (forge.Credential, error)

	mu     sync.Mutex
	target *forge.Target
	me     string
}

var _ forge.Forge = (*Client)(nil)

// New returns the forge of one repository. It sends no request.
func New(options forge.Options) *Client {
	client := &Client{repo: options.Repo, site: options.URL, login: options.Login, log: options.Log}
	client.log = cmp.Or(client.log, slog.New(slog.DiscardHandler))
	next := options.Transport
	next = cmp.Or(next, http.DefaultTransport)
	// Following a redirect could send the token to another host.
	client.http = &http.Client{Transport: forge.LimitReplies(next),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return client
}

// Kind returns the value of forge.kind.
func (*Client) Kind() string { return kind }

// Templates lists where Gitea and Forgejo look for the template of a pull request.
func (*Client) Templates() []string {
	const name = "pull_request_template"
	return []string{name, ".forgejo/" + name, ".gitea/" + name, ".github/" + name, "docs/" + name}
}

// Credential returns the operator's token.
func (c *Client) Credential(ctx context.Context) (forge.Credential, error) { return c.login(ctx) }

// callAPI makes one call with the SDK. SDK clients contain their context and token, so each call creates one.
func (c *Client) callAPI(ctx context.Context, f func(*gitea.Client) (*gitea.Response, error)) error {
	cred, err := c.login(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, forge.RequestTimeout)
	defer cancel()
	// An empty version keeps the SDK from asking for it first.
	api, err := gitea.NewClient(c.site.String(), gitea.SetHTTPClient(c.http), gitea.SetContext(ctx),
		gitea.SetToken(cred.Secret.Reveal()),
		gitea.SetGiteaVersion(""), gitea.SetUserAgent("company"))
	if err != nil {
		return err
	}
	resp, err := f(api)
	if err == nil {
		return nil
	}
	e := &apiError{message: forge.CleanText(err.Error(), 300), err: err}
	if resp != nil && resp.Response != nil {
		e.status, e.header = resp.StatusCode, resp.Header
	}
	return e
}

// apiError is an error response of the server. status is 0 if there was no answer.
type apiError struct {
	status  int
	header  http.Header
	message string
	err     error
}

func (e *apiError) Error() string { return e.message }
func (e *apiError) Unwrap() error { return e.err }

func statusOf(err error) int {
	var e *apiError
	if errors.As(err, &e) {
		return e.status
	}
	return 0
}

// isGiteaError reports whether Gitea itself sent the error, and not a proxy before it.
func isGiteaError(err error) bool {
	return strings.HasPrefix(errorHeader(err).Get("Content-Type"), "application/json")
}

// repeat makes a call and retries it after a rate limit, a server error or a broken connection, within forge.MaxWait.
func repeat[T any](
	ctx context.Context, client *Client, doing string, f func(*gitea.Client) (T, *gitea.Response, error),
) (T, error) {
	return callFor(ctx, client, doing, true, f)
}

// repeatList is like repeat, for a list. It removes null entries from the reply.
func repeatList[T any](
	ctx context.Context, client *Client, doing string, f func(*gitea.Client) ([]*T, *gitea.Response, error),
) ([]*T, error) {
	all, err := repeat(ctx, client, doing, f)
	return slices.DeleteFunc(all, func(one *T) bool { return one == nil }), err
}

// once makes a call that is not safe to repeat. It retries only after a rate limit, which guarantees that the call
// had no effect.
func once[T any](
	ctx context.Context, client *Client, doing string, f func(*gitea.Client) (T, *gitea.Response, error),
) (T, error) {
	return callFor(ctx, client, doing, false, f)
}

func callFor[T any](
	ctx context.Context, client *Client, doing string, again bool, f func(*gitea.Client) (T, *gitea.Response, error),
) (got T, err error) {
	err = client.tryCall(ctx, doing, again, func(api *gitea.Client) (resp *gitea.Response, err error) {
		got, resp, err = f(api)
		return resp, err
	})
	return got, err
}

func (c *Client) tryCall(
	ctx context.Context, doing string, repeat bool, f func(*gitea.Client) (*gitea.Response, error),
) error {
	policy := retry.Policy{Total: forge.MaxWait, Next: func(attempt int, err error) (wait time.Duration, again bool) {
		wait = time.Second << min(attempt, 4)
		if statusOf(err) != http.StatusTooManyRequests {
			return wait, repeat && attempt < 3 && isOutcomeUnknown(err)
		}
		if asked, ok := forge.ParseRetryAfter(errorHeader(err).Get("Retry-After")); ok {
			wait = asked
		}
		return wait, true
	}}
	err := policy.Do(ctx, func(int) error { return c.callAPI(ctx, f) })
	if errors.Is(err, context.Cause(ctx)) { // both may be nil
		return err
	}
	return c.explainError(ctx, doing, err)
}

func errorHeader(err error) http.Header {
	var e *apiError
	if errors.As(err, &e) && e.header != nil {
		return e.header
	}
	return http.Header{}
}

// isOutcomeUnknown reports whether an error leaves it unclear whether the call took effect.
func isOutcomeUnknown(err error) bool {
	var e *apiError
	return errors.As(err, &e) && (e.status == 0 || e.status >= 500)
}

// explainError converts an error of the API into one with cause and fix.
func (c *Client) explainError(ctx context.Context, doing string, err error) error {
	var e *apiError
	if !errors.As(err, &e) {
		if errors.Is(err, forge.ErrNoLogin) {
			return company.E(company.EAuth, "there is no login for "+c.site.Hostname()+" any more").
				Fix("export GITEA_TOKEN, then: company resume").NeedsPerson().Wrap(err)
		}
		return err
	}
	source := "the token"
	if cred, lerr := c.login(ctx); lerr == nil && cred.Source != "" {
		source = cred.Source
	}
	host := c.site.Hostname()
	switch {
	case e.status/100 == 3: // redirects are not followed
		return c.repo.SentOn(host, e.header.Get("Location"), err)
	case e.status == 0:
		return company.E(company.EForge, host+" cannot be reached while "+doing).Wrap(err)
	case e.status == http.StatusUnauthorized:
		return company.E(company.EAuth, fmt.Sprintf("%s refused the token (401) while %s", host, doing)).
			Because(source + " is not valid, or has expired").
			Fix("export a new token, then: company resume").NeedsPerson().Wrap(&forge.QuietError{Status: e.status, Err: err})
	case e.status == http.StatusForbidden:
		return company.E(company.EAuth, fmt.Sprintf("%s refused the token (403) while %s", host, doing)).
			Because(fmt.Sprintf("%s may not do that on %s (%s)", source, c.repo, e.message)).
			Fix("make one with " + Driver.TokenPermissions +
				", for an account with the right to push, export it, then: company resume").NeedsPerson().Wrap(
			&forge.QuietError{Status: e.status, Err: err})
	case e.status == http.StatusNotFound:
		if !isGiteaError(err) {
			return company.E(company.EForge, fmt.Sprintf("a proxy before %s answered 404 while %s", host, doing)).
				Because("the forge would answer in JSON").Wrap(&forge.QuietError{Status: e.status, Err: err})
		}
		return company.E(company.ENotFound, fmt.Sprintf("%s answered 404 (not found) while %s", host, doing)).
			Because(fmt.Sprintf("%s or what was asked for does not exist, or %s may not see it", c.repo, source)).
			Fix("check that the remote's URL is right and that the token may read it, then: company resume").NeedsPerson().Wrap(
			&forge.QuietError{Status: e.status, Err: err})
	}
	return company.E(company.EForge, fmt.Sprintf("%s answered %d while %s", host, e.status, doing)).
		Because(e.message).Wrap(&forge.QuietError{Status: e.status, Err: err})
}

// Target returns the repository if the login may push to it, else its fork.
func (c *Client) Target(ctx context.Context) (forge.Target, error) {
	c.mu.Lock()
	known := c.target
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	r, err := c.getRepository(ctx, c.repo.Owner, c.repo.Name)
	if err != nil {
		return forge.Target{}, err
	}
	target := forge.Target{}
	switch {
	case r.Archived:
		return target, c.repo.Archived()
	case r.Permissions == nil || !r.Permissions.Push:
		if target, err = c.ensureFork(ctx); err != nil {
			return target, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.target = &target
	return target, nil
}

func (c *Client) getRepository(ctx context.Context, owner, name string) (*gitea.Repository, error) {
	return repeat(ctx, c, "looking at the repository",
		func(api *gitea.Client) (*gitea.Repository, *gitea.Response, error) {
			return api.GetRepo(owner, name)
		})
}

// findFork returns the login's fork, or an empty Target if there is none.
func (c *Client) findFork(ctx context.Context) (forge.Target, error) {
	me, err := c.currentUser(ctx)
	if err != nil {
		return forge.Target{}, err
	}
	all, err := listPages(ctx, c, "looking for the fork",
		func(api *gitea.Client, o gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error) {
			return api.ListForks(c.repo.Owner, c.repo.Name, gitea.ListForksOptions{ListOptions: o})
		})
	for _, f := range all {
		if f.Owner != nil && strings.EqualFold(f.Owner.UserName, me) {
			return forge.Target{URL: f.CloneURL, Owner: f.Owner.UserName}, nil
		}
	}
	return forge.Target{}, err
}

// ensureFork finds the login's fork or creates it. The server refuses a second one with 409, so it first looks among
// the forks.
func (c *Client) ensureFork(ctx context.Context) (forge.Target, error) {
	if t, err := c.findFork(ctx); err != nil || t.URL != "" {
		return t, err
	}
	me, err := c.currentUser(ctx)
	if err != nil {
		return forge.Target{}, err
	}
	f, err := once(ctx, c, "forking "+c.repo.String()+", since the login may not push to it",
		func(api *gitea.Client) (*gitea.Repository, *gitea.Response, error) {
			return api.CreateFork(c.repo.Owner, c.repo.Name, gitea.CreateForkOption{})
		})
	if statusOf(err) == http.StatusConflict {
		return forge.Target{}, company.E(
			company.EConflict, fmt.Sprintf("%s/%s exists and is not a fork of %s", me, c.repo.Name, c.repo)).
			Fix("rename it, then answer with approve to try again").NeedsPerson()
	}
	if err != nil {
		return forge.Target{}, err
	}
	return forge.Target{URL: f.CloneURL, Owner: f.Owner.UserName}, nil
}

func (c *Client) currentUser(ctx context.Context) (string, error) {
	c.mu.Lock()
	me := c.me
	c.mu.Unlock()
	if me != "" {
		return me, nil
	}
	u, err := repeat(ctx, c, "asking who is logged in",
		func(api *gitea.Client) (*gitea.User, *gitea.Response, error) { return api.GetMyUserInfo() })
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.me = u.UserName
	return c.me, nil
}
