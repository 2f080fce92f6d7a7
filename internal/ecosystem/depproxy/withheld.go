package depproxy

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// A repository's lock files name the packages that are fetched for it, and they are untrusted. Packages that need the
// operator's login or that the operator calls private are only for repositories that the operator allows. Otherwise
// any repository could name a private package, find its source in its containers and push it.

// LoginHosts lists the hosts for which the operator has a login, sorted.
func (u Upstreams) LoginHosts() []string {
	hosts := map[string]bool{}
	for _, endpoint := range u.allEndpoints() {
		if needsLogin(endpoint) {
			hosts[endpoint.HostPort()] = true
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

func needsLogin(e ecosystem.Endpoint) bool {
	header, _ := e.Auth()
	return header != ""
}

// WithoutLogins returns the registries for every repository: those without a login, and those on a listed host. At
// every registry, it withholds names that the operator calls private. A withheld package is refused with an
// explanation. It is never fetched from another registry, where a stranger may have registered its name.
func (u Upstreams) WithoutLogins(hosts []string) Upstreams {
	out := u
	out.Registries, out.withheld = map[string]ecosystem.Upstream{}, map[string]ecosystem.Upstream{}
	for kind, up := range u.Registries {
		open, closed := up, ecosystem.Upstream{Private: up.Private}
		open.Endpoints = nil
		for _, endpoint := range up.Endpoints {
			if needsLogin(endpoint) && !slices.Contains(hosts, endpoint.HostPort()) {
				closed.Endpoints = append(closed.Endpoints, endpoint)
			} else {
				open.Endpoints = append(open.Endpoints, endpoint)
			}
		}
		out.Registries[kind], out.withheld[kind] = open, closed
	}
	return out
}

// withholdsAny reports whether WithoutLogins has withheld an endpoint or a name.
func (u Upstreams) withholdsAny() bool {
	for _, up := range u.withheld {
		if len(up.Endpoints) > 0 || up.Private != "" {
			return true
		}
	}
	return false
}

// WhyWithheld returns the reason why this repository may not use a package, with advice. It returns nil if the
// repository may use it, or if no registry would have it either. Without a name, the dependency means the whole kind
// of registry.
func (u Upstreams) WhyWithheld(dependency company.Dependency) error {
	if err := u.WhyPrivate(dependency); err != nil {
		return err
	}
	switch endpoint := u.withheld[dependency.Ecosystem].EndpointOf(dependency.Name); {
	case endpoint.Scope != "":
		return withheldError("the "+dependency.Ecosystem+" registry of "+endpoint.Scope+" needs your login",
			endpoint.HostPort())
	case endpoint.URL != "" && !u.Serves(dependency.Ecosystem):
		return withheldError("the "+dependency.Ecosystem+" registry needs your login", endpoint.HostPort())
	}
	return nil
}

// WhyPrivate is WhyWithheld for private names only, at any registry.
func (u Upstreams) WhyPrivate(dependency company.Dependency) error {
	client, ok := findRegistry[ecosystem.Client](dependency.Ecosystem)
	patterns := u.withheld[dependency.Ecosystem].Private
	if !ok || patterns == "" || dependency.Name == "" || client.Registry().WhyPrivate == nil {
		return nil
	}
	if reason := client.Registry().WhyPrivate(patterns, dependency.Name); reason != "" {
		return withheldError(reason, "")
	}
	return nil
}

// withheldError returns the refusal for something private. It names the host of the login, but nothing else about the
// login.
func withheldError(what, host string) error {
	fault := company.E(company.EAuth, what+", and this repository may not use it").
		Because("packages that a repository's files name are fetched into its containers, which can push them").
		Fix("check what the repository asks for, then run company trust --logins in it")
	if host != "" {
		fault = fault.Fix(fmt.Sprintf("check what the repository asks for, then run company trust --logins in it; or let "+
			"every "+
			"repository use the login, with container.logins: [%q] in your own config", host))
	}
	return fault.NeedsPerson()
}

// refusalLine returns a refusal as one line for a client's output.
func refusalLine(err error) string {
	var hint string
	if fault := (*company.Error)(nil); errors.As(err, &fault) {
		hint = ". " + fault.Hint
		err = company.E(fault.Code, fault.Message)
	}
	return err.Error() + hint
}

// NewOpenPolicy returns a policy that permits every name of a kind of registry. Packages that are withheld from a
// repository are still refused.
func NewOpenPolicy(kind string) *Policy {
	policy := NewPolicy()
	policy.openEcosystem = kind
	return policy
}
