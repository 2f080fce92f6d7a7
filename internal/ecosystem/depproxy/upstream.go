package depproxy

import (
	"cmp"
	"iter"
	"maps"
	"time"

	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// Upstreams holds the registries behind the mirrors. The zero value has none, for an office with deps: off.
type Upstreams struct {
	// Registries maps names of kinds to registries. A kind without an endpoint is not served, and Notes has the reason.
	Registries map[string]ecosystem.Upstream
	CAs        []string // files of further trusted certificates
	Notes      []string // the operator's settings that are not followed
	// Patience is how long a registry may be silent. Zero means a minute.
	Patience time.Duration

	withheld map[string]ecosystem.Upstream // see WithoutLogins
}

func (u Upstreams) patience() time.Duration { return cmp.Or(u.Patience, defaultPatience) }

// allEndpoints returns all endpoints, each with its kind.
func (u Upstreams) allEndpoints() iter.Seq2[string, ecosystem.Endpoint] {
	return func(yield func(string, ecosystem.Endpoint) bool) {
		for _, e := range catalog.Of[ecosystem.Proxied]() {
			kind := e.Registry().Name
			for _, endpoint := range u.Registries[kind].Endpoints {
				if !yield(kind, endpoint) {
					return
				}
			}
		}
	}
}

// Serves reports whether there is a registry of a kind.
func (u Upstreams) Serves(kind string) bool { return u.Registries[kind].Serves() }

// SourceLines returns lines of a client's list of sources, for a place that reaches NewPolicyHandler at base. It has
// lines for those parts that the operator's archives have. The keyring is the file for checking signatures.
func (u Upstreams) SourceLines(kind, base, keyring string, parts ...string) []string {
	archive, ok := findRegistry[ecosystem.Archive](kind)
	if !ok {
		return nil
	}
	return archive.SourceLines(u.Registries[kind], base+"/"+kind, keyring, parts)
}

// ClientEnv returns environment variables that make the clients in a container use the mirrors at base, such as
// http://127.0.0.1:8377. added holds the kinds to which a task has added packages.
func (s *Store) ClientEnv(base string, added map[string]bool) map[string]string {
	env := map[string]string{}
	for _, client := range catalog.Of[ecosystem.Client]() {
		if kind := client.Registry().Name; s.upstreams.Serves(kind) {
			maps.Copy(env, client.ClientEnv(s.upstreams.Registries[kind], base+"/"+kind, added[kind]))
		}
	}
	return env
}

// SetupCommand returns a shell command that must run in a container before the clients of a kind of registry can
// fetch, or "".
func SetupCommand(base, kind string) string {
	setUp, ok := findRegistry[ecosystem.SetUp](kind)
	if !ok {
		return ""
	}
	return setUp.SetupCommand(base + "/" + kind)
}
