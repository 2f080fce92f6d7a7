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
	"company/internal/lazyregexp"
)

// Serve serves a repository of composer 2: where descriptions of packages are, these
// descriptions as the registry has them, and the files of packages.
func (Ecosystem) Serve(ctx context.Context, r ecosystem.Request) (*ecosystem.Answer, error) {
	if r.Path == "packages.json" {
		text, err := json.Marshal(map[string]any{"packages": []string{}, "metadata-url": r.Base + "/packagist/p2/%package%.json"})
		return &ecosystem.Answer{Text: text, Media: "application/json"}, err
	}
	kind, rest, _ := strings.Cut(r.Path, "/")
	switch part := strings.Split(rest, "/"); {
	case kind == "p2" && len(part) == 2:
		return serveDescription(ctx, r, rest)
	case kind == "dist" && len(part) == 4:
		version, err := url.PathUnescape(part[2])
		reference, err2 := url.PathUnescape(part[3])
		if err != nil || err2 != nil {
			return nil, ecosystem.ErrNoPath
		}
		return serveFile(ctx, r, company.Dependency{Ecosystem: ecosystem.Packagist, Name: part[0] + "/" + part[1], Version: version}, reference)
	}
	return nil, ecosystem.ErrNoPath
}

// branchMark stands behind a name where its branches are described, in place of its releases.
const branchMark = "~dev"

// serveDescription serves what there is of a package.
func serveDescription(ctx context.Context, r ecosystem.Request, file string) (*ecosystem.Answer, error) {
	file, isJSON := strings.CutSuffix(file, ".json")
	name, branches := strings.CutSuffix(file, branchMark)
	d := company.Dependency{Ecosystem: ecosystem.Packagist, Name: name}
	if !isJSON || checkName(d.Name, d.Version) != nil {
		return nil, ecosystem.ErrNoPath
	}
	if err := r.Check(d); err != nil {
		return nil, err
	}
	text, all, err := readDescription(ctx, r, name, branches)
	if err != nil {
		return nil, err
	}
	allowed := false
	for _, v := range all {
		allowed = allowed && v.needsSame
		if d.Version = v.Version; !allowed && checkName(d.Name, d.Version) == nil && r.Follows(d) {
			r.AllowNeeds(v.needs, nil)
			allowed = true
		}
	}
	return &ecosystem.Answer{Text: text, Media: "application/json"}, nil
}

// anyReference asks for the file that the registry has of a version now.
const anyReference = "-"

// serveFile serves the file of a version. The registry alone says where it lies: a lock file
// is text of a repository, and could name any address.
func serveFile(ctx context.Context, r ecosystem.Request, d company.Dependency, reference string) (*ecosystem.Answer, error) {
	if checkName(d.Name, d.Version) != nil || d.Version == "" || len(reference) > maxReference {
		return nil, ecosystem.ErrNoPath
	}
	if err := r.Check(d); err != nil {
		return nil, err
	}
	if !r.Allows(d) {
		return nil, r.Refuse(d, "")
	}
	v, err := findVersion(ctx, r, d)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound, Line: "the registry does not list " + d.String()}
	}
	if r.Follows(d) {
		r.AllowNeeds(v.needs, nil)
	}
	named, _ := r.LockedFile(atCommit(d, reference))
	w, err := v.toFetch(d, reference, named.Algorithm == commitOfBranch)
	if err != nil {
		return nil, err
	}
	if sum, ok := r.LockedFile(d); ok && w.Digest.Algorithm == "" && (reference == v.Dist.Reference || reference == anyReference) {
		w.Digest = sum
	}
	return r.Package(ctx, d, w, ecosystem.BinaryFile)
}

// PackagePath is the path of a version's file.
func (Ecosystem) PackagePath(d company.Dependency) string {
	return "dist/" + strings.ToLower(d.Name) + "/" + url.PathEscape(d.Version) + "/" + anyReference
}

