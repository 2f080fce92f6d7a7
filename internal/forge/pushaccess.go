package forge

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"company/internal/company"
)

// MayPush asks git's side of a forge whether a login may push: the first
// question of a push over https, which changes nothing. The API tells what the
// person may, which is more than what the token may.
func MayPush(ctx context.Context, via http.RoundTripper, site *url.URL, repo Repo, cred Credential) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	at := site.JoinPath(repo.Owner, repo.Name+".git", "info/refs")
	at.RawQuery = "service=git-receive-pack"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("User-Agent", "git/company")
	req.SetBasicAuth(cred.User, cred.Secret.Reveal())
	via = cmp.Or(via, http.DefaultTransport)
	resp, err := via.RoundTrip(req) // no redirect is followed: the login is for this host
	if err != nil {
		return false, company.E(company.EForge, site.Hostname()+" cannot be reached while asking whether the token may push").Wrap(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<20)
	switch {
	case resp.StatusCode == http.StatusOK:
		// A page of a proxy is 200 as well.
		return strings.HasPrefix(resp.Header.Get("Content-Type"), "application/x-git-receive-pack"), nil
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden, resp.StatusCode == http.StatusNotFound:
		return false, nil
	}
	return false, company.E(company.EForge, fmt.Sprintf("%s answered %d while asking whether the token may push", site.Hostname(), resp.StatusCode))
}
