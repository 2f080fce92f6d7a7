// Package berry is the ecosystem of Node with yarn from version 2 on: Node's toolchain
// and runners and npm's registry, with yarn's later clients, of which each reads lock
// files of its own time. They come out of the registry, in versions that this package
// names with their digests.
package berry

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/ecosystem/yarn"
)

// Ecosystem is Node with a later yarn.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "berry" }

// Programs are the first words of commands that need the toolchain; a tree tells
// which yarn it is.
func (Ecosystem) Programs() []string { return []string{"yarn"} }

// Needs is Node, which runs yarn.
func (e Ecosystem) Needs(_ *ecosystem.Tree, need func(string) bool, _ []string) []string {
	if need(e.Name()) {
		return []string{"node"}
	}
	return nil
}

// IsLockFile says whether a file is yarn's lock file.
func (Ecosystem) IsLockFile(file string) bool { return yarn.Ecosystem{}.IsLockFile(file) }

// ParseLock lists the packages that a lock file names.
func (Ecosystem) ParseLock(file string, text []byte) ([]company.Dependency, error) {
	return yarn.Ecosystem{}.ParseLock(file, text)
}

// Detect finds the packages of a repository that are a later yarn's.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	hasFile := func(file string) bool { return t.HasFile("", file) }
	manager := node.Manager{
		Name: "yarn", Kind: e.Name(), Description: "yarn package", Exec: "yarn run ",
		Probe:      func(tool string) string { return "yarn run " + tool + " --version" },
		Owns:       yarn.OwnsFolder(t, true),
		RunsItself: func(dir string) bool { return bringsPackages(hasFile, dir) },
	}
	return manager.Detect(t)
}

// loader is what yarn writes for packages that lie in archives: Node loads it first.
const loader = ".pnp.cjs"

// bringsPackages says whether the tree of a package has its packages itself: the loader
// lies at or above it.
func bringsPackages(hasFile func(string) bool, dir string) bool {
	for at := dir; ; at = path.Dir(at) {
		if hasFile(path.Join(at, loader)) {
			return true
		}
		if hasFile(path.Join(at, yarn.LockFile)) || at == "." || at == "" {
			return false
		}
	}
}

// IsGateFile says whether a file steers what yarn runs; yarn's folder is package yarn's.
func (Ecosystem) IsGateFile(file string) bool {
	name := path.Base(file)
	return name == ".yarnrc.yml" || name == ".yarnrc.yaml" || strings.HasPrefix(name, ".pnp.") && name != ".pnp." && !strings.HasSuffix(name, "~")
}
