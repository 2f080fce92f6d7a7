package depproxy

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync"

	"company/internal/company"
	"company/internal/ecosystem"
)

// maxNames limits the names of one policy, because lock files and a registry's lists of dependencies are untrusted.
const maxNames = 100_000

// maxVersions limits the versions in one policy, over all names. A public go.mod of 16 MB can name half a million.
const maxVersions = 4 * maxNames

// Policy holds what may be fetched: exact versions, or every version of a name. It grows during use, because the
// dependencies of an allowed package become allowed too. It is safe for concurrent use.
type Policy struct {
	mu            sync.Mutex
	names         map[packageKey]*grant
	versions      int                  // the number of versions of all names
	learned       []company.Dependency // the dependencies that registries named, in order
	openEcosystem string               // a kind of registry with all names allowed, or ""
	parts         []packageKey         // see AllowParts
	digests       map[company.Dependency]ecosystem.Digest
	asked         []company.Dependency // see allowAsked
}

type packageKey struct{ ecosystem, name string }

// grant holds the versions of one name that may be fetched.
type grant struct {
	anyVersion bool            // all versions that the registry lists
	withNeeds  map[string]bool // version → whether its dependencies are allowed too
}

// NewPolicy returns an empty policy. Allow and AllowWithNeeds add packages to it.
func NewPolicy() *Policy {
	return &Policy{names: map[packageKey]*grant{}, digests: map[company.Dependency]ecosystem.Digest{}}
}

// Allow permits one version, or every version of the name if the version is empty. It ignores names that break their
// ecosystem's grammar.
func (p *Policy) Allow(d company.Dependency) { p.addGrant(d, d.Version == "") }

// AllowWithNeeds is Allow for a dependency that was added on purpose. Its dependencies in the registry may be fetched
// as well.
func (p *Policy) AllowWithNeeds(d company.Dependency) { p.addGrant(d, true) }

// allowAsked is AllowWithNeeds for a package that was requested from the registry, even if the base takes it from
// another source.
func (p *Policy) allowAsked(dependency company.Dependency) {
	p.AllowWithNeeds(dependency)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, canonicalDependency(dependency))
}

// isAskedFor reports whether allowAsked has allowed a version.
func (p *Policy) isAskedFor(dependency company.Dependency) bool {
	dependency = canonicalDependency(dependency)
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.asked, dependency)
}

func (p *Policy) addGrant(dependency company.Dependency, follows bool) bool {
	dependency = canonicalDependency(dependency)
	if CheckName(dependency) != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k := packageKey{dependency.Ecosystem, dependency.Name}
	g := p.names[k]
	if g == nil {
		if len(p.names) >= maxNames {
			return false
		}
		g = &grant{withNeeds: map[string]bool{}}
		p.names[k] = g
	}
	if dependency.Version == "" {
		fresh := !g.anyVersion
		g.anyVersion = true
		return fresh
	}
	old, had := g.withNeeds[dependency.Version]
	if !had {
		if p.versions >= maxVersions {
			return false
		}
		p.versions++
	}
	g.withNeeds[dependency.Version] = old || follows
	return !had || follows && !old
}

// AllowParts permits the indexes of these parts of archives, and the packages of archives that have one of them. It
// is for preparation, which runs the president's own commands. A worker's policy never has parts.
func (p *Policy) AllowParts(kind string, parts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range parts {
		p.parts = append(p.parts, packageKey{kind, part})
	}
}

func (p *Policy) allowsPart(kind, part string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.parts, packageKey{kind, part})
}

// allowTransitive is AllowWithNeeds for dependencies in the registry's own metadata.
func (p *Policy) allowTransitive(needs []company.Dependency) {
	for _, dependency := range needs {
		if p.addGrant(dependency, true) {
			p.mu.Lock()
			p.learned = append(p.learned, dependency)
			p.mu.Unlock()
		}
	}
}

// Additions lists the packages that became allowed as dependencies of added packages, in the order of the registry's
// answers.
func (p *Policy) Additions() []company.Dependency {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.learned)
}

// Clone returns an independent copy of the policy.
func (p *Policy) Clone() *Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	policy := NewPolicy()
	policy.parts = slices.Clone(p.parts)
	policy.openEcosystem = p.openEcosystem
	policy.digests = maps.Clone(p.digests)
	policy.versions = p.versions
	policy.asked = slices.Clone(p.asked)
	for packageKey, g := range p.names {
		n := &grant{anyVersion: g.anyVersion, withNeeds: make(map[string]bool, len(g.withNeeds))}
		maps.Copy(n.withNeeds, g.withNeeds)
		policy.names[packageKey] = n
	}
	return policy
}

// CountNames returns the number of names of a kind of registry, or of all kinds for "".
func (p *Policy) CountNames(kind string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for k := range p.names {
		if kind == "" || k.ecosystem == kind {
			n++
		}
	}
	return n
}

// Has reports whether some version of the name may be fetched.
func (p *Policy) Has(kind, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openEcosystem != "" && p.openEcosystem == kind || p.names[packageKey{kind, canonicalName(kind, name)}] != nil
}

// Allows reports whether this version of the name may be fetched.
func (p *Policy) Allows(dependency company.Dependency) bool {
	dependency = canonicalDependency(dependency)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.openEcosystem != "" && p.openEcosystem == dependency.Ecosystem {
		return true
	}
	grant := p.names[packageKey{dependency.Ecosystem, dependency.Name}]
	if grant == nil {
		return false
	}
	_, named := grant.withNeeds[dependency.Version]
	return grant.anyVersion || named
}

// setDigest stores the digest from a lock file for an allowed version. If two lock files disagree, neither digest is
// used.
func (p *Policy) setDigest(dependency company.Dependency, sum ecosystem.Digest) {
	dependency = canonicalDependency(dependency)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names[packageKey{dependency.Ecosystem, dependency.Name}] == nil {
		return
	}
	if old, had := p.digests[dependency]; had && (old.Algorithm != sum.Algorithm || !bytes.Equal(old.Sum, sum.Sum)) {
		sum = ecosystem.Digest{}
	}
	p.digests[dependency] = sum
}

// lockedFile reports whether a version is allowed only because lock files name it. It also returns the digest from
// the lock files, even if ok is false.
func (p *Policy) lockedFile(dependency company.Dependency) (sum ecosystem.Digest, ok bool) {
	dependency = canonicalDependency(dependency)
	p.mu.Lock()
	defer p.mu.Unlock()
	grant := p.names[packageKey{dependency.Ecosystem, dependency.Name}]
	if grant == nil || grant.anyVersion {
		return p.digests[dependency], false
	}
	follows, named := grant.withNeeds[dependency.Version]
	return p.digests[dependency], named && !follows
}

// isAdded reports whether the dependencies of this version are allowed.
func (p *Policy) isAdded(dependency company.Dependency) bool {
	dependency = canonicalDependency(dependency)
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.names[packageKey{dependency.Ecosystem, dependency.Name}]
	return g != nil && (g.anyVersion || g.withNeeds[dependency.Version])
}

// refusalText returns the message for an agent if the policy does not hold a package.
func refusalText(dependency company.Dependency) string {
	return fmt.Sprintf("%s is not in the project's lock files and was not added: ask for it with the tool "+
		"add_dependency {\"ecosystem\": %q, \"name\": %q}", dependency, dependency.Ecosystem, dependency.Name)
}
