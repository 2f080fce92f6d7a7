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

// debianModules are Debian's packages of PyPI's, by their canonical names there.
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

// maxSubstitutes limits the packages of Debian that stand for those of PyPI.
const maxSubstitutes = 200

var _ ecosystem.Substituter = Ecosystem{}

// Substitutes are Debian's packages of what a tree asks PyPI for, in Debian's versions.
func (e Ecosystem) Substitutes(s ecosystem.Sources) (registry string, packages []string, err error) {
	r, err := readRequirements(quietSources{s})
	if err != nil {
		return "", nil, err
	}
	for _, line := range slices.Concat(r.pins, r.lines) {
		if _, marker, _ := strings.Cut(line, ";"); !r.env.holdsMarker(marker) {
			continue
		}
		if name := debianModules()[canonicalName(requirementName.FindString(line))]; name != "" && len(packages) < maxSubstitutes {
			packages = append(packages, name)
		}
	}
	slices.Sort(packages)
	return ecosystem.PyPI, slices.Compact(packages), nil
}
