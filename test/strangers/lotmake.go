package strangers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// mostListed bounds a list of Debian's packages. The ones that stay are those whose
// names have the lowest sha256, so that the choice is nobody's.
const mostListed = 500

// mostModules is how many modules of the Go proxy are listed.
const mostModules = 2000

// WriteLists makes the frozen lists of the named strata, or all of them, below a folder:
// of Debian's index of sources, of the go.sum files of large modules, and of an installed
// graph of npm packages. Each archive is asked by its own client, and only for what the
// lists are made of.
func WriteLists(ctx context.Context, folder string, only ...string) error {
	wanted := func(stratum Stratum) bool { return len(only) == 0 || slices.Contains(only, string(stratum)) }
	write := func(stratum Stratum, about string, list []Listed) error {
		if len(list) == 0 {
			return fmt.Errorf("the list %s is empty", stratum)
		}
		return os.WriteFile(filepath.Join(folder, string(stratum)+".txt"), []byte(formatList(about, list)), 0o644)
	}
	if slices.ContainsFunc(debianStrata, func(d debianStratum) bool { return wanted(d.stratum) }) {
		sources, err := readDebianSources(ctx)
		if err != nil {
			return err
		}
		for _, d := range debianStrata {
			if !wanted(d.stratum) {
				continue
			}
			list, err := keepServed(ctx, chooseSources(sources, d), mostListed)
			if err != nil {
				return err
			}
			if err := write(d.stratum, d.about, list); err != nil {
				return err
			}
		}
	}
	if wanted(GoProxy) {
		modules, err := listModules(ctx)
		if err != nil {
			return err
		}
		if err := write(GoProxy, "Modules that go.sum files of large modules name: path, version, sum of the archive.",
			modules); err != nil {
			return err
		}
	}
	if !wanted(Npm) {
		return nil
	}
	packages, err := listNpmPackages(ctx)
	if err != nil {
		return err
	}
	return write(Npm, "Packages of one dependency graph whose archive has its tests: name, version, integrity.", packages)
}

// debianStratum chooses source packages of Debian's index.
type debianStratum struct {
	stratum Stratum
	about   string
	takes   func(source debianSource) bool
}

// debianStrata are the lists made of Debian's index of sources. Packages with a
// Testsuite come from upstreams with tests, as a rule.
var debianStrata = []debianStratum{
	{DebianNode, "Debian's source packages of Node libraries: name, version, sha256 and path of the upstream archive.",
		func(s debianSource) bool {
			return strings.HasPrefix(s.name(), "node-") && s["Testsuite"] != ""
		}},
	{DebianGo, "Debian's source packages with a Go-Import-Path: name, version, sha256 and path of the upstream archive.",
		func(s debianSource) bool {
			return s["Go-Import-Path"] != "" && s["Testsuite"] != ""
		}},
	{Python, "Debian's source packages that build with dh-python and pytest: name, version, sha256 and path of the " +
		"upstream archive.", func(s debianSource) bool {
		return s.buildsWith("dh-python", "dh-sequence-python3") &&
			s.buildsWith("python3-pytest", "python3-nose", "python3-nose2", "tox")
	}},
	{Native, "Debian's source packages in C and C++ with CMake, Meson or the autotools: name, version, sha256 and path " +
		"of the upstream archive.", func(s debianSource) bool {
		return s["Testsuite"] != "" && s.buildsWith("cmake", "meson", "autoconf", "automake", "dh-autoreconf") &&
			!s.buildsWith("dh-python", "dh-sequence-python3", "default-jdk", "cargo", "golang-any", "ghc", "ocaml", "nodejs") &&
			slices.Contains(
				[]string{"libs", "libdevel", "utils", "text", "math", "graphics", "sound", "net", "admin", "misc", "devel"},
				s["Section"])
	}},
	{Rust, "Debian's source packages of crates: name, version, sha256 and path of the upstream archive.",
		func(s debianSource) bool {
			return strings.HasPrefix(s.name(), "rust-") && s.buildsWith("dh-cargo")
		}},
	{PHP, "Debian's source packages of PHP libraries that build with PHPUnit: name, version, sha256 and path of the " +
		"upstream archive.", func(s debianSource) bool {
		return s.buildsWith("phpunit") && s.buildsWith("pkg-php-tools", "dh-sequence-phpcomposer", "php-cli", "dh-php")
	}},
}

// debianSource is a stanza of the index of sources: its fields by name.
type debianSource map[string]string

func (s debianSource) name() string { return s["Package"] }

