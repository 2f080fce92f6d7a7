package catalog

import (
	"slices"

	"company/internal/ecosystem"
)

// unknownManifest is the file by which a project of a kind is known.
type unknownManifest struct{ file, kind string }

// unknown are manifests of projects that no ecosystem is for.
var unknown = []unknownManifest{
	{"mix.exs", "an Elixir project"}, {"Package.swift", "a Swift project"}, {"deno.json", "a Deno project"},
}

// NoteUnknown says which projects are there that no gate is known for.
func NoteUnknown(t *ecosystem.Tree) {
	for _, k := range unknown {
		if t.HasFile("", k.file) {
			t.AddNote("%s (%s): no gate is known for it; gates.test names one", k.kind, k.file)
		}
	}
}

// IsManifest says whether a project is known by a file of that name.
func IsManifest(name string) bool {
	return slices.ContainsFunc(Of[ecosystem.Manifester](), func(e ecosystem.Manifester) bool { return e.Manifest() == name })
}
