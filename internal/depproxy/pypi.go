package depproxy

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

const (
	pypiJSON   = "application/vnd.pypi.simple.v1+json"
	pypiAccept = pypiJSON + ", text/html; q=0.5"
)

// servePyPI serves the simple API (PEP 503, 691, 658): a list per package, and its
// files. Only versions that the policy allows are listed, so that pip chooses
// among them.
func (q *request) servePyPI(rest string) {
	kind, rest, _ := strings.Cut(rest, "/")
	name, file, _ := strings.Cut(rest, "/")
	d := company.Dependency{Ecosystem: PyPI, Name: name}
	if kind != "simple" && kind != "files" || CheckName(d) != nil || kind == "simple" && file != "" || kind == "files" && file == "" {
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	if why := q.fetchRefusal(d); why != "" {
		q.writeText(http.StatusForbidden, why)
		return
	}
	files, err := q.store.listPyPIFiles(q.r.Context(), name)
	if err != nil {
		q.writeFailure(err)
		return
	}
	if kind == "simple" {
		files = slices.DeleteFunc(slices.Clone(files), func(f pypiFile) bool {
			d.Version = f.version
			return !q.Policy.Allows(d)
		})
		q.servePyPIList(canonicalName(PyPI, name), files)
		return
	}
	file, err = url.PathUnescape(file)
	file, metadata := strings.CutSuffix(file, ".metadata")
	i := slices.IndexFunc(files, func(f pypiFile) bool { return f.Filename == file })
	if err != nil || i < 0 || metadata && !files[i].hasMetadata() {
		q.writeText(http.StatusNotFound, fmt.Sprintf("the registry lists no file %.200q of %s", file, name))
		return
	}
	f := files[i]
	if d.Version = f.version; !q.Policy.Allows(d) {
		q.writeText(http.StatusForbidden, q.reportRefusal(d))
		return
	}
	if q.Policy.isAdded(d) {
		if needs, err := q.store.wheelDependencies(q.r.Context(), f); err == nil {
			q.Policy.allowTransitive(needs)
		} else {
			q.store.log.Info("what a Python package needs is not known", "file", f.Filename, "err", err)
		}
	}
	if metadata {
		text, err := q.store.readWheelMetadata(q.r.Context(), f)
		if err != nil {
			q.writeFailure(err)
			return
		}
		q.writeBody(text, "text/plain; charset=utf-8")
		return
	}
	q.servePackageFile(d, fetchRequest{url: f.URL, digest: f.sha256Digest()}, q.writeFailure)
}

// servePyPIList answers with the files, in the form that the client likes better.
func (q *request) servePyPIList(name string, files []pypiFile) {
	at := func(f pypiFile) string { return q.base + "/pypi/files/" + name + "/" + url.PathEscape(f.Filename) }
	if strings.Contains(q.r.Header.Get("Accept"), pypiJSON) {
		type meta = map[string]any
		list := []meta{}
		for _, f := range files {
			// The older key "dist-info-metadata" makes pip before 23.1 fail (PEP 714).
			one := meta{"filename": f.Filename, "url": at(f), "hashes": f.Hashes, "core-metadata": f.hasMetadata()}
			if f.RequiresPython != "" {
				one["requires-python"] = f.RequiresPython
			}
			if f.isYanked() {
				one["yanked"] = true
			}
			list = append(list, one)
		}
		text, err := json.Marshal(meta{"meta": meta{"api-version": "1.0"}, "name": name, "files": list})
		if err != nil {
			panic(err) // texts always encode
		}
		q.writeBody(text, pypiJSON)
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" content=\"1.0\"><title>%s</title></head><body>\n", html.EscapeString(name))
	for _, f := range files {
		address := at(f)
		if sum := f.Hashes["sha256"]; sum != "" {
			address += "#sha256=" + sum
		}
		fmt.Fprintf(&b, "<a href=\"%s\"", html.EscapeString(address))
		if f.RequiresPython != "" {
			fmt.Fprintf(&b, " data-requires-python=\"%s\"", html.EscapeString(f.RequiresPython))
		}
		if f.hasMetadata() {
			b.WriteString(` data-core-metadata="true" data-dist-info-metadata="true"`)
		}
		if f.isYanked() {
			b.WriteString(` data-yanked=""`)
		}
		fmt.Fprintf(&b, ">%s</a><br>\n", html.EscapeString(f.Filename))
	}
	b.WriteString("</body></html>\n")
	q.writeBody(b.Bytes(), "text/html; charset=utf-8")
}

// pypiFile is one file of a package, as an index lists it.
type pypiFile struct {
	Filename       string            `json:"filename"`
	URL            string            `json:"url"`
	Hashes         map[string]string `json:"hashes"`
	RequiresPython string            `json:"requires-python"`
	Yanked         any               `json:"yanked"`        // true, or the reason
	CoreMetadata   any               `json:"core-metadata"` // true, or digests
	DistInfo       any               `json:"dist-info-metadata"`
	version        string
}

func (f pypiFile) isYanked() bool {
	s, is := f.Yanked.(string)
	b, _ := f.Yanked.(bool)
	return b || is && s != ""
}

// hasMetadata reports whether the index has the metadata beside the file.
func (f pypiFile) hasMetadata() bool {
	for _, v := range []any{f.CoreMetadata, f.DistInfo} {
		switch v := v.(type) {
		case bool:
			if v {
				return true
			}
		case map[string]any:
			return true
		}
	}
	return false
}

func (f pypiFile) sha256Digest() digest {
	sum, err := hex.DecodeString(f.Hashes["sha256"])
	if err != nil || len(sum) != 32 {
		return digest{}
	}
	return digest{"sha256", sum}
}

// listPyPIFiles lists the files of a package whose names are well formed.
func (s *Store) listPyPIFiles(ctx context.Context, name string) ([]pypiFile, error) {
	base := s.upstreams.PyPI.URL + "/" + canonicalName(PyPI, name) + "/"
	text, o, err := s.read(ctx, fetchRequest{url: base, accept: pypiAccept})
	if err != nil {
		return nil, err
	}
	var list struct{ Files []pypiFile }
	if strings.HasPrefix(o.meta.Type, pypiJSON) || strings.HasPrefix(o.meta.Type, "application/json") {
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("the registry's answer for %s cannot be read", name)
		}
	} else {
		list.Files = parsePyPIAnchors(string(text))
	}
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	var out []pypiFile
	for _, f := range list.Files {
		u, err := at.Parse(f.URL)
		if err != nil {
			continue
		}
		if sum, ok := strings.CutPrefix(u.Fragment, "sha256="); ok && f.Hashes["sha256"] == "" {
			f.Hashes = map[string]string{"sha256": sum}
		}
		u.Fragment = ""
		f.URL = u.String()
		if f.version = pypiVersion(name, f.Filename); f.version != "" && path.Base(f.Filename) == f.Filename && !strings.HasPrefix(f.Filename, ".") {
			out = append(out, f)
		}
	}
	return out, nil
}

