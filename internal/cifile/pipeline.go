package cifile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// pipelineWords are keys of a .gitlab-ci.yml that are no jobs.
var pipelineWords = []string{"stages", "variables", "default", "include", "workflow", "image", "services", "before_script", "after_script", "cache", "spec"}

// Bounds of the templates of a job. Templates may extend one another in a circle, and eight that
// extend eight each are sixteen million ways.
const (
	maxExtends   = 8  // templates of one list, and of a chain
	maxTemplates = 32 // of one job
)

// readPipeline reads a .gitlab-ci.yml. What it includes from elsewhere is not there
// to read.
func readPipeline(root *ecosystem.YAMLValue) []Job {
	env := readEnv(root.Field("variables"), nil)
	var out []Job
	for _, f := range root.Fields {
		v := f.Value
		if slices.Contains(pipelineWords, f.Key) || strings.HasPrefix(f.Key, ".") || v.Fields == nil || len(out) == maxJobs {
			continue
		}
		job := listTemplates(root, v)
		valueOf := func(key string) *ecosystem.YAMLValue {
			return firstValue(extendedField(job, key), root.Field("default").Field(key), root.Field(key))
		}
		j := Job{Name: f.Key, Line: f.Line, Image: readImage(valueOf("image")), Env: readEnv(extendedField(job, "variables"), env)}
		for _, s := range valueOf("services").List() {
			image := readImage(s)
			name, _, _ := strings.Cut(path.Base(image), ":")
			j.Services = append(j.Services, Service{Name: cmp.Or(s.FieldText("alias"), name), Image: image, Env: readEnv(s.Field("variables"), nil), Line: s.Line})
		}
		for _, key := range []string{"before_script", "script"} {
			j.Steps = append(j.Steps, readScript(valueOf(key))...)
		}
		if extendedField(job, "script") != nil {
			out = append(out, j)
		}
	}
	return out
}

func firstValue(values ...*ecosystem.YAMLValue) *ecosystem.YAMLValue {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// listTemplates returns a job and the templates that it extends, each once, in the order in which
// they are asked for a key: the last of a list goes first.
func listTemplates(root, job *ecosystem.YAMLValue) (found []*ecosystem.YAMLValue) {
	var add func(v *ecosystem.YAMLValue, depth int)
	add = func(v *ecosystem.YAMLValue, depth int) {
		if v == nil || depth > maxExtends || len(found) == maxTemplates || slices.Contains(found, v) {
			return
		}
		found = append(found, v)
		names := v.Field("extends").List()
		for _, name := range slices.Backward(names[:min(len(names), maxExtends)]) {
			add(root.Field(name.Text), depth+1)
		}
	}
	add(job, 0)
	return found
}

// extendedField returns a key of a job, or of the first of its templates that has it.
func extendedField(job []*ecosystem.YAMLValue, key string) *ecosystem.YAMLValue {
	for _, template := range job {
		if v := template.Field(key); v != nil {
			return v
		}
	}
	return nil
}

// readImage is an image by its name, or as the name of a mapping.
func readImage(v *ecosystem.YAMLValue) string {
	if v == nil {
		return ""
	}
	return cmp.Or(v.Text, v.FieldText("name"))
}

// readScript are the lines of a script, each a step. A list within the list is
// what an alias stood for.
func readScript(v *ecosystem.YAMLValue) (out []Step) {
	for _, line := range v.List() {
		switch {
		case len(out) >= maxSteps:
			return out
		case line.Items != nil:
			for _, inner := range line.Items {
				if inner.Text != "" {
					out = append(out, Step{Script: inner.Text, Line: inner.Line})
				}
			}
		case line.Text != "":
			out = append(out, Step{Script: line.Text, Line: line.Line})
		}
	}
	return out
}

// readTravis reads a .travis.yml: its script, for all the jobs of its matrix.
func readTravis(root *ecosystem.YAMLValue) []Job {
	j := Job{Name: "script", Line: 1, Env: map[string]string{}}
	for _, key := range []string{"before_script", "script"} {
		j.Steps = append(j.Steps, readScript(root.Field(key))...)
	}
	for _, s := range root.Field("services").List() {
		j.Services = append(j.Services, Service{Name: s.Text, Image: s.Text, Env: map[string]string{}, Line: s.Line})
	}
	if v := root.Field("script"); v != nil {
		j.Line = v.Line
	}
	j.Packages = readTravisPackages(root)
	if len(j.Steps)+len(j.Services) == 0 {
		return nil
	}
	return []Job{j}
}
