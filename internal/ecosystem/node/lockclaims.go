package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Claims: every statement of a lock file about a package is treated like an address, because the client
// uses it before it can read the package's own manifest.

// needFields lists the fields with the dependencies of an entry.
var needFields = []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"}

// appendNeeds adds the dependencies in a field, sorted by name.
func appendNeeds(needs []need, field json.RawMessage) []need {
	list := ecosystem.FieldsOf(field)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		needs = append(needs, need{name, ecosystem.TextOf(list[name])})
	}
	return needs
}

// NewRequest returns the claim that a package depends on another one, with the request as it is written.
// npm fetches the package that it names.
func NewRequest(d company.Dependency, name, request string) ecosystem.Address {
	return ecosystem.Address{Dependency: d, At: fmt.Sprintf("asks for %q of %q", request, name)}
}

// FindAliased returns the package in a request such as npm:name or npm:name@version. It returns "" for a
// request that is not an alias.
func FindAliased(request string) string {
	rest, isAlias := strings.CutPrefix(request, "npm:")
	if i := strings.LastIndexByte(rest, '@'); i > 0 {
		rest = rest[:i]
	}
	if !isAlias || !nameRE.MatchString(rest) {
		return ""
	}
	return rest
}

// NewAlias returns the claim that a package depends on another one under an alias.
func NewAlias(d company.Dependency, place, name string) ecosystem.Address {
	return ecosystem.Address{Dependency: d, At: "asks for " + name + " as " + place}
}

// NewPrograms returns the claim that a package has exactly these programs, by name and file. The client
// links only the programs that the lock file names. If one is missing, a program of another package may
// replace it.
func NewPrograms(dependency company.Dependency, files map[string]string) ecosystem.Address {
	var all []string
	for name, file := range files {
		all = append(all, path.Base(name)+": "+strings.TrimPrefix(path.Clean("/"+file), "/"))
	}
	slices.Sort(all)
	return ecosystem.Address{Dependency: dependency, At: fmt.Sprintf("programs %q", all)}
}
