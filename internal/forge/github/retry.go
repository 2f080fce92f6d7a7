package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/lib/retry"
)

// repeat makes a call and retries it after a rate limit, a server error or a broken connection, within forge.MaxWait.
func repeat[T any](ctx context.Context, c *Client, doing string, f func() (T, *github.Response, error)) (T, error) {
	return callFor(ctx, c, doing, true, f)
}

// once makes a call that is not safe to repeat. It retries only after a rate limit, which guarantees that the call
// had no effect.
func once[T any](ctx context.Context, c *Client, doing string, f func() (T, *github.Response, error)) (T, error) {
	return callFor(ctx, c, doing, false, f)
}

func callFor[T any](
	ctx context.Context, client *Client, doing string, again bool, f func() (T, *github.Response, error),
) (got T, err error) {
	err = client.tryCall(ctx, doing, again, func() (resp *github.Response, err error) {
		got, resp, err = f()
		return resp, err
	})
	return got, err
}

func (c *Client) tryCall(ctx context.Context, doing string, repeat bool, call func() (*github.Response, error)) error {
	policy := retry.Policy{
		Next:  func(attempt int, err error) (time.Duration, bool) { return c.retryDelay(err, attempt, repeat) },
		Total: forge.MaxWait,
		Sleep: func(ctx context.Context, wait time.Duration) error {
			if wait > 2*time.Second {
				c.log.Info("waiting for GitHub", "for", wait.String(), "doing", doing)
			}
			return retry.Sleep(ctx, wait)
		},
	}
	err := policy.Do(ctx, func(int) error { _, err := call(); return err })
	if errors.Is(err, context.Cause(ctx)) { // both may be nil
		return err
	}
	return c.explainError(ctx, doing, err)
}

// retryDelay returns whether to retry a failed call, and the delay.
func (c *Client) retryDelay(err error, attempt int, repeat bool) (time.Duration, bool) {
	if wait, limited := rateLimitWait(err); limited {
		return wait, true
	}
	status := statusOf(err)
	switch {
	case status == http.StatusUnauthorized && c.app != nil && attempt == 0:
		c.app.dropToken() // its token may have been withdrawn
		return 0, true
	case repeat && attempt < 3 && isOutcomeUnknown(err):
		return time.Second << attempt, true
	}
	return 0, false
}

