package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

const namePart = `[A-Za-z0-9~][A-Za-z0-9._~-]{0,127}` // old names have capitals

var (
	nameRE = lazyregexp.New(`^(@` + namePart + `/)?` + namePart + `$`)
	// rootTarballRE: npm asks at the root of the host for a tarball whose lock file
	// names the public registry; it keeps the path and replaces the host only.
	rootTarballRE = lazyregexp.New(`^/(@` + namePart + `(/|%2[fF]))?` + namePart + `/-/` + namePart + `\.tgz$`)
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

// lockedPackage is an entry of a lock file of the second and third version.
type lockedPackage struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
	Link      bool   `json:"link"`
}

// findDependency is the package of an entry, by its place in the tree; not ok: it is the
// project itself, or a workspace.
func (p lockedPackage) findDependency(where string) (d company.Dependency, ok bool) {
	_, name, ok := cutLast(where, "node_modules/")
	if p.Name != "" { // of an alias
		name = p.Name
	}
	return company.Dependency{Ecosystem: ecosystem.NPM, Name: name, Version: p.Version}, ok && !p.Link
}

// ParseDigests gives the digests of a lock file of the second and third version.
func (Ecosystem) ParseDigests(_ string, text []byte) map[company.Dependency]ecosystem.Digest {
	var lock struct {
		Packages map[string]lockedPackage `json:"packages"`
	}
	out := Digests{}
	if json.Unmarshal(text, &lock) == nil {
		for where, p := range lock.Packages {
			if d, ok := p.findDependency(where); ok {
				out.Add(d, p.Integrity)
			}
		}
	}
	return out
}

// ParseAddresses gives the addresses of a lock file of the second and third version. npm compares a file
// with each kind of digest.
func (Ecosystem) ParseAddresses(text []byte) (out []ecosystem.Address) {
	var packages map[string]map[string]json.RawMessage
	_ = json.Unmarshal(ecosystem.FieldsOf(text)["packages"], &packages) // npm reports its fault
	for where, f := range packages {
		p := lockedPackage{Name: ecosystem.TextOf(f["name"]), Version: ecosystem.TextOf(f["version"])}
		at := ecosystem.TextOf(f["resolved"])
		if d, ok := p.findDependency(where); ok && strings.Contains(at, "://") && ParseIntegrity(ecosystem.TextOf(f["integrity"])).Algorithm == "" {
			out = append(out, ecosystem.Address{Dependency: d, At: at})
		}
	}
	return out
}

// FindAddresses finds the address of a version's file, which is the only one.
func (Ecosystem) FindAddresses(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) ([]string, error) {
	p, err := fetchPackument(ctx, f, d.Name)
	if err != nil {
		return nil, err
	}
	return []string{p.Versions[d.Version].Dist.Tarball}, nil
}

// Digests are those that a lock file of npm's packages names.
type Digests map[company.Dependency]ecosystem.Digest

// Add adds one by its integrity field. Weak ones are no use: a file that fits can be
// made. Where one package has two, neither is kept.
func (m Digests) Add(d company.Dependency, integrity string) {
	sum := ParseIntegrity(integrity)
	if sum.Algorithm != "sha512" {
		return
	}
	if old, had := m[d]; had && !bytes.Equal(old.Sum, sum.Sum) {
		sum = ecosystem.Digest{}
	}
	m[d] = sum
}

// ParseLock lists the packages that a lock file names. It reads all three versions.
func (Ecosystem) ParseLock(_ string, text []byte) (out []company.Dependency, err error) {
	var lock struct {
		Packages     map[string]lockedPackage   `json:"packages"`
		Dependencies map[string]json.RawMessage `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("it is no lock file of npm")
	}
	for where, p := range lock.Packages {
		if d, ok := p.findDependency(where); ok {
			out = append(out, d)
		}
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
