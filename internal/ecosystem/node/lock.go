package node

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

const namePart = `[A-Za-z0-9~][A-Za-z0-9._~-]{0,127}` // old names have capitals

var (
	nameRE = regexp.MustCompile(`^(@` + namePart + `/)?` + namePart + `$`)
	// rootTarballRE: npm asks at the root of the host for a tarball whose lock file
	// names the public registry; it keeps the path and replaces the host only.
	rootTarballRE = regexp.MustCompile(`^/(@` + namePart + `(/|%2[fF]))?` + namePart + `/-/` + namePart + `\.tgz$`)
)

// Registry is npm's.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.NPM, CheckName: checkName, RootPath: rootTarballRE, ErrorField: "error"}
}

func checkName(name, version string) error {
	if !nameRE.MatchString(name) || strings.Contains(name, "..") || len(name) > 214 || name == "node_modules" || name == "favicon.ico" {
		return ecosystem.NameError(name, "the name of an npm package")
	}
	return ecosystem.CheckSemver(version)
}

// AddCommand is npm's.
func (Ecosystem) AddCommand(d company.Dependency) string {
	if d.Ecosystem != ecosystem.NPM {
		return ""
	}
	return "npm install " + d.Name + "@" + d.Version
}

// IsLockFile says whether a file is npm's lock file.
func (Ecosystem) IsLockFile(file string) bool {
	name := path.Base(file)
	return name == "package-lock.json" || name == "npm-shrinkwrap.json"
}

// ParseLock lists the packages that a lock file names. It reads all three versions.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	var lock struct {
		Packages map[string]struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Link    bool   `json:"link"`
		} `json:"packages"`
		Dependencies map[string]json.RawMessage `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("it is no lock file of npm")
	}
	for where, p := range lock.Packages {
		i := strings.LastIndex(where, "node_modules/")
		if i < 0 || p.Link {
			continue // the project itself, a workspace
		}
		name := p.Name // of an alias
		if name == "" {
			name = where[i+len("node_modules/"):]
		}
		out = append(out, company.Dependency{Ecosystem: ecosystem.NPM, Name: name, Version: p.Version})
	}
	if lock.Packages != nil {
		return out, nil
	}
	level := lock.Dependencies
	for depth := 0; len(level) > 0 && depth < 64; depth++ {
		next := map[string]json.RawMessage{}
		for name, raw := range level {
			var d struct {
				Version      string                     `json:"version"`
				Dependencies map[string]json.RawMessage `json:"dependencies"`
			}
			if json.Unmarshal(raw, &d) != nil {
				continue
			}
			name = name[strings.LastIndexByte(name, '\n')+1:]
			version := d.Version
			if alias, ok := strings.CutPrefix(version, "npm:"); ok {
				if i := strings.LastIndexByte(alias, '@'); i > 0 {
					name, version = alias[:i], alias[i+1:]
				}
			}
			out = append(out, company.Dependency{Ecosystem: ecosystem.NPM, Name: name, Version: version})
			for n, r := range d.Dependencies {
				next[fmt.Sprintf("%d\n%s", len(next), n)] = r // one name, many parents
			}
		}
		level = next
	}
	return out, nil
}
