package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/secret"
)

// Settings is forge.* of the config.
type Settings struct {
	Kind     string // auto | github | gitea | local
	URL      string // of an Enterprise or self-hosted forge; empty: the kind's own
	TokenEnv string // variable with the token
	App      App    // GitHub App; used instead of a token when its ID is set
}

// App is a GitHub App as which the company logs in.
type App struct {
	ID           int64
	Installation int64  // 0: looked up by the repository
	KeyEnv       string // variable with the private key, PEM, or with the path of its file
}

// Options is what a driver is opened with.
type Options struct {
	Repo   Repo
	URL    *url.URL // of the forge, for people: https://github.com
	Login  func(ctx context.Context) (Credential, error)
	App    App
	AppKey secret.Value // PEM; empty: no App
	Log    *slog.Logger
	// Transport carries requests; nil: the process's own, with the operator's
	// proxies and certificates.
	Transport http.RoundTripper
}

// Driver opens forges of one kind.
type Driver struct {
	Open func(Options) (Forge, error)
	// Home is the address of the kind's public forge; empty: it has none.
	Home string
	// User is what git sends as the user beside a token.
	User string
	// TokenPermissions are the permissions of a token that the work needs,
	// named as on the forge's own page for making one.
	TokenPermissions string
	// TokenEnvs are the variables that the kind's own tools read, for its
	// public forge and for others.
	TokenEnvs, OtherTokenEnvs []string
}

// Selector picks the forge of a remote. It may be used by many goroutines.
type Selector struct {
	Settings Settings
	Drivers  map[string]Driver
	Local    Forge
	Env      func(name string) string // os.Getenv
	Log      *slog.Logger
	// Transport is handed to the drivers.
	Transport http.RoundTripper
	// Resolve is the address that a remote's stands for in the operator's own git and
	// ssh; nil: each stands for itself.
	Resolve func(ctx context.Context, remote string) string

	mu    sync.Mutex
	open  map[string]Forge
	login map[string]cachedLogin
}

// Choice says which forge a remote has, and why.
type Choice struct {
	Kind string
	Repo Repo // where the remote is on a forge
	// Why and Fix are set where the remote is on a forge that is not used: the
	// branch is pushed, and the pull request is kept as a page.
	Why, Fix string
}

// ForRemote is the forge of a remote's URL; empty: there is no remote.
func (s *Selector) ForRemote(ctx context.Context, remote string) (Forge, Choice, error) {
	c, at, err := s.chooseForge(ctx, remote)
	if err != nil || c.Kind == LocalKind {
		return s.Local, c, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Kind + " " + at.String() + " " + c.Repo.String()
	if f := s.open[key]; f != nil {
		return f, c, nil
	}
	o := Options{Repo: c.Repo, URL: at, Log: s.Log, App: s.Settings.App, Transport: s.Transport,
		Login: func(ctx context.Context) (Credential, error) { return s.lookupLogin(ctx, c.Kind, at) }}
	if o.App.ID != 0 {
		if o.AppKey, err = readAppKey(s.Env, s.Settings.App); err != nil {
			return nil, c, err
		}
	}
	f, err := s.Drivers[c.Kind].Open(o)
	if err != nil {
		return nil, c, err
	}
	if s.open == nil {
		s.open = map[string]Forge{}
	}
	s.open[key] = f
	return f, c, nil
}

// Source finds the forge that a pull request is on, or comes to; remote is the
// project's, or empty.
type Source interface {
	ForPullRequest(ctx context.Context, ref Ref, remote string) (Forge, error)
}

// ForPullRequest is the forge that a pull request is on: a page stays a page, also when a
// login has come since. One that is not open yet (no URL) comes to ForRemote.
func (s *Selector) ForPullRequest(ctx context.Context, ref Ref, remote string) (Forge, error) {
	if strings.HasPrefix(ref.URL, "file://") {
		return s.Local, nil
	}
	f, c, err := s.ForRemote(ctx, remote)
	if err == nil && ref.URL != "" && f.Kind() == LocalKind {
		err = company.E(company.EForge, "the pull request "+ref.URL+" cannot be reached").NeedsPerson().Because(c.Why).Fix(c.Fix)
	}
	return f, err
}

// Credential is what git shows a host (with its port, where that is not the
// usual one) for a remote. Empty texts: nothing is known of that host.
func (s *Selector) Credential(ctx context.Context, host, remote string) (user, secret string, err error) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, ""
	}
	repo, known := ParseRemote(remote)
	for _, kind := range s.allowedKinds() {
		at, err := s.forgeAddress(kind)
		if err != nil || at == nil || !strings.EqualFold(at.Hostname(), name) || at.Port() != port {
			continue
		}
		if _, inside := repo.relativeTo(at); known && repo.Host == at.Hostname() && !inside {
			continue // another program of the same host
		}
		var c Credential
		if s.Settings.App.ID != 0 && kind == "github" {
			// An App's token is made for the repository's installation.
			var f Forge
			if f, _, err = s.ForRemote(ctx, remote); err == nil {
				c, err = f.Credential(ctx)
			}
		} else {
			c, err = s.lookupLogin(ctx, kind, at)
		}
		if errors.Is(err, ErrNoLogin) {
			return "", "", nil
		}
		return c.User, c.Secret.Reveal(), err
	}
	return "", "", nil
}

