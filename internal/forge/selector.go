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
	"path"
	"slices"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/lib/secret"
)

// Settings holds the forge.* settings of the config.
type Settings struct {
	Kind     string // auto, local, or the kind of a driver
	URL      string // of an Enterprise or self-hosted forge; empty means the kind's public forge
	TokenEnv string // variable with the token
	App      App    // GitHub App; used instead of a token when its ID is set
}

// App is a GitHub App that the company logs in as.
type App struct {
	ID           int64
	Installation int64  // if 0, looked up by the repository
	KeyEnv       string // variable with the private key, PEM, or with the path of its file
}

// Options holds the parameters for opening a driver.
type Options struct {
	Repo   Repo
	URL    *url.URL // web address of the forge: https://github.com
	Login  func(ctx context.Context) (Credential, error)
	App    App
	AppKey secret.Value // PEM; empty without an App
	Log    *slog.Logger
	// Transport sends requests. Nil means the process's default, with the operator's proxies and certificates.
	Transport http.RoundTripper
}

// Selector picks the forge of a remote. It is safe for concurrent use.
type Selector struct {
	Settings Settings
	Drivers  []Driver
	Local    Forge
	Env      func(name string) string // os.Getenv
	Log      *slog.Logger
	// Transport is passed to the drivers.
	Transport http.RoundTripper
	// Resolve returns the address that a remote stands for in the operator's own git and ssh configuration. If nil,
	// remotes are used unchanged.
	Resolve func(ctx context.Context, remote string) string

	mu    sync.Mutex
	open  map[string]Forge
	login map[string]cachedLogin
}

// Choice is the forge chosen for a remote, with the reason.
type Choice struct {
	Kind string
	Repo Repo // the repository that the remote names on a forge
	// Why and Fix are set if the remote is on a forge that is not used. The branch is then pushed, and the pull request
	// is kept as a page.
	Why, Fix string
}

// ForRemote returns the forge for a remote's URL. An empty URL means that there is no remote.
func (s *Selector) ForRemote(ctx context.Context, remote string) (Forge, Choice, error) {
	choice, address, err := s.chooseForge(ctx, remote)
	if err != nil || choice.Kind == LocalKind {
		return s.Local, choice, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := choice.Kind + " " + address.String() + " " + choice.Repo.String()
	if f := s.open[key]; f != nil {
		return f, choice, nil
	}
	driver, err := s.driverOf(choice.Kind)
	if err != nil {
		return nil, choice, err
	}
	options := Options{Repo: choice.Repo, URL: address, Log: s.Log, App: s.Settings.App, Transport: s.Transport,
		Login: func(ctx context.Context) (Credential, error) { return s.lookupLogin(ctx, driver, address) }}
	if options.App.ID != 0 {
		if options.AppKey, err = readAppKey(s.Env, s.Settings.App); err != nil {
			return nil, choice, err
		}
	}
	forge, err := driver.Open(options)
	if err != nil {
		return nil, choice, err
	}
	if s.open == nil {
		s.open = map[string]Forge{}
	}
	s.open[key] = forge
	return forge, choice, nil
}

// Source finds the forge of a pull request that is open or will be opened. remote is the project's remote or empty.
type Source interface {
	ForPullRequest(ctx context.Context, ref Ref, remote string) (Forge, error)
}

// ForPullRequest returns the forge of a pull request. A page stays a page, even if a login was added later. A pull
// request that is not open yet (no URL) gets the forge of ForRemote.
func (s *Selector) ForPullRequest(ctx context.Context, ref Ref, remote string) (Forge, error) {
	if strings.HasPrefix(ref.URL, "file://") || ref.URL == "" && ref.Unpushed {
		return pushedElsewhere(s.Local, Target{URL: ref.PushedTo}), nil
	}
	forge, choice, err := s.ForRemote(ctx, remote)
	if err == nil && ref.URL != "" && forge.Kind() == LocalKind {
		err = company.E(company.EForge, "the pull request "+ref.URL+" cannot be reached").NeedsPerson().
			Because(choice.Why).Fix(choice.Fix)
	}
	if err != nil || ref.PushedTo == "" {
		return forge, err
	}
	target, ok := s.targetAt(ctx, choice, ref.PushedTo)
	if !ok && ref.URL == "" { // no forge opens a pull request from there
		return pushedElsewhere(s.Local, Target{URL: ref.PushedTo}), nil
	}
	return pushedElsewhere(forge, target), nil
}

// pushedElsewhere returns a forge whose branches go to an address of the president's choice. An empty Target changes
// nothing.
func pushedElsewhere(f Forge, to Target) Forge {
	if to == (Target{}) {
		return f
	}
	return elsewhere{f, to}
}

// elsewhere is a forge whose Target the president's git has chosen.
type elsewhere struct {
	Forge
	to Target
}

// Target returns the address that the branch is pushed to.
func (e elsewhere) Target(context.Context) (Target, error) { return e.to, nil }

// targetAt returns the target for branches that are pushed to an address, as the project's forge names it. ok is false
// if a pull request from there is impossible: it is on no forge or another one, or another repository of the same
// owner.
func (s *Selector) targetAt(ctx context.Context, project Choice, address string) (_ Target, ok bool) {
	there, _, err := s.chooseForge(ctx, address)
	if err != nil || project.Kind == LocalKind || there.Kind != project.Kind || there.Repo.Host != project.Repo.Host {
		return Target{URL: address}, false
	}
	if !strings.EqualFold(there.Repo.Owner, project.Repo.Owner) {
		return Target{URL: address, Owner: there.Repo.Owner}, true
	}
	return Target{URL: address}, strings.EqualFold(there.Repo.Name, project.Repo.Name) // the repository itself
}

// Credential returns the login that git uses at a host for a remote. host includes the port if it is not the default.
// It returns empty strings if the host is unknown.
func (s *Selector) Credential(ctx context.Context, host, remote string) (user, secret string, err error) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, ""
	}
	repo, known := s.ParseRemote(remote)
	drivers, err := s.listAllowed()
	if err != nil {
		return "", "", err
	}
	for _, driver := range drivers {
		address, err := s.forgeAddress(driver)
		if err != nil || address == nil || !strings.EqualFold(address.Hostname(), name) || address.Port() != port {
			continue
		}
		if _, inside := repo.relativeTo(address); known && repo.Host == address.Hostname() && !inside {
			continue // it belongs to another program on the same host
		}
		var credential Credential
		if s.Settings.App.ID != 0 && driver.HasApps {
			// An App's token is issued for the repository's installation.
			var forge Forge
			if forge, _, err = s.ForRemote(ctx, remote); err == nil {
				credential, err = forge.Credential(ctx)
			}
		} else {
			credential, err = s.lookupLogin(ctx, driver, address)
		}
		if errors.Is(err, ErrNoLogin) {
			return "", "", nil
		}
		return credential.User, credential.Secret.Reveal(), err
	}
	return "", "", nil
}

