package strangers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
			if err := write(d.stratum, d.about, chooseSources(sources, d)); err != nil {
				return err
			}
		}
	}
	if wanted(GoProxy) {
		modules, err := listModules(ctx)
		if err != nil {
			return err
		}
		if err := write(GoProxy, "Modules that go.sum files of large modules name: path, version, sum of the archive.", modules); err != nil {
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
	{DebianNode, "Debian's source packages of Node libraries: name, version, sha256 and path of the upstream archive.", func(s debianSource) bool {
		return strings.HasPrefix(s.name(), "node-") && s["Testsuite"] != ""
	}},
	{DebianGo, "Debian's source packages with a Go-Import-Path: name, version, sha256 and path of the upstream archive.", func(s debianSource) bool {
		return s["Go-Import-Path"] != "" && s["Testsuite"] != ""
	}},
	{Python, "Debian's source packages that build with dh-python and pytest: name, version, sha256 and path of the upstream archive.", func(s debianSource) bool {
		return s.buildsWith("dh-python", "dh-sequence-python3") && s.buildsWith("python3-pytest", "python3-nose", "python3-nose2", "tox")
	}},
	{Native, "Debian's source packages in C and C++ with CMake, Meson or the autotools: name, version, sha256 and path of the upstream archive.", func(s debianSource) bool {
		return s["Testsuite"] != "" && s.buildsWith("cmake", "meson", "autoconf", "automake", "dh-autoreconf") &&
			!s.buildsWith("dh-python", "dh-sequence-python3", "default-jdk", "cargo", "golang-any", "ghc", "ocaml", "nodejs") && slices.Contains([]string{"libs", "libdevel", "utils", "text", "math", "graphics", "sound", "net", "admin", "misc", "devel"}, s["Section"])
	}},
	{Rust, "Debian's source packages of crates: name, version, sha256 and path of the upstream archive.", func(s debianSource) bool {
		return strings.HasPrefix(s.name(), "rust-") && s.buildsWith("dh-cargo")
	}},
	{PHP, "Debian's source packages of PHP libraries that build with PHPUnit: name, version, sha256 and path of the upstream archive.", func(s debianSource) bool {
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

// chooseSources returns the packages of a stratum, at most mostListed, sorted by name.
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
	return limitList(out, mostListed)
}

// limitList keeps those with the lowest digests of their names, and sorts by name.
func limitList(list []Listed, most int) []Listed {
	digest := func(l Listed) []byte { sum := sha256.Sum256([]byte(l.Name)); return sum[:] }
	slices.SortFunc(list, func(a, b Listed) int { return bytes.Compare(digest(a), digest(b)) })
	list = list[:min(len(list), most)]
	slices.SortFunc(list, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return list
}
