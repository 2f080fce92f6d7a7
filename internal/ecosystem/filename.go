package ecosystem

import (
	"path"
	"slices"
	"strings"
)

// HasName reports whether the last component of a path matches one of the patterns
// (path.Match). A pattern that is malformed matches nothing.
func HasName(file string, patterns []string) bool {
	name := path.Base(file)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}

// LiesIn reports whether a path has a folder of this name above it, at any depth.
func LiesIn(file, folder string) bool {
	dir, _ := path.Split(file)
	return strings.Contains("/"+dir, "/"+folder+"/")
}
