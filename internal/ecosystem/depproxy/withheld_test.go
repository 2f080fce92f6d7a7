package depproxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
)

// authRegistry is a registry of every kind that wants a password for what lies below
// /private, and notes what it was asked for.
type authRegistry struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newAuthRegistry(t *testing.T) *authRegistry {
	t.Helper()
	g := &authRegistry{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.asked = append(g.asked, r.URL.Path)
		g.mu.Unlock()
		user, password, _ := r.BasicAuth()
		inside, private := strings.CutPrefix(r.URL.Path, "/private")
		if private && (user != "me" || password != "sesame") {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		switch {
		case strings.HasSuffix(inside, "/@v/list"):
			_, _ = io.WriteString(w, "v1.0.0\n")
		case strings.HasSuffix(inside, "/@v/v1.0.0.mod"):
			_, _ = io.WriteString(w, "module x\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *authRegistry) requestsNaming(part string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for _, a := range g.asked {
		if strings.Contains(a, part) {
			out = append(out, a)
		}
	}
	return out
}

// loggedInUpstreams is a host whose clients log in everywhere.
func (g *authRegistry) loggedInUpstreams(t *testing.T, private string) Upstreams {
	t.Helper()
	root := t.TempDir()
	host := strings.TrimPrefix(g.URL, "http://")
	name, _, _ := strings.Cut(host, ":")
	write(t, root, map[string]string{
		"go": "#!/bin/sh\necho '{\"GOPROXY\":\"" + g.URL + "/private/go|" + g.URL +
			"/public/go\",\"GOSUMDB\":\"off\",\"GOPRIVATE\":\"" + private + "\"}'\n",
		"home/.netrc": "",
		"home/.npmrc": "registry=" + g.URL + "/public/npm/\n@corp:registry=" + g.URL +
			"/private/npm/\n//" + host + "/private/npm/:_auth=bWU6c2VzYW1l\n",
		"home/.config/pip/pip.conf": "[global]\nindex-url = http://me:sesame@" + host + "/private/simple\n",
		"home/.cargo/config.toml": "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\nregistry = " +
			"\"sparse+" + g.URL + "/private/crates/\"\n",
		"home/.cargo/credentials.toml": "[registries.corp]\ntoken = \"sesame\"\n",
		"etc/apt/sources.list": "deb http://me:sesame@" + host + "/private/debian bookworm main\ndeb http://" +
			host + "/public/debian bookworm main\n",
		"etc/apt/auth.conf.d/unused.conf": "machine " + name + " login me password sesame\n",
	})
	makeRunnable(t, filepath.Join(root, "go"))
	env := map[string]string{}
	up, err := Environment{Getenv: func(k string) string { return env[k] }, HomeDir: filepath.Join(root, "home"),
		RootDir: root, Programs: map[string]string{"go": filepath.Join(root, "go"), "apt-config": "false"}}.LoadUpstreams(
		t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A proxy's password in the address, as .netrc would give it.
	proxies := up.Registries[Go].Endpoints
	proxies[0] = proxies[0].WithAuth(ecosystem.BasicAuth("me", "sesame"))
	return up
}

// TestWithoutLogins: of each client's settings, what needs a
// login is not for every repository, and nobody else is asked for it.
func TestWithoutLogins(t *testing.T) {
	g := newAuthRegistry(t)
	up := g.loggedInUpstreams(t, "corp.example/*")
	host := strings.TrimPrefix(g.URL, "http://")
	if got := strings.Join(up.LoginHosts(), " "); got != host {
		t.Errorf("logins at %q", got)
	}
	open := up.WithoutLogins(nil)
	if proxies := open.Registries[Go].Endpoints; len(proxies) != 1 || !strings.HasSuffix(proxies[0].URL, "/public/go") ||
		!open.Serves(NPM) || len(open.Registries[NPM].Endpoints) != 1 ||
		open.Serves(PyPI) || open.Serves(Crates) || len(open.Registries[Debian].Endpoints) != 1 {
		t.Errorf("for everybody: %+v", open)
	}
	for _, d := range []company.Dependency{
		{Ecosystem: Go, Name: "corp.example/secret/sub"}, {Ecosystem: NPM, Name: "@corp/secret"},
		{Ecosystem: PyPI, Name: "any"}, {Ecosystem: Crates, Name: "any"},
	} {
		err := open.WhyWithheld(d)
		e := requireRefused(t, err)
		if !strings.Contains(e.Hint, "company trust --logins") || strings.Contains(e.Error()+e.Hint, "sesame") {
			t.Errorf("%s: %v. %s", d, e, e.Hint)
		}
		if d.Ecosystem != Go && !strings.Contains(e.Hint, `container.logins: ["`+host+`"]`) {
			t.Errorf("%s: %s", d, e.Hint)
		}
		if err := up.WhyWithheld(d); err != nil {
			t.Errorf("%s is withheld from those who may: %v", d, err)
		}
	}
	for _, d := range []company.Dependency{{Ecosystem: Go, Name: "corp.examples/open"},
		{Ecosystem: NPM, Name: "@corporation/open"}, {Ecosystem: NPM, Name: "corp"}, {Ecosystem: Debian}} {
		if err := open.WhyWithheld(d); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
	if all := up.WithoutLogins([]string{host}); len(all.Registries[Go].Endpoints) != 2 || !all.Serves(PyPI) ||
		all.WhyWithheld(company.Dependency{Ecosystem: PyPI, Name: "any"}) != nil ||
		all.WhyWithheld(company.Dependency{Ecosystem: Go, Name: "corp.example/secret"}) == nil {
		t.Errorf("with the host allowed: %+v", all)
	}
}

func requireRefused(t *testing.T, err error) *company.Error {
	t.Helper()
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EAuth || e.Class != company.HumanRequired {
		t.Fatalf("error %v", err)
	}
	return e
}

// TestPrivatePackagesNeedLogin is the attack and its defence at the
// mirror: with the logins the private module is served; without, it is refused
// with words, under every path and from the cache too, and no registry hears
// its name.
func TestPrivatePackagesNeedLogin(t *testing.T) {
	g := newAuthRegistry(t)
	trusted := map[string]bool{"/src/mine": true}
	stores, err := OpenStores(filepath.Join(t.TempDir(), "registries"), g.loggedInUpstreams(t, "corp.example"), nil,
		func(_ context.Context, checkout string) bool { return trusted[checkout] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stores.Close)
	ask := func(checkout, path string) (int, string) {
		var withheld error
		p := NewOpenPolicy(Go)
		p.Allow(company.Dependency{Ecosystem: NPM, Name: "@corp/secret"})
		p.Allow(company.Dependency{Ecosystem: PyPI, Name: "secret"})
		p.Allow(company.Dependency{Ecosystem: Crates, Name: "secret"})
		w := httptest.NewRecorder()
		stores.ForCheckout(t.Context(), checkout).NewHandler(
			HandlerOptions{Policy: p, OnRefusal: func(f FetchReport) { withheld = f.Withheld }}).ServeHTTP(
			w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8377"+path, nil))
		if strings.Contains(w.Body.String(), "company trust --logins") != (withheld != nil) {
			t.Errorf("%s %s says %q and tells %v", checkout, path, w.Body, withheld)
		}
		return w.Code, w.Body.String()
	}
	const secret = "/go/corp.example/secret/@v/v1.0.0.mod"
	if code, text := ask("/src/mine", secret); code != http.StatusOK || text != "module x\n" {
		t.Fatalf("with the logins: %d %s", code, text)
	}
	before := len(g.requestsNaming("secret"))
	for _, path := range []string{
		secret, "/go/corp.example/secret/@v/list", "/go/corp.example/secret/@latest", "/npm/@corp%2fsecret",
		"/npm/@corp/secret/-/secret-1.0.0.tgz",
		"/pypi/simple/secret/", "/crates/se/cr/secret", "/crates/dl/secret/1.0.0/download",
	} {
		if code, text := ask("/src/other", path); code == http.StatusOK ||
			!strings.Contains(text, "this repository may not use it") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if _, err := stores.ForCheckout(t.Context(), "/src/other").Resolve(
		t.Context(), company.Dependency{Ecosystem: NPM, Name: "@corp/secret"}); company.CodeOf(err) != company.EAuth {
		t.Errorf("add_dependency: %v", err)
	}
	if asked := g.requestsNaming("secret"); len(asked) != before {
		t.Errorf("registries heard %q", asked[before:])
	}
	// What everybody may have is served as before.
	if code, text := ask("/src/other", "/go/open.example/m/@v/v1.0.0.mod"); code != http.StatusOK {
		t.Errorf("an open module: %d %s", code, text)
	}
}

// Without logins there is one store, and nothing is refused.
func TestSingleStoreWithoutLogins(t *testing.T) {
	stores, err := OpenStores(filepath.Join(t.TempDir(), "r"), upstreamsAt(NPM, "https://registry.npmjs.org"), nil,
		func(context.Context, string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stores.Close)
	if stores.WithLogins() != nil || stores.MayUseLogins(t.Context(), "/x") ||
		stores.ForCheckout(t.Context(), "/x") != stores.Public() {
		t.Error("a second store")
	}
	var none *Stores
	if none.ForCheckout(t.Context(), "/x") != nil || none.Public() != nil || none.WithLogins() != nil ||
		none.MayUseLogins(t.Context(), "/x") {
		t.Error("no stores serve")
	}
}

func makeRunnable(t *testing.T, file string) {
	t.Helper()
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
}

// An office whose config turns packages off has no stores, and closes what it has.
func TestNoStoresAreClosed(t *testing.T) {
	var none *Stores
	none.Each(func(*Store) { t.Error("there is a store") })
	none.Close()
}
