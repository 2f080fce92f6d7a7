package php

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

const lockFile = "composer.lock"

var (
	nameRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
	// versionRE matches a release or a branch in composer's spelling, which lock files and registries share.
	versionRE = lazyregexp.New(`^([vV]?[0-9][0-9A-Za-z.+_-]{0,63}|dev-[0-9A-Za-z][0-9A-Za-z.+_/-]{0,99})$`)
)

// Registry returns Packagist or another composer repository. Composer treats 403 as a missing login and
// shows a refusal as a warning.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.Packagist, CheckName: checkName, Canonical: strings.ToLower,
		RefusedAsNotFound: true, ErrorField: "warning"}
}

func checkName(name, version string) error {
	if !nameRE.MatchString(name) {
		return ecosystem.NameError(name, "the name of a composer package").Fix("write it as vendor/name")
	}
	if version != "" && !versionRE.MatchString(version) {
		return ecosystem.NameError(version, "a version of a composer package").
			Fix("write it as 1.2.3, or leave it out for the newest")
	}
	return nil
}

// isBranch reports whether a version is the head of a branch.
func isBranch(version string) bool {
	return strings.HasPrefix(version, "dev-") || strings.HasSuffix(version, "-dev")
}

// AddCommand returns the composer command that adds a dependency, or "" for other registries.
func (Ecosystem) AddCommand(dependency company.Dependency) string {
	if dependency.Ecosystem != ecosystem.Packagist {
		return ""
	}
	return "composer require " + dependency.Name + ":" + dependency.Version +
		" (with --dev where only tests need it; not with --no-plugins, since a plugin leads composer to the mirror)"
}

// lockNames lists the names of composer's lock files: for composer.json, and for another manifest in its
// place (COMPOSER).
var lockNames = []string{"composer*.lock", "*.composer.lock"}

// IsLockFile reports whether a file is a lock file of composer.
func (Ecosystem) IsLockFile(file string) bool { return ecosystem.HasName(file, lockNames) }

// lockedPackage holds the relevant fields of a package in a lock file.
type lockedPackage struct {
	Name, Version, Type string
	Dist                dist
	Source              source
	Layout              layout
	Require             map[string]json.RawMessage
	Rest                string // its unknown fields
	Notified            string // the address at which composer reports its installation, or empty for Packagist
}

// dist is the file of a version. source is its git repository.
type (
	dist struct {
		Type, URL, Reference, Shasum string
		Mirrors                      string // unparsed, or empty if there are none
	}
	source struct{ Type, URL, Reference, Mirrors string }
)

func readDist(text []byte) dist {
	f := ecosystem.FieldsOf(text)
	return dist{ecosystem.TextOf(f["type"]), ecosystem.TextOf(f["url"]), ecosystem.TextOf(f["reference"]),
		ecosystem.TextOf(f["shasum"]), string(f["mirrors"])}
}

func readSource(text []byte) source {
	f := ecosystem.FieldsOf(text)
	at := func(key string) string { return ecosystem.TextOf(f[key]) }
	return source{at("type"), at("url"), at("reference"), string(f["mirrors"])}
}

// joinAddresses returns the addresses, commits and digest with which composer fetches a version, as one
// text.
func joinAddresses(d dist, s source) string {
	all := []string{d.Type, d.URL, d.Reference, d.Shasum, d.Mirrors, s.Type, s.URL, s.Reference, s.Mirrors}
	return strings.TrimSpace(strings.Join(all, " "))
}

// isOfRegistry reports whether a registry may have the package. Folders of the tree, packages from git
// only, and packages without files are not in a registry.
func (p lockedPackage) isOfRegistry() bool { return p.Dist.Type != "" && p.Dist.Type != "path" }

// isOfGit reports whether only a git repository has the package.
func (p lockedPackage) isOfGit() bool { return p.Dist.Type == "" && p.Type != "metapackage" }

// maxObjects limits the JSON objects in a lock file. A package has about ten. An empty object of two bytes
// takes fifty times its size in memory.
const maxObjects = 1_000_000

