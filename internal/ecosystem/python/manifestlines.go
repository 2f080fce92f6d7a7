package python

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/lazyregexp"
)

// listPlaces lists the keys of a pyproject.toml under which tools find packages to install. A star stands
// for any key.
var listPlaces = []string{
	"build-system.requires",
	"project.dependencies", "project.optional-dependencies.*",
	"dependency-groups.*",
	"tool.uv.dev-dependencies", "tool.uv.extra-build-dependencies.*",
	"tool.pdm.dev-dependencies.*", "tool.pdm.plugins",
	"tool.flit.metadata.requires", "tool.flit.metadata.requires-extra.*",
	"tool.hatch.env.requires",
	"tool.hatch.envs.*.dependencies", "tool.hatch.envs.*.extra-dependencies",
	"tool.hatch.envs.*.overrides.*.*.dependencies", "tool.hatch.envs.*.overrides.*.*.extra-dependencies",
	"tool.hatch.envs.*.overrides.*.*.set-dependencies", "tool.hatch.envs.*.overrides.*.*.set-extra-dependencies",
	"tool.hatch.build.dependencies", "tool.hatch.build.hooks.*.dependencies",
	"tool.hatch.build.targets.*.dependencies", "tool.hatch.build.targets.*.hooks.*.dependencies",
	"tool.tox.requires", "tool.tox.env_run_base.deps", "tool.tox.env_pkg_base.deps", "tool.tox.env.*.deps",
}

// namePlaces lists the tables of a pyproject.toml whose keys are package names.
var namePlaces = []string{
	"tool.poetry.dependencies", "tool.poetry.dev-dependencies", "tool.poetry.group.*.dependencies",
	"tool.poetry.requires-plugins",
}

// toolFiles maps files to the tool whose pyproject.toml table they contain.
var toolFiles = map[string]string{"hatch.toml": "hatch", "tox.toml": "tox", "uv.toml": "uv"}

// listManifestLines lists the packages in a manifest as lines of a requirements list. It reads keys only in
// the spelling that their tool reads. odd explains why the lines may be incomplete, or is empty.
func listManifestLines(name string, text []byte) (lines []string, odd string, err error) {
	switch name {
	case "setup.cfg":
		lines, odd = listSetupLines(string(text))
		return lines, odd, nil
	case "setup.py":
		setup, p := newSource(string(text)), &project{extras: map[string][]string{}}
		p.readSetup(nil, setup)
		lines = append(slices.Concat(slices.Collect(maps.Values(p.extras))...), p.lines...)
		lines = append(lines, setup.readArgument("setup_requires")...)
		return lines, "", nil
	case "tox.ini":
		sections, odd := readINI(string(text))
		lines, odd = listToxLines(sections, odd)
		return lines, odd, nil
	case "noxfile.py":
		return readNoxFile(string(text)).wish.lines, "", nil
	}
	var table map[string]any
	if toml.Decode(text, &table) != nil {
		return nil, "", errors.New("it is not TOML")
	}
	if name == "Pipfile" {
		return listPipfileNames(table), "", nil
	}
	if tool := toolFiles[name]; tool != "" {
		table = map[string]any{"tool": map[string]any{tool: table}}
	}
	for _, place := range listPlaces {
		for _, found := range findAt(table, strings.Split(place, ".")) {
			switch found.(type) {
			case string, []any, map[string]any, []map[string]any:
				lines = append(lines, listTexts(found)...)
			default:
				return nil, "", errors.New(place + " is not a list")
			}
		}
	}
	for _, place := range namePlaces {
		for _, found := range findAt(table, strings.Split(place, ".")) {
			set, _ := found.(map[string]any)
			for name := range set {
				if name != "python" {
					lines = append(lines, name)
				}
			}
		}
	}
	for _, found := range findAt(table, []string{"tool", "tox", "legacy_tox_ini"}) {
		var more []string
		inner, _ := found.(string)
		more, odd = listToxLines(readINI(inner))
		lines = append(lines, more...)
	}
	return lines, odd, nil
}

// findAt returns the values at a place below a value.
func findAt(value any, place []string) (out []any) {
	if len(place) == 0 {
		return []any{value}
	}
	table, _ := value.(map[string]any)
	for key, inner := range table {
		if place[0] == "*" || place[0] == key {
			out = append(out, findAt(inner, place[1:])...)
		}
	}
	return out
}

// textKeys lists the keys with the requirement in a table that replaces a string. They are from uv, Hatch
// and tox.
var textKeys = []string{"requirement", "value", "then", "else", "default"}

