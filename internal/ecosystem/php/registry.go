package php

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

const lockFile = "composer.lock"

var (
	nameRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
	// versionRE is a release, or a branch: composer's own spelling, which a lock file and the registry share.
	versionRE = lazyregexp.New(`^([vV]?[0-9][0-9A-Za-z.+_-]{0,63}|dev-[0-9A-Za-z][0-9A-Za-z.+_/-]{0,99})$`)
)

// Registry is Packagist, or another repository of composer's kind. Composer takes 403 for
// a login that it lacks, and shows a refusal as a warning.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.Packagist, CheckName: checkName, Canonical: strings.ToLower, RefusedAsNotFound: true, ErrorField: "warning"}
}

func checkName(name, version string) error {
	if !nameRE.MatchString(name) {
		return ecosystem.NameError(name, "the name of a composer package").Fix("write it as vendor/name")
	}
	if version != "" && !versionRE.MatchString(version) {
		return ecosystem.NameError(version, "a version of a composer package").Fix("write it as 1.2.3, or leave it out for the newest")
	}
	return nil
}

// isBranch tells a version that is the head of a branch.
func isBranch(version string) bool {
	return strings.HasPrefix(version, "dev-") || strings.HasSuffix(version, "-dev")
}

// AddCommand is composer's.
func (Ecosystem) AddCommand(d company.Dependency) string {
	if d.Ecosystem != ecosystem.Packagist {
		return ""
	}
	return "composer require " + d.Name + ":" + d.Version + " (with --dev where only tests need it; not with --no-plugins, since a plugin leads composer to the mirror)"
}

// IsLockFile says whether a file is composer's lock file.
func (Ecosystem) IsLockFile(file string) bool { return path.Base(file) == lockFile }

// lockedPackage is what counts of a package in a lock file.
type lockedPackage struct {
	Name, Version, Type string
	Dist                dist
	Source              source
	Require             map[string]json.RawMessage
}

// dist is the file of a version, and source its repository of git.
type (
	dist struct {
		Type, URL, Reference, Shasum string
		Mirrors                      string // as they are written; empty: none
	}
	source struct{ URL, Reference, Mirrors string }
)

func readDist(text []byte) dist {
	f := ecosystem.FieldsOf(text)
	return dist{ecosystem.TextOf(f["type"]), ecosystem.TextOf(f["url"]), ecosystem.TextOf(f["reference"]), ecosystem.TextOf(f["shasum"]), string(f["mirrors"])}
}

func readSource(text []byte) source {
	f := ecosystem.FieldsOf(text)
	return source{ecosystem.TextOf(f["url"]), ecosystem.TextOf(f["reference"]), string(f["mirrors"])}
}

// joinAddresses are the addresses and commits at which composer asks for a version, in one text.
func joinAddresses(d dist, s source) string {
	return strings.TrimSpace(strings.Join([]string{d.URL, d.Reference, d.Mirrors, s.URL, s.Reference, s.Mirrors}, " "))
}

// isOfRegistry tells packages that a registry may have from those of a folder of the tree,
// of a git repository, and those that have no files.
func (p lockedPackage) isOfRegistry() bool { return p.Dist.Type != "" && p.Dist.Type != "path" }

// isOfGit tells packages that git alone has.
func (p lockedPackage) isOfGit() bool { return p.Dist.Type == "" && p.Type != "metapackage" }

// maxObjects bounds the JSON objects of a lock file. A package has some ten, and one of two bytes
// takes fifty times its size once it is read.
const maxObjects = 1_000_000

// readLock reads the packages of a lock file, those that only tests need among them.
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
		_ = json.Unmarshal(lock[name], &list) // composer reports a value that is no list
		for _, f := range list {
			out = append(out, lockedPackage{
				Name: ecosystem.TextOf(f["name"]), Version: ecosystem.TextOf(f["version"]), Type: ecosystem.TextOf(f["type"]), Dist: readDist(f["dist"]), Source: readSource(f["source"]), Require: ecosystem.FieldsOf(f["require"]),
			})
		}
	}
	return out, nil
}

// ParseAddresses gives the addresses of the packages of a lock file but those of folders of the tree.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	all, _ := readLock(text) // composer reports its fault
	for _, p := range all {
		if at := joinAddresses(p.Dist, p.Source); p.Dist.Type != "path" && at != "" {
			out = append(out, ecosystem.Address{Dependency: company.Dependency{Ecosystem: ecosystem.Packagist, Name: p.Name, Version: p.Version}, At: at})
		}
	}
	return out
}

// FindAddresses finds the address that the registry has for a version, which is the only one.
func (Ecosystem) FindAddresses(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) ([]string, error) {
	v, err := findVersion(ctx, f, d)
	if err != nil || v == nil {
		return nil, err
	}
	return []string{joinAddresses(v.Dist, v.Source)}, nil
}

// ParseLock lists the packages of registries that a lock file names.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	all, err := readLock(text)
	for _, p := range all {
		if p.isOfRegistry() {
			out = append(out, company.Dependency{Ecosystem: ecosystem.Packagist, Name: p.Name, Version: p.Version})
		}
	}
	return out, err
}

// commitOfBranch is the kind of digest of a branch: the commit that a lock file names of it.
const commitOfBranch = "commit"

// atCommit is a branch at a commit, as composer writes it.
func atCommit(d company.Dependency, reference string) company.Dependency {
	d.Version += "#" + reference
	return d
}

// ParseDigests gives the digests that a lock file names, and the commits of branches. Files that
// GitHub makes have no digest.
func (Ecosystem) ParseDigests(_ string, text []byte) map[company.Dependency]ecosystem.Digest {
	all, err := readLock(text)
	if err != nil {
		return nil
	}
	out := map[company.Dependency]ecosystem.Digest{}
	for _, p := range all {
		if !p.isOfRegistry() {
			continue
		}
		d := company.Dependency{Ecosystem: ecosystem.Packagist, Name: p.Name, Version: p.Version}
		if sum := sha1Digest(p.Dist.Shasum); sum.Algorithm != "" {
			out[d] = sum
		}
		if isBranch(p.Version) && commitRE.MatchString(p.Dist.Reference) {
			out[atCommit(d, p.Dist.Reference)] = ecosystem.Digest{Algorithm: commitOfBranch}
		}
	}
	return out
}

// sha1Digest is the one kind of digest that composer knows.
func sha1Digest(text string) ecosystem.Digest {
	sum, err := hex.DecodeString(text)
	if err != nil || len(sum) != 20 {
		return ecosystem.Digest{}
	}
	return ecosystem.Digest{Algorithm: "sha1", Sum: sum}
}
