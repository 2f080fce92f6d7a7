package ecosystem

import (
	"path"
	"slices"
	"strings"
)

// HasName reports whether the last element of a path matches one of these names. A name may have one star, which
// matches any text.
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

// LiesIn reports whether one of a path's parent folders has this name.
func LiesIn(file, folder string) bool {
	dir, _ := path.Split(file)
	return strings.Contains("/"+dir, "/"+folder+"/")
}
