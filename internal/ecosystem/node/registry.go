package node

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"sort"
	"strings"

	"golang.org/x/mod/semver"

	"company/internal/company"
	"company/internal/ecosystem"
)

// acceptShort asks for the short form of a description, which has all that an
// installation needs, and takes the long one.
const acceptShort = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"

// Serve serves packuments and tarballs.
func (Ecosystem) Serve(ctx context.Context, r ecosystem.Request) (*ecosystem.Answer, error) {
	name, file, isFile := strings.Cut(r.Path, "/-/")
	name, err := url.PathUnescape(name)
	d := company.Dependency{Ecosystem: ecosystem.NPM, Name: name}
	if err != nil || checkName(d.Name, d.Version) != nil {
		return nil, ecosystem.ErrNoPath
	}
	if err := r.Check(d); err != nil {
		return nil, err
	}
	if isFile {
		if a, ok := serveLocked(ctx, r, name, file); ok {
			return a, nil
		}
	}
	p, err := fetchPackument(ctx, r, name)
	if err != nil {
		return nil, err
	}
	if !isFile {
		for v, m := range p.Versions {
			if d.Version = v; checkName(d.Name, d.Version) == nil && r.Follows(d) {
				r.AllowNeeds(m.listDependencies(), nil)
			}
		}
		return &ecosystem.Answer{Text: p.rewriteTarballs(r.Base), Media: "application/json"}, nil
	}
	version, ok := versionOfFile(name, file)
	m, known := p.Versions[version]
	if d.Version = version; !ok || !known {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound, Line: fmt.Sprintf("the registry lists no file %.200q of %s", file, name)}
	}
	if !r.Allows(d) {
		return nil, r.Refuse(d, "")
	}
	sum := m.strongestDigest()
	if sum.Algorithm == "" {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusBadRegistry, Line: fmt.Sprintf("the registry names no digest of %s", d)}
	}
	if r.Follows(d) {
		r.AllowNeeds(m.listDependencies(), nil)
	}
	return r.Package(ctx, d, ecosystem.Fetch{URL: m.Dist.Tarball, Digest: sum}, ecosystem.BinaryFile)
}

// PackagePath is the path of a version's tarball.
func (Ecosystem) PackagePath(d company.Dependency) string {
	return d.Name + "/-/" + nameWithoutScope(d.Name) + "-" + d.Version + ".tgz"
}

// versionOfFile is the version whose tarball is called so.
func versionOfFile(name, file string) (version string, ok bool) {
	version, ok = strings.CutPrefix(strings.TrimSuffix(file, ".tgz"), nameWithoutScope(name)+"-")
	return version, ok && version != "" && strings.HasSuffix(file, ".tgz") && checkName(name, version) == nil
}

// serveLocked answers with the tarball of a version that lock files name, as clients
// ask for it: at the place where registries have it, held against the digest of the
// lock file. Where that has none, the registry's description of this one version has.
// The description of all versions, which may have megabytes, is not read. Not ok: it
// must be.
func serveLocked(ctx context.Context, r ecosystem.Request, name, file string) (_ *ecosystem.Answer, ok bool) {
	d := company.Dependency{Ecosystem: ecosystem.NPM, Name: name}
	if d.Version, ok = versionOfFile(name, file); !ok {
		return nil, false
	}
	sum, ok := r.LockedFile(d)
	if !ok {
		return nil, false
	}
	registry := r.Upstream().EndpointOf(name).URL
	address := registry + "/" + name + "/-/" + file
	if sum.Algorithm == "" {
		text, _, err := r.Read(ctx, ecosystem.Fetch{URL: registry + "/" + strings.Replace(name, "/", "%2f", 1) + "/" + d.Version, Immutable: true, Check: ecosystem.CheckText(json.Valid)})
		var m packageVersion
		if err != nil || json.Unmarshal(text, &m) != nil || m.Version != d.Version {
			return nil, false
		}
		address, sum = m.Dist.Tarball, m.strongestDigest()
	}
	if sum.Algorithm == "" {
		return nil, false
	}
	a, err := r.Package(ctx, d, ecosystem.Fetch{URL: address, Digest: sum}, ecosystem.BinaryFile)
	return a, err == nil // else the long way says what is wrong, or finds it elsewhere
}

