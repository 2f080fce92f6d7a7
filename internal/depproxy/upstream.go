package depproxy

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
)

// Upstreams are the registries behind the mirrors. An ecosystem without an
// endpoint is not served, and Notes says why.
type Upstreams struct {
	Go      []Endpoint // proxies, asked in this order
	GoSumDB string     // GOSUMDB; empty or "off": sums are not checked by the client
	GoNoSum string     // GONOSUMDB
	// GoPrivate are the patterns of module paths that the operator calls
	// private: GOPRIVATE, and GONOPROXY where it says more.
	GoPrivate string
	NPM       Endpoint
	NPMScope  map[string]Endpoint // "@scope" → its own registry
	PyPI      Endpoint            // the simple API
	Crates    Endpoint            // the sparse index
	Debian    []Archive           // of apt's sources, by number
	CAs       []string            // files of further trusted certificates
	Notes     []string            // settings of the operator that are not followed, for people

	withheld withheldSet // see Open
}

// Endpoint is one registry. Its credentials never leave this host, except to
// the registry itself.
type Endpoint struct {
	URL       string // without a slash at the end; empty: none
	Proxy     string // what to reach it through; empty: the environment's HTTPS_PROXY and so on
	auth      string // the Authorization header; see WithAuth
	wholeHost bool   // auth is for the whole host, as clients take it that do not bind a login to a path
	// NextOnAnyError: also the next proxy of a list is asked after any error, not only
	// after "not found" (Go's | instead of a comma).
	NextOnAnyError bool
}

// WithAuth gives an endpoint its Authorization header.
func (e Endpoint) WithAuth(header string) Endpoint { e.auth = header; return e }

// ForWholeHost makes the endpoint's login one of its whole host: a registry may have
// its files beside its index.
func (e Endpoint) ForWholeHost() Endpoint { e.wholeHost = true; return e }

// String hides the credentials.
func (e Endpoint) String() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return "(an address that cannot be read)"
	}
	return u.Redacted()
}

// GoString hides the credentials from %#v.
func (e Endpoint) GoString() string { return fmt.Sprintf("registry.Endpoint{%s}", e) }

// LogValue hides the credentials from logs.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.String()) }

// parseEndpoint takes an address out of a client's settings: http or https, its
// user and password as credentials.
func parseEndpoint(address string) (Endpoint, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return Endpoint{}, fmt.Errorf("not an http or https address")
	}
	e := Endpoint{}
	if u.User != nil {
		password, _ := u.User.Password()
		e.auth = basicAuth(u.User.Username(), password)
		u.User = nil
	}
	e.URL = u.String()
	return e, nil
}

// basicAuth is an Authorization header of a user and a password.
func basicAuth(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// allEndpoints lists the endpoints there are.
func (u Upstreams) allEndpoints() []Endpoint {
	out := append([]Endpoint(nil), u.Go...)
	out = append(out, u.NPM, u.PyPI, u.Crates)
	for _, a := range u.Debian {
		out = append(out, a.Endpoint)
	}
	for _, e := range u.NPMScope {
		out = append(out, e)
	}
	return out
}

// Serves reports whether an ecosystem has a registry.
func (u Upstreams) Serves(ecosystem string) bool {
	switch ecosystem {
	case Go:
		return len(u.Go) > 0
	case NPM:
		return u.NPM.URL != ""
	case PyPI:
		return u.PyPI.URL != ""
	case Crates:
		return u.Crates.URL != ""
	case Debian:
		return len(u.Debian) > 0
	}
	return false
}

// npmEndpoint is the registry that a package's scope belongs to.
func (u Upstreams) npmEndpoint(name string) Endpoint {
	scope, _, scoped := strings.Cut(name, "/")
	if e, ok := u.NPMScope[scope]; scoped && ok {
		return e
	}
	return u.NPM
}
