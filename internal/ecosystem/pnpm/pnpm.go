// Package pnpm is the ecosystem of Node with pnpm: npm's registry and Node's
// runners, with a client and a lock file of its own.
package pnpm

import (
	"path"
	"regexp"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// lockFile is the one lock file of a project, workspaces included.
const lockFile = "pnpm-lock.yaml"

// Ecosystem is Node with pnpm.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "pnpm" }

// IsLockFile says whether a file is pnpm's lock file.
func (Ecosystem) IsLockFile(file string) bool { return path.Base(file) == lockFile }

// ParseLock lists the packages that a lock file names.
func (Ecosystem) ParseLock(_ string, text []byte) ([]company.Dependency, error) {
	return parseLock(text), nil
}

var packageRE = regexp.MustCompile(`^  '?/?((?:@[^@/']+/)?[^@/'()]+)[@/]([0-9][^('":]*)(?:\([^']*)?'?:$`)

// parseLock reads the keys of the section packages.
func parseLock(text []byte) (out []company.Dependency) {
	in := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' && line[0] != '#' {
			in = line == "packages:"
		}
		if m := packageRE.FindStringSubmatch(line); in && m != nil {
			out = append(out, company.Dependency{Ecosystem: ecosystem.NPM, Name: m[1], Version: strings.TrimSpace(m[2])})
		}
	}
	return out
}
