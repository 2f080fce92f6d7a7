package pnpm

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/locktree"
	"company/internal/ecosystem/node"
	"company/internal/lib/lazyregexp"
)

// lockFile is the lock file of a project, including its workspaces.
const lockFile = "pnpm-lock.yaml"

// AddCommand returns the pnpm command that adds a dependency, or "" for other registries.
func (Ecosystem) AddCommand(dependency company.Dependency) string {
	if dependency.Ecosystem != ecosystem.NPM {
		return ""
	}
	return "pnpm add " + dependency.Name + "@" + dependency.Version
}

// IsLockFile reports whether a file is pnpm's lock file. It includes lock files of branches
// (https://pnpm.io/git_branch_lockfiles).
func (Ecosystem) IsLockFile(file string) bool {
	name := path.Base(file)
	return strings.HasPrefix(name, "pnpm-lock.") && strings.HasSuffix(name, ".yaml")
}

// lockedPackage is an entry of the section packages in a lock file.
type lockedPackage struct {
	key string
	locator
	// The client finds the package's file by these. integrity is the digest, and the others are addresses.
	integrity  string
	tarball    string
	registry   string
	resolution string // the whole resolution in one line
	ofSystem   bool   // the package is for some systems only
}

// findDependency returns the package in the registry. Its name is empty if the package is not from the
// registry.
func (p lockedPackage) findDependency() (dependency company.Dependency) {
	if p.version != "" {
		dependency = company.Dependency{Ecosystem: ecosystem.NPM, Name: p.name, Version: p.version}
	}
	return dependency
}

// readPackages reads the section packages. It skips parts that do not have the form that pnpm writes.
func readPackages(text []byte) (out []lockedPackage) {
	root, _ := locktree.ReadYAML(text)
	format, _ := formatOf(root)
	for _, n := range root.Find("packages").Below() {
		out = append(out, format.readPackage(n))
	}
	return out
}

func (f format) readPackage(n *locktree.Node) lockedPackage {
	resolution := n.Find("resolution")
	pkg := lockedPackage{
		key: n.Key(), locator: f.readKey(n.Key()),
		integrity: resolution.TextOf("integrity"), tarball: resolution.TextOf("tarball"),
		registry: resolution.TextOf("registry"),
	}
	pkg.ofSystem = n.Find("cpu") != nil || n.Find("os") != nil || n.Find("libc") != nil
	if resolution != nil {
		pkg.resolution = resolution.String()
	}
	pkg.name = cmp.Or(pkg.name, n.TextOf("name"))
	if at := resolution.TextOf("directory"); f.isAt(at, pkg.local) {
		pkg.local = at
	}
	return pkg
}

// isAt reports whether a path equals that of a key, which may have peers after it.
func (f format) isAt(at, local string) bool {
	return f.isWithoutPeers(path.Clean(at), path.Clean(local))
}

// ParseDigests returns the digests in a lock file.
func (Ecosystem) ParseDigests(_ string, text []byte) map[company.Dependency]ecosystem.Digest {
	out := node.Digests{}
	for _, pkg := range readPackages(text) {
		if pkg.version != "" {
			out.Add(pkg.findDependency(), pkg.integrity)
		}
	}
	return out
}

// ParseAddresses returns the addresses and digests of the registry's packages, and the substitutes from
// listReplacements. For any other package, the address consists of its key and whole resolution, because
// the same key can have another commit. An id is an address too, since it replaces the key's package by
// another one.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	root, _ := locktree.ReadYAML(text)
	format, _ := formatOf(root)
	out = listReplacements(root)
	for _, n := range slices.Concat(root.Find("packages").Below(), root.Find("snapshots").Below()) {
		if id := n.Find("id"); id != nil && !format.isWithoutPeers(id.String(), n.Key()) {
			out = append(out, ecosystem.Address{Dependency: newDependency(n.Key()), At: "id " + id.String()})
		}
	}
	for _, pkg := range readPackages(text) {
		switch dependency := pkg.findDependency(); {
		case pkg.version != "":
			out = append(out, node.NewDigests(dependency, pkg.integrity)...)
			if pkg.tarball != "" {
				out = append(out, node.NewAddress(dependency, pkg.tarball, pkg.integrity))
			}
			if pkg.registry != "" {
				out = append(out, ecosystem.Address{Dependency: dependency, At: pkg.registry, Digest: pkg.integrity})
			}
		case !pkg.isLocal || !filepath.IsLocal(pkg.local):
			at := strings.TrimSpace(pkg.key + " " + pkg.resolution)
			out = append(out, ecosystem.Address{Dependency: newDependency(pkg.key), At: at})
		}
	}
	return out
}

// newDependency returns a package without a version.
func newDependency(name string) company.Dependency {
	return company.Dependency{Ecosystem: ecosystem.NPM, Name: name}
}

// ParseLock lists the registry packages in a lock file, which are keys of the section packages.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	for _, pkg := range readPackages(text) {
		if pkg.version != "" {
			out = append(out, pkg.findDependency())
		}
	}
	return out, nil
}

// addressRE matches the resolution of a registry package that includes the address of its file. pnpm writes
// it for registries with unusual file names, such as GitHub's. It writes it for all packages if
// lockfile-include-tarball-url is set.
var addressRE = lazyregexp.New(`^(    resolution: \{integrity: [^,}]+)(?:, (?:registry|tarball): '?https?://[^,}]+)+\}`)

// redirectLock removes the addresses of registry files from a lock file, because pnpm uses them whatever
// its settings are. Digests do not change. Packages with an address and no version do not change either.
func redirectLock(text []byte) []byte {
	var out strings.Builder
	root, _ := locktree.ReadYAML(text)
	format, _ := formatOf(root)
	last := ""
	for line := range strings.Lines(string(text)) {
		if key := strings.TrimRight(line, "\r\n"); strings.HasPrefix(key, "  ") && !strings.HasPrefix(key, "   ") {
			last = strings.Trim(strings.TrimSuffix(key[2:], ":"), "'")
		}
		if format.readKey(last).version != "" {
			line = addressRE.ReplaceAllString(line, "$1}")
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}
