package config

import (
	"maps"
	"slices"
	"strings"
)

// Sources returns the files, variables and flags that set a value, sorted by name.
func (l Loaded) Sources() []string {
	seen := map[string]bool{}
	for _, at := range l.Origin {
		if file, ok := cutPosition(at); ok {
			at = file
		}
		if at != OriginDefault {
			seen[at] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(seen))...)
}

// SetIn returns the file and line, the variable or the flag that sets the first of these keys. It returns "" if all
// have their defaults.
func (l Loaded) SetIn(keys ...string) string {
	for _, key := range keys {
		at := l.Origin[key]
		if at == "" || at == OriginDefault {
			continue
		}
		if _, ok := cutPosition(at); ok {
			at = at[:strings.LastIndexByte(at, ':')]
		}
		return at
	}
	return ""
}

// cutPosition removes line and column from file:line:column.
func cutPosition(at string) (file string, ok bool) {
	i := strings.LastIndexByte(at, ':')
	if i < 0 {
		return at, false
	}
	if i = strings.LastIndexByte(at[:i], ':'); i < 0 {
		return at, false
	}
	return at[:i], true
}
