package golang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Serve speaks the protocol of GOPROXY.
func (Ecosystem) Serve(ctx context.Context, r ecosystem.Request) (*ecosystem.Answer, error) {
	if sum, ok := strings.CutPrefix(r.Path, "sumdb/"); ok {
		return serveSumDB(ctx, r, sum)
	}
	path, err := url.PathUnescape(r.Path)
	if err != nil {
		return nil, ecosystem.ErrNoPath
	}
	escaped, file, ok := strings.Cut(path, "/@v/")
	if !ok {
		escaped, ok = strings.CutSuffix(path, "/@latest")
		file = "@latest"
	}
	name, err := module.UnescapePath(escaped)
	d := company.Dependency{Ecosystem: ecosystem.Go, Name: name}
	if !ok || err != nil || checkName(d.Name, d.Version) != nil {
		return nil, ecosystem.ErrNoPath
	}
	if err := r.Check(d); err != nil {
		return nil, err
	}
	switch dot := strings.LastIndexByte(file, '.'); {
	case file == "list":
		text, err := readText(ctx, r, escaped+"/@v/list")
		return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, err
	case file == "@latest":
		text, err := readText(ctx, r, escaped+"/@latest")
		return &ecosystem.Answer{Text: text, Media: "application/json"}, err
	case dot > 0:
		d.Version, err = module.UnescapeVersion(file[:dot])
		if err != nil || !semver.IsValid(d.Version) || checkName(d.Name, d.Version) != nil {
			// A branch or a commit: its name would go out to the registry.
			return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound, Line: fmt.Sprintf("%.100q is no version that is served: name one of @v/list", file[:dot])}
		}
		return serveVersion(ctx, r, d, file[dot+1:])
	}
	return nil, ecosystem.ErrNoPath
}

// serveVersion serves the three files of a version. Of a version that the
// registry lists, two can be had to choose by; the code only of an allowed one.
func serveVersion(ctx context.Context, r ecosystem.Request, d company.Dependency, ext string) (*ecosystem.Answer, error) {
	allowed := r.Allows(d)
	if !allowed && ext != "zip" {
		listed, err := hasVersion(ctx, r, d)
		if err != nil {
			return nil, err
		}
		allowed = listed
	}
	if !allowed {
		return nil, r.Refuse(d, "")
	}
	file, err := versionPath(d, ext)
	if err != nil {
		return nil, ecosystem.ErrNoPath
	}
	switch ext {
	case "info":
		f, err := getFile(ctx, r, file, maxText, ecosystem.CheckText(isInfo))
		return &ecosystem.Answer{File: f, Media: "application/json"}, err
	case "mod":
		text, err := readMod(ctx, r, file)
		if err == nil && r.Allows(d) {
			r.AllowNeeds(parseRequires(text), nil)
		}
		return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, err
	case "zip":
		f, err := getFile(ctx, r, file, ecosystem.MaxPackage, ecosystem.CheckZip)
		return &ecosystem.Answer{File: f, Media: "application/zip", Package: d}, err
	}
	return nil, ecosystem.ErrNoPath
}

// versionPath is where proxies have a file of a version.
func versionPath(d company.Dependency, ext string) (string, error) {
	name, err := module.EscapePath(d.Name)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(d.Version)
	return name + "/@v/" + version + "." + ext, err
}

// ListNeeds lists the modules that the go.mod of a version asks for.
func (Ecosystem) ListNeeds(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) ([]company.Dependency, error) {
	file, err := versionPath(d, "mod")
	if err != nil {
		return nil, err
	}
	text, err := readMod(ctx, f, file)
	return parseRequires(text), err
}

// parseRequires are the modules that a go.mod asks for. One that cannot be read
// asks for none: the go command will say so.
func parseRequires(text []byte) []company.Dependency {
	f, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return nil
	}
	var out []company.Dependency
	for _, r := range f.Require {
		out = append(out, company.Dependency{Ecosystem: ecosystem.Go, Name: r.Mod.Path, Version: r.Mod.Version})
	}
	return out
}

