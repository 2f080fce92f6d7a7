package python

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	pep440 "github.com/aquasecurity/go-pep440-version"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

const (
	indexJSON   = "application/vnd.pypi.simple.v1+json"
	acceptIndex = indexJSON + ", text/html; q=0.5"
)

// Serve serves the simple API (PEP 503, 691, 658): a list for each package, and its files. It lists only
// versions that may be fetched, so that pip chooses among these.
func (Ecosystem) Serve(ctx context.Context, request ecosystem.Request) (*ecosystem.Answer, error) {
	kind, rest, _ := strings.Cut(request.Path, "/")
	name, file, _ := strings.Cut(rest, "/")
	dependency := company.Dependency{Ecosystem: ecosystem.PyPI, Name: name}
	if kind != "simple" && kind != "files" || checkName(dependency.Name, dependency.Version) != nil ||
		kind == "simple" && file != "" ||
		kind == "files" && file == "" {
		return nil, ecosystem.ErrNoPath
	}
	if err := request.Check(dependency); err != nil {
		return nil, err
	}
	files, err := listFiles(ctx, request, name)
	if err != nil {
		return nil, err
	}
	if kind == "simple" {
		return formatList(request, canonicalName(name), slices.DeleteFunc(files, func(f indexFile) bool {
			dependency.Version = f.version
			return !request.Allows(dependency)
		})), nil
	}
	file, err = url.PathUnescape(file)
	file, metadata := strings.CutSuffix(file, ".metadata")
	i := slices.IndexFunc(files, func(f indexFile) bool { return f.Filename == file })
	if err != nil || i < 0 || metadata && !files[i].hasMetadata() {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound,
			Line: fmt.Sprintf("the registry lists no file %.200q of %s", file, name)}
	}
	f := files[i]
	if dependency.Version = f.version; !request.Allows(dependency) {
		return nil, request.Refuse(dependency, "")
	}
	if request.Follows(dependency) {
		request.AllowNeeds(wheelDependencies(ctx, request, f))
	}
	if metadata {
		text, err := readWheelMetadata(ctx, request, f)
		return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, err
	}
	return request.Package(ctx, dependency, f.toFetch(), ecosystem.BinaryFile)
}

// ListVersions lists the versions of a package's files and the newest one.
func (Ecosystem) ListVersions(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) (all []string, newest string, err error) {
	files, err := listFiles(ctx, fetcher, dependency.Name)
	if err != nil {
		return nil, "", err
	}
	for _, f := range files {
		all = append(all, f.version)
	}
	return all, newestVersion(files), nil
}

// ListNeeds lists the packages that a version depends on, according to one of its wheels. As a rule, all
// wheels of a version have the same dependencies.
func (Ecosystem) ListNeeds(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) ([]company.Dependency, error) {
	files, err := listFiles(ctx, fetcher, dependency.Name)
	wanted := canonicalVersion(dependency.Version)
	i := slices.IndexFunc(files, func(one indexFile) bool {
		return canonicalVersion(one.version) == wanted && (one.hasMetadata() || strings.HasSuffix(one.Filename, ".whl"))
	})
	if err != nil || i < 0 {
		return nil, err
	}
	return wheelDependencies(ctx, fetcher, files[i])
}

// newestVersion returns the highest release by PEP 440 that is not yanked. Without such a release it
// returns the highest prerelease that is not yanked. It skips versions that do not match the grammar,
// because these cannot be requested.
func newestVersion(files []indexFile) string {
	var best pep440.Version
	name := ""
	for _, f := range files {
		v, err := pep440.Parse(f.version)
		if err != nil || f.isYanked() || !pep440RE.MatchString(f.version) {
			continue
		}
		pre, was := v.IsPreRelease(), best.IsPreRelease()
		if name == "" || was && !pre || was == pre && v.GreaterThan(best) {
			best, name = v, f.version
		}
	}
	return name
}

