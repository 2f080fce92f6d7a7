package pnpm

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/lazyregexp"
)

// lockFile is the one lock file of a project, workspaces included.
const lockFile = "pnpm-lock.yaml"

// AddCommand is pnpm's.
func (Ecosystem) AddCommand(d company.Dependency) string {
	if d.Ecosystem != ecosystem.NPM {
		return ""
	}
	return "pnpm add " + d.Name + "@" + d.Version
}

// IsLockFile says whether a file is pnpm's lock file.
func (Ecosystem) IsLockFile(file string) bool { return path.Base(file) == lockFile }

// packageRE is a key of the section packages, in the forms that it has had:
// '@s/name@1.0.0', /@s/name@1.0.0(peer@2.0.0), /name/1.0.0.
var packageRE = lazyregexp.New(`^  '?/?((?:@[^@/']+/)?[^@/'()]+)[@/]([0-9][^('":]*)(?:\([^']*)?'?:$`)

// integrityRE is the digest of a package, in the line below its key.
var integrityRE = lazyregexp.New(`^    resolution: \{integrity: ([^,}]+)[,}]`)

// addressRE is the resolution of a package of a registry with the address of its file. pnpm
// writes it for registries that name their files in a way of their own (GitHub's), and for all
// packages where lockfile-include-tarball-url is set.
var addressRE = lazyregexp.New(`^(    resolution: \{integrity: [^,}]+)(?:, (?:registry|tarball): '?https?://[^,}]+)+\}`)

// redirectLock takes the addresses of registries' files out: pnpm asks where the file says,
// whatever its settings are. The digests stay, and so do packages that have an address and no
// version.
func redirectLock(text []byte) []byte {
	var out strings.Builder
	last := ""
	for line := range strings.Lines(string(text)) {
		if key := strings.TrimRight(line, "\r\n"); strings.HasPrefix(key, "  ") && !strings.HasPrefix(key, "   ") {
			last = key
		}
		if packageRE.MatchString(last) {
			line = addressRE.ReplaceAllString(line, "$1}")
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}

// ParseDigests gives the digests that a lock file names.
func (Ecosystem) ParseDigests(_ string, text []byte) map[company.Dependency]ecosystem.Digest {
	out := node.Digests{}
	readPackages(text, func(d company.Dependency, line string) {
		if m := integrityRE.FindStringSubmatch(line); m != nil {
			out.Add(d, m[1])
		}
	})
	return out
}

// ParseLock lists the packages that a lock file names: the keys of the section
// packages. It is read by lines, at a cost that its size bounds; what is written
// in another manner than pnpm's names nothing.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	readPackages(text, func(d company.Dependency, line string) {
		if packageRE.MatchString(line) {
			out = append(out, d)
		}
	})
	return out, nil
}

// readPackages calls see for every line of the section packages that belongs to a key.
func readPackages(text []byte, see func(d company.Dependency, line string)) {
	in := false
	var d company.Dependency
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' && line[0] != '#' {
			in = line == "packages:"
		}
		switch m := packageRE.FindStringSubmatch(line); {
		case !in:
			continue
		case m != nil:
			d = company.Dependency{Ecosystem: ecosystem.NPM, Name: m[1], Version: strings.TrimSpace(m[2])}
		case !strings.HasPrefix(line, "    "): // another key, or a blank line
			d = company.Dependency{}
		}
		if d.Name != "" {
			see(d, line)
		}
	}
}
