package company

import (
	"slices"
	"strings"
)

var alwaysProtected = mustGlobs(DefaultProtected()...)

// protects says whether a path may only change with the president's leave.
// A pattern that does not parse protects everything: rules fail closed.
func (r PlanRules) protects(path string) bool {
	for _, g := range alwaysProtected { // parsed once: Due asks often
		if g.Match(path) {
			return true
		}
	}
	for _, pattern := range r.Protected {
		g, err := ParseGlob(pattern)
		if err != nil || g.Match(path) {
			return true
		}
	}
	return false
}

// within reports whether all that a glob matches is in the folders of the
// task.
func (r PlanRules) within(g Glob) bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(p string) bool {
		// api/** also matches api, so that its prefix has no slash.
		return strings.HasPrefix(g.prefix, p+"/") || strings.HasPrefix(g.src, p+"/")
	})
}
