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
	"company/internal/lib/lazyregexp"
)

// Serve implements the GOPROXY protocol.
func (Ecosystem) Serve(ctx context.Context, request ecosystem.Request) (*ecosystem.Answer, error) {
	if sum, ok := strings.CutPrefix(request.Path, "sumdb/"); ok {
		return serveSumDB(ctx, request, sum)
	}
	path, err := url.PathUnescape(request.Path)
	if err != nil {
		return nil, ecosystem.ErrNoPath
	}
	escaped, file, ok := strings.Cut(path, "/@v/")
	if !ok {
		escaped, ok = strings.CutSuffix(path, "/@latest")
		file = "@latest"
	}
	name, err := module.UnescapePath(escaped)
	dependency := company.Dependency{Ecosystem: ecosystem.Go, Name: name}
	if !ok || err != nil || checkName(dependency.Name, dependency.Version) != nil {
		return nil, ecosystem.ErrNoPath
	}
	if err := request.Check(dependency); err != nil {
		return nil, err
	}
	switch dot := strings.LastIndexByte(file, '.'); {
	case file == "list":
		text, err := readText(ctx, request, escaped+"/@v/list")
		return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, err
	case file == "@latest":
		text, err := readText(ctx, request, escaped+"/@latest")
		return &ecosystem.Answer{Text: text, Media: "application/json"}, err
	case dot > 0:
		dependency.Version, err = module.UnescapeVersion(file[:dot])
		if err != nil || !semver.IsValid(dependency.Version) || checkName(dependency.Name, dependency.Version) != nil {
			// A branch or commit is rejected, because its name would be sent to the registry.
			return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound,
				Line: fmt.Sprintf("%.100q is no version that is served: name one of @v/list", file[:dot])}
		}
		return serveVersion(ctx, request, dependency, file[dot+1:])
	}
	return nil, ecosystem.ErrNoPath
}

// serveVersion serves the three files of a version. The info and mod files are available for all listed versions. The
// code is available only for allowed versions.
func serveVersion(
	ctx context.Context, request ecosystem.Request, dependency company.Dependency, ext string,
) (*ecosystem.Answer, error) {
	allowed := request.Allows(dependency)
	if !allowed && ext != "zip" {
		listed, err := hasVersion(ctx, request, dependency)
		if err != nil {
			return nil, err
		}
		allowed = listed
	}
	if !allowed {
		return nil, request.Refuse(dependency, "")
	}
	file, err := versionPath(dependency, ext)
	if err != nil {
		return nil, ecosystem.ErrNoPath
	}
	switch ext {
	case "info":
		f, err := getFile(ctx, request, file, maxText, ecosystem.CheckText(isInfo))
		return &ecosystem.Answer{File: f, Media: "application/json"}, err
	case "mod":
		text, err := readMod(ctx, request, file)
		if err == nil && request.Allows(dependency) {
			request.AllowNeeds(parseRequires(text), nil)
		}
		return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, err
	case "zip":
		f, err := getFile(ctx, request, file, ecosystem.MaxPackage, ecosystem.CheckZip)
		return &ecosystem.Answer{File: f, Media: "application/zip", Package: dependency}, err
	}
	return nil, ecosystem.ErrNoPath
}

// versionPath returns the path of a version's file on a proxy.
func versionPath(dependency company.Dependency, ext string) (string, error) {
	name, err := module.EscapePath(dependency.Name)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(dependency.Version)
	return name + "/@v/" + version + "." + ext, err
}

// ListNeeds lists the requirements in the go.mod of a version.
func (Ecosystem) ListNeeds(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) ([]company.Dependency, error) {
	file, err := versionPath(dependency, "mod")
	if err != nil {
		return nil, err
	}
	text, err := readMod(ctx, fetcher, file)
	return parseRequires(text), err
}

// parseRequires returns the modules that a go.mod requires. It returns none for an invalid file, because the go
// command reports the error.
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

// ListVersions lists the versions of a module. If the requested version is not listed, it adds the registry's latest
// version.
func (Ecosystem) ListVersions(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) (all []string, newest string, err error) {
	if all, err = listVersions(ctx, fetcher, dependency.Name); err != nil {
		return nil, "", err
	}
	newest = ecosystem.NewestSemver(all)
	if dependency.Version != "" && !slices.Contains(all, dependency.Version) {
		if latest, lerr := latestVersion(ctx, fetcher, dependency.Name); lerr == nil {
			all = append(all, latest)
		}
	}
	return all, newest, nil
}

// listVersions lists the versions of a module in the registry, oldest first. Without releases, it returns only the
// latest pseudo-version.
func listVersions(ctx context.Context, fetcher ecosystem.Fetcher, name string) ([]string, error) {
	escaped, err := module.EscapePath(name)
	if err != nil {
		return nil, err
	}
	text, err := readText(ctx, fetcher, escaped+"/@v/list")
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
	v, err := latestVersion(ctx, fetcher, name)
	if err != nil {
		return nil, err
	}
	return []string{v}, nil
}

