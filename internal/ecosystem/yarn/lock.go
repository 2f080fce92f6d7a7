package yarn

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
	"company/internal/lazyregexp"
)

// LockFile is the one lock file of a project, workspaces included. All versions of
// yarn call it so.
const LockFile = "yarn.lock"

// AddCommand is yarn's.
func (Ecosystem) AddCommand(d company.Dependency) string {
	if d.Ecosystem != ecosystem.NPM {
		return ""
	}
	return "yarn add " + d.Name + "@" + d.Version
}

// IsLockFile says whether a file is yarn's lock file.
func (Ecosystem) IsLockFile(file string) bool { return path.Base(file) == LockFile }

var (
	headRE    = lazyregexp.New(`^"?((?:@[^@/"]+/)?[^@/",\s]+)@(?:npm:(?:((?:@[^@/"]+/)?[^@/",\s]+)@)?)?[^:]*`)
	versionRE = lazyregexp.New(`^  version:? "?([^"\s]+)"?$`)
)

// integrityRE is what a lock file of yarn 1 says of a tarball. Later ones have sums of
// archives that yarn makes of tarballs.
var integrityRE = lazyregexp.New(`^  integrity (.+)$`)

// ParseDigests gives the digests of a lock file of yarn 1.
func (Ecosystem) ParseDigests(_ string, text []byte) map[company.Dependency]ecosystem.Digest {
	out := node.Digests{}
	readEntries(text, func(d company.Dependency, line string) {
		if m := integrityRE.FindStringSubmatch(line); m != nil && d.Version != "" {
			out.Add(d, m[1])
		}
	})
	return out
}

// addressRE is where the file of a package lies, for yarn 1. Behind # is its digest.
var addressRE = lazyregexp.New(`^  resolved "?(https?://[^"#\s]+)(#[0-9a-f]{40})?`)

// ParseAddresses gives the addresses of a lock file of yarn 1.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	first := 0 // address of the entry
	hasDigest := false
	begin := func() {
		if hasDigest {
			out = out[:first]
		}
		first, hasDigest = len(out), false
	}
	readEntries(text, func(d company.Dependency, line string) {
		if line[0] != ' ' {
			begin()
			return
		}
		if m := addressRE.FindStringSubmatch(line); m != nil && m[2] == "" {
			out = append(out, ecosystem.Address{Dependency: d, At: m[1]})
		}
		if m := integrityRE.FindStringSubmatch(line); m != nil && node.ParseIntegrity(m[1]).Algorithm != "" {
			hasDigest = true
		}
		for i := range out[first:] {
			out[first+i].Dependency = d // the version may stand below
		}
	})
	begin()
	return out
}

// ParseLock lists the packages that a lock file of any version of yarn names. It
// is read by lines, at a cost that its size bounds.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	readEntries(text, func(d company.Dependency, line string) {
		if versionRE.MatchString(line) {
			out = append(out, d)
		}
	})
	return out, nil
}

// readEntries calls see for every line of the entries of packages, their heads among them: with what
// the entry is of, as far as it has been read.
func readEntries(text []byte, see func(d company.Dependency, line string)) {
	d := company.Dependency{Ecosystem: ecosystem.NPM}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			d.Name, d.Version = "", ""
			if m := headRE.FindStringSubmatch(line); m != nil && !strings.Contains(line, "@workspace:") {
				if d.Name = m[1]; m[2] != "" {
					d.Name = m[2]
				}
			}
			see(d, line)
		case d.Name != "":
			if m := versionRE.FindStringSubmatch(line); m != nil {
				d.Version = m[1]
			}
			see(d, line)
		}
	}
}
