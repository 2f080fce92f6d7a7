package cifile

import (
	"maps"
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
		isOther := func(f ecosystem.YAMLField) bool { return f.Value != nil && otherSystemRE.MatchString(f.Value.Text) }
		other := slices.ContainsFunc(variant.Fields, isOther)
		for _, f := range variant.Fields {
			if f.Value != nil && (!other || isOther(f)) { // of a variant for another system its name alone counts
				add(f.Key, f.Value.Text)
			}
		}
	}
	return m
}

// matrixRE is a value of the matrix in a script.
var matrixRE = lazyregexp.New(`\$\{\{\s*matrix\.([A-Za-z0-9_-]+)\s*\}\}`)

// systems lists the systems of a job by its runs-on; none: they are not known.
func (m matrix) systems(on *ecosystem.YAMLValue) (out []string) {
	for _, v := range on.List() {
		if found := matrixRE.FindStringSubmatch(v.Text); found != nil {
			return m[found[1]]
		}
		out = append(out, v.Text)
	}
	if i := slices.IndexFunc(out, otherSystemRE.MatchString); i >= 0 {
		return out[i : i+1] // a runner with all of these labels
	}
	return out
}

// expandStep are the steps that a step stands for: one for each value of the first key that its script
// names, or else its folder, or one of its variables; of further keys the first value counts. Where no
// value is known the step stays as it is.
func (m matrix) expandStep(s Step) []Step {
	texts := []string{s.Script, s.Dir}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		texts = append(texts, s.Env[name])
	}
	first := ""
	for _, text := range texts {
		if found := matrixRE.FindStringSubmatch(text); found != nil && len(m[found[1]]) > 0 {
			first = found[1]
			break
		}
	}
	if first == "" {
		return []Step{s}
	}
	var out []Step
	for _, value := range m[first] {
		put := func(text string) string {
			return matrixRE.ReplaceAllStringFunc(text, func(found string) string {
				key := matrixRE.FindStringSubmatch(found)[1]
				switch {
				case key == first:
					return value
				case len(m[key]) > 0:
					return m[key][0]
				}
				return found
			})
		}
		one := s
		one.Script, one.Dir, one.Env = put(s.Script), put(s.Dir), make(map[string]string, len(s.Env))
		for name, text := range s.Env {
			one.Env[name] = put(text)
		}
		out = append(out, one)
	}
	return out
}

// listVersions are the values of an action's input whose name ends in -version, a line each. A
// value that the CI alone knows is left out.
func (m matrix) listVersions(inputs *ecosystem.YAMLValue) (out []string) {
	if inputs == nil {
		return nil
	}
	for _, f := range inputs.Fields {
		if !strings.HasSuffix(f.Key, "-version") || f.Value == nil {
			continue
		}
		for line := range strings.Lines(f.Value.Text) {
			values := []string{strings.TrimSpace(line)}
			if found := matrixRE.FindStringSubmatch(values[0]); found != nil && found[0] == values[0] {
				values = m[found[1]]
			}
			for _, v := range values {
				if v != "" && !strings.Contains(v, "$") && len(out) < maxValues {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// ListVersions lists the versions that an action has to set up, each once.
func ListVersions(all []Definition, action string) (out []string) {
	for _, d := range all {
		for _, j := range d.Jobs {
			for _, a := range j.Actions {
				for _, v := range a.Versions {
					if a.Name == action && !slices.Contains(out, v) {
						out = append(out, v)
					}
				}
			}
		}
	}
	return out
}
