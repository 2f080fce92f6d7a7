package config

import (
	"maps"
	"slices"
	"strings"
)

// Sources are the files, variables and flags that set something, in the
// order of their names.
func (l Loaded) Sources() []string {
	seen := map[string]bool{}
	for _, at := range l.Origin {
		if file, _, ok := splitPosition(at); ok {
			at = file
		}
		if at != OriginDefault {
			seen[at] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(seen))...)
}

// splitPosition takes line and column off file:line:column.
func splitPosition(at string) (file, place string, ok bool) {
	i := strings.LastIndexByte(at, ':')
	if i < 0 {
		return at, "", false
	}
	if i = strings.LastIndexByte(at[:i], ':'); i < 0 {
		return at, "", false
	}
	return at[:i], at[i+1:], true
}
