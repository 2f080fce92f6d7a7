package gitops

import (
	"strings"
	"testing"
)

// What both sides brought counts twice at most, and what one of them took out need not go.
func TestFindNewMarkerCountsBothSides(t *testing.T) {
	t.Parallel()
	const marker = "<<<<<<< HEAD\n"
	for name, c := range map[string]struct {
		texts [4]string
		lines string
	}{
		"each side added one": {[4]string{marker + marker, marker, marker, ""}, ""},
		"one too many":        {[4]string{marker + marker + marker, marker, marker, ""}, "1 2 3"},
		"both have the old":   {[4]string{"a\n" + marker + marker, marker, marker, marker}, "2 3"},
		"one side took it":    {[4]string{marker, "", marker, marker}, ""},
		"no side":             {[4]string{"a\n" + marker, "", "", marker}, "2"},
	} {
		if _, got := FindNewMarker(c.texts, MarkerSize); strings.Join(got, " ") != c.lines {
			t.Errorf("%s: lines %q, want %s", name, got, c.lines)
		}
	}
}
