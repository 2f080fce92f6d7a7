package depproxy

import (
	"context"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Resolve asks the registry for a package that is to be added, and gives it
// with an exact version: the one that was asked for, if the registry lists it,
// else the newest. Errors are E_INVALID (the name breaks the grammar, or there
// is no such registry), E_NOT_FOUND (the registry does not know it) and
// E_REGISTRY (it does not answer).
func (s *Store) Resolve(ctx context.Context, d company.Dependency) (company.Dependency, error) {
	if err := CheckName(d); err != nil {
		return d, err
	}
	e, err := s.clientOf(d)
	if err != nil {
		return d, err
	}
	f := s.fetcherOf(d.Ecosystem, nil)
	defer f.endRequest()
	all, newest, err := e.ListVersions(ctx, f, d)
	if err := s.explainLookup(ctx, d, err); err != nil {
		return d, err
	}
	switch {
	case d.Version == "" && newest == "":
		return d, company.E(company.ENotFound, "the registry lists no version of "+d.Ecosystem+" "+d.Name+" that can be had")
	case d.Version == "":
		d.Version = newest
	case !slices.Contains(all, d.Version):
		e := company.E(company.ENotFound, "the registry does not list "+d.String())
		if newest != "" {
			e = e.Fix("the newest version is " + newest)
		}
		return d, e
	}
	return d, CheckName(d)
}

// ListVersions lists what the registry of a package has of it. Errors are those of
// Resolve.
func (s *Store) ListVersions(ctx context.Context, d company.Dependency) ([]string, error) {
	if err := CheckName(d); err != nil {
		return nil, err
	}
	e, err := s.clientOf(d)
	if err != nil {
		return nil, err
	}
	f := s.fetcherOf(d.Ecosystem, nil)
	defer f.endRequest()
	all, _, err := e.ListVersions(ctx, f, d)
	return all, s.explainLookup(ctx, d, err)
}

// explainLookup is the error of a question to a registry.
func (s *Store) explainLookup(ctx context.Context, d company.Dependency, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case notFound(err):
		return company.E(company.ENotFound, "the registry does not know "+d.Ecosystem+" "+d.Name).Fix("check the spelling of the name")
	}
	_, line := failureStatus(err)
	s.log.Warn("registry", "dependency", d.String(), "err", err)
	return company.E(company.ERegistry, "asking for "+d.Ecosystem+" "+d.Name+": "+line).Fix("try again in a while, or go on without it")
}

// maxVisits bounds one Unrequested: packages whose needs are looked up.
const maxVisits = 5_000

// Unrequested lists the packages of a tree's lock files that are neither the
// base's, nor added on purpose, nor needed by those by the registries' account.
// The lock files were written by a worker and are not believed; the registries
// are. The policy still bounds every fetch: whatever a client makes of the
// tree, it gets allowed packages and no more.
func (s *Store) Unrequested(ctx context.Context, base map[string][]byte, added []company.Dependency, tree map[string][]byte) ([]company.Dependency, *Policy, error) {
	p, _ := LockedPolicy(base)
	now, _ := ParseLocks(tree)
	rest := func() (out []company.Dependency) {
		for _, d := range now {
			// A requirement without a version is a name, of an added package too.
			if !p.Allows(d) && (d.Version != "" || !p.Has(d.Ecosystem, d.Name)) {
				out = append(out, d)
			}
		}
		return out
	}
	out := rest()
	for _, d := range added {
		p.AllowWithNeeds(d)
	}
	visited := map[company.Dependency]bool{}
	// Once from the added packages; then, only if some are left, from all that
	// are allowed: a new version of one module asks for others of old ones.
	for _, all := range []bool{false, true} {
		for grew := true; grew && len(out) > 0; {
			grew = false
			for _, d := range append(slices.Clone(added), now...) {
				if visited[d] || !(p.isAdded(d) || all && p.Allows(d)) {
					continue
				}
				if visited[d] = true; len(visited) > maxVisits {
					return out, p, nil
				}
				needs, err := s.dependenciesOf(ctx, d)
				if notFound(err) {
					continue
				}
				if err != nil {
					if ctx.Err() != nil {
						return nil, nil, context.Cause(ctx)
					}
					if s.upstreams.WhyWithheld(d) != nil {
						return nil, nil, err
					}
					_, line := failureStatus(err)
					return nil, nil, company.E(company.ERegistry, "asking what "+d.String()+" needs: "+line)
				}
				p.allowTransitive(needs)
				grew = true
			}
			out = rest()
		}
	}
	return out, p, nil
}

// dependenciesOf are the packages that a version asks for, as its registry says.
func (s *Store) dependenciesOf(ctx context.Context, d company.Dependency) ([]company.Dependency, error) {
	e, err := s.clientOf(d)
	if err != nil {
		return nil, err
	}
	f := s.fetcherOf(d.Ecosystem, nil)
	defer f.endRequest()
	return e.ListNeeds(ctx, f, d)
}

// clientOf is the protocol of a package's registry, where there is one that this
// repository may use.
func (s *Store) clientOf(d company.Dependency) (ecosystem.Client, error) {
	if err := s.upstreams.WhyWithheld(d); err != nil {
		return nil, err
	}
	e, ok := findRegistry[ecosystem.Client](d.Ecosystem)
	if ok && s.upstreams.Serves(d.Ecosystem) {
		return e, nil
	}
	err := company.E(company.EInvalid, "this office has no "+d.Ecosystem+" registry")
	if len(s.upstreams.Notes) > 0 {
		err = err.Because(strings.Join(s.upstreams.Notes, "; "))
	}
	return nil, err
}
