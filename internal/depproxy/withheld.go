package depproxy

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"company/internal/company"
)

// A repository's lock files name the packages that are fetched for it, and they
// are untrusted. Packages behind the operator's login, or under GOPRIVATE, are
// only for repositories that the operator allows: else any repository that
// names a private package would find its source in its containers, and could
// push it.

// withheldSet is what a set of registries leaves out for a repository that may not
// use the operator's logins.
type withheldSet struct {
	hosts     map[string]string // ecosystem → the host of its registry
	scopes    map[string]string // npm's "@scope" → the host of its registry
	goPrivate string            // GOPRIVATE's patterns of module paths
}

// LoginHosts lists the hosts that the operator logs in at, in order.
func (u Upstreams) LoginHosts() []string {
	hosts := map[string]bool{}
	for _, e := range u.allEndpoints() {
		if e.auth != "" {
			hosts[e.hostPort()] = true
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

// WithoutLogins are the registries for every repository: those without a login,
// and those whose host is listed. Go modules that the operator calls private
// are left out, at every registry. An omitted package is refused with an
// explanation, and never fetched from another registry: a stranger may have
// registered its name there.
func (u Upstreams) WithoutLogins(hosts []string) Upstreams {
	out, left := u, withheldSet{hosts: map[string]string{}, scopes: map[string]string{}, goPrivate: u.GoPrivate}
	closed := func(e Endpoint) bool { return e.auth != "" && !slices.Contains(hosts, e.hostPort()) }
	out.Go = nil
	for _, e := range u.Go {
		if closed(e) {
			left.hosts[Go] = e.hostPort()
		} else {
			out.Go = append(out.Go, e)
		}
	}
	for ecosystem, e := range map[string]*Endpoint{NPM: &out.NPM, PyPI: &out.PyPI, Crates: &out.Crates} {
		if closed(*e) {
			left.hosts[ecosystem], *e = e.hostPort(), Endpoint{}
		}
	}
	out.NPMScope = map[string]Endpoint{}
	for scope, e := range u.NPMScope {
		if closed(e) {
			left.scopes[scope] = e.hostPort()
		} else {
			out.NPMScope[scope] = e
		}
	}
	out.Debian = nil
	for _, a := range u.Debian {
		if closed(a.Endpoint) {
			left.hosts[Debian] = a.hostPort()
		} else {
			out.Debian = append(out.Debian, a)
		}
	}
	out.withheld = left
	return out
}

// withholdsAny reports whether Open has left anything out.
func (u Upstreams) withholdsAny() bool {
	w := u.withheld
	return len(w.hosts) > 0 || len(w.scopes) > 0 || w.goPrivate != ""
}

// hostPort is where an endpoint is, with a port only where it names one.
func (e Endpoint) hostPort() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// WhyWithheld says why a package is not for this repository, and what to do about
// it; nil where it is, or where another registry would not have it either. A
// dependency without a name asks for its ecosystem as a whole.
func (u Upstreams) WhyWithheld(d company.Dependency) error {
	w := u.withheld
	if d.Ecosystem == Go {
		if err := u.WhyModuleWithheld(d.Name); err != nil {
			return err
		}
	}
	if scope, _, scoped := strings.Cut(d.Name, "/"); d.Ecosystem == NPM && scoped && w.scopes[scope] != "" {
		return withheldError("the npm registry of "+scope+" needs your login", w.scopes[scope])
	}
	if host := w.hosts[d.Ecosystem]; host != "" && !u.Serves(d.Ecosystem) {
		return withheldError("the "+d.Ecosystem+" registry needs your login", host)
	}
	return nil
}

// WhyModuleWithheld is Withheld for a Go module by its name alone.
func (u Upstreams) WhyModuleWithheld(name string) error {
	if name == "" || !module.MatchPrefixPatterns(u.withheld.goPrivate, name) {
		return nil
	}
	return withheldError("go module "+name+" is private (GOPRIVATE)", "")
}

// withheldError is the refusal of something private. It says which host the login
// is of, and nothing of the login.
func withheldError(what, host string) error {
	e := company.E(company.EAuth, what+", and this repository may not use it").
		Because("what a repository's files name is fetched into its containers, and can be pushed from there").
		Fix("read what the repository asks for, then run in it: company trust --logins")
	if host != "" {
		e = e.Fix(fmt.Sprintf("read what the repository asks for, then run in it: company trust --logins; or let every repository use the login, with container.logins: [%q] in your own config", host))
	}
	return e.NeedsPerson()
}

// refusalLine is a refusal as a line of a client's output.
func refusalLine(err error) string {
	var hint string
	if e := (*company.Error)(nil); errors.As(err, &e) {
		hint = ". " + e.Hint
		err = company.E(e.Code, e.Message)
	}
	return err.Error() + hint
}

// NewOpenPolicy is a policy that lets every name of an ecosystem be fetched.
// Packages that are not for a repository are still refused.
func NewOpenPolicy(ecosystem string) *Policy {
	p := NewPolicy()
	p.openEcosystem = ecosystem
	return p
}
