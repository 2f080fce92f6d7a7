package python

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

var (
	nameRE      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$`)
	pep440RE    = regexp.MustCompile(`^([0-9]{1,9}!)?[0-9]{1,9}(\.[0-9]{1,9}){0,7}((a|b|rc)[0-9]{1,9})?(\.post[0-9]{1,9})?(\.dev[0-9]{1,9})?(\+[a-z0-9.]{1,64})?$`)
	separatorRE = regexp.MustCompile(`[-_.]+`)
)

// Registry is PyPI. A list of requirements is no whole: what they need is not on
// it.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.PyPI, CheckName: checkName, Canonical: canonicalName, OpenLists: true}
}

func checkName(name, version string) error {
	if !nameRE.MatchString(name) {
		return ecosystem.NameError(name, "the name of a Python package")
	}
	if version != "" && !pep440RE.MatchString(version) {
		return ecosystem.NameError(version, "a version of a Python package").Fix("write it as 1.2.3, or leave it out for the newest")
	}
	return nil
}

func canonicalName(name string) string {
	return strings.ToLower(separatorRE.ReplaceAllString(name, "-"))
}

// AddCommand is pip's.
func (Ecosystem) AddCommand(d company.Dependency) string {
	if d.Ecosystem != ecosystem.PyPI {
		return ""
	}
	return "pip install " + d.Name + "==" + d.Version + " (and write it into the project's own list of requirements)"
}

// IsLockFile says whether a file names packages: Python has no lock file that
// all use.
func (Ecosystem) IsLockFile(file string) bool {
	base := path.Base(file)
	switch base {
	case "poetry.lock", "uv.lock", "pdm.lock", "pylock.toml", "Pipfile.lock", "pyproject.toml":
		return true
	}
	for _, pattern := range []string{"*requirements*.txt", "*constraints*.txt"} {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return path.Base(path.Dir(file)) == "requirements" && path.Ext(base) == ".txt"
}

// ParseLock lists the packages that a file names.
func (Ecosystem) ParseLock(file string, text []byte) ([]company.Dependency, error) {
	switch path.Base(file) {
	case "poetry.lock", "uv.lock", "pdm.lock", "pylock.toml":
		return parseTOMLLock(text)
	case "Pipfile.lock":
		return parsePipfileLock(text)
	case "pyproject.toml":
		return parsePyproject(text)
	}
	return parseRequirements(text), nil
}

// parseTOMLLock reads the lock files that are lists of [[package]].
func parseTOMLLock(text []byte) (out []company.Dependency, err error) {
	type one struct {
		Name, Version string
		Source        any // of a member of the workspace or a folder there is a table that says so
	}
	var lock struct {
		Package  []one
		Packages []one // pylock.toml
	}
	if err := ecosystem.ReadTOML(text, &lock); err != nil {
		return nil, fmt.Errorf("it is no TOML")
	}
	for _, p := range append(lock.Package, lock.Packages...) {
		if t, ok := p.Source.(map[string]any); ok && (t["virtual"] != nil || t["editable"] != nil || t["git"] != nil || t["directory"] != nil) {
			continue
		}
		out = append(out, company.Dependency{Ecosystem: ecosystem.PyPI, Name: p.Name, Version: p.Version})
	}
	return out, nil
}

func parsePipfileLock(text []byte) (out []company.Dependency, err error) {
	var lock map[string]json.RawMessage
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("it is no lock file of Pipenv")
	}
	for group, raw := range lock {
		var all map[string]struct{ Version string }
		if group == "_meta" || json.Unmarshal(raw, &all) != nil {
			continue
		}
		for name, p := range all {
			out = append(out, company.Dependency{Ecosystem: ecosystem.PyPI, Name: name, Version: strings.TrimPrefix(p.Version, "==")})
		}
	}
	return out, nil
}

// pyproject is what a pyproject.toml says of packages.
type pyproject struct {
	Build   struct{ Requires []string } `toml:"build-system"`
	Project struct {
		Dependencies []string
		Optional     map[string][]string `toml:"optional-dependencies"`
	}
	Groups map[string][]any `toml:"dependency-groups"`
	Tool   struct {
		Poetry struct {
			Dependencies map[string]any
			Dev          map[string]any `toml:"dev-dependencies"`
			Group        map[string]struct{ Dependencies map[string]any }
		}
	}
}

// parsePyproject reads what a Python project asks for: Python has no lock file that
// all use.
func parsePyproject(text []byte) (out []company.Dependency, err error) {
	var p pyproject
	if err := ecosystem.ReadTOML(text, &p); err != nil {
		return nil, fmt.Errorf("it is no TOML")
	}
	lines := append(p.Build.Requires, p.Project.Dependencies...)
	for _, o := range p.Project.Optional {
		lines = append(lines, o...)
	}
	for _, g := range p.Groups {
		for _, l := range g {
			if s, ok := l.(string); ok {
				lines = append(lines, s)
			}
		}
	}
	named := []map[string]any{p.Tool.Poetry.Dependencies}
	for _, g := range p.Tool.Poetry.Group {
		named = append(named, g.Dependencies)
	}
	for _, set := range named {
		for name := range set {
			if name != "python" {
				lines = append(lines, name)
			}
		}
	}
	return parseRequirements([]byte(strings.Join(lines, "\n"))), nil
}

var pinnedRE = regexp.MustCompile(`^\(?\s*===?\s*([^\s;,*)]+)\s*\)?\s*(;.*)?$`)

// parseRequirements reads the lines of pip's own lists. A pinned requirement is that
// version, another one every version. Addresses, folders and options are none.
func parseRequirements(text []byte) (out []company.Dependency) {
	joined := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r", ""), "\\\n", " ")
	for line := range strings.Lines(joined) {
		line, _, _ = strings.Cut(line, " #")
		line, _, _ = strings.Cut(line, " --")
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '-' {
			continue
		}
		name, rest, ok := ecosystem.SplitRequirement(line)
		if !ok || strings.HasPrefix(rest, "@") || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "+") {
			continue
		}
		d := company.Dependency{Ecosystem: ecosystem.PyPI, Name: name}
		if v := pinnedRE.FindStringSubmatch(rest); v != nil {
			d.Version = v[1]
		}
		out = append(out, d)
	}
	return out
}
