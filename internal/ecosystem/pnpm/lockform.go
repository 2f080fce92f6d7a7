package pnpm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/locktree"
	"company/internal/ecosystem/node"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

var _ ecosystem.FormChecker = Ecosystem{}

// IsWritten reports whether the file is pnpm's lock file.
func (e Ecosystem) IsWritten(file string) bool { return e.IsLockFile(file) }

// sectionsOfLock lists the sections of a lock file, including those of earlier versions.
var sectionsOfLock = []string{
	"settings", "catalogs", "overrides", "ignoredOptionalDependencies", "patchedDependencies", "importers", "packages",
	"snapshots", "time",
	"dependencies", "devDependencies", "optionalDependencies", "specifiers", "dependenciesMeta", "onlyBuiltDependencies",
	"neverBuiltDependencies",
	"packageManagerDependencies", "configDependencies", "pnpmfileChecksums",
}

// resolutionFields lists the fields of a resolution.
var resolutionFields = []string{"integrity", "tarball", "directory", "type", "repo", "commit", "path", "registry",
	"gitHosted"}

// snapshotFields lists the fields of an installed package. Its location is that of the package itself.
var snapshotFields = []string{"dependencies", "optionalDependencies", "transitivePeerDependencies", "optional",
	"patched", "dev", "id"}

// addressTextRE matches an address without blanks, since some readers end an address at a blank.
var addressTextRE = lazyregexp.New(`^[!-~]+$`)

// CheckForm returns an error if pnpm may read a lock file differently from this package.
func (Ecosystem) CheckForm(_ string, text []byte) error {
	root, err := locktree.ReadYAML(text)
	if err != nil {
		return err
	}
	format, ok := formatOf(root)
	if !ok {
		return fmt.Errorf("unsupported lockfileVersion %q: must be 5, 6 or 9",
			safetext.Cut(root.TextOf("lockfileVersion"), 100))
	}
	for _, section := range root.Nodes {
		isList := section.Key() == "packages" || section.Key() == "snapshots"
		isKnown := slices.Contains(sectionsOfLock, section.Key())
		if section.IsText() && isList || len(section.Nodes) > 0 && !isKnown {
			return fmt.Errorf("unknown section %s", safetext.Cut(section.Key(), 100))
		}
	}
	packages := root.Find("packages")
	for _, n := range packages.Below() {
		if err := format.checkPackage(n); err != nil {
			return fmt.Errorf("the package %s %w", safetext.Cut(n.Key(), 100), err)
		}
	}
	for _, n := range root.Find("snapshots").Below() {
		if err := format.checkSnapshot(n, packages); err != nil {
			return fmt.Errorf("the snapshot %s %w", safetext.Cut(n.Key(), 100), err)
		}
	}
	return format.checkReferences(root)
}

// checkSnapshot returns an error if a snapshot has an unknown field or no package in the file.
func (f format) checkSnapshot(n, packages *locktree.Node) error {
	key, _, hasPeers := strings.Cut(n.Key(), "(")
	if packages.Find(key) == nil || hasPeers && f.readKey(key) != f.readKey(n.Key()) {
		return fmt.Errorf("has no package")
	}
	for _, field := range n.Nodes {
		if !slices.Contains(snapshotFields, field.Key()) {
			return fmt.Errorf("has the field %s", safetext.Cut(field.Key(), 100))
		}
	}
	return nil
}

// checkReferences returns an error if a dependency names no package in the file or has an invalid folder
// name.
func (f format) checkReferences(root *locktree.Node) error {
	packages := root.Find("packages")
	check := func(in, place, reference string) error {
		locator, key := f.readReference(place, reference)
		withoutPeers, _, _ := strings.Cut(key, "(")
		isUnknown := locator.isAddress() && packages.Find(key) == nil && packages.Find(withoutPeers) == nil
		if isUnknown || !node.IsPlace(place) {
			return fmt.Errorf("%q has %q for its dependency %q, which names no package",
				safetext.Cut(in, 100), safetext.Cut(reference, 100), safetext.Cut(place, 100))
		}
		return nil
	}
	for _, importer := range readImporters(root) {
		for _, n := range importer.needs {
			if err := check(importer.folder, n.name, n.reference); err != nil {
				return err
			}
		}
	}
	for _, n := range slices.Concat(packages.Below(), root.Find("snapshots").Below()) {
		for _, field := range neededFields {
			for _, need := range n.Find(field).Below() {
				if err := check(n.Key(), need.Key(), need.Text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isOfOthers reports whether a field of a resolution is one that registry packages never have.
func isOfOthers(f *locktree.Node) bool {
	return !slices.Contains([]string{"integrity", "tarball", "registry"}, f.Key())
}

// checkPackage returns an error if an entry does not match its key and its resolution.
func (f format) checkPackage(n *locktree.Node) error {
	pkg, resolution := f.readPackage(n), n.Find("resolution")
	if n.IsText() || len(n.Keys) == 0 {
		return fmt.Errorf("is a text")
	}
	if f.isSplit && strings.Contains(pkg.key, "(") && !pkg.isAddress() {
		return fmt.Errorf("has peers in its key")
	}
	for _, name := range []string{"name", "version", "id"} {
		own := n.Find(name)
		if own != nil && (pkg.version != "" || name == "name" && !node.IsPlace(own.Text)) {
			return fmt.Errorf("has a %s of its own", name)
		}
	}
	if resolution == nil {
		return fmt.Errorf("has no resolution")
	}
	for _, part := range resolution.Nodes {
		isPath := part.Key() == "directory" || part.Key() == "path" || strings.HasPrefix(part.Text, "file:")
		if !slices.Contains(resolutionFields, part.Key()) || !part.IsText() ||
			!isPath && !addressTextRE.MatchString(part.Text) {
			return fmt.Errorf("has the resolution %s", safetext.Cut(pkg.resolution, 100))
		}
	}
	kind := resolution.TextOf("type")
	isFolder, isTarball := kind == "directory" && resolution.Find("directory") != nil, kind == "" && pkg.tarball != ""
	switch {
	case resolution.IsText(), pkg.integrity != "" && !node.IsIntegrity(pkg.integrity),
		pkg.version != "" && (pkg.integrity+pkg.tarball == "" || slices.ContainsFunc(resolution.Nodes, isOfOthers)),
		pkg.isLocal && !isFolder && !(isTarball && strings.HasPrefix(pkg.tarball, "file:")),
		pkg.isLocal && !f.isAt(cmp.Or(resolution.TextOf("directory"), strings.TrimPrefix(pkg.tarball, "file:")),
			f.readKey(pkg.key).local),
		pkg.isLocal && (resolution.Find("repo") != nil || resolution.Find("registry") != nil ||
			isFolder && pkg.tarball != ""):
		return fmt.Errorf("has the resolution %s", safetext.Cut(pkg.resolution, 100))
	}
	return nil
}
