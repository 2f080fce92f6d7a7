package company

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
