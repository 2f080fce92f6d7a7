package image

import (
	"encoding/json"
	"slices"

	"company/internal/safetext"
)

// maxLayerNotes and maxLayerNote bound what the layers of an image say that they
// lack: it holds text of the repository and of registries.
const (
	maxLayerNotes = 8
	maxLayerNote  = 400
)

// boundNotes makes the notes of a collector ones that people may see.
func boundNotes(notes []string) []string {
	var out []string
	for _, n := range notes[:min(len(notes), maxLayerNotes)] {
		out = append(out, safetext.Cut(safetext.StripLine(n), maxLayerNote))
	}
	return out
}

// formatNotes is the label of an image for what its layers lack; empty: nothing.
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

// parseNotes reads the label.
func parseNotes(label string) (notes []string) {
	_ = json.Unmarshal([]byte(label), &notes) // there is none on most images
	return notes
}
