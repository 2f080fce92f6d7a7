package ecosystem

import (
	"path"
	"slices"
	"strings"
)

// HasName reports whether the last component of a path is one of these names. A name may
// have one star, which stands for any text.
func HasName(file string, names []string) bool {
	base := path.Base(file)
	return slices.ContainsFunc(names, func(name string) bool {
		before, after, hasStar := strings.Cut(name, "*")
		if !hasStar {
			return base == name
		}
		return len(base) >= len(before)+len(after) && strings.HasPrefix(base, before) && strings.HasSuffix(base, after)
	})
}

// LiesIn reports whether a path has a folder of this name above it, at any depth.
func LiesIn(file, folder string) bool {
	dir, _ := path.Split(file)
	return strings.Contains("/"+dir, "/"+folder+"/")
}
