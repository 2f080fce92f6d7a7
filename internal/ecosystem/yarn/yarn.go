// Package yarn is the ecosystem of Node with yarn 1: Node's toolchain and runners and
// npm's registry, with a client and a lock file of its own. The client comes out of
// the registry, in one version that this package names with its digest. It says too
// which packages are those of later yarns, which another package installs.
package yarn

import (
	"path"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/lazyregexp"
)

// Ecosystem is Node with yarn 1.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "yarn" }

// Programs are the first words of commands that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"yarn", "yarnpkg"} }

// Needs is Node, which runs yarn.
func (e Ecosystem) Needs(_ *ecosystem.Tree, need func(string) bool, _ []string) []string {
	if need(e.Name()) {
		return []string{"node"}
	}
	return nil
}

// Detect finds the packages of a repository that are yarn 1's.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	manager := node.Manager{
		Name: "yarn", Kind: e.Name(), Description: "yarn package", Exec: "yarn --silent run ",
		Probe: func(tool string) string { return "yarn --silent run " + tool + " --version" },
		Owns:  OwnsFolder(t, false),
	}
	return manager.Detect(t)
}

// OwnsFolder says whether the package in a folder of a tree is yarn's, of a later
// version or of the first.
func OwnsFolder(t *ecosystem.Tree, later bool) func(t *ecosystem.Tree, dir, packageManager string) bool {
	root := node.ReadManager([]byte(t.ReadManifest("", "package.json")))
	hasFile := func(file string) bool { return t.HasFile("", file) }
	isLater := func(file string) bool {
		f := t.Files[file]
		return f.Size <= maxLock && t.AnyMatches([]ecosystem.File{f}, laterLockRE)
	}
	return func(_ *ecosystem.Tree, dir, packageManager string) bool {
		return node.FindClient(hasFile, dir, packageManager, root) == "yarn" && isLaterPackage(hasFile, isLater, dir, packageManager, root) == later
	}
}

// OwnsManifest is OwnsFolder for the files of an installation.
func OwnsManifest(s ecosystem.Sources, later bool) func(dir, packageManager, root string) bool {
	isLater := func(file string) bool {
		text, err := ecosystem.ReadText(s, file)
		return err == nil && laterLockRE.Match(text)
	}
	return func(dir, packageManager, root string) bool {
		return node.FindClient(s.HasFile, dir, packageManager, root) == "yarn" && isLaterPackage(s.HasFile, isLater, dir, packageManager, root) == later
	}
}

const maxLock = 32 << 20 // bytes of a lock file that is looked at

// laterLockRE is what lock files of later yarns have and those of yarn 1 have not.
var laterLockRE = lazyregexp.New(`(?m)^__metadata:`)

// isLaterPackage tells packages of later yarns from those of yarn 1: by the nearest
// lock file, the settings that only later ones have, or the version that a manifest
// names.
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

// IsGateFile says whether a file steers what yarn runs: its settings, and its folder,
// which holds the yarn that runs the scripts, plugins of it, and archives of packages.
func (Ecosystem) IsGateFile(file string) bool {
	return path.Base(file) == ".yarnrc" || ecosystem.LiesIn(file, ".yarn")
}
