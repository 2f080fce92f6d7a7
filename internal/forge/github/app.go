package github

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/google/go-github/v62/github"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/lib/secret"
)

// appLogin creates tokens for a GitHub App's installation. They are valid for an hour and for this repository only.
type appLogin struct {
	id           int64
	installation int64 // if 0, looked up
	key          *rsa.PrivateKey
	api          string // ends with /
	repo         forge.Repo
	http         *http.Client

	mu     sync.Mutex
	slug   string // the App's name in addresses; empty if not requested yet
	cached forge.Credential
	madeAt time.Time // when it was received, by the monotonic clock
}

// renewBefore is how long before its expiry a token is replaced, so that a running push can finish.
const renewBefore = 10 * time.Minute

// tokenLife is how long GitHub's tokens are valid.
const tokenLife = time.Hour

func newApp(app forge.App, key secret.Value, api string, repo forge.Repo, base http.RoundTripper) (*appLogin, error) {
	bad := func(err error) error {
		return company.E(company.EAuth, "invalid private key of the GitHub App").Wrap(err).
			Fix("set " + app.KeyEnv + " to the RSA key that GitHub created for the App (.pem)").NeedsPerson()
	}
	block, _ := pem.Decode([]byte(key.Reveal()))
	if block == nil {
		return nil, bad(errors.New("it is not PEM"))
	}
	k, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		any, err8 := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err8 != nil {
			return nil, bad(errors.New("it is not an RSA key"))
		}
		var ok bool
		if k, ok = any.(*rsa.PrivateKey); !ok {
			return nil, bad(errors.New("it is not an RSA key"))
		}
	}
	return &appLogin{id: app.ID, installation: app.Installation, key: k, api: api, repo: repo,
		http: &http.Client{Transport: &timeoutTransport{base}, CheckRedirect: sameOrigin}}, nil
}

// sameOrigin follows redirects of the API to itself, as for a renamed repository. It sends the App's token to no
// other host and never over plain http.
func sameOrigin(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; len(via) > 5 || r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// signJWT creates the App's signed token (RS256), valid for nine minutes. It starts a minute in the past, because
// clocks differ.
func (a *appLogin) signJWT(now time.Time) (string, error) {
	part := func(v any) (string, error) {
		js, err := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(js), err
	}
	head, err := part(map[string]string{"alg": "RS256", "typ": "JWT"})
	if err != nil {
		return "", err
	}
	body, err := part(
		map[string]any{"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(8 * time.Minute).Unix(),
			"iss": strconv.FormatInt(a.id, 10)})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(head + "." + body))
	sig, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign as the GitHub App: %w", err)
	}
	return head + "." + body + "." + base64.RawURLEncoding.EncodeToString(sig), nil
}

// installationToken returns a valid token, and renews it before it expires.
func (a *appLogin) installationToken(ctx context.Context) (forge.Credential, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// Its expiry is wall-clock time, and the wall clock may have been set back since.
	if a.cached.Secret.Set() && time.Until(a.cached.Expires) > renewBefore &&
		time.Since(a.madeAt) < tokenLife-renewBefore {
		return a.cached, nil
	}
	if a.installation == 0 {
		if err := a.findInstallation(ctx); err != nil {
			return forge.Credential{}, err
		}
	}
	var out struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}
	// Only for this repository: a leaked token opens no other.
	only := map[string]any{"repositories": []string{a.repo.Name}}
	if err := a.callAPI(ctx, http.MethodPost, fmt.Sprintf("app/installations/%d/access_tokens", a.installation), only,
		&out); err != nil {
		return forge.Credential{}, err
	}
	a.madeAt = time.Now()
	a.cached = forge.Credential{Host: a.repo.Host, User: "x-access-token", Secret: secret.New(out.Token),
		Expires: out.Expires, Source: fmt.Sprintf("GitHub App %d", a.id)}
	return a.cached, nil
}

// findInstallation finds the repository's installation and the App's name. It keeps an installation that the operator
// configured. The caller holds mu.
func (a *appLogin) findInstallation(ctx context.Context) error {
	var in struct {
		ID   int64  `json:"id"`
		Slug string `json:"app_slug"`
	}
	if err := a.callAPI(ctx, http.MethodGet, fmt.Sprintf("repos/%s/%s/installation", a.repo.Owner, a.repo.Name), nil,
		&in); err != nil {
		return err
	}
	if a.slug = in.Slug; a.installation == 0 {
		a.installation = in.ID
	}
	return nil
}

// botName returns the account of the App's comments, or "" if an old server does not return the App's name.
func (a *appLogin) botName(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.slug == "" {
		if err := a.findInstallation(ctx); err != nil || a.slug == "" {
			return "", err
		}
	}
	return a.slug + "[bot]", nil
}

// dropToken drops a token that was refused.
func (a *appLogin) dropToken() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cached = forge.Credential{}
}

func (a *appLogin) callAPI(ctx context.Context, method, path string, in, out any) error {
	claim, err := a.signJWT(time.Now())
	if err != nil {
		return err
	}
	var body io.Reader
	if in != nil {
		js, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(js)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.api+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+claim)
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("User-Agent", "company")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := github.CheckResponse(resp); err != nil {
		return err
	}
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(out)
}