var (
	anchorRE    = regexp.MustCompile(`(?is)<a\s([^>]*)>(.*?)</a\s*>`)
	attributeRE = regexp.MustCompile(`(?s)([A-Za-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?`)
)

// parsePyPIAnchors reads the older form of a list.
func parsePyPIAnchors(text string) (out []pypiFile) {
	for _, m := range anchorRE.FindAllStringSubmatch(text, 200_000) {
		f := pypiFile{Filename: strings.TrimSpace(html.UnescapeString(m[2]))}
		for _, a := range attributeRE.FindAllStringSubmatch(m[1], 20) {
			v := html.UnescapeString(a[2] + a[3])
			switch strings.ToLower(a[1]) {
			case "href":
				f.URL = v
			case "data-requires-python":
				f.RequiresPython = v
			case "data-yanked":
				f.Yanked = true
			case "data-core-metadata", "data-dist-info-metadata":
				f.CoreMetadata = v != "false"
			}
		}
		out = append(out, f)
	}
	return out
}

// pypiVersion is the version that a file's name tells, or "" where it is no
// wheel or source archive of that package.
func pypiVersion(name, file string) string {
	if stem, ok := strings.CutSuffix(file, ".whl"); ok {
		part := strings.Split(stem, "-")
		if len(part) < 5 || canonicalName(PyPI, part[0]) != canonicalName(PyPI, name) {
			return ""
		}
		return strings.ReplaceAll(part[1], "_", "+")
	}
	for _, ext := range []string{".tar.gz", ".zip", ".tar.bz2"} {
		stem, ok := strings.CutSuffix(file, ext)
		// A dash may be in the name; a version begins with a digit.
		for i := len(stem) - 1; ok && i > 0; i-- {
			if stem[i] == '-' && canonicalName(PyPI, stem[:i]) == canonicalName(PyPI, name) {
				return stem[i+1:]
			}
		}
	}
	return ""
}

const maxPyMetadata = 4 << 20

// readWheelMetadata is the core metadata of a file, where the index has it.
func (s *Store) readWheelMetadata(ctx context.Context, f pypiFile) ([]byte, error) {
	d := digest{}
	if m, ok := f.CoreMetadata.(map[string]any); ok {
		if sum, ok := m["sha256"].(string); ok {
			d = pypiFile{Hashes: map[string]string{"sha256": sum}}.sha256Digest()
		}
	}
	text, _, err := s.read(ctx, fetchRequest{url: f.URL + ".metadata", immutable: true, digest: d, limit: maxPyMetadata})
	return text, err
}

// wheelDependencies are the packages that a wheel asks for. Those of a source
// archive only show when it is run.
func (s *Store) wheelDependencies(ctx context.Context, f pypiFile) ([]company.Dependency, error) {
	if f.hasMetadata() {
		text, err := s.readWheelMetadata(ctx, f)
		return parseRequiresDist(text), err
	}
	if !strings.HasSuffix(f.Filename, ".whl") {
		return nil, nil
	}
	o, err := s.get(ctx, fetchRequest{url: f.URL, digest: f.sha256Digest(), immutable: true, limit: maxArtefact})
	if err != nil {
		return nil, err
	}
	z, err := zip.OpenReader(o.path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	for _, e := range z.File {
		if path.Base(e.Name) != "METADATA" || !strings.HasSuffix(path.Dir(e.Name), ".dist-info") || strings.Count(e.Name, "/") != 1 {
			continue
		}
		r, err := e.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		text, err := io.ReadAll(io.LimitReader(r, maxPyMetadata))
		return parseRequiresDist(text), err
	}
	return nil, nil
}

// parseRequiresDist reads the requirements in a package's metadata: the header
// lines before the first empty one.
func parseRequiresDist(text []byte) (out []company.Dependency) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, "Requires-Dist:"); ok {
			if name, rest, ok := ecosystem.SplitRequirement(v); ok && !strings.HasPrefix(rest, "@") {
				out = append(out, company.Dependency{Ecosystem: PyPI, Name: name})
			}
		}
	}
	return out
}