// driverOf returns the driver of a kind.
func (s *Selector) driverOf(kind string) (Driver, error) {
	for _, driver := range s.Drivers {
		if driver.Kind == kind {
			return driver, nil
		}
	}
	return Driver{}, company.E(company.EConfig, "unknown forge.kind "+kind).NeedsPerson().
		Fix("set forge.kind to auto, " + LocalKind + " or " + s.listKinds())
}

// listKinds names the kinds of the drivers, for people.
func (s *Selector) listKinds() string {
	var kinds []string
	for _, driver := range s.Drivers {
		kinds = append(kinds, driver.Kind)
	}
	return strings.Join(kinds, " or ")
}

// listAllowed returns the drivers that the settings allow, most likely first. Without a configured kind, these are the
// ones with a public forge.
func (s *Selector) listAllowed() ([]Driver, error) {
	switch kind := s.Settings.Kind; kind {
	case LocalKind:
		return nil, nil
	case "", autoKind:
		return slices.DeleteFunc(slices.Clone(s.Drivers), func(d Driver) bool { return d.Home == "" }), nil
	default:
		driver, err := s.driverOf(kind)
		return []Driver{driver}, err
	}
}

// autoKind is the value of forge.kind with which the remote's host decides.
const autoKind = "auto"

// ParseRemote is like the function, with the main host name of a public forge that has several.
func (s *Selector) ParseRemote(remote string) (Repo, bool) {
	repo, ok := ParseRemote(remote)
	for _, driver := range s.Drivers {
		if slices.Contains(driver.OtherHosts, repo.Host) {
			repo.Host = driver.homeHost()
		}
	}
	return repo, ok
}