// ListVersions lists the versions of a package.
func (Ecosystem) ListVersions(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) (all []string, newest string, err error) {
	p, err := fetchPackument(ctx, f, d.Name)
	if err != nil {
		return nil, "", err
	}
	for v := range p.Versions {
		all = append(all, v)
	}
	return all, p.latestVersion(), nil
}

// ListNeeds lists the packages that a version asks for.
func (Ecosystem) ListNeeds(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) ([]company.Dependency, error) {
	p, err := fetchPackument(ctx, f, d.Name)
	if err != nil {
		return nil, err
	}
	return p.Versions[d.Version].listDependencies(), nil
}

// nameWithoutScope is what files are called by.
func nameWithoutScope(name string) string { return name[strings.IndexByte(name, '/')+1:] }

// packument is what a registry says of a package. Fields that are not named
// here travel along as they are.
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
	Dist         struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
		Shasum    string `json:"shasum"`
	} `json:"dist"`
}

// looseString is a text, or anything else, which then counts as none: old packages
// have odd fields.
type looseString string

func (t *looseString) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = looseString(s)
	}
	return nil
}

// fetchPackument reads the description of a package.
func fetchPackument(ctx context.Context, f ecosystem.Fetcher, name string) (*packument, error) {
	text, _, err := f.Read(ctx, ecosystem.Fetch{URL: f.Upstream().EndpointOf(name).URL + "/" + strings.Replace(name, "/", "%2f", 1), Accept: acceptShort})
	if err != nil {
		return nil, err
	}
	return parsePackument(name, text)
}

func parsePackument(name string, text []byte) (*packument, error) {
	p := &packument{name: name, Versions: map[string]packageVersion{}}
	bad := fmt.Errorf("the registry's answer for %s cannot be read", name)
	if json.Unmarshal(text, &p.raw) != nil || json.Unmarshal(p.raw["versions"], &p.versions) != nil {
		return nil, bad
	}
	if tags := p.raw["dist-tags"]; tags != nil && json.Unmarshal(tags, &p.Tags) != nil {
		return nil, bad
	}
	for v, fields := range p.versions {
		var m packageVersion
		one, err := json.Marshal(fields)
		if err != nil || json.Unmarshal(one, &m) != nil || m.Version != v || v == "" || ecosystem.CheckSemver(v) != nil {
			delete(p.versions, v) // one that npm could not install either
			continue
		}
		p.Versions[v] = m
	}
	return p, nil
}

// rewriteTarballs is the description with the addresses of tarballs turned to us.
func (p *packument) rewriteTarballs(base string) []byte {
	short := nameWithoutScope(p.name)
	for v, fields := range p.versions {
		var dist map[string]json.RawMessage
		if json.Unmarshal(fields["dist"], &dist) != nil {
			delete(p.versions, v)
			continue
		}
		dist["tarball"] = jsonString(base + "/npm/" + p.name + "/-/" + short + "-" + v + ".tgz")
		// Signatures are checked against keys of a registry that is not here.
		delete(dist, "signatures")
		delete(dist, "npm-signature")
		fields["dist"] = jsonObject(dist)
	}
	all, err := json.Marshal(p.versions)
	if err != nil {
		panic(err) // raw messages that were read
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
		panic(err) // raw messages that were read
	}
	return text
}

// listDependencies are the packages that a version asks for. An alias names another
// package; an address or a git repository is not a registry's.
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

// strongestDigest is the strongest that the registry names.
func (m packageVersion) strongestDigest() ecosystem.Digest {
	best := ParseIntegrity(m.Dist.Integrity)
	if raw, err := hex.DecodeString(m.Dist.Shasum); best.Algorithm == "" && err == nil && len(raw) == 20 {
		best = ecosystem.Digest{Algorithm: "sha1", Sum: raw}
	}
	return best
}

// ParseIntegrity is the strongest digest of an integrity field, as registries and lock
// files have it.
func ParseIntegrity(text string) (best ecosystem.Digest) {
	for one := range strings.FieldsSeq(text) {
		algorithm, sum, _ := strings.Cut(one, "-")
		sum, _, _ = strings.Cut(sum, "?")
		raw, err := base64.StdEncoding.DecodeString(sum)
		d := ecosystem.Digest{Algorithm: algorithm, Sum: raw}
		if h := d.NewHash(); err != nil || h == nil || h.Size() != len(raw) {
			continue
		}
		if len(raw) > len(best.Sum) {
			best = d
		}
	}
	return best
}

// latestVersion is the version that an installation without one would take.
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
