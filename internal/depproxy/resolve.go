package depproxy

import (
	"context"
	"errors"
	"slices"
	"strings"

	pep440 "github.com/aquasecurity/go-pep440-version"
	"golang.org/x/mod/semver"

	"company/internal/company"
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
	if err := s.upstreams.WhyWithheld(d); err != nil {
		return d, err
	}
	if !s.upstreams.Serves(d.Ecosystem) {
		return d, noRegistryError(d.Ecosystem, s.upstreams.Notes)
	}
	all, newest, err := s.listVersions(ctx, d)
	switch {
	case ctx.Err() != nil:
		return d, context.Cause(ctx)
	case notFound(err):
		return d, company.E(company.ENotFound, "the registry does not know "+d.Ecosystem+" "+d.Name).Fix("check the spelling of the name")
	case err != nil:
		_, line := failureStatus(err)
		s.log.Warn("registry", "dependency", d.String(), "err", err)
		return d, company.E(company.ERegistry, "asking for "+d.Ecosystem+" "+d.Name+": "+line).Fix("try again in a while, or go on without it")
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

// listVersions lists what a registry has of a package, and the one that a client
// would take.
func (s *Store) listVersions(ctx context.Context, d company.Dependency) (all []string, newest string, err error) {
	switch d.Ecosystem {
	case Go:
		if all, err = s.listGoVersions(ctx, d.Name); err != nil {
			return nil, "", err
		}
		newest = newestSemver(all)
		if d.Version != "" && !slices.Contains(all, d.Version) {
			if latest, lerr := s.latestGoVersion(ctx, d.Name); lerr == nil {
				all = append(all, latest)
			}
		}
		return all, newest, nil
	case NPM:
		p, err := s.fetchPackument(ctx, d.Name)
		if err != nil {
			return nil, "", err
		}
		for v := range p.Versions {
			all = append(all, v)
		}
		return all, p.latestVersion(), nil
	case PyPI:
		files, err := s.listPyPIFiles(ctx, d.Name)
		if err != nil {
			return nil, "", err
		}
		for _, f := range files {
			all = append(all, f.version)
		}
		return all, newestPyPIVersion(files), nil
	case Crates:
		_, list, err := s.readCrateIndex(ctx, d.Name)
		if err != nil {
			return nil, "", err
		}
		var whole []string
		for _, c := range list {
			if all = append(all, c.Version); !c.Yanked {
				whole = append(whole, "v"+c.Version)
			}
		}
		return all, strings.TrimPrefix(newestSemver(whole), "v"), nil
	}
	return nil, "", errors.New("no such ecosystem")
}

// newestSemver is the highest release, or the highest of all where there is
// none.
func newestSemver(all []string) string {
	best := ""
	for _, v := range all {
		pre, was := semver.Prerelease(v) != "", semver.Prerelease(best) != ""
		if best == "" || was && !pre || was == pre && semver.Compare(v, best) > 0 {
			best = v
		}
	}
	return best
}

// newestPyPIVersion is the highest release that is not yanked, or the highest
// version of all where there is none, by PEP 440. A version that breaks the
// grammar could not be asked for and does not count.
func newestPyPIVersion(files []pypiFile) string {
	var best pep440.Version
	name := ""
	for _, f := range files {
		v, err := pep440.Parse(f.version)
		if err != nil || f.isYanked() || CheckName(company.Dependency{Ecosystem: PyPI, Name: "any", Version: f.version}) != nil {
			continue
		}
		pre, was := v.IsPreRelease(), best.IsPreRelease()
		if name == "" || was && !pre || was == pre && v.GreaterThan(best) {
			best, name = v, f.version
		}
	}
	return name
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
	if err := s.upstreams.WhyWithheld(d); err != nil {
		return nil, err
	}
	if !s.upstreams.Serves(d.Ecosystem) {
		return nil, noRegistryError(d.Ecosystem, s.upstreams.Notes)
	}
	switch d.Ecosystem {
	case Go:
		text, err := s.readGoMod(ctx, d)
		return parseGoRequires(text), err
	case NPM:
		p, err := s.fetchPackument(ctx, d.Name)
		if err != nil {
			return nil, err
		}
		return p.Versions[d.Version].listDependencies(), nil
	case Crates:
		_, all, err := s.readCrateIndex(ctx, d.Name)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			if c.Version == d.Version {
				return c.listDependencies(), nil
			}
		}
	case PyPI:
		files, err := s.listPyPIFiles(ctx, d.Name)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			// A wheel tells; every wheel of a version tells the same as a rule.
			if f.version == d.Version && (f.hasMetadata() || strings.HasSuffix(f.Filename, ".whl")) {
				return s.wheelDependencies(ctx, f)
			}
		}
	}
	return nil, nil
}