// forgeAddress returns the address of a kind's forge, or nil if forge.url would be needed. A token is sent only to
// this address.
func (s *Selector) forgeAddress(driver Driver) (*url.URL, error) {
	at := s.Settings.URL
	at = cmp.Or(at, driver.Home)
	if at == "" {
		return nil, nil
	}
	address, err := url.Parse(strings.TrimSuffix(at, "/"))
	if err != nil || address.Hostname() == "" || address.User != nil ||
		address.Scheme != "https" && address.Scheme != "http" {
		return nil, company.E(company.EConfig, fmt.Sprintf("invalid forge.url %q", at)).NeedsPerson().
			Fix("write it as https://github.example.com")
	}
	address.Host = strings.ToLower(address.Host)
	for end := driver.APIPath; len(end) > 1; end = path.Dir(end) { // people also enter the address of the API
		address.Path = strings.TrimSuffix(address.Path, end)
	}
	if address.Scheme == "http" && !isLoopback(address.Hostname()) {
		return nil, company.E(company.EConfig, "forge.url must use https").NeedsPerson().
			Because("the token would be sent in the clear").Fix("write it with https://")
	}
	return address, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

func (s *Selector) chooseForge(ctx context.Context, remote string) (Choice, *url.URL, error) {
	local := Choice{Kind: LocalKind}
	if s.Resolve != nil && remote != "" {
		remote = s.Resolve(ctx, remote)
	}
	repo, ok := s.ParseRemote(remote)
	if !ok || s.Settings.Kind == LocalKind {
		if kind := s.Settings.Kind; !ok && kind != LocalKind && kind != autoKind && kind != "" {
			return local, nil, company.E(company.EConfig,
				"the project has no remote on a forge, but forge.kind is "+kind).NeedsPerson().
				Fix("add the remote (git remote add origin <url>), or set forge.kind: auto")
		}
		return local, nil, nil
	}
	local.Repo = repo
	drivers, err := s.listAllowed()
	if err != nil {
		return local, nil, err
	}
	for _, driver := range drivers {
		kind := driver.Kind
		address, err := s.forgeAddress(driver)
		if err != nil {
			return local, nil, err
		}
		if address == nil || address.Hostname() != repo.Host {
			known := "forge.url is not set"
			if address != nil {
				known = "forge.kind " + kind + " is at " + address.Hostname()
			}
			fix := "set forge.kind to " + s.listKinds() + " and forge.url: https://" + repo.Host
			if s.Settings.Kind == kind {
				return local, nil, company.E(company.EConfig,
					"the remote is on "+repo.Host+", but the config has another forge").NeedsPerson().Because(known).Fix(fix)
			}
			local.Why, local.Fix = repo.Host+" is not known as a forge ("+known+")", fix
			continue
		}
		below, inside := repo.relativeTo(address)
		if !inside {
			fix := "give the remote's URL below " + address.String() + ", or set forge.url to where the forge is"
			if s.Settings.Kind == kind {
				return local, nil, company.E(company.EConfig,
					"the remote is not below "+address.String()+", the forge of the config").NeedsPerson().Fix(fix)
			}
			local.Why, local.Fix = "the remote is not below "+address.String(), fix
			continue
		}
		choice := Choice{Kind: kind, Repo: below}
		if s.Settings.App.ID != 0 && driver.HasApps {
			return choice, address, nil
		}
		_, err = s.lookupLogin(ctx, driver, address)
		switch {
		case err == nil:
			return choice, address, nil
		case !errors.Is(err, ErrNoLogin):
			return local, nil, err
		}
		fix := s.howToLogIn(driver, address)
		if s.Settings.Kind == kind {
			return local, nil, company.E(company.EAuth, "there is no login for "+address.Hostname()).NeedsPerson().
				Because(strings.Join(s.tokenEnvNames(driver, address), ", ") + " are not set").Fix(fix)
		}
		local.Why, local.Fix = "there is no login for "+address.Hostname(), fix
	}
	return local, nil, nil
}

func (s *Selector) howToLogIn(driver Driver, address *url.URL) string {
	fix := "export " + s.tokenEnvNames(driver, address)[0] + "=<a token with " + driver.TokenPermissions + ">"
	if driver.LoginCommand != "" {
		return driver.LoginCommand + " " + address.Hostname() + ", or " + fix
	}
	return fix
}

// HowToLogIn explains how a person can set up a login for a remote's forge: the variable to set and the permissions
// that its token needs. It returns "" if the remote's host is not a configured forge.
func (s *Selector) HowToLogIn(remote string) string {
	repo, ok := s.ParseRemote(remote)
	drivers, err := s.listAllowed()
	if !ok || err != nil {
		return ""
	}
	for _, driver := range drivers {
		address, err := s.forgeAddress(driver)
		if err != nil || address == nil || address.Hostname() != repo.Host {
			continue
		}
		if _, inside := repo.relativeTo(address); inside {
			return s.howToLogIn(driver, address)
		}
	}
	return ""
}
