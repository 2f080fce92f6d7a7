package node

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sort"
	"strings"

	"golang.org/x/mod/semver"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// acceptShort requests the short form of a package description, which is enough for an installation. It
// also accepts the long form.
const acceptShort = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"

// Serve serves packuments (package descriptions) and tarballs.
func (Ecosystem) Serve(ctx context.Context, request ecosystem.Request) (*ecosystem.Answer, error) {
	name, file, isFile := strings.Cut(request.Path, "/-/")
	name, err := url.PathUnescape(name)
	dependency := company.Dependency{Ecosystem: ecosystem.NPM, Name: name}
	if err != nil || checkName(dependency.Name, dependency.Version) != nil {
		return nil, ecosystem.ErrNoPath
	}
	if err := request.Check(dependency); err != nil {
		return nil, err
	}
	if isFile {
		if a, ok := serveLocked(ctx, request, name, file); ok {
			return a, nil
		}
	}
	packument, err := fetchPackument(ctx, request, name)
	if err != nil {
		return nil, err
	}
	if !isFile {
		for v, m := range packument.Versions {
			if dependency.Version = v; checkName(dependency.Name, dependency.Version) == nil && request.Follows(dependency) {
				request.AllowNeeds(m.listDependencies(), nil)
			}
		}
		return &ecosystem.Answer{Text: packument.rewriteTarballs(request.Base, npmRE.MatchString(request.Client)),
			Media: "application/json"}, nil
	}
	version, ok := versionOfFile(name, file)
	m, known := packument.Versions[version]
	if dependency.Version = version; !ok || !known {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound,
			Line: fmt.Sprintf("the registry lists no file %.200q of %s", file, name)}
	}
	if !request.Allows(dependency) {
		return nil, request.Refuse(dependency, "")
	}
	sum := m.strongestDigest()
	if sum.Algorithm == "" {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusBadRegistry,
			Line: fmt.Sprintf("the registry names no digest of %s", dependency)}
	}
	if request.Follows(dependency) {
		request.AllowNeeds(m.listDependencies(), nil)
	}
	return request.Package(ctx, dependency, ecosystem.Fetch{URL: m.Dist.Tarball, Digest: sum}, ecosystem.BinaryFile)
}

// PackagePath returns the path under which Serve serves a version's tarball.
func (Ecosystem) PackagePath(d company.Dependency) string {
	return d.Name + "/-/" + nameWithoutScope(d.Name) + "-" + d.Version + ".tgz"
}

// versionOfFile returns the version in the name of a tarball.
func versionOfFile(name, file string) (version string, ok bool) {
	version, ok = strings.CutPrefix(strings.TrimSuffix(file, ".tgz"), nameWithoutScope(name)+"-")
	return version, ok && version != "" && strings.HasSuffix(file, ".tgz") && checkName(name, version) == nil
}

// serveLocked serves the tarball of a version that lock files name. It fetches the tarball from its usual
// address and verifies it with the digest in the lock file. If the lock file has no digest, it uses the
// registry's description of this one version. It does not read the description of all versions, which may
// have megabytes. ok is false if that description is needed.
func serveLocked(ctx context.Context, request ecosystem.Request, name, file string) (_ *ecosystem.Answer, ok bool) {
	dependency := company.Dependency{Ecosystem: ecosystem.NPM, Name: name}
	if dependency.Version, ok = versionOfFile(name, file); !ok {
		return nil, false
	}
	sum, ok := request.LockedFile(dependency)
	if !ok {
		return nil, false
	}
	registry := request.Upstream().EndpointOf(name).URL
	address := registry + "/" + name + "/-/" + file
	if sum.Algorithm == "" {
		text, _, err := request.Read(
			ctx, ecosystem.Fetch{URL: registry + "/" + strings.Replace(name, "/", "%2f", 1) + "/" + dependency.Version,
				Immutable: true,
				Check:     ecosystem.CheckText(json.Valid)})
		var version packageVersion
		if err != nil || json.Unmarshal(text, &version) != nil || version.Version != dependency.Version {
			return nil, false
		}
		address, sum = version.Dist.Tarball, version.strongestDigest()
	}
	if sum.Algorithm == "" {
		return nil, false
	}
	a, err := request.Package(ctx, dependency, ecosystem.Fetch{URL: address, Digest: sum}, ecosystem.BinaryFile)
	return a, err == nil // otherwise the full description explains the error or has another address
}

