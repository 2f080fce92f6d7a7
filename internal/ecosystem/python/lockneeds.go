package python

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// listNeedOrigins lists the sources in the dependencies of an entry. If only a dependency has an address,
// poetry fetches the package from it.
func listNeedOrigins(file string, entry map[string]any) (out []string) {
	lines := textsOf(entry["dependencies"]) // pdm's dependencies
	extras, _ := entry["extras"].(map[string]any)
	for _, needs := range extras { // poetry's extras
		lines = append(lines, textsOf(needs)...)
	}
	tools, _ := entry["tool"].(map[string]any)
	pdm, _ := tools["pdm"].(map[string]any) // pdm's dependencies in a pylock.toml
	for _, line := range append(lines, textsOf(pdm["dependencies"])...) {
		_, rest, _ := ecosystem.SplitRequirement(line)
		address, isDirect := strings.CutPrefix(rest, "@")
		address, _, _ = strings.Cut(strings.TrimSpace(address), " ;")
		folder, isOfTree := strings.CutPrefix(address, "file:///${PROJECT_ROOT}/")
		if isDirect && !(isOfTree && ecosystem.IsTreeFolder(file, folder)) {
			out = append(out, "needs "+line)
		}
	}
	if source, ok := entry["source"].(map[string]any); ok && source["type"] == "directory" {
		folder, _ := source["url"].(string)
		file = path.Join(path.Dir(file), folder, path.Base(file)) // paths in its dependencies are relative to this folder
	}
	needs, _ := entry["dependencies"].(map[string]any)
	for name, need := range needs {
		for _, one := range tablesOf(need) {
			known := slices.Collect(maps.Keys(poetryNeed))
			if folder, _ := one["path"].(string); ecosystem.IsTreeFolder(file, folder) {
				known = append(known, "path", "develop")
			}
			if from := ecosystem.FormatRest(one, known...); from != "" {
				out = append(out, "needs "+name+" "+from)
			}
		}
	}
	slices.Sort(out)
	return out
}
