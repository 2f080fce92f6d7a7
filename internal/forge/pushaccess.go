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

// MayPush asks git's side of a forge whether a login may push. It sends the first request of a push over https, which
// changes no data. The API only shows the person's permissions, and the token may have fewer.
func MayPush(ctx context.Context, via http.RoundTripper, site *url.URL, repo Repo, cred Credential) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	address := site.JoinPath(repo.Owner, repo.Name+".git", "info/refs")
	address.RawQuery = "service=git-receive-pack"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("User-Agent", "git/company")
	req.SetBasicAuth(cred.User, cred.Secret.Reveal())
	via = cmp.Or(via, http.DefaultTransport)
	resp, err := via.RoundTrip(req) // redirects are not followed: the login is for this host only
	if err != nil {
		return false, company.E(company.EForge,
			site.Hostname()+" cannot be reached while asking whether the token may push").Wrap(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<20)
	switch {
	case resp.StatusCode == http.StatusOK:
		// A proxy's page may also have status 200.
		return strings.HasPrefix(resp.Header.Get("Content-Type"), "application/x-git-receive-pack"), nil
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden,
		resp.StatusCode == http.StatusNotFound:
		return false, nil
	}
	return false, company.E(company.EForge,
		fmt.Sprintf("%s answered %d while asking whether the token may push", site.Hostname(), resp.StatusCode))
}
