package ecosystem

import (
	"path"
	"slices"
	"strings"

	"company/internal/glob"
)

// HasName reports whether the last component of a path matches one of the globs. A glob
// that is malformed matches nothing.
func HasName(file string, patterns []string) bool {
	name := path.Base(file)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		g, err := glob.Parse(pattern)
		return err == nil && g.Match(name)
	})
}

// LiesIn reports whether a path has a folder of this name above it, at any depth.
func LiesIn(file, folder string) bool {
	dir, _ := path.Split(file)
	return strings.Contains("/"+dir, "/"+folder+"/")
}
