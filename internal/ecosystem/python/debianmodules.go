package python

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"company/internal/ecosystem"
)

//go:embed debianmodules.txt
var debianModulesList string

// debianModules maps the canonical names of PyPI packages to Debian packages.
var debianModules = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(debianModulesList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, debian, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			debian = "python3-" + name
		}
		out[name] = debian
	}
	return out
})

// maxSubstitutes limits the Debian packages that replace PyPI packages.
const maxSubstitutes = 200

var _ ecosystem.Substituter = Ecosystem{}

// Substitutes returns Debian packages that replace a tree's PyPI packages, in Debian's versions.
func (e Ecosystem) Substitutes(s ecosystem.Sources) (registry string, packages []string, err error) {
	requirements, err := readRequirements(quietSources{s})
	if err != nil {
		return "", nil, err
	}
	for _, line := range slices.Concat(requirements.pins, requirements.lines) {
		if _, marker, _ := strings.Cut(line, ";"); !requirements.env.holdsMarker(marker) {
			continue
		}
		if name := debianModules()[canonicalName(requirementName.FindString(line))]; name != "" &&
			len(packages) < maxSubstitutes {
			packages = append(packages, name)
		}
	}
	slices.Sort(packages)
	return ecosystem.PyPI, slices.Compact(packages), nil
}
