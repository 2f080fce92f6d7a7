// Package yarn supports Node with yarn 1. It has Node's toolchain, runners and registry, with its own
// client and lock file. The client comes from the registry, in a fixed version whose digest is in this
// package. The package also detects packages of later yarns, which another package installs.
package yarn

import (
	"path"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/lib/lazyregexp"
)

// Ecosystem is Node with yarn 1.
type Ecosystem struct{}

// Name returns the toolchain's name.
func (Ecosystem) Name() string { return "yarn" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"yarn", "yarnpkg"} }

// Needs returns Node, which runs yarn.
func (e Ecosystem) Needs(_ *ecosystem.Tree, need func(string) bool, _ []string) []string {
	if need(e.Name()) {
		return []string{"node"}
	}
	return nil
}

// Detect finds the packages of a repository that use yarn 1.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	manager := node.Manager{
		Name: "yarn", Kind: e.Name(), Description: "yarn package", Exec: "yarn --silent run ",
		Probe: func(tool string) string { return "yarn --silent run " + tool + " --version" },
		Owns:  OwnsFolder(tree, false),
	}
	return manager.Detect(tree)
}

// OwnsFolder returns a function that reports whether the package in a folder uses yarn. later selects later
// versions, and otherwise yarn 1.
func OwnsFolder(tree *ecosystem.Tree, later bool) func(t *ecosystem.Tree, dir, packageManager string) bool {
	root := node.ReadManager([]byte(tree.ReadManifest("", "package.json")))
	hasFile := func(file string) bool { return tree.HasFile("", file) }
	isLater := func(file string) bool {
		f := tree.Files[file]
		return f.Size <= maxLock && tree.AnyMatches([]ecosystem.File{f}, laterLockRE)
	}
	return func(_ *ecosystem.Tree, dir, packageManager string) bool {
		return node.FindClient(hasFile, dir, packageManager, root) == "yarn" &&
			isLaterPackage(hasFile, isLater, dir, packageManager, root) == later
	}
}

// OwnsManifest is like OwnsFolder, for the files of an installation.
func OwnsManifest(sources ecosystem.Sources, later bool) func(dir, packageManager, root string) bool {
	isLater := func(file string) bool {
		text, err := ecosystem.ReadText(sources, file)
		return err == nil && laterLockRE.Match(text)
	}
	return func(dir, packageManager, root string) bool {
		return node.FindClient(sources.HasFile, dir, packageManager, root) == "yarn" &&
			isLaterPackage(sources.HasFile, isLater, dir, packageManager, root) == later
	}
}

const maxLock = 32 << 20 // largest lock file that is checked, in bytes

// laterLockRE matches a line that only lock files of later yarns have.
var laterLockRE = lazyregexp.New(`(?m)^__metadata:`)

// isLaterPackage reports whether a package uses a later yarn. It checks the nearest lock file, settings
// that only later yarns have, and the version that the manifest names.
func isLaterPackage(hasFile, isLater func(string) bool, dir, packageManager, root string) bool {
	for at := dir; ; at = path.Dir(at) {
		if lock := path.Join(at, LockFile); hasFile(lock) && isLater(lock) {
			return true
		} else if hasFile(path.Join(at, ".yarnrc.yml")) {
			return true
		} else if hasFile(lock) {
			return false
		}
		if at == "." || at == "" {
			break
		}
	}
	if packageManager == "" {
		packageManager = root
	}
	_, version, _ := strings.Cut(packageManager, "@")
	return version != "" && !strings.HasPrefix(version, "1.") && !strings.HasPrefix(version, "0.") && version != "1"
}

// IsGateFile reports whether a file affects the programs that yarn runs. Those are yarn's settings, and the
// folder .yarn with yarn itself, its plugins and archives of packages.
func (Ecosystem) IsGateFile(file string) bool {
	return path.Base(file) == ".yarnrc" || ecosystem.LiesIn(file, ".yarn")
}
