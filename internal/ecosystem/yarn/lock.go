package yarn

import (
	"path"
	"regexp"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
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
	headRE    = regexp.MustCompile(`^"?((?:@[^@/"]+/)?[^@/",\s]+)@(?:npm:(?:((?:@[^@/"]+/)?[^@/",\s]+)@)?)?[^:]*`)
	versionRE = regexp.MustCompile(`^  version:? "?([^"\s]+)"?$`)
)

// ParseLock lists the packages that a lock file of any version of yarn names. It
// is read by lines, at a cost that its size bounds.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			name = ""
			if m := headRE.FindStringSubmatch(line); m != nil && !strings.Contains(line, "@workspace:") {
				if name = m[1]; m[2] != "" {
					name = m[2]
				}
			}
		default:
			if m := versionRE.FindStringSubmatch(line); m != nil && name != "" {
				out = append(out, company.Dependency{Ecosystem: ecosystem.NPM, Name: name, Version: m[1]})
			}
		}
	}
	return out, nil
}
