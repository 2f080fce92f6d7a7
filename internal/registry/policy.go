package registry

import (
	"fmt"
	"slices"
	"sync"

	"company/internal/company"
)

// maxNames bounds one policy: a lock file is somebody else's text, and so is a
// registry's list of what a package needs.
const maxNames = 100_000

// Policy says what may be fetched: exact versions, or every version of a name.
// It grows while it is used: what a registry says that an allowed package needs
// is allowed too. It is safe for use by many goroutines.
type Policy struct {
	mu    sync.Mutex
	names map[key]*grant
	grew  []company.Dependency // what registries named, in order
	every string               // ecosystem of which every name may be fetched; "": none
	// suites of Debian archives; see AllowSuites.
	suites []string
}

type key struct{ ecosystem, name string }

// grant is what may be fetched of one name.
type grant struct {
	any      bool            // every version that the registry lists
	versions map[string]bool // these; true: what they need is allowed too
}

// Nothing is the policy of an office without registries, and the start of one
// that is put together by Allow and Add.
func Nothing() *Policy { return &Policy{names: map[key]*grant{}} }

// Allow lets one version be fetched, or with an empty one every version of the
// name. A name that breaks its ecosystem's grammar is left out.
func (p *Policy) Allow(d company.Dependency) { p.put(d, d.Version == "") }

// Add is Allow for a dependency that was added on purpose: what the registry
// says that it needs may be fetched as well.
func (p *Policy) Add(d company.Dependency) { p.put(d, true) }

func (p *Policy) put(d company.Dependency, follows bool) bool {
	if Check(d) != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k := key{d.Ecosystem, canonical(d.Ecosystem, d.Name)}
	g := p.names[k]
	if g == nil {
		if len(p.names) >= maxNames {
			return false
		}
		g = &grant{versions: map[string]bool{}}
		p.names[k] = g
	}
	if d.Version == "" {
		fresh := !g.any
		g.any = true
		return fresh
	}
	old, had := g.versions[d.Version]
	g.versions[d.Version] = old || follows
	return !had || follows && !old
}

// learn is Add for what the registry's own metadata names.
func (p *Policy) learn(needs []company.Dependency) {
	for _, d := range needs {
		if p.put(d, true) {
			p.mu.Lock()
			p.grew = append(p.grew, d)
			p.mu.Unlock()
		}
	}
}

// Grew lists what was allowed because the registry said that an added package
// needs it, in the order in which it was named.
func (p *Policy) Grew() []company.Dependency {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.grew)
}

// Clone is a policy of its own that holds the same.
func (p *Policy) Clone() *Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := Nothing()
	c.suites, c.every = slices.Clone(p.suites), p.every
	for k, g := range p.names {
		n := &grant{any: g.any, versions: make(map[string]bool, len(g.versions))}
		for v, f := range g.versions {
			n.versions[v] = f
		}
		c.names[k] = n
	}
	return c
}

// Size counts the names of an ecosystem; of all with "".
func (p *Policy) Size(ecosystem string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for k := range p.names {
		if ecosystem == "" || k.ecosystem == ecosystem {
			n++
		}
	}
	return n
}

// Has reports whether anything of the name may be fetched.
func (p *Policy) Has(ecosystem, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.every != "" && p.every == ecosystem || p.names[key{ecosystem, canonical(ecosystem, name)}] != nil
}

// Allows reports whether this version of the name may be fetched.
func (p *Policy) Allows(d company.Dependency) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.every != "" && p.every == d.Ecosystem {
		return true
	}
	g := p.names[key{d.Ecosystem, canonical(d.Ecosystem, d.Name)}]
	if g == nil {
		return false
	}
	_, named := g.versions[d.Version]
	return g.any || named
}

// follows reports whether what this version needs is allowed.
func (p *Policy) follows(d company.Dependency) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.names[key{d.Ecosystem, canonical(d.Ecosystem, d.Name)}]
	return g != nil && (g.any || g.versions[d.Version])
}

// refusal is what an agent reads when the policy does not hold a package.
func refusal(d company.Dependency) string {
	return fmt.Sprintf("%s is not in the project's lock files and was not added: ask for it with the tool add_dependency {\"ecosystem\": %q, \"name\": %q}", d, d.Ecosystem, d.Name)
}
