package python

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/boundedparse/toml"
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

var (
	nameRE      = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$`)
	pep440RE    = lazyregexp.New(`^([0-9]{1,9}!)?[0-9]{1,9}(\.[0-9]{1,9}){0,7}((a|b|rc)[0-9]{1,9})?(\.post[0-9]{1,9})?(\.dev[0-9]{1,9})?(\+[a-z0-9.]{1,64})?$`)
	separatorRE = lazyregexp.New(`[-_.]+`)
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
	if slices.Contains(projectFiles, base) || slices.ContainsFunc(lockReaders, func(r lockReader) bool { return r.name == base }) {
		return true
	}
	stem, isText := strings.CutSuffix(base, ".txt")
	return isText && strings.Contains(stem, "constraints") || isList(file)
}

// ParseLock lists the packages that a file names.
func (Ecosystem) ParseLock(file string, text []byte) ([]company.Dependency, error) {
	lines := func(all ...string) ([]company.Dependency, error) {
		return parseRequirements([]byte(strings.Join(all, "\n"))), nil
	}
	switch path.Base(file) {
	case "poetry.lock", "uv.lock", "pdm.lock", "pylock.toml":
		return parseTOMLLock(text)
	case "Pipfile.lock":
		return parsePipfileLock(text)
	case "pyproject.toml":
		return parsePyproject(text)
	case "setup.cfg", "setup.py":
		p := &project{extras: map[string][]string{}}
		p.readSetup(readINI(string(text)), newSource(string(text)))
		for _, some := range p.extras {
			p.lines = append(p.lines, some...)
		}
		return lines(p.lines...)
	case "tox.ini":
		return lines(readToxFile(string(text)).wish.lines...)
	case "noxfile.py":
		return lines(readNoxFile(string(text)).wish.lines...)
	case "Pipfile":
		return nil, nil // its lock file has them
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
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return nil, err
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
		if group == "_meta" {
			continue
		}
		for name, entry := range ecosystem.FieldsOf(raw) {
			version := ecosystem.TextOf(ecosystem.FieldsOf(entry)["version"])
			out = append(out, company.Dependency{Ecosystem: ecosystem.PyPI, Name: name, Version: strings.TrimPrefix(version, "==")})
		}
	}
	return out, nil
}

var pinnedRE = lazyregexp.New(`^\(?\s*===?\s*([^\s;,*)]+)\s*\)?\s*(;.*)?$`)

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