// rateLimitWait returns how long a rate limit asks to wait. The default is a minute, as in GitHub's documentation.
func rateLimitWait(err error) (time.Duration, bool) {
	var primary *github.RateLimitError
	if errors.As(err, &primary) {
		return max(0, time.Until(primary.Rate.Reset.Time)) + time.Second, true
	}
	var secondary *github.AbuseRateLimitError
	if errors.As(err, &secondary) {
		if secondary.RetryAfter != nil {
			return forge.RateLimitWait(*secondary.RetryAfter), true
		}
		return time.Minute, true
	}
	var e *github.ErrorResponse
	if !errors.As(err, &e) || e.Response == nil {
		return 0, false
	}
	code := e.Response.StatusCode
	if code != http.StatusForbidden && code != http.StatusTooManyRequests {
		return 0, false
	}
	if wait, ok := forge.ParseRetryAfter(e.Response.Header.Get("Retry-After")); ok {
		return wait, true
	}
	if at, err := strconv.ParseInt(e.Response.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil &&
		e.Response.Header.Get("X-RateLimit-Remaining") == "0" {
		return max(0, time.Until(time.Unix(at, 0))) + time.Second, true
	}
	if code == http.StatusTooManyRequests || strings.Contains(strings.ToLower(e.Message), "secondary rate limit") {
		return time.Minute, true
	}
	return 0, false
}

// isOutcomeUnknown reports whether an error leaves it unclear whether the call took effect.
func isOutcomeUnknown(err error) bool {
	if err == nil {
		return false
	}
	if status := statusOf(err); status != 0 {
		return status >= 500
	}
	var ce *company.Error
	return !errors.As(err, &ce) || ce.Code == company.EForge && !company.NeedsPerson(ce) && !errors.Is(err, errLimited)
}

// statusOf returns the HTTP status of an error, or 0 if there was no answer.
func statusOf(err error) int {
	var e *github.ErrorResponse
	var rate *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	switch {
	case errors.As(err, &e) && e.Response != nil:
		return e.Response.StatusCode
	case errors.As(err, &rate) && rate.Response != nil:
		return rate.Response.StatusCode
	case errors.As(err, &abuse) && abuse.Response != nil:
		return abuse.Response.StatusCode
	}
	return 0
}

// errLimited marks a rate limit whose wait was too long.
var errLimited = errors.New("a rate limit")

// explainError converts an error of the API into one with cause and fix.
func (c *Client) explainError(ctx context.Context, doing string, err error) error {
	var ce *company.Error
	if errors.As(err, &ce) { // from a login, passed through the client
		return ce
	}
	if errors.Is(err, forge.ErrNoLogin) {
		return company.E(company.EAuth, "there is no login for "+c.site.Hostname()+" any more").
			Fix("log in again (gh auth login, or export the token), then: company resume").NeedsPerson().Wrap(err)
	}
	if wait, limited := rateLimitWait(err); limited {
		return company.E(company.EForge, fmt.Sprintf("GitHub's rate limit was reached while %s", doing)).
			Because(fmt.Sprintf("it asks to wait %s", wait.Round(time.Second))).Wrap(
			errors.Join(errLimited, &forge.QuietError{Status: statusOf(err), Err: err}))
	}
	var e *github.ErrorResponse
	if !errors.As(err, &e) || e.Response == nil {
		return company.E(company.EForge, "GitHub cannot be reached while "+doing).Wrap(err)
	}
	source, said := c.loginSource(ctx), forge.CleanText(e.Message, 300)
	switch status := e.Response.StatusCode; {
	case status == http.StatusUnauthorized:
		return company.E(company.EAuth, fmt.Sprintf("GitHub refused the token (401) while %s", doing)).
			Because(source + " is not valid, or has expired").
			Fix("renew it (gh auth login, or export a new token), then: company resume").NeedsPerson().Wrap(
			&forge.QuietError{Status: statusOf(err), Err: err})
	case status == http.StatusForbidden:
		reason := fmt.Sprintf("%s may not do that on %s (%s)", source, c.repo, said)
		if need := missingPermission(e.Response.Header); need != "" {
			reason = fmt.Sprintf("%s lacks %s on %s", source, need, c.repo)
		}
		fix := "give it that permission, or export a token that has it, then: company resume"
		if at := ssoURL(e.Response.Header); at != "" {
			fix = "allow the token for the organisation at " + at + ", then: company resume"
		}
		return company.E(company.EAuth, fmt.Sprintf("GitHub refused the token (403) while %s", doing)).Because(reason).
			Fix(fix).NeedsPerson().Wrap(&forge.QuietError{Status: statusOf(err), Err: err})
	case status == http.StatusNotFound && !strings.Contains(e.Response.Header.Get("Content-Type"), "json"):
		return company.E(company.EForge, "a proxy before GitHub answered 404 while "+doing).
			Because("GitHub would answer in JSON").Wrap(&forge.QuietError{Status: statusOf(err), Err: err})
	case status == http.StatusNotFound || status == http.StatusGone:
		return company.E(company.ENotFound, fmt.Sprintf("GitHub answered %d (not found) while %s", status, doing)).
			Because(fmt.Sprintf("%s does not exist, or %s may not see it", c.repo, source)).
			Fix("check that the remote's URL is right and that the token may read it, then: company resume").NeedsPerson().Wrap(
			&forge.QuietError{Status: statusOf(err), Err: err})
	case status == http.StatusUnprocessableEntity:
		return company.E(company.EForge, fmt.Sprintf("GitHub refused the request (422) while %s", doing)).
			Because(forge.CleanText(errorDetail(e), 500)).Wrap(&forge.QuietError{Status: statusOf(err), Err: err})
	default:
		return company.E(company.EForge, fmt.Sprintf("GitHub answered %d while %s", status, doing)).
			Because(said).Wrap(&forge.QuietError{Status: statusOf(err), Err: err})
	}
}

func errorDetail(e *github.ErrorResponse) string {
	out := []string{e.Message}
	for _, d := range e.Errors {
		out = append(out, strings.TrimSpace(strings.Join([]string{d.Resource, d.Field, d.Code, d.Message}, " ")))
	}
	return strings.Join(out, "; ")
}

// loginSource describes the origin of the login for people.
func (c *Client) loginSource(ctx context.Context) string {
	if c.app != nil {
		return fmt.Sprintf("GitHub App %d", c.app.id)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if cred, err := c.login(ctx); err == nil && cred.Source != "" {
		if cred.Source == "gh" {
			return "gh's token"
		}
		return cred.Source
	}
	return "the token"
}

// missingPermission returns the permission that GitHub reports as missing, or "".
func missingPermission(h http.Header) string {
	if v := h.Get("X-Accepted-GitHub-Permissions"); v != "" {
		v, _, _ = strings.Cut(v, ";") // alternatives
		return strconv.Quote(strings.ReplaceAll(forge.CleanText(v, 100), "=", ": "))
	}
	have, want := h.Get("X-OAuth-Scopes"), h.Get("X-Accepted-OAuth-Scopes")
	if want != "" && have != want {
		return "the scope " + strconv.Quote(forge.CleanText(want, 100))
	}
	return ""
}

func ssoURL(h http.Header) string {
	_, at, ok := strings.Cut(h.Get("X-GitHub-SSO"), "url=")
	if !ok || !strings.HasPrefix(at, "https://") {
		return ""
	}
	return forge.CleanText(at, 300)
}
