package ecosystem

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Upstream is one kind of registry, as the operator's own client is set to it.
type Upstream struct {
	Endpoints []Endpoint // in the order in which they are asked; none: it is not served
	Private   string     // patterns of the names that the operator calls private; see Registry.WhyPrivate
	Settings  map[string]string
}

// At is the upstream at some endpoints.
func At(endpoints ...Endpoint) Upstream { return Upstream{Endpoints: endpoints} }

// Serves reports whether there is an endpoint for names without a scope.
func (u Upstream) Serves() bool { return u.EndpointOf("").URL != "" }

// EndpointOf is the first endpoint for a name.
func (u Upstream) EndpointOf(name string) Endpoint {
	var out Endpoint
	for _, e := range u.Endpoints {
		if e.Scope != "" && strings.HasPrefix(name, e.Scope+"/") {
			return e
		}
		if e.Scope == "" && out.URL == "" {
			out = e
		}
	}
	return out
}

// Endpoint is one registry. Its credentials never leave this host, except to
// the registry itself.
type Endpoint struct {
	URL   string // without a slash at the end; empty: none
	Proxy string // what to reach it through; empty: the environment's HTTPS_PROXY and so on
	Scope string // names below it are asked for here, and no others: npm's "@scope"
	// Parts are what may be had of an archive: Debian's suites, each with its components.
	Parts map[string][]string
	// NextOnAnyError: also the next endpoint is asked after any error, not only
	// after "not found" (Go's | instead of a comma).
	NextOnAnyError bool

	auth      string // the Authorization header; see WithAuth
	wholeHost bool   // auth is for the whole host, as clients take it that do not bind a login to a path
}

// WithAuth gives an endpoint its Authorization header.
func (e Endpoint) WithAuth(header string) Endpoint { e.auth = header; return e }

// ForWholeHost makes the endpoint's login one of its whole host: a registry may have
// its files beside its index.
func (e Endpoint) ForWholeHost() Endpoint { e.wholeHost = true; return e }

// Auth is the Authorization header, and whether it is for the whole host.
func (e Endpoint) Auth() (header string, wholeHost bool) { return e.auth, e.wholeHost }

// HostPort is the endpoint's host, with a port only where the URL names one.
func (e Endpoint) HostPort() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// String hides the credentials.
func (e Endpoint) String() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return "(an address that cannot be read)"
	}
	return u.Redacted()
}

// GoString hides the credentials from %#v.
func (e Endpoint) GoString() string { return fmt.Sprintf("ecosystem.Endpoint{%s}", e) }

// LogValue hides the credentials from logs.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.String()) }

// ParseEndpoint takes an address out of a client's settings: http or https, its
// user and password as credentials.
func ParseEndpoint(address string) (Endpoint, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return Endpoint{}, errors.New("not an http or https address")
	}
	e := Endpoint{}
	if u.User != nil {
		password, _ := u.User.Password()
		e.auth = BasicAuth(u.User.Username(), password)
		u.User = nil
	}
	e.URL = u.String()
	return e, nil
}

// BasicAuth is an Authorization header of a user and a password.
func BasicAuth(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