// formatList lists files as JSON if the client accepts it, and otherwise as HTML.
func formatList(request ecosystem.Request, name string, files []indexFile) *ecosystem.Answer {
	at := func(f indexFile) string {
		return request.Base + "/pypi/files/" + name + "/" + url.PathEscape(f.Filename)
	}
	if strings.Contains(request.Accept, indexJSON) {
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
			panic(err) // cannot fail for strings
		}
		return &ecosystem.Answer{Text: text, Media: indexJSON}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" "+
		"content=\"1.0\"><title>%s</title></head><body>\n", html.EscapeString(name))
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
	return &ecosystem.Answer{Text: b.Bytes(), Media: "text/html; charset=utf-8"}
}

// indexFile is a file of a package as listed in an index.
type indexFile struct {
	Filename       string            `json:"filename"`
	URL            string            `json:"url"`
	Hashes         map[string]string `json:"hashes"`
	RequiresPython string            `json:"requires-python"`
	Yanked         any               `json:"yanked"`        // true, or the reason
	CoreMetadata   any               `json:"core-metadata"` // true, or digests
	DistInfo       any               `json:"dist-info-metadata"`
	version        string
}

func (f indexFile) isYanked() bool {
	s, is := f.Yanked.(string)
	b, _ := f.Yanked.(bool)
	return b || is && s != ""
}

// hasMetadata reports whether the index has the metadata as a separate file.
func (f indexFile) hasMetadata() bool {
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

func (f indexFile) sha256Digest() ecosystem.Digest {
	sum, err := hex.DecodeString(f.Hashes["sha256"])
	if err != nil || len(sum) != 32 {
		return ecosystem.Digest{}
	}
	return ecosystem.Digest{Algorithm: "sha256", Sum: sum}
}

// toFetch describes the download of the file. Without a digest in the index, the first or last bytes are
// checked for the file's format.
func (f indexFile) toFetch() ecosystem.Fetch {
	fetch := ecosystem.Fetch{URL: f.URL, Digest: f.sha256Digest(), Immutable: true, RawBytes: true,
		Check: ecosystem.CheckZip}
	switch {
	case strings.HasSuffix(f.Filename, ".tar.gz"):
		fetch.Check = ecosystem.BeginsWith("\x1f\x8b")
	case strings.HasSuffix(f.Filename, ".tar.bz2"):
		fetch.Check = ecosystem.BeginsWith("BZh")
	}
	return fetch
}

// listFiles lists the files of a package that have valid names.
func listFiles(ctx context.Context, fetcher ecosystem.Fetcher, name string) ([]indexFile, error) {
	base := fetcher.Upstream().EndpointOf(name).URL + "/" + canonicalName(name) + "/"
	text, media, err := fetcher.Read(ctx, ecosystem.Fetch{URL: base, Accept: acceptIndex})
	if err != nil {
		return nil, err
	}
	var list struct{ Files []indexFile }
	if strings.HasPrefix(media, indexJSON) || strings.HasPrefix(media, "application/json") {
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("the registry's answer for %s is invalid", name)
		}
	} else {
		list.Files = parseAnchors(string(text))
	}
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	var out []indexFile
	for _, f := range list.Files {
		address, err := at.Parse(f.URL)
		if err != nil {
			continue
		}
		if sum, ok := strings.CutPrefix(address.Fragment, "sha256="); ok && f.Hashes["sha256"] == "" {
			f.Hashes = map[string]string{"sha256": sum}
		}
		address.Fragment = ""
		f.URL = address.String()
		if f.version = versionOfFile(name, f.Filename); f.version != "" && path.Base(f.Filename) == f.Filename &&
			!strings.HasPrefix(f.Filename, ".") {
			out = append(out, f)
		}
	}
	return out, nil
}

var (
	anchorRE    = lazyregexp.New(`(?is)<a\s([^>]*)>(.*?)</a\s*>`)
	attributeRE = lazyregexp.New(`(?s)([A-Za-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?`)
)