// ListVersions lists the releases of a package.
func (Ecosystem) ListVersions(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) (all []string, newest string, err error) {
	_, list, err := readDescription(ctx, f, d.Name, false)
	if err != nil {
		return nil, "", err
	}
	var comparable []string
	called := map[string]string{}
	for _, v := range list {
		if checkName(d.Name, v.Version) != nil || v.Version == "" {
			continue
		}
		all = append(all, v.Version)
		if c := v.toSemver(); called[c] == "" {
			called[c] = v.Version
			comparable = append(comparable, c)
		}
	}
	return all, called[ecosystem.NewestSemver(comparable)], nil
}

// ListNeeds lists the packages that a version asks for.
func (Ecosystem) ListNeeds(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) ([]company.Dependency, error) {
	v, err := findVersion(ctx, f, d)
	if err != nil || v == nil {
		return nil, err
	}
	return v.needs, nil
}

// findVersion is what the registry says of a version. Nil means that it does not list it.
func findVersion(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) (*version, error) {
	places := []bool{false}
	if isBranch(d.Version) {
		places = []bool{true, false} // registries that are made by hand have one place for all
	}
	for _, branches := range places {
		_, all, err := readDescription(ctx, f, d.Name, branches)
		if errors.Is(err, ecosystem.ErrNotFound) && branches {
			continue
		}
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(v version) bool { return v.Version == d.Version }); i >= 0 {
			return &all[i], nil
		}
	}
	return nil, nil
}

// version is what counts of one version in a registry's description.
type version struct {
	Version    string
	Normalized string // with four numbers
	Dist       dist
	Source     source
	// needs are the packages that it asks for. Versions that say nothing of their own share
	// those of the one before, and needsSame tells them.
	needs     []company.Dependency
	needsSame bool
}

// writtenVersion is a version as a description writes it. In the short form it has what differs
// from the one before: a megabyte of needs may count for a hundred thousand versions.
type writtenVersion struct {
	Version    json.RawMessage
	Normalized json.RawMessage `json:"version_normalized"`
	Require    json.RawMessage
	Dist       json.RawMessage
	Source     json.RawMessage
}

// readAfter reads the fields that are written; the others are those of the version before. A
// field that is no more is a text, which reads as none.
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
	if v.needsSame = w.Require == nil; !v.needsSame {
		v.needs = readNeeds(w.Require)
	}
	return v
}

// readNeeds are the packages that a version asks for; PHP itself and its extensions are
// none of a registry.
func readNeeds(require []byte) (out []company.Dependency) {
	for _, name := range slices.Sorted(maps.Keys(ecosystem.FieldsOf(require))) {
		if checkName(name, "") == nil {
			out = append(out, company.Dependency{Ecosystem: ecosystem.Packagist, Name: name})
		}
	}
	return out
}

// toSemver is the version as semantic versions are written, to compare it.
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

const maxReference = 100 // of a commit, in bytes

var (
	commitRE = lazyregexp.New(`^[0-9a-f]{40}$`)
	// zipballRE is a file of GitHub's API, which answers 60 requests an hour without a login. The
	// host behind it has the same file, and composer asks that too.
	zipballRE = lazyregexp.New(`^https://api\.github\.com/repos/([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)/(zip|tar)ball/([A-Za-z0-9_./-]+)$`)
)

