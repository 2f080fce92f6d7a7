package depproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"company/internal/company"
)

// MaxLockFile is how much of a lock file is read, in bytes.
const MaxLockFile = 16 << 20

// LockEcosystem reports whether a file of a tree, by its path, says what the project
// is allowed to have, and which ecosystem it belongs to.
func LockEcosystem(file string) (ecosystem string, ok bool) {
	base := path.Base(file)
	switch base {
	case "go.mod", "go.sum", "go.work.sum":
		return Go, true
	case "package-lock.json", "npm-shrinkwrap.json":
		return NPM, true
	case "yarn.lock", "pnpm-lock.yaml":
		return NPM, true
	case "Cargo.lock":
		return Crates, true
	case "poetry.lock", "uv.lock", "pdm.lock", "pylock.toml", "Pipfile.lock", "pyproject.toml":
		return PyPI, true
	}
	if ok, _ := path.Match("*requirements*.txt", base); ok {
		return PyPI, true
	}
	if ok, _ := path.Match("*constraints*.txt", base); ok {
		return PyPI, true
	}
	if path.Base(path.Dir(file)) == "requirements" && path.Ext(base) == ".txt" {
		return PyPI, true
	}
	return "", false
}

// LockedPolicy is the policy of a set of lock files, path to content: exactly what
// they name, and for Python, whose lists are no whole, what that needs. Notes tell of files that could not be read; those allow nothing.
func LockedPolicy(files map[string][]byte) (p *Policy, notes []string) {
	p = NewPolicy()
	all, notes := ParseLocks(files)
	for _, d := range all {
		if d.Ecosystem == PyPI {
			// A list of requirements is no whole: what they need is not on it.
			p.AllowWithNeeds(d)
			continue
		}
		p.Allow(d)
	}
	return p, notes
}

// ParseLocks lists what a set of lock files names, sorted, each once. The text is
// anybody's: it is bounded, and names that break a grammar are left out.
func ParseLocks(files map[string][]byte) (all []company.Dependency, notes []string) {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	seen := map[company.Dependency]bool{}
	for _, name := range names {
		text := files[name]
		_, ok := LockEcosystem(name)
		if !ok {
			continue
		}
		if len(text) > MaxLockFile {
			notes = append(notes, fmt.Sprintf("%s is over %d MiB and is not read", name, MaxLockFile>>20))
			continue
		}
		found, err := parseLock(path.Base(name), text)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s cannot be read: %v", name, err))
			continue
		}
		for _, d := range found {
			if seen[d] || CheckName(d) != nil {
				continue
			}
			if len(all) == 4*maxNames {
				notes = append(notes, fmt.Sprintf("the lock files name more than %d versions; the rest is left out", 4*maxNames))
				break
			}
			seen[d] = true
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b company.Dependency) int { return strings.Compare(a.String(), b.String()) })
	return all, notes
}

func parseLock(base string, text []byte) ([]company.Dependency, error) {
	switch base {
	case "go.mod":
		return parseGoMod(text)
	case "go.sum", "go.work.sum":
		return parseGoSum(text), nil
	case "package-lock.json", "npm-shrinkwrap.json":
		return parseNPMLock(text)
	case "yarn.lock":
		return parseYarnLock(text), nil
	case "pnpm-lock.yaml":
		return parsePnpmLock(text), nil
	case "Cargo.lock":
		return parseTOMLLock(Crates, text)
	case "poetry.lock", "uv.lock", "pdm.lock", "pylock.toml":
		return parseTOMLLock(PyPI, text)
	case "Pipfile.lock":
		return parsePipfileLock(text)
	case "pyproject.toml":
		return parsePyproject(text)
	}
	return parseRequirements(text), nil
}

func parseGoMod(text []byte) (out []company.Dependency, err error) {
	f, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return nil, fmt.Errorf("it is no go.mod")
	}
	for _, r := range f.Require {
		out = append(out, company.Dependency{Ecosystem: Go, Name: r.Mod.Path, Version: r.Mod.Version})
	}
	// A replacement is fetched under its own name. ParseLax skips it.
	if strict, err := modfile.Parse("go.mod", text, nil); err == nil {
		for _, r := range strict.Replace {
			if r.New.Version != "" {
				out = append(out, company.Dependency{Ecosystem: Go, Name: r.New.Path, Version: r.New.Version})
			}
		}
	}
	return out, nil
}

func parseGoSum(text []byte) (out []company.Dependency) {
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) != 3 {
			continue
		}
		v := strings.TrimSuffix(f[1], "/go.mod")
		if module.Check(f[0], v) == nil {
			out = append(out, company.Dependency{Ecosystem: Go, Name: f[0], Version: v})
		}
	}
	return slices.Compact(out)
}

// parseNPMLock reads lock files of all three versions.
func parseNPMLock(text []byte) (out []company.Dependency, err error) {
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
		out = append(out, company.Dependency{Ecosystem: NPM, Name: name, Version: p.Version})
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
			out = append(out, company.Dependency{Ecosystem: NPM, Name: name, Version: version})
			for n, r := range d.Dependencies {
				next[fmt.Sprintf("%d\n%s", len(next), n)] = r // one name, many parents
			}
		}
		level = next
	}
	return out, nil
}
