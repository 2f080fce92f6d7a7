package python

import (
	"context"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
)

// addressedPackage is a package of a uv.lock, poetry.lock, pdm.lock or pylock.toml, with its files.
type addressedPackage struct {
	Name, Version string
	Sdist         lockedFile
	Wheels, Files []lockedFile
	Archive       lockedFile // pylock.toml
	Source        any        // uv and poetry: a table
}

// readAddressed parses the packages of a TOML lock file, including files that are listed at the end of the
// lock file.
func readAddressed(text []byte) ([]addressedPackage, error) {
	var lock struct {
		Package, Packages []addressedPackage
		Metadata          struct{ Files map[string][]lockedFile }
	}
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(lock.Metadata.Files)) { // an older form, with the key "name version"
		name, version, _ := strings.Cut(key, " ")
		name, _, _ = strings.Cut(name, "[")
		p := addressedPackage{Name: name, Version: version, Files: lock.Metadata.Files[key]}
		lock.Package = append(lock.Package, p)
	}
	return append(lock.Package, lock.Packages...), nil
}

// listFiles returns the files of a package. An archive has no digest here, because pdm does not compare it.
func (p addressedPackage) listFiles() []lockedFile {
	return append(slices.Concat(p.Wheels, p.Files), p.Sdist, lockedFile{URL: p.Archive.URL, Path: p.Archive.Path})
}

// ParseAddresses returns the addresses of the packages' files. Tools use these addresses, and compare a
// file only with the digest next to its address. ParseSources returns everything else.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	packages, _ := readAddressed(text) // a Pipfile.lock has none, and CheckForm rejects others
	for _, pkg := range packages {
		dependency := company.Dependency{Ecosystem: ecosystem.PyPI, Name: pkg.Name, Version: pkg.Version}
		for _, lockedFile := range pkg.listFiles() {
			for _, at := range []string{lockedFile.URL, lockedFile.Path} {
				if at != "" {
					out = append(out, ecosystem.Address{Dependency: dependency, At: at, Digest: lockedFile.formatDigests()})
				}
			}
		}
	}
	return out
}

// FindAddresses lists the addresses of a version's files, and their digests.
func (Ecosystem) FindAddresses(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency, _ []string,
) (all []string, err error) {
	files, err := listFiles(ctx, fetcher, dependency.Name)
	if err != nil {
		return nil, err
	}
	version := canonicalVersion(dependency.Version)
	for _, indexFile := range files {
		if canonicalVersion(indexFile.version) != version {
			continue
		}
		all = append(all, indexFile.URL)
		if indexFile.sha256Digest().Algorithm != "" {
			all = append(all, "sha256:"+indexFile.Hashes["sha256"])
		}
	}
	return all, nil
}
