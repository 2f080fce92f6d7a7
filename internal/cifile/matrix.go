package cifile

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// matrix are the values of a job's variants, by their keys.
type matrix map[string][]string

const (
	maxKeys   = 20 // of a matrix
	maxValues = 8  // of one key: each is a script of its own
)

// readMatrix reads the values that a matrix lists, and those of what it includes.
func readMatrix(v *ecosystem.YAMLValue) matrix {
	m := matrix{}
	add := func(key, value string) {
		if value == "" || strings.Contains(value, "$") || len(m) == maxKeys && m[key] == nil {
			return
		}
		if len(m[key]) < maxValues && !slices.Contains(m[key], value) {
			m[key] = append(m[key], value)
		}
	}
	if v == nil {
		return m
	}
	for _, f := range v.Fields {
		if f.Key == "include" || f.Key == "exclude" {
			continue
		}
		for _, one := range f.Value.List() {
			add(f.Key, one.Text)
		}
	}
	for _, variant := range v.Field("include").List() {
		for _, f := range variant.Fields {
			if f.Value != nil {
				add(f.Key, f.Value.Text)
			}
		}
	}
	return m
}

// matrixRE is a value of the matrix in a script.
var matrixRE = lazyregexp.New(`\$\{\{\s*matrix\.([A-Za-z0-9_-]+)\s*\}\}`)

// expandAll are the scripts that a script stands for: one for each value of the first key that it
// names; of further keys the first value counts. Where no value is known the script stays as it is.
func (m matrix) expandAll(script string) []string {
	first := matrixRE.FindStringSubmatch(script)
	if first == nil || len(m[first[1]]) == 0 {
		return []string{script}
	}
	var out []string
	for _, value := range m[first[1]] {
		out = append(out, matrixRE.ReplaceAllStringFunc(script, func(found string) string {
			key := matrixRE.FindStringSubmatch(found)[1]
			switch {
			case key == first[1]:
				return value
			case len(m[key]) > 0:
				return m[key][0]
			}
			return found
		}))
	}
	return out
}
