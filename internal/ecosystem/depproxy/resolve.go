package depproxy

import (
	"context"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Resolve looks up a package to add in the registry and returns it with an exact version. That is the requested
// version if the registry lists it, or the newest one if no version was requested. Errors are E_INVALID (the name
// breaks the grammar, or there is no such registry), E_NOT_FOUND (the registry does not have it) and E_REGISTRY (it
// does not answer).
func (s *Store) Resolve(ctx context.Context, dependency company.Dependency) (company.Dependency, error) {
	if err := CheckName(dependency); err != nil {
		return dependency, err
	}
	client, err := s.clientOf(dependency)
	if err != nil {
		return dependency, err
	}
	fetcher := s.fetcherOf(dependency.Ecosystem, nil)
	defer fetcher.endRequest()
	all, newest, err := client.ListVersions(ctx, fetcher, dependency)
	if err := s.explainLookup(ctx, dependency, err); err != nil {
		return dependency, err
	}
	wanted := canonicalDependency(company.Dependency{Ecosystem: dependency.Ecosystem, Version: dependency.Version})
	listed := slices.IndexFunc(all, func(version string) bool {
		return canonicalDependency(company.Dependency{Ecosystem: dependency.Ecosystem, Version: version}) == wanted
	})
	switch {
	case dependency.Version == "" && newest == "":
		return dependency, company.E(company.ENotFound,
			"the registry has no usable version of "+dependency.Ecosystem+" "+dependency.Name)
	case dependency.Version == "":
		dependency.Version = newest
	case listed >= 0:
		dependency.Version = all[listed] // in the registry's spelling
	default:
		fault := company.E(company.ENotFound, "the registry does not list "+dependency.String())
		if newest != "" {
			fault = fault.Fix("the newest version is " + newest)
		}
		return dependency, fault
	}
	return dependency, CheckName(dependency)
}

// ListVersions lists the versions of a package in its registry. Errors are those of Resolve.
func (s *Store) ListVersions(ctx context.Context, dependency company.Dependency) ([]string, error) {
	if err := CheckName(dependency); err != nil {
		return nil, err
	}
	client, err := s.clientOf(dependency)
	if err != nil {
		return nil, err
	}
	fetcher := s.fetcherOf(dependency.Ecosystem, nil)
	defer fetcher.endRequest()
	all, _, err := client.ListVersions(ctx, fetcher, dependency)
	return all, s.explainLookup(ctx, dependency, err)
}

// explainLookup converts the error of a request to a registry.
func (s *Store) explainLookup(ctx context.Context, dependency company.Dependency, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case notFound(err):
		return company.E(company.ENotFound, "the registry does not know "+dependency.Ecosystem+" "+dependency.Name).
			Fix("check the spelling of the name")
	}
	_, line := failureStatus(err)
	s.log.Warn("registry", "dependency", dependency.String(), "err", err)
	return company.E(company.ERegistry, "asking for "+dependency.Ecosystem+" "+dependency.Name+": "+line).
		Fix("try again later, or do without it")
}

// maxVisits limits the number of packages whose dependencies one Unrequested looks up.
const maxVisits = 5_000

// Unrequested lists the packages in a tree's lock files that cannot be explained. A package is explained if the base
// has it, if it was added on purpose, or if such a package needs it according to the registries. A worker wrote the
// lock files, so they are not trusted, but the registries are. The policy still limits every fetch, so a client gets
// only allowed packages from any tree.
func (s *Store) Unrequested(
	ctx context.Context, base map[string][]byte, added []company.Dependency, tree map[string][]byte,
) ([]company.Dependency, *Policy, error) {
	policy, _ := LockedPolicy(base)
	now, _ := ParseLocks(tree)
	rest := func() (out []company.Dependency) {
		for _, dependency := range now {
			// A requirement without a version names only a package, which may be an added one.
			if !policy.Allows(dependency) && (dependency.Version != "" || !policy.Has(dependency.Ecosystem, dependency.Name)) {
				out = append(out, dependency)
			}
		}
		return out
	}
	out := rest()
	for _, d := range added {
		policy.allowAsked(d)
	}
	visited := map[company.Dependency]bool{}
	// Start with the added packages only. If some are left, repeat with all allowed packages, because a new version of
	// one module can require newer versions of old ones.
	for _, all := range []bool{false, true} {
		for grew := true; grew && len(out) > 0; {
			grew = false
			for _, dependency := range append(slices.Clone(added), now...) {
				if visited[dependency] || !(policy.isAdded(dependency) || all && policy.Allows(dependency)) {
					continue
				}
				if visited[dependency] = true; len(visited) > maxVisits {
					return out, policy, nil
				}
				needs, err := s.dependenciesOf(ctx, dependency)
				if notFound(err) {
					continue
				}
				if err != nil {
					if ctx.Err() != nil {
						return nil, nil, context.Cause(ctx)
					}
					if s.upstreams.WhyWithheld(dependency) != nil {
						return nil, nil, err
					}
					_, line := failureStatus(err)
					return nil, nil, company.E(company.ERegistry, "asking what "+dependency.String()+" needs: "+line)
				}
				policy.allowTransitive(needs)
				grew = true
			}
			out = rest()
		}
	}
	return out, policy, nil
}

// dependenciesOf returns the direct dependencies of a version, according to its registry.
func (s *Store) dependenciesOf(ctx context.Context, dependency company.Dependency) ([]company.Dependency, error) {
	client, err := s.clientOf(dependency)
	if err != nil {
		return nil, err
	}
	fetcher := s.fetcherOf(dependency.Ecosystem, nil)
	defer fetcher.endRequest()
	return client.ListNeeds(ctx, fetcher, dependency)
}

// clientOf returns the protocol of a package's registry. It returns an error if there is no such registry or this
// repository may not use the package.
func (s *Store) clientOf(dependency company.Dependency) (ecosystem.Client, error) {
	if err := s.upstreams.WhyWithheld(dependency); err != nil {
		return nil, err
	}
	client, ok := findRegistry[ecosystem.Client](dependency.Ecosystem)
	if ok && s.upstreams.Serves(dependency.Ecosystem) {
		return client, nil
	}
	err := company.E(company.EInvalid, "this office has no "+dependency.Ecosystem+" registry")
	if len(s.upstreams.Notes) > 0 {
		err = err.Because(strings.Join(s.upstreams.Notes, "; "))
	}
	return nil, err
}
