package ecosystem

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Upstream is one kind of registry, as configured in the operator's own client.
type Upstream struct {
	Endpoints []Endpoint // in the order of use; if empty, the registry is not served
	Private   string     // patterns of private package names; see Registry.WhyPrivate
	Settings  map[string]string
}

// At returns an Upstream with these endpoints.
func At(endpoints ...Endpoint) Upstream { return Upstream{Endpoints: endpoints} }

// Serves reports whether there is an endpoint for names without a scope.
func (u Upstream) Serves() bool { return u.EndpointOf("").URL != "" }

// EndpointOf returns the endpoint for a name: the one of its scope, or the first without a scope.
func (u Upstream) EndpointOf(name string) Endpoint {
	var out Endpoint
	for _, endpoint := range u.Endpoints {
		if endpoint.Scope != "" && strings.HasPrefix(name, endpoint.Scope+"/") {
			return endpoint
		}
		if endpoint.Scope == "" && out.URL == "" {
			out = endpoint
		}
	}
	return out
}

// Endpoint is one registry. Its credentials are sent only to the registry itself.
type Endpoint struct {
	URL   string // without a trailing slash; "" means no endpoint
	Proxy string // the proxy's URL; "" means the environment's HTTPS_PROXY etc.
	Scope string // only names below it are requested here, like npm's "@scope"
	// Parts lists the available parts of an archive: Debian's suites, each with its components.
	Parts map[string][]string
	// NextOnAnyError means that the next endpoint is used after any error, not only after "not found". Go writes | for
	// this instead of a comma.
	NextOnAnyError bool

	auth      string // the Authorization header; see WithAuth
	wholeHost bool   // auth is for the whole host, for clients that do not bind a login to a path
}

// WithAuth returns the endpoint with an Authorization header.
func (e Endpoint) WithAuth(header string) Endpoint { e.auth = header; return e }

// ForWholeHost returns the endpoint with its login extended to the whole host. A registry may serve files outside of
// its index's path.
func (e Endpoint) ForWholeHost() Endpoint { e.wholeHost = true; return e }

// Auth returns the Authorization header and whether it is for the whole host.
func (e Endpoint) Auth() (header string, wholeHost bool) { return e.auth, e.wholeHost }

// HostPort returns the endpoint's host, with a port only if the URL has one. It returns "" for an invalid URL.
func (e Endpoint) HostPort() string {
	address, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return address.Host
}

// String returns the URL without the password.
func (e Endpoint) String() string {
	address, err := url.Parse(e.URL)
	if err != nil {
		return "(an address that cannot be read)"
	}
	return address.Redacted()
}

// GoString hides the credentials from %#v.
func (e Endpoint) GoString() string { return fmt.Sprintf("ecosystem.Endpoint{%s}", e) }

// LogValue hides the credentials from logs.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.String()) }

// ParseEndpoint parses an http or https address from a client's settings. User and password become the endpoint's
// credentials.
func ParseEndpoint(address string) (Endpoint, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return Endpoint{}, errors.New("not an http or https address")
	}
	endpoint := Endpoint{}
	if u.User != nil {
		password, _ := u.User.Password()
		endpoint.auth = BasicAuth(u.User.Username(), password)
		u.User = nil
	}
	endpoint.URL = u.String()
	return endpoint, nil
}

// BasicAuth returns an Authorization header for a user and a password.
func BasicAuth(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
