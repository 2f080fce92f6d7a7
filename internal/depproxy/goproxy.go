package depproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"company/internal/company"
)

// serveGoProxy serves the protocol of GOPROXY. A refusal is "not found": the go
// command asks for every prefix of a package's path, and takes any other
// answer for the end of the search.
func (q *request) serveGoProxy(rest string) {
	if sum, ok := strings.CutPrefix(rest, "sumdb/"); ok {
		q.serveSumDB(sum)
		return
	}
	path, err := url.PathUnescape(rest)
	if err != nil {
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	escaped, what, ok := strings.Cut(path, "/@v/")
	if !ok {
		escaped, ok = strings.CutSuffix(path, "/@latest")
		what = "@latest"
	}
	name, err := module.UnescapePath(escaped)
	d := company.Dependency{Ecosystem: Go, Name: name}
	if !ok || err != nil || CheckName(d) != nil {
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	if why := q.fetchRefusal(d); why != "" {
		q.writeText(http.StatusNotFound, why)
		return
	}
	ctx := q.r.Context()
	switch dot := strings.LastIndexByte(what, '.'); {
	case what == "list":
		text, err := q.store.readGoList(ctx, escaped+"/@v/list")
		if err != nil {
			q.writeFailure(err)
			return
		}
		q.writeBody(text, "text/plain; charset=utf-8")
	case what == "@latest":
		text, err := q.store.readGoList(ctx, escaped+"/@latest")
		if err != nil {
			q.writeFailure(err)
			return
		}
		q.writeBody(text, "application/json")
	case dot > 0:
		d.Version, err = module.UnescapeVersion(what[:dot])
		if err != nil || !semver.IsValid(d.Version) || CheckName(d) != nil {
			// A branch or a commit: its name would go out to the registry.
			q.writeText(http.StatusNotFound, fmt.Sprintf("%.100q is no version that is served: name one of @v/list", what[:dot]))
			return
		}
		q.serveGoVersion(d, escaped, what[dot+1:])
	default:
		q.writeText(http.StatusNotFound, "there is no such path")
	}
}

// serveGoVersion serves the three files of a version. Of a version that the
// registry lists, two can be had to choose by; the code only of an allowed one.
func (q *request) serveGoVersion(d company.Dependency, escaped, ext string) {
	ctx := q.r.Context()
	ev, err := module.EscapeVersion(d.Version)
	if err != nil {
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	file := escaped + "/@v/" + ev + "." + ext
	allowed := q.Policy.Allows(d)
	if !allowed && ext != "zip" {
		listed, err := q.store.hasGoVersion(ctx, d.Name, d.Version)
		if err != nil {
			q.writeFailure(err)
			return
		}
		allowed = listed
	}
	if !allowed {
		q.writeText(http.StatusNotFound, q.reportRefusal(d))
		return
	}
	switch ext {
	case "info":
		o, err := q.store.fetchGoFile(ctx, file, maxMetadata)
		if err != nil {
			q.writeFailure(err)
			return
		}
		q.serveEntry(o, "application/json")
	case "mod":
		text, err := q.store.readGoMod(ctx, d)
		if err != nil {
			q.writeFailure(err)
			return
		}
		if q.Policy.Allows(d) {
			q.Policy.allowTransitive(parseGoRequires(text))
		}
		q.writeBody(text, "text/plain; charset=utf-8")
	case "zip":
		o, err := q.store.fetchGoFile(ctx, file, maxArtefact)
		if err != nil {
			q.writeFailure(err)
			return
		}
		if q.OnFetch != nil && q.r.Method == http.MethodGet {
			q.OnFetch(FetchReport{Dependency: d, Bytes: o.meta.Size, Cached: o.cached})
		}
		q.serveEntry(o, "application/zip")
	default:
		q.writeText(http.StatusNotFound, "there is no such path")
	}
}

// parseGoRequires are the modules that a go.mod asks for. One that cannot be read
// asks for none: the go command will say so.
func parseGoRequires(text []byte) []company.Dependency {
	f, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return nil
	}
	var out []company.Dependency
	for _, r := range f.Require {
		out = append(out, company.Dependency{Ecosystem: Go, Name: r.Mod.Path, Version: r.Mod.Version})
	}
	return out
}

// readGoMod is the go.mod of a version.
func (s *Store) readGoMod(ctx context.Context, d company.Dependency) ([]byte, error) {
	ep, err := module.EscapePath(d.Name)
	if err != nil {
		return nil, err
	}
	ev, err := module.EscapeVersion(d.Version)
	if err != nil {
		return nil, err
	}
	var text []byte
	err = s.eachGoProxy(func(e Endpoint) (err error) {
		text, _, err = s.read(ctx, fetchRequest{url: e.URL + "/" + ep + "/@v/" + ev + ".mod", immutable: true, limit: 16 << 20})
		return err
	})
	return text, err
}

// listGoVersions lists what the registry has of a module, oldest first; only
// pseudo-versions where there is nothing else.
func (s *Store) listGoVersions(ctx context.Context, name string) ([]string, error) {
	ep, err := module.EscapePath(name)
	if err != nil {
		return nil, err
	}
	text, err := s.readGoList(ctx, ep+"/@v/list")
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if v, _, _ := strings.Cut(strings.TrimSpace(line), " "); semver.IsValid(v) {
			out = append(out, v)
		}
	}
	semver.Sort(out)
	if len(out) > 0 {
		return out, nil
	}
	v, err := s.latestGoVersion(ctx, name)
	if err != nil {
		return nil, err
	}
	return []string{v}, nil
}

// latestGoVersion is what the registry calls the newest.
func (s *Store) latestGoVersion(ctx context.Context, name string) (string, error) {
	ep, err := module.EscapePath(name)
	if err != nil {
		return "", err
	}
	text, err := s.readGoList(ctx, ep+"/@latest")
	if err != nil {
		return "", err
	}
	var info struct{ Version string }
	if err := json.Unmarshal(text, &info); err != nil || !semver.IsValid(info.Version) {
		return "", fmt.Errorf("the registry's answer for %s cannot be read", name)
	}
	return info.Version, nil
}

// hasGoVersion reports whether the registry itself names a version.
func (s *Store) hasGoVersion(ctx context.Context, name, version string) (bool, error) {
	all, err := s.listGoVersions(ctx, name)
	if notFound(err) {
		return false, nil
	}
	if err != nil || slices.Contains(all, version) {
		return err == nil, err
	}
	latest, err := s.latestGoVersion(ctx, name)
	if notFound(err) {
		return false, nil
	}
	return latest == version, err
}

// readGoList reads a list or description.
func (s *Store) readGoList(ctx context.Context, path string) (text []byte, err error) {
	err = s.eachGoProxy(func(e Endpoint) (err error) {
		text, _, err = s.read(ctx, fetchRequest{url: e.URL + "/" + path, limit: 16 << 20})
		return err
	})
	return text, err
}

// fetchGoFile has a file of a version.
func (s *Store) fetchGoFile(ctx context.Context, path string, limit int64) (o *cacheEntry, err error) {
	err = s.eachGoProxy(func(e Endpoint) (err error) {
		o, err = s.get(ctx, fetchRequest{url: e.URL + "/" + path, immutable: true, limit: limit})
		return err
	})
	return o, err
}

// eachGoProxy asks the proxies in order, as the go command does: the next one after
// "not found", or after any error where the list says so.
func (s *Store) eachGoProxy(ask func(Endpoint) error) (err error) {
	for _, e := range s.upstreams.Go {
		if err = ask(e); err == nil || !notFound(err) && !e.NextOnAnyError {
			return err
		}
	}
	return err
}

var (
	sumNameRE = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,252}$`)
	tileRE    = regexp.MustCompile(`^tile/8/[0-9]{1,2}/(x[0-9]{3}/){0,4}[0-9]{3}(\.p/[0-9]{1,3})?$`)
)

// serveSumDB serves the checksum database through the proxies, or from its own
// address where none of them has it.
func (q *request) serveSumDB(rest string) {
	name, what, _ := strings.Cut(rest, "/")
	ours, _, _ := strings.Cut(strings.TrimSpace(q.store.upstreams.GoSumDB), " ")
	ours, _, _ = strings.Cut(ours, "+")
	if ours == "" || ours == "off" || name != ours || !sumNameRE.MatchString(name) {
		q.writeText(http.StatusNotFound, "this office has no such checksum database")
		return
	}
	fixed := true
	switch lookup, is := strings.CutPrefix(what, "lookup/"); {
	case what == "supported":
		q.writeText(http.StatusOK, "")
		return
	case what == "latest":
		fixed = false
	case is:
		escaped, ev, _ := strings.Cut(lookup, "@")
		path, err := url.PathUnescape(escaped)
		if err == nil {
			path, err = module.UnescapePath(path)
		}
		version, verr := module.UnescapeVersion(ev)
		d := company.Dependency{Ecosystem: Go, Name: path, Version: version}
		if err != nil || verr != nil || CheckName(d) != nil {
			q.writeText(http.StatusNotFound, "there is no such path")
			return
		}
		if q.store.upstreams.WhyWithheld(d) != nil {
			q.writeText(http.StatusNotFound, q.fetchRefusal(d))
			return
		}
		if !q.Policy.Allows(d) {
			listed := false
			if q.Policy.Has(Go, path) {
				listed, _ = q.store.hasGoVersion(q.r.Context(), path, version)
			}
			if !listed {
				q.writeText(http.StatusNotFound, q.reportRefusal(d))
				return
			}
		}
	case !tileRE.MatchString(what):
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	text, err := q.store.readSumDB(q.r.Context(), name, what, fixed)
	if err != nil {
		q.writeFailure(err)
		return
	}
	q.writeBody(text, "text/plain; charset=utf-8")
}

func (s *Store) readSumDB(ctx context.Context, name, what string, fixed bool) ([]byte, error) {
	var text []byte
	ask := func(base string) (err error) {
		text, _, err = s.read(ctx, fetchRequest{url: base + "/" + what, immutable: fixed, limit: 1 << 20})
		return err
	}
	err := s.eachGoProxy(func(e Endpoint) error { return ask(e.URL + "/sumdb/" + name) })
	if err == nil {
		return text, nil
	}
	direct := "https://" + name
	if f := strings.Fields(s.upstreams.GoSumDB); len(f) == 2 {
		if e, err := parseEndpoint(f[1]); err == nil {
			direct = e.URL
		}
	}
	if derr := ask(direct); derr == nil {
		return text, nil
	}
	return nil, err
}