// buildsWith reports whether the package needs one of the names to be built.
func (s debianSource) buildsWith(names ...string) bool {
	for field := range strings.SplitSeq(s["Build-Depends"]+","+s["Build-Depends-Indep"]+","+s["Build-Depends-Arch"], ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(field), " ")
		name, _, _ = strings.Cut(name, ":")
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// upstreamArchive returns the path and the sha256 of the upstream's own archive: the one
// without a component's name. Debian's packaging and other components are not needed, and
// some archives do not serve them.
func (s debianSource) upstreamArchive() (at, digest string) {
	for line := range strings.Lines(s["Checksums-Sha256"]) {
		if f := strings.Fields(line); len(f) == 3 && upstreamRE.MatchString(f[2]) {
			return s["Directory"] + "/" + f[2], f[0]
		}
	}
	return "", ""
}

var upstreamRE = regexp.MustCompile(`\.orig\.tar\.(gz|xz|bz2)$`)

// readDebianSources has apt fetch and check the signed index, and reads it.
func readDebianSources(ctx context.Context) ([]debianSource, error) {
	a, err := openApt(ctx, "bookworm")
	if err != nil {
		return nil, err
	}
	env := []string{"APT_CONFIG=" + filepath.Join(a.dir, "apt.conf")}
	if err := runHere(ctx, a.dir, env, "apt-get", "update", "-qq"); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(a.dir, "lists", "*_source_Sources*"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("apt keeps %d indexes of sources, want 1: %w", len(files), err)
	}
	text, err := exec.CommandContext(ctx, "/usr/lib/apt/apt-helper", "cat-file", files[0]).Output()
	if err != nil {
		return nil, fmt.Errorf("apt-helper cat-file: %w", err)
	}
	return parseSources(string(text)), nil
}

// parseSources reads the stanzas of an index of sources.
func parseSources(text string) (out []debianSource) {
	for stanza := range strings.SplitSeq(text, "\n\n") {
		source, last := debianSource{}, ""
		for line := range strings.Lines(stanza) {
			if strings.HasPrefix(line, " ") {
				source[last] += line
				continue
			}
			if name, value, ok := strings.Cut(line, ":"); ok {
				last = name
				source[name] = strings.TrimSpace(value) + "\n"
			}
		}
		for name, value := range source {
			source[name] = strings.TrimSpace(value)
		}
		if source.name() != "" {
			out = append(out, source)
		}
	}
	return out
}

// chooseSources returns the packages of a stratum.
func chooseSources(sources []debianSource, d debianStratum) (out []Listed) {
	seen := map[string]bool{}
	for _, s := range sources {
		if s["Extra-Source-Only"] == "yes" || seen[s.name()] || !d.takes(s) {
			continue
		}
		seen[s.name()] = true
		if at, digest := s.upstreamArchive(); at != "" {
			out = append(out, Listed{Stratum: d.stratum, Name: s.name(), Version: s["Version"], Digest: digest, Path: at})
		}
	}
	return out
}

// keepServed keeps the packages whose archives are served here, at most so many: some
// archives have only a part of Debian's sources.
func keepServed(ctx context.Context, list []Listed, most int) ([]Listed, error) {
	sortByDigest(list)
	archive := findArchive(ctx)
	var served []Listed
	for at := 0; at < len(list) && len(served) < most; {
		some := list[at:min(at+64, len(list))]
		found := make([]bool, len(some))
		var asked errgroup.Group
		asked.SetLimit(12)
		for i, l := range some {
			asked.Go(func() (err error) {
				found[i], err = isServed(ctx, archiveAddress(archive, l))
				return err
			})
		}
		if err := asked.Wait(); err != nil {
			return nil, err
		}
		for i, l := range some {
			if found[i] {
				served = append(served, l)
			}
		}
		at += len(some)
	}
	return limitList(served, most), nil
}

// isServed reports whether an archive has a file.
func isServed(ctx context.Context, address string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return false, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	if err := response.Body.Close(); err != nil {
		return false, err
	}
	switch response.StatusCode {
	case http.StatusOK:
		return true, nil
	case http.StatusNotFound:
		return false, nil
	}
	return false, fmt.Errorf("HEAD %s: %s", address, response.Status)
}

// limitList keeps those with the lowest digests of their names, and sorts by name.
func limitList(list []Listed, most int) []Listed {
	sortByDigest(list)
	list = list[:min(len(list), most)]
	slices.SortFunc(list, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// sortByDigest has the lowest digests of names first.
func sortByDigest(list []Listed) {
	digest := func(l Listed) []byte { sum := sha256.Sum256([]byte(l.Name)); return sum[:] }
	slices.SortFunc(list, func(a, b Listed) int { return bytes.Compare(digest(a), digest(b)) })
}
