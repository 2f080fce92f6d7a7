package rust

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/lazyregexp"
)

// The files that define a cargo project.
const (
	manifest = "Cargo.toml"
	lockFile = "Cargo.lock"
)

var nameRE = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// Registry returns the registry of crates, crates.io.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.Crates, CheckName: checkName, Canonical: canonicalName}
}

func checkName(name, version string) error {
	if !nameRE.MatchString(name) {
		return ecosystem.NameError(name, "the name of a crate")
	}
	return ecosystem.CheckSemver(version)
}

func canonicalName(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

// AddCommand returns the cargo command that adds a dependency, or "" for other registries.
func (Ecosystem) AddCommand(dependency company.Dependency) string {
	if dependency.Ecosystem != ecosystem.Crates {
		return ""
	}
	return "cargo add " + dependency.Name + "@" + strings.SplitN(dependency.Version, "+", 2)[0]
}

// IsLockFile reports whether a file is cargo's lock file.
func (Ecosystem) IsLockFile(file string) bool { return path.Base(file) == lockFile }

// ParseLock lists the registry crates that a lock file names. Workspace members and crates from git
// repositories have no registry as their source and are left out.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	return parseLock(text, isRegistry)
}

// isRegistry reports whether a source is a registry, not a git repository.
func isRegistry(source string) bool {
	return strings.HasPrefix(source, "registry+") || strings.HasPrefix(source, "sparse+")
}

// parseLock lists the crates of a lock file for which counts returns true. It includes the [root] table of
// very old lock files, which cargo treats as a package, and unused patches, whose sources cargo keeps.
func parseLock(text []byte, counts func(source string) bool) (out []company.Dependency, err error) {
	type crate struct {
		Name, Version string
		Source        any
	}
	var lock struct {
		Package []crate
		Root    crate
		Patch   struct{ Unused []crate }
	}
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return nil, err
	}
	for _, p := range append(append(lock.Package, lock.Root), lock.Patch.Unused...) {
		if source, _ := p.Source.(string); counts(source) {
			out = append(out, company.Dependency{Ecosystem: ecosystem.Crates, Name: p.Name, Version: p.Version})
		}
	}
	return out, nil
}

// metadataRE matches the key of a digest in a very old lock file: a name, a version and a source.
var metadataRE = lazyregexp.New(`^checksum (\S+) (\S+) \(([^()]*)\)$`)

// ParseFileDigests returns the digests of the registry crates. A crate of a registry other than crates.io
// gets OfClient, since its name must not be sent to another registry.
func (Ecosystem) ParseFileDigests(_ string, text []byte) (out []ecosystem.FileDigest) {
	var lock struct {
		Package []struct {
			Name, Version    string
			Source, Checksum any
		}
		Metadata map[string]any
	}
	if toml.DecodeOneSpelling(text, &lock) != nil {
		return nil // CheckForm rejects it
	}
	add := func(name, version string, source, checksum any) {
		digest := ecosystem.FileDigest{
			Dependency: company.Dependency{Ecosystem: ecosystem.Crates, Name: name, Version: version},
			Of:         ecosystem.OfClient,
		}
		index, _ := source.(string)
		if slices.Contains(publicIndexes, index) {
			digest.Of = ecosystem.OfRegistry
		}
		if sum, ok := checksum.(string); ok {
			digest.Sum = "sha256:" + sum
		}
		if isRegistry(index) {
			out = append(out, digest)
		}
	}
	for _, crate := range lock.Package {
		add(crate.Name, crate.Version, crate.Source, crate.Checksum)
	}
	for key, sum := range lock.Metadata {
		if m := metadataRE.FindStringSubmatch(key); m != nil {
			add(m[1], m[2], m[3], sum)
		}
	}
	return out
}

// FindAddresses returns the digest that the index lists for a version.
func (Ecosystem) FindAddresses(
	ctx context.Context, f ecosystem.Fetcher, dependency company.Dependency, _ []string,
) ([]string, error) {
	crate, err := findVersion(ctx, f, dependency)
	if err != nil || crate == nil {
		return nil, err
	}
	return []string{"sha256:" + crate.Checksum}, nil
}

// ParseSources returns the source of each crate in a lock file. For a git repository, this includes the
// commit. The first entry has no name and holds the unknown fields of the file as a whole.
func (Ecosystem) ParseSources(_ string, text []byte) []ecosystem.Source {
	var lock map[string]any
	if toml.DecodeOneSpelling(text, &lock) != nil {
		return nil // CheckForm rejects it
	}
	var all []map[string]any
	patch, _ := lock["patch"].(map[string]any) // parseLock rejects other types of patch and root
	takeEntries := func(table map[string]any, key string) {
		if entries, ok := table[key].([]map[string]any); ok { // other forms count for the file as a whole
			all = append(all, entries...)
			delete(table, key)
		}
	}
	takeEntries(lock, "package")
	takeEntries(patch, "unused")
	if root, ok := lock["root"].(map[string]any); ok {
		all = append(all, root)
	}
	top := company.Dependency{Ecosystem: ecosystem.Crates}
	from := ecosystem.FormatRest(lock, "version", "metadata", "patch", "root") + ecosystem.FormatRest(patch)
	out := []ecosystem.Source{{Dependency: top, From: from}}
	for _, p := range all {
		dependency := top
		dependency.Name, _ = p["name"].(string)
		dependency.Version, _ = p["version"].(string)
		known := []string{"name", "version", "checksum", "dependencies"}
		source, isText := p["source"].(string)
		if isText {
			known = append(known, "source")
		}
		if slices.Contains(publicIndexes, source) {
			source = ""
		}
		if _, index, isIndex := strings.Cut(source, "+"); isIndex && isRegistry(source) {
			source = strings.TrimRight(index, "/")
		}
		from = strings.TrimSpace(rewriteQuery(source) + " " + ecosystem.FormatRest(p, known...))
		out = append(out, ecosystem.Source{Dependency: dependency, From: from})
	}
	return out
}

// rewriteQuery escapes the branch or tag in a git source. Cargo escapes it from version 4 of the lock file
// on and reads both spellings.
func rewriteQuery(source string) string {
	repository, commit, _ := strings.Cut(source, "#")
	address, query, ok := strings.Cut(repository, "?")
	if !ok {
		return source
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(value)
		if err != nil {
			return source
		}
		pairs[i] = key + "=" + url.QueryEscape(plain)
	}
	return address + "?" + strings.Join(pairs, "&") + "#" + commit
}

// PackagePath returns the path under which Serve serves a crate's file.
func (Ecosystem) PackagePath(d company.Dependency) string {
	return "dl/" + d.Name + "/" + d.Version + "/download"
}

// publicIndexes lists the sources by which lock files name crates.io. A mirror that replaces crates.io has
// the same crates.
var publicIndexes = []string{"registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"}

// ListForAnySystem lists the crates.io crates of a lock file. Cargo requests the crates for all systems.
// Crates of other registries are left out, since their names must not be sent to this one.
func (Ecosystem) ListForAnySystem(text []byte) []company.Dependency {
	dependencies, err := parseLock(text, func(source string) bool { return slices.Contains(publicIndexes, source) })
	if err != nil {
		return nil // cargo reports the parse error
	}
	return dependencies
}