// toFetch is the download of a version's file. The head of a branch moves: what a lock file
// names of it is another commit at the same place. Any other commit would leave this host as an
// address, with whatever a container puts in its place. A release has one commit.
func (v version) toFetch(d company.Dependency, reference string, isLocked bool) (ecosystem.Fetch, error) {
	w := ecosystem.Fetch{URL: v.Dist.URL, Digest: sha1Digest(v.Dist.Shasum), RawBytes: true}
	switch {
	case v.Dist.URL == "":
		return w, &ecosystem.Reply{Status: ecosystem.StatusNotFound, Line: "the registry has no file of " + d.String() + ", only a repository of git, which is not fetched"}
	case reference == v.Dist.Reference, reference == anyReference:
	case isLocked && isBranch(d.Version) && commitRE.MatchString(reference) && commitRE.MatchString(v.Dist.Reference) && strings.Contains(v.Dist.URL, v.Dist.Reference):
		w.URL, w.Digest = strings.ReplaceAll(v.Dist.URL, v.Dist.Reference, reference), ecosystem.Digest{}
	default:
		return w, &ecosystem.Reply{Status: ecosystem.StatusNotFound, Line: fmt.Sprintf("the registry has another commit of %s than is asked for: %.*s, and not %.*s (composer update %s takes it)", d, maxReference, v.Dist.Reference, maxReference, reference, d.Name)}
	}
	switch v.Dist.Type {
	case "zip":
		w.Check = ecosystem.CheckZip
	case "tar":
		w.Check = checkTar
	default:
		return w, &ecosystem.Reply{Status: ecosystem.StatusNotFound, Line: fmt.Sprintf("the file of %s is of a kind that is not served: %.20q", d, v.Dist.Type)}
	}
	if m := zipballRE.FindStringSubmatch(w.URL); m != nil {
		w.URL = "https://codeload.github.com/" + m[1] + "/" + m[2] + "/legacy." + map[string]string{"zip": "zip", "tar": "tar.gz"}[m[3]] + "/" + m[4]
	}
	return w, nil
}

// checkTar says whether a file is a tar, or a compressed one.
func checkTar(content io.ReaderAt, size int64) bool {
	plain := make([]byte, 5)
	_, err := content.ReadAt(plain, 257)
	return err == nil && string(plain) == "ustar" || ecosystem.BeginsWith("\x1f\x8b")(content, size) || ecosystem.BeginsWith("BZh")(content, size)
}

// readDescription is what the registry says of a package, as it is and read: its releases,
// or its branches.
func readDescription(ctx context.Context, f ecosystem.Fetcher, name string, branches bool) (text []byte, all []version, err error) {
	name = strings.ToLower(name)
	at, err := descriptionURL(ctx, f, name, branches)
	if err != nil {
		return nil, nil, err
	}
	if text, _, err = f.Read(ctx, ecosystem.Fetch{URL: at}); err != nil {
		return nil, nil, err
	}
	var d struct {
		Packages map[string]json.RawMessage
		Minified string
	}
	if json.Unmarshal(text, &d) != nil {
		return nil, nil, unreadable(name)
	}
	if all, err = readVersions(d.Packages[name], d.Minified != ""); err != nil {
		return nil, nil, unreadable(name)
	}
	return text, all, nil
}

func unreadable(name string) error {
	return fmt.Errorf("the registry's answer for %s cannot be read", name)
}

// maxVersions bounds the versions of one package. The text of one may have three bytes.
const maxVersions = 100_000

// readVersions reads a list of versions, which may be in the short form.
func readVersions(list []byte, isShort bool) (all []version, err error) {
	if len(list) == 0 {
		return nil, nil // of another package
	}
	dec := json.NewDecoder(bytes.NewReader(list))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('[') {
		return nil, errors.New("no list of versions")
	}
	var v version
	for dec.More() {
		var w writtenVersion
		if err := dec.Decode(&w); err != nil || len(all) == maxVersions {
			return nil, errors.New("no list of versions, or one without an end")
		}
		if !isShort {
			v = version{}
		}
		v = w.readAfter(v)
		all = append(all, v)
	}
	return all, nil
}

// descriptionURL is where the registry has the description of a package.
func descriptionURL(ctx context.Context, f ecosystem.Fetcher, name string, branches bool) (string, error) {
	base := f.Upstream().EndpointOf(name).URL
	text, _, err := f.Read(ctx, ecosystem.Fetch{URL: base + "/packages.json"})
	if err != nil {
		return "", err
	}
	var root struct {
		URL string `json:"metadata-url"`
	}
	at, perr := url.Parse(base + "/")
	if json.Unmarshal(text, &root) != nil || !strings.Contains(root.URL, "%package%") || perr != nil {
		return "", errors.New("the registry's packages.json has no metadata-url: it is no repository for composer 2")
	}
	if branches {
		name += branchMark
	}
	u, err := at.Parse(strings.ReplaceAll(root.URL, "%package%", name))
	if err != nil {
		return "", errors.New("the registry's metadata-url cannot be read")
	}
	return u.String(), nil
}
