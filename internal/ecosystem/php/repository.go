package php

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Serve serves a composer 2 repository: the address of package descriptions, the registry's descriptions,
// and package files.
func (Ecosystem) Serve(ctx context.Context, request ecosystem.Request) (*ecosystem.Answer, error) {
	if request.Path == "packages.json" {
		text, err := json.Marshal(
			map[string]any{"packages": []string{}, "metadata-url": request.Base + "/packagist/p2/%package%.json"})
		return &ecosystem.Answer{Text: text, Media: "application/json"}, err
	}
	kind, rest, _ := strings.Cut(request.Path, "/")
	switch part := strings.Split(rest, "/"); {
	case kind == "p2" && len(part) == 2:
		return serveDescription(ctx, request, rest)
	case kind == "dist" && len(part) == 4:
		version, err := url.PathUnescape(part[2])
		reference, err2 := url.PathUnescape(part[3])
		if err != nil || err2 != nil {
			return nil, ecosystem.ErrNoPath
		}
		return serveFile(
			ctx, request, company.Dependency{Ecosystem: ecosystem.Packagist, Name: part[0] + "/" + part[1], Version: version},
			reference)
	}
	return nil, ecosystem.ErrNoPath
}

// branchMark is the suffix of a package name whose description lists branches instead of releases.
const branchMark = "~dev"

// serveDescription serves the description of a package.
func serveDescription(ctx context.Context, request ecosystem.Request, file string) (*ecosystem.Answer, error) {
	file, isJSON := strings.CutSuffix(file, ".json")
	name, branches := strings.CutSuffix(file, branchMark)
	dependency := company.Dependency{Ecosystem: ecosystem.Packagist, Name: name}
	if !isJSON || checkName(dependency.Name, dependency.Version) != nil {
		return nil, ecosystem.ErrNoPath
	}
	if err := request.Check(dependency); err != nil {
		return nil, err
	}
	text, versions, err := readDescription(ctx, request, name, branches)
	if err != nil {
		return nil, err
	}
	allowed := false
	for _, version := range versions {
		allowed = allowed && version.needsSame
		if dependency.Version = version.Version; !allowed && checkName(dependency.Name, dependency.Version) == nil &&
			request.Follows(dependency) {
			request.AllowNeeds(version.needs, nil)
			allowed = true
		}
	}
	return &ecosystem.Answer{Text: text, Media: "application/json"}, nil
}

// anyReference requests the file that the registry has now for a version.
const anyReference = "-"

// serveFile serves the file of a version. It takes the file's address only from the registry. A lock file
// is untrusted text of a repository, which could name any address.
func serveFile(
	ctx context.Context, request ecosystem.Request, dependency company.Dependency, reference string,
) (*ecosystem.Answer, error) {
	if checkName(dependency.Name, dependency.Version) != nil || dependency.Version == "" || len(reference) > maxReference {
		return nil, ecosystem.ErrNoPath
	}
	if err := request.Check(dependency); err != nil {
		return nil, err
	}
	if !request.Allows(dependency) {
		return nil, request.Refuse(dependency, "")
	}
	version, err := findVersion(ctx, request, dependency)
	if err != nil {
		return nil, err
	}
	if version == nil {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound,
			Line: "the registry does not list " + dependency.String()}
	}
	if request.Follows(dependency) {
		request.AllowNeeds(version.needs, nil)
	}
	named, _ := request.LockedFile(atCommit(dependency, reference))
	fetch, err := version.toFetch(dependency, reference, named.Algorithm == commitOfBranch)
	if err != nil {
		return nil, err
	}
	if sum, ok := request.LockedFile(dependency); ok && fetch.Digest.Algorithm == "" &&
		(reference == version.Dist.Reference || reference == anyReference) {
		fetch.Digest = sum
	}
	return request.Package(ctx, dependency, fetch, ecosystem.BinaryFile)
}

// PackagePath returns the path under which Serve serves a version's file.
func (Ecosystem) PackagePath(d company.Dependency) string {
	return "dist/" + strings.ToLower(d.Name) + "/" + url.PathEscape(d.Version) + "/" + anyReference
}

// ListVersions lists the releases of a package and the newest one.
func (Ecosystem) ListVersions(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) (all []string, newest string, err error) {
	_, list, err := readDescription(ctx, fetcher, dependency.Name, false)
	if err != nil {
		return nil, "", err
	}
	var comparable []string
	called := map[string]string{}
	for _, version := range list {
		if checkName(dependency.Name, version.Version) != nil || version.Version == "" {
			continue
		}
		all = append(all, version.Version)
		if c := version.toSemver(); called[c] == "" {
			called[c] = version.Version
			comparable = append(comparable, c)
		}
	}
	return all, called[ecosystem.NewestSemver(comparable)], nil
}

