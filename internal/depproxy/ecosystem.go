package depproxy

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/registry"
)

// The registries whose protocols are served, as they are named in paths.
const (
	Go     = ecosystem.Go
	NPM    = ecosystem.NPM
	PyPI   = ecosystem.PyPI
	Crates = ecosystem.Crates
)

// Ecosystems lists the kinds of registries.
func Ecosystems() []string {
	var out []string
	for _, e := range registry.Of[ecosystem.Client]() {
		out = append(out, e.Registry().Name)
	}
	return out
}

// registryOf is the kind of registry of that name; one without a name where there
// is none.
func registryOf(name string) ecosystem.Registry {
	for _, e := range registry.Of[ecosystem.Client]() {
		if r := e.Registry(); r.Name == name {
			return r
		}
	}
	return ecosystem.Registry{}
}

// CheckName holds a name (and a version, where there is one) against the
// grammar of its ecosystem. It sends no request. The error is E_INVALID, for an
// agent to read.
func CheckName(d company.Dependency) error {
	r := registryOf(d.Ecosystem)
	if r.CheckName == nil {
		return ecosystem.NameError(d.Ecosystem, "an ecosystem that is served").Fix("there are: " + strings.Join(Ecosystems(), ", "))
	}
	return r.CheckName(d.Name, d.Version)
}

// canonicalName is the form in which two spellings of one name are equal.
func canonicalName(kind, name string) string {
	if r := registryOf(kind); r.Canonical != nil {
		return r.Canonical(name)
	}
	return name
}

// AddCommand tells how clients take a package into a project: the command of the
// registry's own client, and in brackets those of others.
func AddCommand(d company.Dependency) string {
	var own, others string
	for _, e := range registry.Of[ecosystem.Adder]() {
		command := e.AddCommand(d)
		if command == "" {
			continue
		}
		if _, ok := e.(ecosystem.Client); ok {
			own = command
		} else {
			others += " (with " + e.Name() + ": " + command + ")"
		}
	}
	return own + others
}