// parseAnchors parses a list in HTML, the older format.
func parseAnchors(text string) (out []indexFile) {
	for _, m := range anchorRE.FindAllStringSubmatch(text, 200_000) {
		f := indexFile{Filename: strings.TrimSpace(html.UnescapeString(m[2]))}
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

// maxFileName limits the length of a file name, in bytes. File systems allow no longer names.
const maxFileName = 255

// versionOfFile returns the version in a file's name. It returns "" if the file is not a wheel or source
// archive of the package.
func versionOfFile(name, file string) string {
	if len(file) > maxFileName {
		return ""
	}
	if stem, ok := strings.CutSuffix(file, ".whl"); ok {
		part := strings.Split(stem, "-")
		if len(part) < 5 || canonicalName(part[0]) != canonicalName(name) {
			return ""
		}
		return strings.ReplaceAll(part[1], "_", "+")
	}
	for _, ext := range []string{".tar.gz", ".zip", ".tar.bz2"} {
		stem, ok := strings.CutSuffix(file, ext)
		// The name may contain a dash, so each dash is tried from the end.
		for i := len(stem) - 1; ok && i > 0; i-- {
			if stem[i] == '-' && canonicalName(stem[:i]) == canonicalName(name) {
				return stem[i+1:]
			}
		}
	}
	return ""
}

const (
	maxWheelMetadata = 4 << 20
	// maxWheelDirectory limits the list of files in a wheel, in bytes. Even an empty file takes memory.
	maxWheelDirectory = 16 << 20
)

// boundedReaderAt limits the number of bytes that can be read in total.
type boundedReaderAt struct {
	io.ReaderAt
	left int64
}

func (b *boundedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errWheelTooLarge
	}
	return b.ReaderAt.ReadAt(p, off)
}

var errWheelTooLarge = errors.New("the wheel's list of files is too long")

// isMetadata reports whether a text has the header with which core metadata begins.
func isMetadata(text []byte) bool {
	head, _, _ := bytes.Cut(bytes.ReplaceAll(text, []byte("\r"), nil), []byte("\n\n"))
	return bytes.Contains(bytes.ToLower(head), []byte("metadata-version:"))
}

// readWheelMetadata reads a file's core metadata from the index.
func readWheelMetadata(ctx context.Context, from ecosystem.Fetcher, f indexFile) ([]byte, error) {
	digest := ecosystem.Digest{}
	if m, ok := f.CoreMetadata.(map[string]any); ok {
		if sum, ok := m["sha256"].(string); ok {
			digest = indexFile{Hashes: map[string]string{"sha256": sum}}.sha256Digest()
		}
	}
	text, _, err := from.Read(ctx,
		ecosystem.Fetch{URL: f.URL + ".metadata", Immutable: true, Digest: digest, Limit: maxWheelMetadata,
			Check: ecosystem.CheckText(isMetadata)})
	return text, err
}

// wheelDependencies returns the packages that a wheel depends on. It returns nil for a source archive
// without metadata, because its dependencies are only known after running it.
func wheelDependencies(
	ctx context.Context, from ecosystem.Fetcher, f indexFile,
) (needs []company.Dependency, err error) {
	if f.hasMetadata() {
		text, err := readWheelMetadata(ctx, from, f)
		return parseRequiresDist(text), err
	}
	if !strings.HasSuffix(f.Filename, ".whl") {
		return nil, nil
	}
	wheel, err := from.Get(ctx, f.toFetch())
	if err != nil {
		return nil, err
	}
	err = wheel.ReadAt(func(content io.ReaderAt, size int64) error {
		directory := &boundedReaderAt{ReaderAt: content, left: maxWheelDirectory}
		z, err := zip.NewReader(directory, size)
		if err != nil {
			return err
		}
		directory.left = maxWheelMetadata // limit for reading METADATA
		for _, e := range z.File {
			if path.Base(e.Name) != "METADATA" || !strings.HasSuffix(path.Dir(e.Name), ".dist-info") ||
				strings.Count(e.Name, "/") != 1 {
				continue
			}
			r, err := e.Open()
			if err != nil {
				return err
			}
			defer r.Close()
			text, err := io.ReadAll(io.LimitReader(r, maxWheelMetadata))
			needs = parseRequiresDist(text)
			return err
		}
		return nil
	})
	return needs, err
}

// parseRequiresDist parses the requirements in a package's metadata, from the headers before the first
// empty line.
func parseRequiresDist(text []byte) (out []company.Dependency) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, "Requires-Dist:"); ok {
			if name, rest, ok := ecosystem.SplitRequirement(v); ok && !strings.HasPrefix(rest, "@") {
				out = append(out, company.Dependency{Ecosystem: ecosystem.PyPI, Name: name})
			}
		}
	}
	return out
}
