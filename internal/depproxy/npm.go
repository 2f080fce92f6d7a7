package depproxy

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"

	"golang.org/x/mod/semver"

	"company/internal/company"
	"company/internal/ecosystem"
)

// npmAccept asks for the short form of a description, which has all that an
// installation needs, and takes the long one.
const npmAccept = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"

// serveNPM serves packuments and tarballs. A refusal is "forbidden" with the reason
// in the field that npm shows.
func (q *request) serveNPM(rest string) {
	name, file, isFile := strings.Cut(rest, "/-/")
	name, err := url.PathUnescape(name)
	d := company.Dependency{Ecosystem: NPM, Name: name}
	if err != nil || CheckName(d) != nil {
		q.writeNPMError(http.StatusNotFound, "there is no such path")
		return
	}
	if why := q.fetchRefusal(d); why != "" {
		q.writeNPMError(http.StatusForbidden, why)
		return
	}
	p, err := q.store.fetchPackument(q.r.Context(), name)
	if err != nil {
		q.writeNPMFailure(err)
		return
	}
	if !isFile {
		for v, m := range p.Versions {
			if d.Version = v; CheckName(d) == nil && q.Policy.isAdded(d) {
				q.Policy.allowTransitive(m.listDependencies())
			}
		}
		q.writeBody(p.rewriteTarballs(q.base), "application/json")
		return
	}
	short := name[strings.IndexByte(name, '/')+1:]
	version, ok := strings.CutPrefix(strings.TrimSuffix(file, ".tgz"), short+"-")
	m, known := p.Versions[version]
	if d.Version = version; !ok || !known || !strings.HasSuffix(file, ".tgz") || CheckName(d) != nil {
		q.writeNPMError(http.StatusNotFound, fmt.Sprintf("the registry lists no file %.200q of %s", file, name))
		return
	}
	if !q.Policy.Allows(d) {
		q.writeNPMError(http.StatusForbidden, q.reportRefusal(d))
		return
	}
	sum := m.strongestDigest()
	if sum.algorithm == "" {
		q.writeNPMError(http.StatusBadGateway, fmt.Sprintf("the registry names no digest of %s", d))
		return
	}
	if q.Policy.isAdded(d) {
		q.Policy.allowTransitive(m.listDependencies())
	}
	q.servePackageFile(d, fetchRequest{url: m.Dist.Tarball, digest: sum}, q.writeNPMFailure)
}

func (q *request) writeNPMFailure(err error) {
	status, line := failureStatus(err)
	if status == http.StatusBadGateway {
		q.store.log.Warn("npm registry", "path", q.r.URL.Path, "err", err)
	}
	q.writeNPMError(status, line)
}

func (q *request) writeNPMError(status int, line string) {
	text, _ := json.Marshal(map[string]string{"error": line})
	q.w.Header().Set("Content-Type", "application/json")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(text)
}

// packument is what a registry says of a package. Fields that are not named
// here travel along as they are.
type packument struct {
	name     string
	raw      map[string]json.RawMessage
	versions map[string]map[string]json.RawMessage
	Versions map[string]npmVersion
	Tags     map[string]string
}

type npmVersion struct {
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
func (s *Store) fetchPackument(ctx context.Context, name string) (*packument, error) {
	e := s.upstreams.npmEndpoint(name)
	text, _, err := s.read(ctx, fetchRequest{url: e.URL + "/" + strings.Replace(name, "/", "%2f", 1), accept: npmAccept})
	if err != nil {
		return nil, err
	}
	return parsePackument(name, text)
}

func parsePackument(name string, text []byte) (*packument, error) {
	p := &packument{name: name, Versions: map[string]npmVersion{}}
	bad := fmt.Errorf("the registry's answer for %s cannot be read", name)
	if json.Unmarshal(text, &p.raw) != nil || json.Unmarshal(p.raw["versions"], &p.versions) != nil {
		return nil, bad
	}
	if tags := p.raw["dist-tags"]; tags != nil && json.Unmarshal(tags, &p.Tags) != nil {
		return nil, bad
	}
	for v, fields := range p.versions {
		var m npmVersion
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
	short := p.name[strings.IndexByte(p.name, '/')+1:]
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
func (m npmVersion) listDependencies() []company.Dependency {
	var out []company.Dependency
	for _, set := range []map[string]looseString{m.Dependencies, m.OptionalDeps, m.PeerDeps} {
		for name, spec := range set {
			if rest, ok := strings.CutPrefix(string(spec), "npm:"); ok {
				if i := strings.LastIndexByte(rest, '@'); i > 0 {
					rest = rest[:i]
				}
				name = rest
			}
			out = append(out, company.Dependency{Ecosystem: NPM, Name: name})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// strongestDigest is the strongest that the registry names.
func (m npmVersion) strongestDigest() digest {
	best := digest{}
	for one := range strings.FieldsSeq(m.Dist.Integrity) {
		algorithm, sum, _ := strings.Cut(one, "-")
		sum, _, _ = strings.Cut(sum, "?")
		raw, err := base64.StdEncoding.DecodeString(sum)
		d := digest{algorithm, raw}
		if h := d.newHash(); err != nil || h == nil || h.Size() != len(raw) {
			continue
		}
		if len(raw) > len(best.sum) {
			best = d
		}
	}
	if raw, err := hex.DecodeString(m.Dist.Shasum); best.algorithm == "" && err == nil && len(raw) == 20 {
		best = digest{"sha1", raw}
	}
	return best
}

// npmLatest is the version that an installation without one would take.
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
