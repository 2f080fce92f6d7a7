package python

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/lib/boundedparse/toml"
)

// pyproject holds the package requirements in a pyproject.toml. Fields that tools write in several forms
// have the type any.
type pyproject struct {
	Build struct {
		Requires []string
		Backend  string `toml:"build-backend"`
	} `toml:"build-system"`
	Project struct {
		Name         string
		Dependencies []string
		Optional     map[string][]string `toml:"optional-dependencies"`
	}
	Groups map[string][]any `toml:"dependency-groups"`
	Tool   struct {
		Poetry struct {
			Name         string
			Dependencies map[string]any
			Dev          map[string]any `toml:"dev-dependencies"`
			Group        map[string]struct{ Dependencies map[string]any }
			Extras       map[string][]string
		}
		UV struct {
			Dev     []string `toml:"dev-dependencies"`
			Sources map[string]any
		}
		PDM struct {
			Dev map[string][]string `toml:"dev-dependencies"`
		}
		Hatch struct {
			Envs map[string]hatchEnvironment
		}
		Flit struct {
			Metadata struct {
				Module   string
				Requires []string
				Extra    map[string][]string `toml:"requires-extra"`
			}
		}
		Setuptools struct {
			Dynamic    map[string]any
			Extensions []any `toml:"ext-modules"`
		}
		Tox map[string]any
	}
}

// hatchEnvironment is an environment of Hatch.
type hatchEnvironment struct {
	Dependencies []string
	Extra        []string `toml:"extra-dependencies"`
	Features     []string
	Groups       []string `toml:"dependency-groups"`
}

// readPyproject reads a pyproject.toml.
func readPyproject(text []byte) (m pyproject, err error) {
	if err := toml.Decode(text, &m); err != nil {
		return pyproject{}, fmt.Errorf("it is not TOML")
	}
	return m, nil
}

// textsOf returns the strings of a value that is a string or a list.
func textsOf(value any) (out []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case []any:
		for _, one := range v {
			if s, ok := one.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// isForTests reports whether the tests or the lint need a group of dependencies, by its name and content.
func isForTests(name string, lines []string) bool {
	words := strings.Split(canonicalName(name), "-")
	is := func(known ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(known, w) })
	}
	if is("lint", "linting") || is(testWords...) && !is(otherWords...) {
		return true
	}
	return !is(otherWords...) && slices.ContainsFunc(lines, func(l string) bool {
		r, ok := parseRequirement(l)
		return ok && (r.name == "pytest" || r.name == "nose" || r.name == "unittest2")
	})
}

// poetryLines converts a dependency table of Poetry to requirements. It skips optional packages unless
// optional returns true for them. It returns packages of the tree as folders.
func poetryLines(set map[string]any, optional func(name string) bool) (lines, folders []string) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if name == "python" {
			continue
		}
		var choices []any
		switch v := set[name].(type) {
		case []map[string]any:
			for _, one := range v {
				choices = append(choices, one)
			}
		case []any:
			choices = v
		default:
			choices = []any{v}
		}
		for _, c := range choices {
			t, isTable := c.(map[string]any)
			if !isTable {
				t = map[string]any{"version": c}
			}
			if folder, ok := t["path"].(string); ok {
				folders = append(folders, folder)
				continue
			}
			if skip, _ := t["optional"].(bool); skip && !optional(canonicalName(name)) {
				continue
			}
			lines = append(lines, poetryLine(name, t))
		}
	}
	return lines, folders
}

// poetryLine converts one entry of Poetry to a requirement.
func poetryLine(name string, t map[string]any) string {
	text := func(key string) string { s, _ := t[key].(string); return s }
	line := name
	if extras := textsOf(t["extras"]); len(extras) > 0 {
		line += "[" + strings.Join(extras, ",") + "]"
	}
	for _, from := range []string{"git", "url", "file"} {
		if text(from) != "" {
			return line + " @ " + text(from)
		}
	}
	line += translateConstraint(text("version"))
	marker := text("markers")
	if python := translateConstraint(text("python")); python != "" {
		for spec := range strings.SplitSeq(python, ",") {
			cut := strings.LastIndexAny(spec, "<>=!~") + 1
			marker = strings.TrimPrefix(marker+fmt.Sprintf(" and python_version %s '%s'", spec[:cut], spec[cut:]), " and ")
		}
	}
	if marker != "" {
		line += " ; " + marker
	}
	return line
}