// ListNeeds lists the packages that a version requires.
func (Ecosystem) ListNeeds(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) ([]company.Dependency, error) {
	version, err := findVersion(ctx, fetcher, dependency)
	if err != nil || version == nil {
		return nil, err
	}
	return version.needs, nil
}

// findVersion returns the registry's description of a version. It returns nil if the registry does not list
// it.
func findVersion(ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency) (*version, error) {
	places := []bool{false}
	if isBranch(dependency.Version) {
		places = []bool{true, false} // simple registries have one description for all
	}
	for _, branches := range places {
		_, versions, err := readDescription(ctx, fetcher, dependency.Name, branches)
		if errors.Is(err, ecosystem.ErrNotFound) && branches {
			continue
		}
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(versions, func(v version) bool { return v.Version == dependency.Version }); i >= 0 {
			return &versions[i], nil
		}
	}
	return nil, nil
}

// version holds the relevant fields of a version in a registry's description.
type version struct {
	Version    string
	Normalized string // version with four numbers
	Dist       dist
	Source     source
	Layout     layout
	// needs lists the packages that it requires. A version that does not list its own shares the list of the
	// previous version, and needsSame is true.
	needs     []company.Dependency
	needsSame bool
}

// writtenVersion is a version as in a description. In the short form it has only fields that differ from
// the previous version, so a megabyte of requirements may apply to a hundred thousand versions.
type writtenVersion struct {
	Version    json.RawMessage
	Normalized json.RawMessage `json:"version_normalized"`
	Require    json.RawMessage
	Dist       json.RawMessage
	Source     json.RawMessage
	writtenLayout
}

// readAfter returns the previous version v, with the fields that w has replaced. A removed field is a
// string, which reads as an empty value.
func (w writtenVersion) readAfter(v version) version {
	if w.Version != nil {
		v.Version = ecosystem.TextOf(w.Version)
	}
	if w.Normalized != nil {
		v.Normalized = ecosystem.TextOf(w.Normalized)
	}
	if w.Dist != nil {
		v.Dist = readDist(w.Dist)
	}
	if w.Source != nil {
		v.Source = readSource(w.Source)
	}
	v.Layout = w.writtenLayout.readAfter(v.Layout)
	if v.needsSame = w.Require == nil; !v.needsSame {
		v.needs = readNeeds(w.Require)
	}
	return v
}

// readNeeds returns the packages in a require field. It leaves out PHP itself and its extensions, which no
// registry has.
func readNeeds(require []byte) (out []company.Dependency) {
	for _, name := range slices.Sorted(maps.Keys(ecosystem.FieldsOf(require))) {
		if checkName(name, "") == nil {
			out = append(out, company.Dependency{Ecosystem: ecosystem.Packagist, Name: name})
		}
	}
	return out
}

// toSemver returns the version in semantic version syntax, for comparisons.
func (v version) toSemver() string {
	numbers, suffix, isPre := strings.Cut(strings.TrimLeft(v.Version, "vV"), "-")
	if v.Normalized != "" {
		numbers, suffix, isPre = strings.Cut(v.Normalized, "-")
	}
	part := strings.Split(numbers, ".")
	out := "v" + strings.Join(part[:min(len(part), 3)], ".")
	if isPre {
		out += "-" + suffix
	}
	return out
}

const maxReference = 100 // bytes of a commit

var (
	commitRE = lazyregexp.New(`^[0-9a-f]{40}$`)
	// zipballRE matches a file of GitHub's API, which allows 60 requests an hour without a login. The host
	// codeload.github.com has the same file, and composer uses it too.
	zipballRE = lazyregexp.New(
		`^https://api\.github\.com/repos/([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)/(zip|tar)ball/([A-Za-z0-9_./-]+)$`)
)