// ListVersions lists the versions of a module, and with them the one that the
// registry calls the latest where another is asked for than it lists.
func (Ecosystem) ListVersions(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) (all []string, newest string, err error) {
	if all, err = listVersions(ctx, f, d.Name); err != nil {
		return nil, "", err
	}
	newest = ecosystem.NewestSemver(all)
	if d.Version != "" && !slices.Contains(all, d.Version) {
		if latest, lerr := latestVersion(ctx, f, d.Name); lerr == nil {
			all = append(all, latest)
		}
	}
	return all, newest, nil
}

// listVersions lists what the registry has of a module, oldest first; only
// pseudo-versions where there is nothing else.
func listVersions(ctx context.Context, f ecosystem.Fetcher, name string) ([]string, error) {
	escaped, err := module.EscapePath(name)
	if err != nil {
		return nil, err
	}
	text, err := readText(ctx, f, escaped+"/@v/list")
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
	v, err := latestVersion(ctx, f, name)
	if err != nil {
		return nil, err
	}
	return []string{v}, nil
}

// latestVersion is what the registry calls the newest.
func latestVersion(ctx context.Context, f ecosystem.Fetcher, name string) (string, error) {
	escaped, err := module.EscapePath(name)
	if err != nil {
		return "", err
	}
	text, err := readText(ctx, f, escaped+"/@latest")
	if err != nil {
		return "", err
	}
	var info struct{ Version string }
	if err := json.Unmarshal(text, &info); err != nil || !semver.IsValid(info.Version) {
		return "", fmt.Errorf("the registry's answer for %s cannot be read", name)
	}
	return info.Version, nil
}

// hasVersion reports whether the registry itself names a version.
func hasVersion(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) (bool, error) {
	all, err := listVersions(ctx, f, d.Name)
	if err == nil && !slices.Contains(all, d.Version) {
		var latest string
		latest, err = latestVersion(ctx, f, d.Name)
		all = []string{latest}
	}
	if errors.Is(err, ecosystem.ErrNotFound) {
		return false, nil
	}
	return err == nil && slices.Contains(all, d.Version), err
}

// maxText bounds a list, a description and a go.mod, in bytes.
const maxText = 16 << 20

// readText reads a small file that may change.
func readText(ctx context.Context, f ecosystem.Fetcher, path string) ([]byte, error) {
	return readSmall(ctx, f, path, ecosystem.Fetch{})
}

// readMod reads the go.mod of a version, which never changes.
func readMod(ctx context.Context, f ecosystem.Fetcher, path string) ([]byte, error) {
	return readSmall(ctx, f, path, ecosystem.Fetch{Immutable: true, Check: ecosystem.CheckText(isMod)})
}

func readSmall(ctx context.Context, f ecosystem.Fetcher, path string, w ecosystem.Fetch) (text []byte, err error) {
	err = askEach(f, func(base string) (err error) {
		w.URL, w.Limit = base+"/"+path, maxText
		text, _, err = f.Read(ctx, w)
		return err
	})
	return text, err
}

// A proxy names no digest of its files, and their clients' own (go.sum) is of another kind:
// what they must be is the one thing that can be asked of them.

func isMod(text []byte) bool { return modfile.ModulePath(text) != "" }

func isInfo(text []byte) bool {
	var info struct{ Version string }
	return json.Unmarshal(text, &info) == nil && semver.IsValid(info.Version)
}

// getFile has a file of a version.
func getFile(ctx context.Context, f ecosystem.Fetcher, path string, limit int64, check func(io.ReaderAt, int64) bool) (file ecosystem.Cached, err error) {
	err = askEach(f, func(base string) (err error) {
		file, err = f.Get(ctx, ecosystem.Fetch{URL: base + "/" + path, Immutable: true, Limit: limit, Check: check})
		return err
	})
	return file, err
}

// askEach asks the proxies in order, as the go command does: the next one after
// "not found", or after any error where the list says so.
func askEach(f ecosystem.Fetcher, ask func(base string) error) (err error) {
	for _, e := range f.Upstream().Endpoints {
		if err = ask(e.URL); err == nil || !errors.Is(err, ecosystem.ErrNotFound) && !e.NextOnAnyError {
			return err
		}
	}
	return err
}