// latestVersion returns the version that the registry declares as the latest.
func latestVersion(ctx context.Context, fetcher ecosystem.Fetcher, name string) (string, error) {
	escaped, err := module.EscapePath(name)
	if err != nil {
		return "", err
	}
	text, err := readText(ctx, fetcher, escaped+"/@latest")
	if err != nil {
		return "", err
	}
	var info struct{ Version string }
	if err := json.Unmarshal(text, &info); err != nil || !semver.IsValid(info.Version) {
		return "", fmt.Errorf("the registry's answer for %s is invalid", name)
	}
	return info.Version, nil
}

// hasVersion reports whether the registry itself lists a version.
func hasVersion(ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency) (bool, error) {
	all, err := listVersions(ctx, fetcher, dependency.Name)
	if err == nil && !slices.Contains(all, dependency.Version) {
		var latest string
		latest, err = latestVersion(ctx, fetcher, dependency.Name)
		all = []string{latest}
	}
	if errors.Is(err, ecosystem.ErrNotFound) {
		return false, nil
	}
	return err == nil && slices.Contains(all, dependency.Version), err
}

// maxText limits the bytes of a list, a description and a go.mod.
const maxText = 16 << 20

// readText reads a small file that may change.
func readText(ctx context.Context, f ecosystem.Fetcher, path string) ([]byte, error) {
	return readSmall(ctx, f, path, ecosystem.Fetch{})
}

// readMod reads the go.mod of a version, which never changes.
func readMod(ctx context.Context, f ecosystem.Fetcher, path string) ([]byte, error) {
	return readSmall(ctx, f, path, ecosystem.Fetch{Immutable: true, Check: ecosystem.CheckText(isMod)})
}

func readSmall(
	ctx context.Context, fetcher ecosystem.Fetcher, path string, fetch ecosystem.Fetch,
) (text []byte, err error) {
	err = askEach(fetcher, func(base string) (err error) {
		fetch.URL, fetch.Limit = base+"/"+path, maxText
		text, _, err = fetcher.Read(ctx, fetch)
		return err
	})
	return text, err
}

// A proxy provides no digests of its files, and the clients' digests (go.sum) are of another kind. The only possible
// check is that a file has the expected form.

func isMod(text []byte) bool { return modfile.ModulePath(text) != "" }

func isInfo(text []byte) bool {
	var info struct{ Version string }
	return json.Unmarshal(text, &info) == nil && semver.IsValid(info.Version)
}

// getFile fetches a file of a version.
func getFile(
	ctx context.Context, fetcher ecosystem.Fetcher, path string, limit int64, check func(io.ReaderAt, int64) bool,
) (file ecosystem.Cached, err error) {
	err = askEach(fetcher, func(base string) (err error) {
		file, err = fetcher.Get(ctx, ecosystem.Fetch{URL: base + "/" + path, Immutable: true, Limit: limit, Check: check})
		return err
	})
	return file, err
}

// askEach calls ask for each proxy in order, as the go command does. It continues after "not found", or after any
// error if the list says so.
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

// serveSumDB serves the checksum database through the proxies, or from its own address if no proxy has it.
func serveSumDB(ctx context.Context, request ecosystem.Request, rest string) (*ecosystem.Answer, error) {
	name, file, _ := strings.Cut(rest, "/")
	ours, _, _ := strings.Cut(strings.TrimSpace(request.Upstream().Settings[sumDB]), " ")
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
		if err := checkLookup(ctx, request, lookup); err != nil {
			return nil, err
		}
	case !tileRE.MatchString(file):
		return nil, ecosystem.ErrNoPath
	}
	text, err := readSumDB(ctx, request, name, file)
	return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, err
}

// checkLookup refuses a lookup that would reveal to the database a name that the client may not have.
func checkLookup(ctx context.Context, request ecosystem.Request, lookup string) error {
	escaped, version, _ := strings.Cut(lookup, "@")
	name, err := url.PathUnescape(escaped)
	if err == nil {
		name, err = module.UnescapePath(name)
	}
	version, verr := module.UnescapeVersion(version)
	dependency := company.Dependency{Ecosystem: ecosystem.Go, Name: name, Version: version}
	if err != nil || verr != nil || checkName(dependency.Name, dependency.Version) != nil {
		return ecosystem.ErrNoPath
	}
	if err := request.Check(dependency); err != nil || request.Allows(dependency) {
		return err
	}
	if listed, _ := hasVersion(ctx, request, dependency); !listed {
		return request.Refuse(dependency, "")
	}
	return nil
}

// checkSumDB returns a Check for files of a checksum database. A tile has 256 hashes of 32 bytes, or the number in
// its name. A lookup begins with a record number. It returns nil for the latest tree, which is not immutable.
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

func readSumDB(ctx context.Context, fetcher ecosystem.Fetcher, name, file string) (text []byte, err error) {
	ask := func(base string) (err error) {
		text, _, err = fetcher.Read(
			ctx, ecosystem.Fetch{URL: base + "/" + file, Immutable: file != "latest", Limit: 1 << 20, Check: checkSumDB(file)})
		return err
	}
	if err = askEach(fetcher, func(base string) error { return ask(base + "/sumdb/" + name) }); err == nil {
		return text, nil
	}
	direct := "https://" + name
	if set := strings.Fields(fetcher.Upstream().Settings[sumDB]); len(set) == 2 {
		if e, err := ecosystem.ParseEndpoint(set[1]); err == nil {
			direct = e.URL
		}
	}
	if ask(direct) == nil {
		return text, nil
	}
	return nil, err
}