// readLock reads the packages of a lock file, including those that only tests need.
func readLock(text []byte) ([]lockedPackage, error) {
	if bytes.Count(text, []byte("{")) > maxObjects {
		return nil, errors.New("it has too many packages")
	}
	var lock map[string]json.RawMessage
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, errors.New(ecosystem.ExplainJSON(text, err))
	}
	var out []lockedPackage
	for _, name := range []string{"packages", "packages-dev"} {
		var list []map[string]json.RawMessage
		_ = json.Unmarshal(lock[name], &list) // composer reports a value that is not a list
		for _, f := range list {
			out = append(out, lockedPackage{
				Name: ecosystem.TextOf(f["name"]), Version: ecosystem.TextOf(f["version"]), Type: ecosystem.TextOf(f["type"]),
				Dist: readDist(f["dist"]), Source: readSource(f["source"]), Layout: newWrittenLayout(f).readAfter(layout{}),
				Require: ecosystem.FieldsOf(f["require"]),
				Rest:    formatRest(f), Notified: formatNotified(f),
			})
		}
	}
	return out, nil
}

// ParseAddresses returns the addresses of the packages in a lock file. A folder is not an address (see
// ParseSources). The repository of such a package is one, because composer clones it if the folder does not
// exist.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	packages, _ := readLock(text) // composer reports the error
	for _, pkg := range packages {
		dependency := company.Dependency{Ecosystem: ecosystem.Packagist, Name: pkg.Name, Version: pkg.Version}
		if pkg.isOfRegistry() {
			out = append(out, ecosystem.Address{Dependency: dependency, At: pkg.Layout.String()})
		}
		if pkg.Dist.Type == "path" {
			pkg.Dist = dist{Mirrors: pkg.Dist.Mirrors}
		}
		if at := joinAddresses(pkg.Dist, pkg.Source); at != "" {
			out = append(out, ecosystem.Address{Dependency: dependency, At: at})
		}
	}
	return out
}

// FindAddresses returns the only address that the registry has for a version, and its layout.
func (Ecosystem) FindAddresses(
	ctx context.Context, f ecosystem.Fetcher, d company.Dependency, _ []string,
) ([]string, error) {
	version, err := findVersion(ctx, f, d)
	if err != nil || version == nil {
		return nil, err
	}
	return []string{joinAddresses(version.Dist, version.Source), version.Layout.String()}, nil
}

// ParseLock lists the registry packages that a lock file names.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	packages, err := readLock(text)
	for _, pkg := range packages {
		if pkg.isOfRegistry() {
			out = append(out, company.Dependency{Ecosystem: ecosystem.Packagist, Name: pkg.Name, Version: pkg.Version})
		}
	}
	return out, err
}

// commitOfBranch is the digest algorithm that marks a branch at the commit in a lock file.
const commitOfBranch = "commit"

// atCommit returns a branch at a commit, in composer's spelling.
func atCommit(dependency company.Dependency, reference string) company.Dependency {
	dependency.Version += "#" + reference
	return dependency
}

// ParseDigests returns the digests in a lock file and the commits of branches. Files that GitHub generates
// have no digest.
func (Ecosystem) ParseDigests(_ string, text []byte) map[company.Dependency]ecosystem.Digest {
	packages, err := readLock(text)
	if err != nil {
		return nil
	}
	out := map[company.Dependency]ecosystem.Digest{}
	for _, pkg := range packages {
		if !pkg.isOfRegistry() {
			continue
		}
		dependency := company.Dependency{Ecosystem: ecosystem.Packagist, Name: pkg.Name, Version: pkg.Version}
		if sum := sha1Digest(pkg.Dist.Shasum); sum.Algorithm != "" {
			out[dependency] = sum
		}
		if isBranch(pkg.Version) && commitRE.MatchString(pkg.Dist.Reference) {
			out[atCommit(dependency, pkg.Dist.Reference)] = ecosystem.Digest{Algorithm: commitOfBranch}
		}
	}
	return out
}

// sha1Digest parses a SHA-1 digest, the only kind that composer supports.
func sha1Digest(text string) ecosystem.Digest {
	sum, err := hex.DecodeString(text)
	if err != nil || len(sum) != 20 {
		return ecosystem.Digest{}
	}
	return ecosystem.Digest{Algorithm: "sha1", Sum: sum}
}
