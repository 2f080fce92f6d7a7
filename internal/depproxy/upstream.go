package depproxy

import (
	"cmp"
	"iter"
	"maps"
	"time"

	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// Upstreams are the registries behind the mirrors. The zero value has none, for an
// office with deps: off.
type Upstreams struct {
	// Registries are those of each kind, by its name. A kind without an endpoint
	// is not served, and Notes says why.
	Registries map[string]ecosystem.Upstream
	CAs        []string // files of further trusted certificates
	Notes      []string // settings of the operator that are not followed, for people
	// Patience is how long a registry may be silent. Zero: a minute.
	Patience time.Duration

	withheld map[string]ecosystem.Upstream // see WithoutLogins
}

func (u Upstreams) patience() time.Duration { return cmp.Or(u.Patience, defaultPatience) }

// allEndpoints are the endpoints there are, each with its kind.
func (u Upstreams) allEndpoints() iter.Seq2[string, ecosystem.Endpoint] {
	return func(yield func(string, ecosystem.Endpoint) bool) {
		for _, e := range catalog.Of[ecosystem.Proxied]() {
			kind := e.Registry().Name
			for _, at := range u.Registries[kind].Endpoints {
				if !yield(kind, at) {
					return
				}
			}
		}
	}
}

// Serves reports whether there is a registry of a kind.
func (u Upstreams) Serves(kind string) bool { return u.Registries[kind].Serves() }

// SourceLines are lines of a client's list of sources, for a place where
// NewPolicyHandler is reached at base: those of the parts that the operator's
// archives have. The keyring is the file that signatures are checked with.
func (u Upstreams) SourceLines(kind, base, keyring string, parts ...string) []string {
	e, ok := findRegistry[ecosystem.Archive](kind)
	if !ok {
		return nil
	}
	return e.SourceLines(u.Registries[kind], base+"/"+kind, keyring, parts)
}

// ClientEnv makes the clients in a container ask the mirrors at base, such as
// http://127.0.0.1:8377. The kinds in added are those to which something was
// added.
func (s *Store) ClientEnv(base string, added map[string]bool) map[string]string {
	env := map[string]string{}
	for _, e := range catalog.Of[ecosystem.Client]() {
		if kind := e.Registry().Name; s.upstreams.Serves(kind) {
			maps.Copy(env, e.ClientEnv(s.upstreams.Registries[kind], base+"/"+kind, added[kind]))
		}
	}
	return env
}

// SetupCommand is a command of the shell that has to run in a container before the
// clients of a kind of registry can fetch, or "".
func SetupCommand(base, kind string) string {
	e, ok := findRegistry[ecosystem.SetUp](kind)
	if !ok {
		return ""
	}
	return e.SetupCommand(base + "/" + kind)
}
