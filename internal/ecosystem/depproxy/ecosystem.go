package depproxy

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// Ecosystems lists the kinds of registries whose packages a project may use.
func Ecosystems() []string {
	var out []string
	for _, e := range catalog.Of[ecosystem.Client]() {
		out = append(out, e.Registry().Name)
	}
	return out
}

// findRegistry returns the kind of registry with this name, as a Client or a Proxied. It returns false if there is
// none.
func findRegistry[T ecosystem.Proxied](name string) (found T, ok bool) {
	for _, e := range catalog.Of[T]() {
		if e.Registry().Name == name {
			return e, true
		}
	}
	return found, false
}

// CheckName checks a name, and a version unless it is empty, against the grammar of its ecosystem. It sends no
// request. The error is E_INVALID, with a message for an agent.
func CheckName(dependency company.Dependency) error {
	client, ok := findRegistry[ecosystem.Client](dependency.Ecosystem)
	if !ok {
		return ecosystem.NameError(dependency.Ecosystem, "a supported ecosystem").
			Fix("use one of: " + strings.Join(Ecosystems(), ", "))
	}
	return client.Registry().CheckName(dependency.Name, dependency.Version)
}

// canonicalName returns the same form for all spellings of a name.
func canonicalName(kind, name string) string {
	if e, ok := findRegistry[ecosystem.Client](kind); ok && e.Registry().Canonical != nil {
		return e.Registry().Canonical(name)
	}
	return name
}

// canonicalDependency returns the same form for all spellings of a dependency.
func canonicalDependency(dependency company.Dependency) company.Dependency {
	dependency.Name = canonicalName(dependency.Ecosystem, dependency.Name)
	if client, ok := findRegistry[ecosystem.Client](dependency.Ecosystem); ok &&
		client.Registry().CanonicalVersion != nil &&
		dependency.Version != "" {
		dependency.Version = client.Registry().CanonicalVersion(dependency.Version)
	}
	return dependency
}

// AddCommand returns the commands with which clients add a package to a project: that of the registry's own client,
// then those of others in parentheses.
func AddCommand(dependency company.Dependency) string {
	var own, others string
	for _, adder := range catalog.Of[ecosystem.Adder]() {
		command := adder.AddCommand(dependency)
		if command == "" {
			continue
		}
		if _, ok := adder.(ecosystem.Client); ok {
			own = command
		} else {
			others += " (with " + adder.Name() + ": " + command + ")"
		}
	}
	return own + others
}
