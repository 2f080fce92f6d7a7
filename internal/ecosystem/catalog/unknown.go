package catalog

import (
	"slices"

	"company/internal/ecosystem"
)

// unknownManifest is the manifest file of an unsupported kind of project.
type unknownManifest struct{ file, kind string }

// unknown lists manifests of projects without an ecosystem.
var unknown = []unknownManifest{
	{"mix.exs", "an Elixir project"}, {"Package.swift", "a Swift project"}, {"deno.json", "a Deno project"},
}

// NoteUnknown adds notes for projects that no ecosystem can check.
func NoteUnknown(tree *ecosystem.Tree) {
	for _, manifest := range unknown {
		if tree.HasFile("", manifest.file) {
			tree.AddNote("%s (%s): no gate is known for it; gates.test names one", manifest.kind, manifest.file)
		}
	}
}

// IsManifest reports whether a file of that name identifies a project.
func IsManifest(name string) bool {
	return slices.ContainsFunc(Of[ecosystem.Manifester](),
		func(e ecosystem.Manifester) bool { return e.Manifest() == name })
}