// ListVersions lists the versions of a package and its latest version.
func (Ecosystem) ListVersions(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) (all []string, newest string, err error) {
	packument, err := fetchPackument(ctx, fetcher, dependency.Name)
	if err != nil {
		return nil, "", err
	}
	for v := range packument.Versions {
		all = append(all, v)
	}
	return all, packument.latestVersion(), nil
}

// ListNeeds lists the packages that a version depends on.
func (Ecosystem) ListNeeds(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) ([]company.Dependency, error) {
	packument, err := fetchPackument(ctx, fetcher, dependency.Name)
	if err != nil {
		return nil, err
	}
	return packument.Versions[dependency.Version].listDependencies(), nil
}

// nameWithoutScope returns a package name without its scope, as in file names.
func nameWithoutScope(name string) string { return name[strings.IndexByte(name, '/')+1:] }

// packument is a registry's description of a package. Fields that are not parsed here are passed on
// unchanged.
type packument struct {
	name     string
	raw      map[string]json.RawMessage
	versions map[string]map[string]json.RawMessage
	Versions map[string]packageVersion
	Tags     map[string]string
}

type packageVersion struct {
	Version      string                 `json:"version"`
	Dependencies map[string]looseString `json:"dependencies"`
	OptionalDeps map[string]looseString `json:"optionalDependencies"`
	PeerDeps     map[string]looseString `json:"peerDependencies"`
	Bin          json.RawMessage        `json:"bin"`
	Bundles      json.RawMessage        `json:"bundleDependencies"`
	Bundled      json.RawMessage        `json:"bundledDependencies"` // an alternative name of the field
	Dist         struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
		Shasum    string `json:"shasum"`
	} `json:"dist"`
}

// listPrograms returns the files of a version's programs, by name. A program without a name has the name of
// the package.
func (m packageVersion) listPrograms(name string) map[string]string {
	var all map[string]string
	if json.Unmarshal(m.Bin, &all) != nil || all == nil {
		if file := ecosystem.TextOf(m.Bin); file != "" {
			return map[string]string{name: file}
		}
	}
	return all
}

// listBundled lists the names of the packages in a version's archive.
func (m packageVersion) listBundled() []string {
	needs := slices.Concat(slices.Collect(maps.Keys(m.Dependencies)), slices.Collect(maps.Keys(m.OptionalDeps)))
	return listBundled([]json.RawMessage{m.Bundles, m.Bundled}, needs)
}

// looseString is a JSON string. Any other JSON value counts as an empty string, because old packages have
// fields of other types.
type looseString string

func (t *looseString) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = looseString(s)
	}
	return nil
}

// fetchPackument reads the description of a package.
func fetchPackument(ctx context.Context, fetcher ecosystem.Fetcher, name string) (*packument, error) {
	text, _, err := fetcher.Read(
		ctx, ecosystem.Fetch{URL: fetcher.Upstream().EndpointOf(name).URL + "/" + strings.Replace(name, "/", "%2f", 1),
			Accept: acceptShort})
	if err != nil {
		return nil, err
	}
	return parsePackument(name, text)
}

func parsePackument(name string, text []byte) (*packument, error) {
	p := &packument{name: name, Versions: map[string]packageVersion{}}
	bad := fmt.Errorf("the registry's answer for %s is invalid", name)
	if json.Unmarshal(text, &p.raw) != nil || json.Unmarshal(p.raw["versions"], &p.versions) != nil {
		return nil, bad
	}
	if tags := p.raw["dist-tags"]; tags != nil && json.Unmarshal(tags, &p.Tags) != nil {
		return nil, bad
	}
	for v, fields := range p.versions {
		var version packageVersion
		one, err := json.Marshal(fields)
		if err != nil || json.Unmarshal(one, &version) != nil || version.Version != v || v == "" ||
			ecosystem.CheckSemver(v) != nil {
			delete(p.versions, v) // npm could not install it either
			continue
		}
		p.Versions[v] = version
	}
	return p, nil
}

