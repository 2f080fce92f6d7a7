package pnpm

import (
	"strings"

	"company/internal/company"
)

// ListForAnySystem lists the packages of a lock file that pnpm asks for whatever the
// system is: those that are for some systems only say which. One without a digest has an
// address of its own, or lies in the tree.
func (Ecosystem) ListForAnySystem(lock []byte) (out []company.Dependency) {
	var last company.Dependency
	registry, anySystem := false, true
	keep := func() {
		if registry && anySystem {
			out = append(out, last)
		}
	}
	readPackages(lock, func(d company.Dependency, line string) {
		field := strings.TrimSpace(line)
		switch {
		case packageRE.MatchString(line):
			keep()
			last, registry, anySystem = d, false, true
		case integrityRE.MatchString(line):
			registry = !strings.Contains(line, "tarball:")
		case strings.HasPrefix(field, "cpu:"), strings.HasPrefix(field, "os:"), strings.HasPrefix(field, "libc:"):
			anySystem = false
		}
	})
	keep()
	return out
}