// toFetch returns the download of a version's file. A branch moves, so a lock file may name another commit
// of it at the same address, and isLocked permits that commit. Any other reference is refused. It would be
// sent as part of an address and could carry data out of a container. A release has only one commit.
func (v version) toFetch(dependency company.Dependency, reference string, isLocked bool) (ecosystem.Fetch, error) {
	fetch := ecosystem.Fetch{URL: v.Dist.URL, Digest: sha1Digest(v.Dist.Shasum), RawBytes: true}
	switch {
	case v.Dist.URL == "":
		return fetch, &ecosystem.Reply{Status: ecosystem.StatusNotFound,
			Line: "the registry has no file of " + dependency.String() + ", only a repository of git, which is not fetched"}
	case reference == v.Dist.Reference, reference == anyReference:
	case isLocked && isBranch(dependency.Version) && commitRE.MatchString(reference) &&
		commitRE.MatchString(v.Dist.Reference) &&
		strings.Contains(v.Dist.URL, v.Dist.Reference):
		fetch.URL, fetch.Digest = strings.ReplaceAll(v.Dist.URL, v.Dist.Reference, reference), ecosystem.Digest{}
	default:
		return fetch, &ecosystem.Reply{Status: ecosystem.StatusNotFound,
			Line: fmt.Sprintf("the registry has another commit of %s than is asked for: %.*s, and not %.*s (composer update "+
				"%s takes it)", dependency, maxReference, v.Dist.Reference, maxReference, reference, dependency.Name)}
	}
	switch v.Dist.Type {
	case "zip":
		fetch.Check = ecosystem.CheckZip
	case "tar":
		fetch.Check = checkTar
	default:
		return fetch, &ecosystem.Reply{Status: ecosystem.StatusNotFound,
			Line: fmt.Sprintf("the file of %s is of a kind that is not served: %.20q", dependency, v.Dist.Type)}
	}
	if m := zipballRE.FindStringSubmatch(fetch.URL); m != nil {
		fetch.URL = "https://codeload.github.com/" + m[1] + "/" + m[2] + "/legacy." +
			map[string]string{"zip": "zip", "tar": "tar.gz"}[m[3]] + "/" + m[4]
	}
	return fetch, nil
}

// checkTar reports whether a file is a tar archive or compressed with gzip or bzip2.
func checkTar(content io.ReaderAt, size int64) bool {
	plain := make([]byte, 5)
	_, err := content.ReadAt(plain, 257)
	return err == nil && string(plain) == "ustar" || ecosystem.BeginsWith("\x1f\x8b")(content, size) ||
		ecosystem.BeginsWith("BZh")(content, size)
}

// readDescription returns the registry's description of a package's releases or branches, as text and
// parsed.
func readDescription(
	ctx context.Context, fetcher ecosystem.Fetcher, name string, branches bool,
) (text []byte, versions []version, err error) {
	name = strings.ToLower(name)
	at, err := descriptionURL(ctx, fetcher, name, branches)
	if err != nil {
		return nil, nil, err
	}
	if text, _, err = fetcher.Read(ctx, ecosystem.Fetch{URL: at}); err != nil {
		return nil, nil, err
	}
	var d struct {
		Packages map[string]json.RawMessage
		Minified string
	}
	if json.Unmarshal(text, &d) != nil {
		return nil, nil, unreadable(name)
	}
	if versions, err = readVersions(d.Packages[name], d.Minified != ""); err != nil {
		return nil, nil, unreadable(name)
	}
	return text, versions, nil
}

func unreadable(name string) error {
	return fmt.Errorf("the registry's answer for %s is invalid", name)
}

// maxVersions limits the versions of one package. The text of a version may be as short as three bytes.
const maxVersions = 100_000

// readVersions parses a list of versions, which may be in the short form.
func readVersions(list []byte, isShort bool) (versions []version, err error) {
	if len(list) == 0 {
		return nil, nil // the description of another package
	}
	dec := json.NewDecoder(bytes.NewReader(list))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('[') {
		return nil, errors.New("no list of versions")
	}
	var v version
	for dec.More() {
		var w writtenVersion
		if err := dec.Decode(&w); err != nil || len(versions) == maxVersions {
			return nil, errors.New("no list of versions, or an endless one")
		}
		if !isShort {
			v = version{}
		}
		v = w.readAfter(v)
		versions = append(versions, v)
	}
	return versions, nil
}

// descriptionURL returns the address of a package's description in the registry.
func descriptionURL(ctx context.Context, fetcher ecosystem.Fetcher, name string, branches bool) (string, error) {
	base := fetcher.Upstream().EndpointOf(name).URL
	text, _, err := fetcher.Read(ctx, ecosystem.Fetch{URL: base + "/packages.json"})
	if err != nil {
		return "", err
	}
	var root struct {
		URL string `json:"metadata-url"`
	}
	at, perr := url.Parse(base + "/")
	if json.Unmarshal(text, &root) != nil || !strings.Contains(root.URL, "%package%") || perr != nil {
		return "", errors.New("the registry's packages.json has no metadata-url: it is not a repository for composer 2")
	}
	if branches {
		name += branchMark
	}
	address, err := at.Parse(strings.ReplaceAll(root.URL, "%package%", name))
	if err != nil {
		return "", errors.New("the registry's metadata-url is invalid")
	}
	return address.String(), nil
}
