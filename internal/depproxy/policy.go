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

// maxNames bounds one policy: a lock file is untrusted text, and so is a
// registry's list of a package's dependencies.
const maxNames = 100_000

// maxVersions bounds the versions that one policy names, over all names. A go.mod of 16 MB,
// which anybody may publish, names half a million.
const maxVersions = 4 * maxNames

// Policy says what may be fetched: exact versions, or every version of a name.
// It grows while it is used: what a registry says that an allowed package needs
// is allowed too. It is safe for use by many goroutines.
type Policy struct {
	mu            sync.Mutex
	names         map[packageKey]*grant
	versions      int                  // of all names
	learned       []company.Dependency // what registries named, in order
	openEcosystem string               // kind of which every name may be fetched; "": none
	parts         []packageKey         // see AllowParts
	digests       map[company.Dependency]ecosystem.Digest
}

type packageKey struct{ ecosystem, name string }

// grant is what may be fetched of one name.
type grant struct {
	anyVersion bool            // every version that the registry lists
	withNeeds  map[string]bool // these; true: what they need is allowed too
}

// NewPolicy is the policy of an office without registries, and the start of one
// that is put together by Allow and AllowWithNeeds.
func NewPolicy() *Policy {
	return &Policy{names: map[packageKey]*grant{}, digests: map[company.Dependency]ecosystem.Digest{}}
}

// Allow lets one version be fetched, or with an empty one every version of the
// name. A name that breaks its ecosystem's grammar is left out.
func (p *Policy) Allow(d company.Dependency) { p.addGrant(d, d.Version == "") }

// AllowWithNeeds is Allow for a dependency that was added on purpose: what the registry
// says that it needs may be fetched as well.
func (p *Policy) AllowWithNeeds(d company.Dependency) { p.addGrant(d, true) }

func (p *Policy) addGrant(d company.Dependency, follows bool) bool {
	if CheckName(d) != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k := packageKey{d.Ecosystem, canonicalName(d.Ecosystem, d.Name)}
	g := p.names[k]
	if g == nil {
		if len(p.names) >= maxNames {
			return false
		}
		g = &grant{withNeeds: map[string]bool{}}
		p.names[k] = g
	}
	if d.Version == "" {
		fresh := !g.anyVersion
		g.anyVersion = true
		return fresh
	}
	old, had := g.withNeeds[d.Version]
	if !had {
		if p.versions >= maxVersions {
			return false
		}
		p.versions++
	}
	g.withNeeds[d.Version] = old || follows
	return !had || follows && !old
}

// AllowParts lets the indices of these parts of archives be fetched, and the
// packages of archives that have one of them. It is for preparation, which runs
// the president's own commands; a worker's policy never has parts.
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

// allowTransitive is AllowWithNeeds for what the registry's own metadata names.
func (p *Policy) allowTransitive(needs []company.Dependency) {
	for _, d := range needs {
		if p.addGrant(d, true) {
			p.mu.Lock()
			p.learned = append(p.learned, d)
			p.mu.Unlock()
		}
	}
}

// Additions lists the packages that were allowed because an added package needs
// them, in the order of the registry's answers.
func (p *Policy) Additions() []company.Dependency {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.learned)
}

// Clone is a policy of its own that holds the same.
func (p *Policy) Clone() *Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := NewPolicy()
	c.parts, c.openEcosystem, c.digests, c.versions = slices.Clone(p.parts), p.openEcosystem, maps.Clone(p.digests), p.versions
	for k, g := range p.names {
		n := &grant{anyVersion: g.anyVersion, withNeeds: make(map[string]bool, len(g.withNeeds))}
		maps.Copy(n.withNeeds, g.withNeeds)
		c.names[k] = n
	}
	return c
}

// CountNames counts the names of a kind of registry; of all with "".
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

// Has reports whether anything of the name may be fetched.
func (p *Policy) Has(kind, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openEcosystem != "" && p.openEcosystem == kind || p.names[packageKey{kind, canonicalName(kind, name)}] != nil
}

// Allows reports whether this version of the name may be fetched.
func (p *Policy) Allows(d company.Dependency) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.openEcosystem != "" && p.openEcosystem == d.Ecosystem {
		return true
	}
	g := p.names[packageKey{d.Ecosystem, canonicalName(d.Ecosystem, d.Name)}]
	if g == nil {
		return false
	}
	_, named := g.withNeeds[d.Version]
	return g.anyVersion || named
}

// setDigest keeps what a lock file says of the file of a version that is allowed.
// Where two lock files say different things, neither is believed.
func (p *Policy) setDigest(d company.Dependency, sum ecosystem.Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.Name = canonicalName(d.Ecosystem, d.Name)
	if p.names[packageKey{d.Ecosystem, d.Name}] == nil {
		return
	}
	if old, had := p.digests[d]; had && (old.Algorithm != sum.Algorithm || !bytes.Equal(old.Sum, sum.Sum)) {
		sum = ecosystem.Digest{}
	}
	p.digests[d] = sum
}

// lockedFile reports whether a version is allowed as lock files name it, and what they
// say of its file. They may say something of it also where another rule allows the version.
func (p *Policy) lockedFile(d company.Dependency) (sum ecosystem.Digest, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.Name = canonicalName(d.Ecosystem, d.Name)
	g := p.names[packageKey{d.Ecosystem, d.Name}]
	if g == nil || g.anyVersion {
		return p.digests[d], false
	}
	follows, named := g.withNeeds[d.Version]
	return p.digests[d], named && !follows
}

// isAdded reports whether what this version needs is allowed.
func (p *Policy) isAdded(d company.Dependency) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.names[packageKey{d.Ecosystem, canonicalName(d.Ecosystem, d.Name)}]
	return g != nil && (g.anyVersion || g.withNeeds[d.Version])
}

// refusalText is what an agent reads when the policy does not hold a package.
func refusalText(d company.Dependency) string {
	return fmt.Sprintf("%s is not in the project's lock files and was not added: ask for it with the tool add_dependency {\"ecosystem\": %q, \"name\": %q}", d, d.Ecosystem, d.Name)
}
