package image

import (
	"slices"
	"strings"
	"testing"
)

// What a layer lacks is told of every image above it, bounded and as one line each.
func TestLayerNotesStayWithTheImage(t *testing.T) {
	plain := imageConfig(layerStep{kind: "a"}, nil)
	if _, ok := plain.Labels[labelNotes]; ok {
		t.Errorf("labels %v of a layer that lacks nothing", plain.Labels)
	}
	long := boundNotes(
		append([]string{"one\nline\x1b[31m", strings.Repeat("x", 5000)}, slices.Repeat([]string{"more"}, 100)...))
	if len(long) != maxLayerNotes || len(long[1]) > maxLayerNote || strings.ContainsAny(long[0], "\n\x1b") {
		t.Errorf("%d notes, %q", len(long), long[0])
	}
	lower := imageConfig(layerStep{kind: "a", notes: []string{"a lacks x"}}, nil)
	under := &existingImage{notes: parseNotes(lower.Labels[labelNotes])}
	upper := imageConfig(layerStep{kind: "b", notes: []string{"b lacks y"}}, under)
	all := &existingImage{notes: parseNotes(upper.Labels[labelNotes])}
	if got := all.toImage(layerStep{}, []string{"planned"}).Notes; !slices.Equal(
		got, []string{"planned", "a lacks x", "b lacks y"}) {
		t.Errorf("notes %q", got)
	}
	if got := parseNotes("no JSON"); got != nil {
		t.Errorf("notes %q of a label that is none", got)
	}
}
