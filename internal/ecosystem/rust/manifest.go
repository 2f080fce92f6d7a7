package rust

import (
	"maps"
	"slices"

	"company/internal/lib/boundedparse/toml"
)

// dependencyTables holds the dependency tables of a manifest or of one of its targets.
type dependencyTables struct {
	Dependencies map[string]any
	Dev          map[string]any `toml:"dev-dependencies"`
	Build        map[string]any `toml:"build-dependencies"`
}

// wishes holds the dependencies that a manifest declares.
type wishes struct {
	wants  []string // crates of the registry, sorted, without duplicates
	git    string   // a crate of a git repository, or empty
	paths  bool     // at least one dependency is a path in the tree
	broken bool     // the manifest cannot be parsed
}

// parseManifest reads the dependencies of a manifest. Dependencies with workspace = true are skipped here,
// since they are read from the workspace's own tables.
func parseManifest(text []byte) (w wishes) {
	var m struct {
		dependencyTables
		Workspace dependencyTables
		Target    map[string]dependencyTables
	}
	if toml.Decode(text, &m) != nil {
		return wishes{broken: true}
	}
	tables := []dependencyTables{m.dependencyTables, m.Workspace}
	for _, name := range slices.Sorted(maps.Keys(m.Target)) {
		tables = append(tables, m.Target[name])
	}
	for _, t := range tables {
		for _, all := range []map[string]any{t.Dependencies, t.Dev, t.Build} {
			for _, name := range slices.Sorted(maps.Keys(all)) {
				w.addWish(name, all[name])
			}
		}
	}
	slices.Sort(w.wants)
	w.wants = slices.Compact(w.wants)
	return w
}

func (w *wishes) addWish(name string, value any) {
	detail, _ := value.(map[string]any)
	switch {
	case detail["path"] != nil:
		w.paths = true
	case detail["workspace"] != nil || detail["registry"] != nil:
	case detail["git"] != nil:
		w.git = name
	default:
		if renamed, ok := detail["package"].(string); ok {
			name = renamed
		}
		if checkName(name, "") == nil {
			w.wants = append(w.wants, name)
		}
	}
}
