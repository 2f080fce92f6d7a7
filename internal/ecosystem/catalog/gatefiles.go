package catalog

import (
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// IsGateFile says whether a path is one by which checks are defined.
func IsGateFile(p string) bool {
	return slices.ContainsFunc(Of[ecosystem.GateFiler](), func(e ecosystem.GateFiler) bool { return e.IsGateFile(p) })
}

// GateFilesOf are the files of a task's work by which checks are defined, each
// once, sorted.
func GateFilesOf(t *company.Task) []string {
	var out []string
	for _, sub := range t.Subtasks {
		for _, c := range sub.Changes {
			if IsGateFile(c.Path) {
				out = append(out, c.Path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