// allowedKinds are the kinds that the settings allow, the likelier first.
func (s *Selector) allowedKinds() []string {
	switch s.Settings.Kind {
	case "github", "gitea":
		return []string{s.Settings.Kind}
	case LocalKind:
		return nil
	}
	return []string{"github"}
}

// forgeAddress is where the forge of a kind is: nil when only forge.url could say.
// A token goes there and nowhere else.
func (s *Selector) forgeAddress(kind string) (*url.URL, error) {
	at := s.Settings.URL
	at = cmp.Or(at, s.Drivers[kind].Home)
	if at == "" {
		return nil, nil
	}
	u, err := url.Parse(strings.TrimSuffix(at, "/"))
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, company.E(company.EConfig, fmt.Sprintf("forge.url %q is no address", at)).NeedsPerson().Fix("write it as https://github.example.com")
	}
	u.Host = strings.ToLower(u.Host)
	if kind == "github" { // people give the address of its API as well
		u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/v3"), "/api")
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return nil, company.E(company.EConfig, "forge.url is http").NeedsPerson().Because("the token would be sent in the clear").Fix("write it with https://")
	}
	return u, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

func (s *Selector) chooseForge(ctx context.Context, remote string) (Choice, *url.URL, error) {
	local := Choice{Kind: LocalKind}
	if s.Resolve != nil && remote != "" {
		remote = s.Resolve(ctx, remote)
	}
	repo, ok := ParseRemote(remote)
	if !ok || s.Settings.Kind == LocalKind {
		if kind := s.Settings.Kind; !ok && (kind == "github" || kind == "gitea") {
			return local, nil, company.E(company.EConfig, "the project has no remote on a forge, and forge.kind is "+kind).NeedsPerson().
				Fix("add the remote (git remote add origin <url>), or set forge.kind: auto")
		}
		return local, nil, nil
	}
	local.Repo = repo
	for _, kind := range s.allowedKinds() {
		at, err := s.forgeAddress(kind)
		if err != nil {
			return local, nil, err
		}
		if at == nil || at.Hostname() != repo.Host {
			known := "forge.url is not set"
			if at != nil {
				known = "forge.kind " + kind + " is at " + at.Hostname()
			}
			fix := "set forge.kind to github or gitea and forge.url: https://" + repo.Host
			if s.Settings.Kind == kind {
				return local, nil, company.E(company.EConfig, "the remote is on "+repo.Host+", which is not the forge of the config").NeedsPerson().Because(known).Fix(fix)
			}
			local.Why, local.Fix = repo.Host+" is not known as a forge ("+known+")", fix
			continue
		}
		below, inside := repo.relativeTo(at)
		if !inside {
			fix := "give the remote's URL below " + at.String() + ", or set forge.url to where the forge is"
			if s.Settings.Kind == kind {
				return local, nil, company.E(company.EConfig, "the remote is not below "+at.String()+", where the forge of the config is").NeedsPerson().Fix(fix)
			}
			local.Why, local.Fix = "the remote is not below "+at.String(), fix
			continue
		}
		c := Choice{Kind: kind, Repo: below}
		if s.Settings.App.ID != 0 && kind == "github" {
			return c, at, nil
		}
		_, err = s.lookupLogin(ctx, kind, at)
		switch {
		case err == nil:
			return c, at, nil
		case !errors.Is(err, ErrNoLogin):
			return local, nil, err
		}
		fix := s.howToLogIn(kind, at)
		if s.Settings.Kind == kind {
			return local, nil, company.E(company.EAuth, "there is no login for "+at.Hostname()).NeedsPerson().Because(strings.Join(s.tokenEnvNames(kind, at), ", ") + " are not set").Fix(fix)
		}
		local.Why, local.Fix = "there is no login for "+at.Hostname(), fix
	}
	return local, nil, nil
}

func (s *Selector) howToLogIn(kind string, at *url.URL) string {
	fix := "export " + s.tokenEnvNames(kind, at)[0] + "=<a token with " + s.Drivers[kind].TokenPermissions + ">"
	if kind == "github" {
		return "gh auth login --hostname " + at.Hostname() + ", or " + fix
	}
	return fix
}

// HowToLogIn is what a person does to give a login for a remote's forge: the
// variable that is read for it and what its token must be allowed. Empty: the
// remote's host is no forge that the settings name.
func (s *Selector) HowToLogIn(remote string) string {
	repo, ok := ParseRemote(remote)
	if !ok {
		return ""
	}
	for _, kind := range s.allowedKinds() {
		at, err := s.forgeAddress(kind)
		if err != nil || at == nil || at.Hostname() != repo.Host {
			continue
		}
		if _, inside := repo.relativeTo(at); inside {
			return s.howToLogIn(kind, at)
		}
	}
	return ""
}