// listTexts returns the strings in a value, including those in nested lists and tables.
func listTexts(value any) (out []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			out = append(out, listTexts(one)...)
		}
	}
	for _, table := range tablesOf(value) {
		for _, key := range textKeys {
			out = append(out, listTexts(table[key])...)
		}
	}
	return out
}

// markerRE matches the start of a marker.
var markerRE = lazyregexp.New(`^\s*[("']|^\s*(?:python_|os[_.]|sys[_.]|platform|implementation_|extra\b)`)

// setupKeys lists the keys of a setup.cfg that contain packages, in any section. setuptools reads them in
// the sections options, DEFAULT and global, and in sections that it treats as options (such as "options.").
// pbr reads one in metadata.
var setupKeys = []string{"install_requires", "tests_require", "setup_requires", "requires_dist"}

// listSetupLines lists the packages in a setup.cfg. A value of one line is split at semicolons, which
// otherwise begin a marker.
func listSetupLines(text string) (lines []string, odd string) {
	cfg, odd := readINI(text)
	var values []string
	hasExtras := slices.ContainsFunc(slices.Collect(maps.Keys(cfg)), isExtras)
	tox := iniFile{}
	for _, section := range slices.Sorted(maps.Keys(cfg)) {
		table := cfg[section]
		for _, key := range slices.Sorted(maps.Keys(table)) {
			// configparser adds the keys of DEFAULT to each section.
			if isExtras(section) || section == "DEFAULT" && hasExtras ||
				slices.Contains(setupKeys, strings.ReplaceAll(key, "-", "_")) {
				values = append(values, table[key])
			}
		}
		if name, ok := strings.CutPrefix(section, "tox:"); ok || section == "DEFAULT" {
			tox[name] = table
		}
	}
	p := &project{extras: map[string][]string{}}
	for _, value := range values {
		if at := oddInValueRE.FindString(value); at != "" && odd == "" {
			odd = fmt.Sprintf("%q, which puts another text in its place, in the value %.100q", at, value)
		}
		if !strings.Contains(value, "\n") { // semicolons are replaced before comments are removed
			value = strings.ReplaceAll(value, ";", "\n;")
		}
		p.addSetupLines("", splitLines(value))
	}
	for _, line := range p.lines {
		for i, part := range strings.Split(line, ";") {
			if i == 0 || !markerRE.MatchString(part) {
				lines = append(lines, part)
			}
		}
	}
	more, odd := listToxLines(tox, odd)
	return append(lines, more...), odd
}

// isExtras reports whether all keys in a section of a setup.cfg are lists of packages. That is so for the
// section of setuptools, which removes its prefix anywhere in the name, and for that of pbr.
func isExtras(section string) bool {
	return strings.Contains(strings.ReplaceAll(section, "options", ""), "extras_require") || section == "extras"
}

// oddInValueRE matches a reference to another value or a continued line.
var oddInValueRE = lazyregexp.New(`%\(|\\`)

// listToxLines lists the packages of all environments in a tox.ini and those that tox itself requires. The
// second result is odd, or describes a reference or continued line that is not followed.
func listToxLines(sections iniFile, odd string) (lines []string, _ string) {
	f := &toxFile{sections: sections, room: math.MaxInt, seen: map[string]bool{}}
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		f.referred = append(f.referred, sections[section]["deps"], sections[section]["requires"])
	}
	var w wish
	for len(f.referred) > 0 { // each value once, however often it is referenced
		value := f.referred[0]
		f.referred = f.referred[1:]
		for _, line := range f.expandValue(value, keepForAll) {
			w.addArgument(line)
		}
	}
	for _, line := range w.lines {
		lines = append(lines, splitCommas(line)...)
	}
	if odd == "" && f.unknown != "" {
		odd = fmt.Sprintf("a reference or a line that goes on, which is not followed, in %.100q", f.unknown)
	}
	return lines, odd
}

// splitCommas splits a line at commas outside of quotes and brackets. A part after a comma may also be a
// further version constraint.
func splitCommas(line string) []string {
	depth, quote := 0, rune(0)
	return strings.FieldsFunc(line, func(c rune) bool {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		}
		return c == ',' && depth == 0 && quote == 0
	})
}

// otherTables lists the tables of a Pipfile without packages. All other tables have packages, whatever
// their names are.
var otherTables = []string{"source", "requires", "scripts", "pipenv", "pipfile"}

// listPipfileNames lists the index packages in a Pipfile, because pipenv may install without its lock file.
func listPipfileNames(table map[string]any) (names []string) {
	for group, value := range table {
		packages, _ := value.(map[string]any)
		for name, asked := range packages {
			fields, _ := asked.(map[string]any)
			if !slices.Contains(otherTables, group) && !hasPlace(fields, pipenvPlaces) {
				names = append(names, name)
			}
		}
	}
	return names
}
