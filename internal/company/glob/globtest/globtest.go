// Package globtest generates globs and paths for property tests. Globs are text
// here: the test parses them.
package globtest

import (
	"strings"

	"pgregory.net/rapid"
)

// Generate makes patterns over a small alphabet, so that overlaps are common.
func Generate(t *rapid.T, label string) string {
	var gen func(depth int) string
	gen = func(depth int) string {
		var b strings.Builder
		for i, n := 0, rapid.IntRange(1, 3).Draw(t, label); i < n; i++ {
			piece := rapid.SampledFrom([]string{"a", "b", ".", "*", "?", "[ab]", "[!a]", "[^b.]", "{", "\\a", "a", "b"}).
				Draw(t, label)
			if piece == "{" {
				if depth > 1 {
					continue
				}
				piece = "{" + gen(depth+1) + "," + gen(depth+1) + "}"
			}
			b.WriteString(piece)
		}
		return b.String()
	}
	var parts []string
	for i, n := 0, rapid.IntRange(1, 3).Draw(t, label); i < n; i++ {
		if rapid.IntRange(0, 3).Draw(t, label) == 0 {
			parts = append(parts, "**")
		} else {
			parts = append(parts, gen(0))
		}
	}
	return strings.Join(parts, "/")
}

// SmallPaths lists all paths of up to 3 components, each with up to 2 of the characters
// that the generated patterns distinguish. "c" represents all other characters.
var SmallPaths = func() []string {
	var names []string
	for _, x := range []string{"", "a", "b", ".", "c"} {
		for _, y := range []string{"a", "b", ".", "c"} {
			if n := x + y; n != "." && n != ".." {
				names = append(names, n)
			}
		}
	}
	paths := append([]string(nil), names...)
	for _, x := range names {
		for _, y := range names {
			paths = append(paths, x+"/"+y)
		}
	}
	for _, x := range names {
		for _, y := range names {
			for _, z := range []string{"a", "b", ".a", "cb"} {
				paths = append(paths, x+"/"+y+"/"+z)
			}
		}
	}
	return paths
}()
