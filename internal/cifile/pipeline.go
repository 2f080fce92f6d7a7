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

// maxExtends bounds a chain of templates, which may be a circle.
const maxExtends = 8

// readPipeline reads a .gitlab-ci.yml. What it includes from elsewhere is not there
// to read.
func readPipeline(root *ecosystem.YAMLValue) []Job {
	env := readEnv(root.Field("variables"), nil)
	of := func(v *ecosystem.YAMLValue, key string) *ecosystem.YAMLValue {
		return firstValue(extendedField(root, v, key, 0), root.Field("default").Field(key), root.Field(key))
	}
	var out []Job
	for _, f := range root.Fields {
		v := f.Value
		if slices.Contains(pipelineWords, f.Key) || strings.HasPrefix(f.Key, ".") || v.Fields == nil || len(out) == maxJobs {
			continue
		}
		j := Job{Name: f.Key, Line: f.Line, Image: readImage(of(v, "image")), Env: readEnv(extendedField(root, v, "variables", 0), env)}
		for _, s := range of(v, "services").List() {
			image := readImage(s)
			name, _, _ := strings.Cut(path.Base(image), ":")
			j.Services = append(j.Services, Service{Name: cmp.Or(s.FieldText("alias"), name), Image: image, Env: readEnv(s.Field("variables"), nil), Line: s.Line})
		}
		for _, key := range []string{"before_script", "script"} {
			j.Steps = append(j.Steps, readScript(of(v, key))...)
		}
		if extendedField(root, v, "script", 0) != nil {
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

// extendedField is a key of a job, or of the last of the templates that it extends
// which has it.
func extendedField(root, job *ecosystem.YAMLValue, key string, depth int) *ecosystem.YAMLValue {
	if v := job.Field(key); v != nil || depth == maxExtends {
		return v
	}
	templates := job.Field("extends").List()
	for _, name := range slices.Backward(templates[:min(len(templates), maxExtends)]) {
		if v := extendedField(root, root.Field(name.Text), key, depth+1); v != nil {
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
	if len(j.Steps)+len(j.Services) == 0 {
		return nil
	}
	return []Job{j}
}
