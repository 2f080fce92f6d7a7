// Package berry is the ecosystem of Node with yarn 2 and later. It shares Node's toolchain and runners, and npm's
// registry. Each of yarn's later clients reads only lock files of its own time. The clients come from the registry,
// in versions that this package pins with their digests.
package berry

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/ecosystem/yarn"
)

// Ecosystem is Node with yarn 2 or later.
type Ecosystem struct{}

// Name returns the name of the toolchain.
func (Ecosystem) Name() string { return "berry" }

// Programs lists the programs that need the toolchain. The tree determines which version of yarn is meant.
func (Ecosystem) Programs() []string { return []string{"yarn"} }

// Needs returns Node, which runs yarn.
func (e Ecosystem) Needs(_ *ecosystem.Tree, need func(string) bool, _ []string) []string {
	if need(e.Name()) {
		return []string{"node"}
	}
	return nil
}

// IsLockFile reports whether a file is yarn's lock file.
func (Ecosystem) IsLockFile(file string) bool { return yarn.Ecosystem{}.IsLockFile(file) }

// ParseLock lists the packages that a lock file names.
func (Ecosystem) ParseLock(file string, text []byte) ([]company.Dependency, error) {
	return yarn.Ecosystem{}.ParseLock(file, text)
}

// Detect finds the packages of a repository that use yarn 2 or later.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	hasFile := func(file string) bool { return tree.HasFile("", file) }
	manager := node.Manager{
		Name: "yarn", Kind: e.Name(), Description: "yarn package", Exec: "yarn run ",
		Probe:      func(tool string) string { return "yarn run " + tool + " --version" },
		Owns:       yarn.OwnsFolder(tree, true),
		RunsItself: func(dir string) bool { return bringsPackages(hasFile, dir) },
	}
	return manager.Detect(tree)
}

// loader is a file that yarn writes for packages in archives. Node loads it first.
const loader = ".pnp.cjs"

// bringsPackages reports whether the tree itself contains a package's dependencies. In that case the loader is in the
// package's folder or above it.
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

// IsGateFile reports whether a file influences the commands that yarn runs. Package yarn handles yarn's own folder.
func (Ecosystem) IsGateFile(file string) bool {
	name := path.Base(file)
	return name == ".yarnrc.yml" || name == ".yarnrc.yaml" ||
		strings.HasPrefix(name, ".pnp.") && name != ".pnp." && !strings.HasSuffix(name, "~")
}
