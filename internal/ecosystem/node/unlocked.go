package node

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// FindUnlocked lists the folders to resolve, which have dependencies and no lock file. Packages of
// workspaces count for the folder above. locked lists the folders with lock files. covers reports whether a
// folder's package belongs to one above.
func FindUnlocked(
	manifests []string, texts map[string][]byte, locked []string, covers func(top, dir string) bool,
) (dirs []string) {
	asks := map[string]bool{}
	for _, m := range manifests {
		dir := path.Dir(m)
		if dir != "." && ecosystem.IsForeignDir(dir) ||
			slices.ContainsFunc(locked, func(d string) bool { return ecosystem.IsWithin(dir, d) }) {
			continue
		}
		top := dir
		if i := slices.IndexFunc(dirs, func(d string) bool { return covers(d, dir) }); i >= 0 {
			top = dirs[i]
		} else {
			dirs = append(dirs, dir)
		}
		asks[top] = asks[top] || NamesPackages(texts[m])
	}
	dirs = slices.DeleteFunc(dirs, func(d string) bool { return !asks[d] })
	return dirs[:min(len(dirs), ecosystem.MaxProjects)]
}

// noteUnlocked adds a note if manifests have dependencies and no lock file. unlocked lists the folders that
// each task resolves.
func noteUnlocked(
	sources ecosystem.Sources, manifests []string, texts map[string][]byte, locked, unlocked []string, howToLock string,
) {
	for _, m := range manifests {
		within := func(d string) bool { return ecosystem.IsWithin(path.Dir(m), d) }
		switch {
		case !NamesPackages(texts[m]) || slices.ContainsFunc(locked, within):
			continue
		case sources.IsOffline():
			sources.AddNote("%s has no lock file: nothing is installed, since container.deps is off", m)
		case slices.ContainsFunc(unlocked, within):
			sources.AddNote("%s has no lock file: each task resolves it again (make one with `%s`)", m, howToLock)
		default:
			sources.AddNote("%s has no lock file: nothing is installed (make one with `%s`)", m, howToLock)
		}
		return // one note is enough
	}
}

// ListWants lists the packages that manifests depend on, without the project's own packages.
func ListWants(texts map[string][]byte) (out []company.Dependency) {
	type manifest struct {
		Name                                                                  string
		Dependencies, DevDependencies, OptionalDependencies, PeerDependencies map[string]any
		Overrides, Resolutions                                                any
		Pnpm                                                                  struct{ Overrides any }
	}
	own, seen := map[string]bool{}, map[string]bool{}
	var manifests []manifest
	for _, text := range texts {
		var m manifest
		if json.Unmarshal(text, &m) == nil {
			manifests = append(manifests, m)
			own[m.Name] = true
		}
	}
	add := func(name string, spec any) {
		version, _ := spec.(string)
		if real, ok := strings.CutPrefix(version, "npm:"); ok {
			if i := strings.LastIndexByte(real, '@'); i > 0 {
				real = real[:i]
			}
			name = real
		}
		if !own[name] && !seen[name] && checkName(name, "") == nil {
			seen[name] = true
			out = append(out, company.Dependency{Ecosystem: ecosystem.NPM, Name: name})
		}
	}
	for _, m := range manifests {
		for _, set := range []map[string]any{m.Dependencies, m.DevDependencies, m.OptionalDependencies, m.PeerDependencies} {
			for name, spec := range set {
				add(name, spec)
			}
		}
		for _, replaced := range []any{m.Overrides, m.Resolutions, m.Pnpm.Overrides} {
			eachAlias(replaced, 0, func(alias string) { add("", alias) })
		}
	}
	slices.SortFunc(out, func(a, b company.Dependency) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// eachAlias calls each for every alias in a JSON value of replacements.
func eachAlias(v any, depth int, each func(string)) {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "npm:") {
			each(v)
		}
	case map[string]any:
		for _, below := range v {
			if depth < 16 {
				eachAlias(below, depth+1, each)
			}
		}
	}
}
