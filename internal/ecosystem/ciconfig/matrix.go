package ciconfig

import (
	"maps"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// matrix maps the keys of a job's matrix to their values.
type matrix map[string][]string

const (
	maxKeys   = 20 // of a matrix
	maxValues = 8  // of one key; each value makes a separate script
)

// readMatrix reads the values in a matrix and in its include list.
func readMatrix(yamlValue *ecosystem.YAMLValue) matrix {
	m := matrix{}
	add := func(key, value string) {
		if value == "" || strings.Contains(value, "$") || len(m) == maxKeys && m[key] == nil {
			return
		}
		if len(m[key]) < maxValues && !slices.Contains(m[key], value) {
			m[key] = append(m[key], value)
		}
	}
	if yamlValue == nil {
		return m
	}
	for _, yamlField := range yamlValue.Fields {
		if yamlField.Key == "include" || yamlField.Key == "exclude" {
			continue
		}
		for _, one := range yamlField.Value.List() {
			add(yamlField.Key, one.Text)
		}
	}
	for _, variant := range yamlValue.Field("include").List() {
		isOther := func(f ecosystem.YAMLField) bool { return f.Value != nil && otherSystemRE.MatchString(f.Value.Text) }
		other := slices.ContainsFunc(variant.Fields, isOther)
		for _, yamlField := range variant.Fields {
			if yamlField.Value != nil && (!other || isOther(yamlField)) {
				// for a variant on another system, only the system's name counts
				add(yamlField.Key, yamlField.Value.Text)
			}
		}
	}
	return m
}

// matrixRE matches a matrix value in a script.
var matrixRE = lazyregexp.New(`\$\{\{\s*matrix\.([A-Za-z0-9_-]+)\s*\}\}`)

// systems lists the systems of a job by its runs-on. An empty list means that they are unknown.
func (m matrix) systems(on *ecosystem.YAMLValue) (out []string) {
	for _, yamlValue := range on.List() {
		if found := matrixRE.FindStringSubmatch(yamlValue.Text); found != nil {
			return m[found[1]]
		}
		out = append(out, yamlValue.Text)
	}
	if i := slices.IndexFunc(out, otherSystemRE.MatchString); i >= 0 {
		return out[i : i+1] // a runner has all of these labels, so a label of another system decides
	}
	return out
}

// expandStep returns one step for each value of the first matrix key in the step's script, folder or variables, in
// this order. For other keys, it uses the first value. Without a known value, it returns the step unchanged.
func (m matrix) expandStep(step Step) []Step {
	texts := []string{step.Script, step.Dir}
	for _, name := range slices.Sorted(maps.Keys(step.Env)) {
		texts = append(texts, step.Env[name])
	}
	first := ""
	for _, text := range texts {
		if found := matrixRE.FindStringSubmatch(text); found != nil && len(m[found[1]]) > 0 {
			first = found[1]
			break
		}
	}
	if first == "" {
		return []Step{step}
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
		one := step
		one.Script = put(step.Script)
		one.Dir = put(step.Dir)
		one.Env = make(map[string]string, len(step.Env))
		for name, text := range step.Env {
			one.Env[name] = put(text)
		}
		out = append(out, one)
	}
	return out
}

// listVersions returns the values of action inputs whose names end in -version, one for each line. It skips values
// that only the CI knows.
func (m matrix) listVersions(inputs *ecosystem.YAMLValue) (out []string) {
	if inputs == nil {
		return nil
	}
	for _, yamlField := range inputs.Fields {
		if !strings.HasSuffix(yamlField.Key, "-version") || yamlField.Value == nil {
			continue
		}
		for line := range strings.Lines(yamlField.Value.Text) {
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

// ListVersions lists the versions that an action sets up, without duplicates.
func ListVersions(definitions []Definition, action string) (out []string) {
	for _, d := range definitions {
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
