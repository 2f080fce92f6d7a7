package depproxy

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// A repository's lock files name the packages that are fetched for it, and they
// are untrusted. Packages behind the operator's login, or that the operator
// calls private, are only for repositories that the operator allows: else any repository that
// names a private package would find its source in its containers, and could
// push it.

// LoginHosts lists the hosts that the operator logs in at, in order.
func (u Upstreams) LoginHosts() []string {
	hosts := map[string]bool{}
	for _, e := range u.allEndpoints() {
		if needsLogin(e) {
			hosts[e.HostPort()] = true
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

func needsLogin(e ecosystem.Endpoint) bool {
	header, _ := e.Auth()
	return header != ""
}

// WithoutLogins are the registries for every repository: those without a login,
// and those whose host is listed. Names that the operator calls private are left
// out, at every registry. An omitted package is refused with an
// explanation, and never fetched from another registry: a stranger may have
// registered its name there.
func (u Upstreams) WithoutLogins(hosts []string) Upstreams {
	out := u
	out.Registries, out.withheld = map[string]ecosystem.Upstream{}, map[string]ecosystem.Upstream{}
	for kind, up := range u.Registries {
		open, closed := up, ecosystem.Upstream{Private: up.Private}
		open.Endpoints = nil
		for _, e := range up.Endpoints {
			if needsLogin(e) && !slices.Contains(hosts, e.HostPort()) {
				closed.Endpoints = append(closed.Endpoints, e)
			} else {
				open.Endpoints = append(open.Endpoints, e)
			}
		}
		out.Registries[kind], out.withheld[kind] = open, closed
	}
	return out
}

// withholdsAny reports whether WithoutLogins has left anything out.
func (u Upstreams) withholdsAny() bool {
	for _, up := range u.withheld {
		if len(up.Endpoints) > 0 || up.Private != "" {
			return true
		}
	}
	return false
}

// WhyWithheld says why a package is not for this repository, and what to do about
// it; nil where it is, or where another registry would not have it either. A
// dependency without a name asks for its kind of registry as a whole.
func (u Upstreams) WhyWithheld(d company.Dependency) error {
	if err := u.WhyPrivate(d); err != nil {
		return err
	}
	switch e := u.withheld[d.Ecosystem].EndpointOf(d.Name); {
	case e.Scope != "":
		return withheldError("the "+d.Ecosystem+" registry of "+e.Scope+" needs your login", e.HostPort())
	case e.URL != "" && !u.Serves(d.Ecosystem):
		return withheldError("the "+d.Ecosystem+" registry needs your login", e.HostPort())
	}
	return nil
}

// WhyPrivate is WhyWithheld by the name alone, wherever the package would come from.
func (u Upstreams) WhyPrivate(d company.Dependency) error {
	e, ok := findRegistry[ecosystem.Client](d.Ecosystem)
	patterns := u.withheld[d.Ecosystem].Private
	if !ok || patterns == "" || d.Name == "" || e.Registry().WhyPrivate == nil {
		return nil
	}
	if why := e.Registry().WhyPrivate(patterns, d.Name); why != "" {
		return withheldError(why, "")
	}
	return nil
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

// NewOpenPolicy is a policy that lets every name of a kind of registry be fetched.
// Packages that are not for a repository are still refused.
func NewOpenPolicy(kind string) *Policy {
	p := NewPolicy()
	p.openEcosystem = kind
	return p
}
