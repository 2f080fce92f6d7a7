package depproxy

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// Ecosystems lists the kinds of registries whose packages a project may have.
func Ecosystems() []string {
	var out []string
	for _, e := range catalog.Of[ecosystem.Client]() {
		out = append(out, e.Registry().Name)
	}
	return out
}

// findRegistry is the kind of registry of that name, as a Client or a Proxied;
// not ok: there is none.
func findRegistry[T ecosystem.Proxied](name string) (found T, ok bool) {
	for _, e := range catalog.Of[T]() {
		if e.Registry().Name == name {
			return e, true
		}
	}
	return found, false
}

// CheckName holds a name (and a version, where there is one) against the
// grammar of its ecosystem. It sends no request. The error is E_INVALID, for an
// agent to read.
func CheckName(d company.Dependency) error {
	e, ok := findRegistry[ecosystem.Client](d.Ecosystem)
	if !ok {
		return ecosystem.NameError(d.Ecosystem, "an ecosystem that is served").Fix("there are: " + strings.Join(Ecosystems(), ", "))
	}
	return e.Registry().CheckName(d.Name, d.Version)
}

// canonicalName is the form in which two spellings of one name are equal.
func canonicalName(kind, name string) string {
	if e, ok := findRegistry[ecosystem.Client](kind); ok && e.Registry().Canonical != nil {
		return e.Registry().Canonical(name)
	}
	return name
}

// AddCommand tells how clients take a package into a project: the command of the
// registry's own client, and in brackets those of others.
func AddCommand(d company.Dependency) string {
	var own, others string
	for _, e := range catalog.Of[ecosystem.Adder]() {
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