// npmRE matches the User-Agent header of npm 7 and later. These versions write a tarball's address
// unchanged into the lock file, which users get. They also replace the public registry by the configured
// one.
var npmRE = lazyregexp.New(`^npm/(?:[7-9]|[1-9][0-9])`)

// rewriteTarballs returns the description with the mirror's addresses in place of the tarballs' addresses.
// keepsPublic keeps those of the public registry.
func (p *packument) rewriteTarballs(base string, keepsPublic bool) []byte {
	short := nameWithoutScope(p.name)
	for v, fields := range p.versions {
		var dist map[string]json.RawMessage
		if json.Unmarshal(fields["dist"], &dist) != nil {
			delete(p.versions, v)
			continue
		}
		at, isPublic := strings.CutPrefix(p.Versions[v].Dist.Tarball, defaultRegistry)
		if !keepsPublic || !isPublic || !rootTarballRE.MatchString(at) {
			dist["tarball"] = jsonString(base + "/npm/" + p.name + "/-/" + short + "-" + v + ".tgz")
		}
		// Signatures would be checked with keys of a registry that is not reachable here.
		delete(dist, "signatures")
		delete(dist, "npm-signature")
		fields["dist"] = jsonObject(dist)
	}
	all, err := json.Marshal(p.versions)
	if err != nil {
		panic(err) // cannot fail: these messages were parsed
	}
	p.raw["versions"] = all
	return jsonObject(p.raw)
}

func jsonString(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return bytes.TrimSpace(b.Bytes())
}

func jsonObject(m map[string]json.RawMessage) json.RawMessage {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // cannot fail: these messages were parsed
	}
	return text
}

// listDependencies lists the packages that a version depends on. For an alias, it lists the package behind
// it.
func (m packageVersion) listDependencies() []company.Dependency {
	var out []company.Dependency
	for _, set := range []map[string]looseString{m.Dependencies, m.OptionalDeps, m.PeerDeps} {
		for name, spec := range set {
			if rest, ok := strings.CutPrefix(string(spec), "npm:"); ok {
				if i := strings.LastIndexByte(rest, '@'); i > 0 {
					rest = rest[:i]
				}
				name = rest
			}
			out = append(out, company.Dependency{Ecosystem: ecosystem.NPM, Name: name})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// strongestDigest returns the strongest digest in the registry's description.
func (m packageVersion) strongestDigest() ecosystem.Digest {
	best := ParseIntegrity(m.Dist.Integrity)
	if raw, err := hex.DecodeString(m.Dist.Shasum); best.Algorithm == "" && err == nil && len(raw) == 20 {
		best = ecosystem.Digest{Algorithm: "sha1", Sum: raw}
	}
	return best
}

var integrityRE = lazyregexp.New(`^sha(?:1|256|384|512)-[A-Za-z0-9+/]+=*$`)

// IsIntegrity reports whether a text is exactly one digest in the form of lock files. If there are several,
// clients compare the strongest or any of them.
func IsIntegrity(text string) bool { return integrityRE.MatchString(text) }

// ParseIntegrity returns the strongest digest in an integrity field of a registry or lock file.
func ParseIntegrity(text string) (best ecosystem.Digest) {
	for one := range strings.FieldsSeq(text) {
		algorithm, sum, _ := strings.Cut(one, "-")
		sum, _, _ = strings.Cut(sum, "?")
		raw, err := base64.StdEncoding.DecodeString(sum)
		digest := ecosystem.Digest{Algorithm: algorithm, Sum: raw}
		if h := digest.NewHash(); err != nil || h == nil || h.Size() != len(raw) {
			continue
		}
		if len(raw) > len(best.Sum) {
			best = digest
		}
	}
	return best
}

// latestVersion returns the version that is installed by default.
func (p *packument) latestVersion() string {
	if v := p.Tags["latest"]; p.Versions[v].Version != "" {
		return v
	}
	best := ""
	for v := range p.Versions {
		if semver.Prerelease("v"+v) == "" && (best == "" || semver.Compare("v"+v, "v"+best) > 0) {
			best = v
		}
	}
	return best
}