var (
	sumNameRE = lazyregexp.New(`^[a-z0-9][a-z0-9.-]{0,252}$`)
	tileRE    = lazyregexp.New(`^tile/8/[0-9]{1,2}/(x[0-9]{3}/){0,4}[0-9]{3}(\.p/[0-9]{1,3})?$`)
)

// serveSumDB serves the checksum database through the proxies, or from its own
// address where none of them has it.
func serveSumDB(ctx context.Context, r ecosystem.Request, rest string) (*ecosystem.Answer, error) {
	name, file, _ := strings.Cut(rest, "/")
	ours, _, _ := strings.Cut(strings.TrimSpace(r.Upstream().Settings[sumDB]), " ")
	ours, _, _ = strings.Cut(ours, "+")
	if ours == "" || ours == "off" || name != ours || !sumNameRE.MatchString(name) {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound, Line: "this office has no such checksum database"}
	}
	lookup, isLookup := strings.CutPrefix(file, "lookup/")
	switch {
	case file == "supported":
		return nil, &ecosystem.Reply{Status: ecosystem.StatusOK}
	case file == "latest":
	case isLookup:
		if err := checkLookup(ctx, r, lookup); err != nil {
			return nil, err
		}
	case !tileRE.MatchString(file):
		return nil, ecosystem.ErrNoPath
	}
	text, err := readSumDB(ctx, r, name, file)
	return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, err
}

// checkLookup refuses a question that would tell the database a name which the
// client may not have.
func checkLookup(ctx context.Context, r ecosystem.Request, lookup string) error {
	escaped, version, _ := strings.Cut(lookup, "@")
	name, err := url.PathUnescape(escaped)
	if err == nil {
		name, err = module.UnescapePath(name)
	}
	version, verr := module.UnescapeVersion(version)
	d := company.Dependency{Ecosystem: ecosystem.Go, Name: name, Version: version}
	if err != nil || verr != nil || checkName(d.Name, d.Version) != nil {
		return ecosystem.ErrNoPath
	}
	if err := r.Check(d); err != nil || r.Allows(d) {
		return err
	}
	if listed, _ := hasVersion(ctx, r, d); !listed {
		return r.Refuse(d, "")
	}
	return nil
}

// checkSumDB knows the files of a database. A tile has 256 hashes of 32 bytes, or as many as
// its name says; a lookup begins with the number of its record; the latest tree is no
// immutable file.
func checkSumDB(file string) func(io.ReaderAt, int64) bool {
	if file == "latest" {
		return nil
	}
	if !strings.HasPrefix(file, "tile/") {
		return ecosystem.CheckText(func(text []byte) bool {
			number, _, _ := strings.Cut(string(text), "\n")
			_, err := strconv.ParseUint(number, 10, 64)
			return err == nil
		})
	}
	hashes := int64(256)
	if _, part, ok := strings.Cut(file, ".p/"); ok {
		hashes, _ = strconv.ParseInt(part, 10, 64)
	}
	return func(_ io.ReaderAt, size int64) bool { return size == 32*hashes }
}

func readSumDB(ctx context.Context, f ecosystem.Fetcher, name, file string) (text []byte, err error) {
	ask := func(base string) (err error) {
		text, _, err = f.Read(ctx, ecosystem.Fetch{URL: base + "/" + file, Immutable: file != "latest", Limit: 1 << 20, Check: checkSumDB(file)})
		return err
	}
	if err = askEach(f, func(base string) error { return ask(base + "/sumdb/" + name) }); err == nil {
		return text, nil
	}
	direct := "https://" + name
	if set := strings.Fields(f.Upstream().Settings[sumDB]); len(set) == 2 {
		if e, err := ecosystem.ParseEndpoint(set[1]); err == nil {
			direct = e.URL
		}
	}
	if ask(direct) == nil {
		return text, nil
	}
	return nil, err
}
