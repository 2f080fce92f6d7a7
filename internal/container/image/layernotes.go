package image

import (
	"encoding/json"
	"slices"

	"company/internal/lib/safetext"
)

// maxLayerNotes and maxLayerNote limit the notes about missing parts of layers, because they contain
// text of the repository and of registries.
const (
	maxLayerNotes = 8
	maxLayerNote  = 400
)

// boundNotes limits the notes of a collector and makes them safe to show.
func boundNotes(notes []string) []string {
	var out []string
	for _, n := range notes[:min(len(notes), maxLayerNotes)] {
		out = append(out, safetext.Cut(safetext.StripLine(n), maxLayerNote))
	}
	return out
}

// formatNotes returns the image label for the missing parts of its layers, or "" if there are none.
func formatNotes(s layerStep, under *existingImage) string {
	var all []string
	if under != nil {
		all = slices.Clone(under.notes)
	}
	if all = append(all, s.notes...); len(all) == 0 {
		return ""
	}
	text, err := json.Marshal(all[:min(len(all), 2*maxLayerNotes)])
	if err != nil {
		panic(err) // texts always encode
	}
	return string(text)
}

// parseNotes parses the label.
func parseNotes(label string) (notes []string) {
	_ = json.Unmarshal([]byte(label), &notes) // most images have no such label
	return notes
}
