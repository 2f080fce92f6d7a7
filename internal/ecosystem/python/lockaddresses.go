package python

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"company/internal/boundedparse/toml"
	"company/internal/company"
	"company/internal/ecosystem"
)

// addressedPackage is a package of a uv.lock, poetry.lock, pdm.lock or pylock.toml, with all
// addresses that one of them may have.
type addressedPackage struct {
	Name, Version string
	Sdist         lockedFile
	Wheels, Files []lockedFile
	Archive       lockedFile     // pylock.toml
	VCS           map[string]any // pylock.toml
	Source        any            // uv and poetry: a table
	Git, URL      string         // pdm
	Revision, Ref string         // of its repository
}

// findRepository is where a package of git lies, with its commit, or a package that is a single file.
// Empty: the package is of an index, or of the tree.
func (p addressedPackage) findRepository() string {
	source, _ := p.Source.(map[string]any)
	text := func(table map[string]any, key string) string {
		s, _ := table[key].(string)
		return s
	}
	if kind := text(source, "type"); kind == "git" || kind == "url" { // poetry
		return text(source, "url") + " " + text(source, "resolved_reference")
	}
	if at := cmp.Or(text(source, "git"), text(source, "url")); at != "" && source["type"] == nil { // uv
		return at
	}
	if at := cmp.Or(p.Git, p.URL); at != "" {
		return strings.TrimSpace(at + " " + cmp.Or(p.Revision, p.Ref))
	}
	if at := text(p.VCS, "url"); at != "" {
		return at + " " + text(p.VCS, "commit-id")
	}
	return ""
}

// ParseAddresses gives the addresses of the files of packages, and of those that no index has.
// Tools go by them, and compare a file with the digest that stands beside its address alone.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	var lock struct{ Package, Packages []addressedPackage }
	if toml.DecodeOneSpelling(text, &lock) != nil {
		return parsePipenvAddresses(text) // else its tool reports its fault
	}
	for _, p := range append(lock.Package, lock.Packages...) {
		d := company.Dependency{Ecosystem: ecosystem.PyPI, Name: p.Name, Version: p.Version}
		for _, f := range slices.Concat(p.Wheels, p.Files, []lockedFile{p.Sdist, p.Archive}) {
			if f.URL != "" {
				out = append(out, ecosystem.Address{Dependency: d, At: f.URL, Digest: f.findDigest()})
			}
		}
		if at := p.findRepository(); at != "" {
			out = append(out, ecosystem.Address{Dependency: d, At: at})
		}
	}
	return out
}

// parsePipenvAddresses reads a Pipfile.lock: files of an index have no address there.
func parsePipenvAddresses(text []byte) (out []ecosystem.Address) {
	groups := ecosystem.FieldsOf(text) // pipenv reports its fault
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		all := ecosystem.FieldsOf(groups[group])
		for _, name := range slices.Sorted(maps.Keys(all)) {
			one := ecosystem.FieldsOf(all[name])
			value := func(key string) string { return ecosystem.TextOf(one[key]) }
			if at := cmp.Or(value("git"), value("file")); strings.Contains(at, ":") {
				d := company.Dependency{Ecosystem: ecosystem.PyPI, Name: name, Version: strings.TrimPrefix(value("version"), "==")}
				out = append(out, ecosystem.Address{Dependency: d, At: strings.TrimSpace(at + " " + value("ref"))})
			}
		}
	}
	return out
}

// FindAddresses lists the addresses of a version's files, and their digests.
func (Ecosystem) FindAddresses(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) (all []string, err error) {
	files, err := listFiles(ctx, f, d.Name)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.version != d.Version {
			continue
		}
		all = append(all, f.URL)
		if f.sha256Digest().Algorithm != "" {
			all = append(all, "sha256:"+f.Hashes["sha256"])
		}
	}
	return all, nil
}
