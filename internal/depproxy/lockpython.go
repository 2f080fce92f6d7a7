package depproxy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"company/internal/company"
)

// parseTOMLLock reads the lock files that are lists of [[package]].
func parseTOMLLock(ecosystem string, text []byte) (out []company.Dependency, err error) {
	type one struct {
		Name, Version string
		Source        any // a text in Cargo.lock, a table elsewhere; of a workspace's own member there is none
	}
	var lock struct {
		Package  []one
		Packages []one // pylock.toml
	}
	if err := ReadTOML(text, &lock); err != nil {
		return nil, fmt.Errorf("it is no TOML")
	}
	for _, p := range append(lock.Package, lock.Packages...) {
		source, _ := p.Source.(string)
		if ecosystem == Crates && !strings.HasPrefix(source, "registry+") && !strings.HasPrefix(source, "sparse+") {
			continue // a member of the workspace, or a git repository
		}
		if t, ok := p.Source.(map[string]any); ok && (t["virtual"] != nil || t["editable"] != nil || t["git"] != nil || t["directory"] != nil) {
			continue
		}
		out = append(out, company.Dependency{Ecosystem: ecosystem, Name: p.Name, Version: p.Version})
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
			out = append(out, company.Dependency{Ecosystem: PyPI, Name: name, Version: strings.TrimPrefix(p.Version, "==")})
		}
	}
	return out, nil
}

// parsePyproject reads what a Python project asks for: Python has no lock file that
// all use.
func parsePyproject(text []byte) (out []company.Dependency, err error) {
	var p struct {
		Build   struct{ Requires []string } `toml:"build-system"`
		Project struct {
			Dependencies []string
			Optional     map[string][]string `toml:"optional-dependencies"`
		}
		Groups map[string][]any `toml:"dependency-groups"`
		Tool   struct {
			Poetry struct {
				Dependencies map[string]any
				Group        map[string]struct{ Dependencies map[string]any }
			}
		}
	}
	if err := ReadTOML(text, &p); err != nil {
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
		m := requirementRE.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[3], "@") || strings.HasPrefix(m[3], "/") || strings.HasPrefix(m[3], ":") || strings.HasPrefix(m[3], "+") {
			continue
		}
		d := company.Dependency{Ecosystem: PyPI, Name: m[1]}
		if v := pinnedRE.FindStringSubmatch(m[3]); v != nil {
			d.Version = v[1]
		}
		out = append(out, d)
	}
	return out
}

var (
	yarnHeadRE    = regexp.MustCompile(`^"?((?:@[^@/"]+/)?[^@/",\s]+)@(?:npm:(?:((?:@[^@/"]+/)?[^@/",\s]+)@)?)?[^:]*`)
	yarnVersionRE = regexp.MustCompile(`^  version:? "?([^"\s]+)"?$`)
	pnpmRE        = regexp.MustCompile(`^  '?/?((?:@[^@/']+/)?[^@/'()]+)[@/]([0-9][^('":]*)(?:\([^']*)?'?:$`)
)

// parseYarnLock reads both generations of yarn's lock file.
func parseYarnLock(text []byte) (out []company.Dependency) {
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			name = ""
			if m := yarnHeadRE.FindStringSubmatch(line); m != nil && !strings.Contains(line, "@workspace:") {
				if name = m[1]; m[2] != "" {
					name = m[2]
				}
			}
		default:
			if m := yarnVersionRE.FindStringSubmatch(line); m != nil && name != "" {
				out = append(out, company.Dependency{Ecosystem: NPM, Name: name, Version: m[1]})
			}
		}
	}
	return out
}

// parsePnpmLock reads the keys of the section packages.
func parsePnpmLock(text []byte) (out []company.Dependency) {
	in := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' && line[0] != '#' {
			in = line == "packages:"
		}
		if m := pnpmRE.FindStringSubmatch(line); in && m != nil {
			out = append(out, company.Dependency{Ecosystem: NPM, Name: m[1], Version: strings.TrimSpace(m[2])})
		}
	}
	return out
}
