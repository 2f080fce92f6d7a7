package ciconfig

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// pipelineWords lists keys of a .gitlab-ci.yml that are not jobs.
var pipelineWords = []string{"stages", "variables", "default", "include", "workflow", "image", "services",
	"before_script", "after_script", "cache", "spec"}

// Limits for the templates of a job. Templates may extend one another in a circle, and eight that extend eight each
// form sixteen million paths.
const (
	maxExtends   = 8  // templates of one list, and of a chain
	maxTemplates = 32 // of one job
)

// pipeline is a .gitlab-ci.yml together with the files of the tree that it includes.
type pipeline struct {
	fields []ecosystem.YAMLField // of its own file first
	byKey  map[string]*ecosystem.YAMLValue
	file   map[*ecosystem.YAMLValue]string
}

// field returns the value of a key of the pipeline, or nil.
func (p pipeline) field(key string) *ecosystem.YAMLValue { return p.byKey[key] }

// readPipeline reads a .gitlab-ci.yml. It lists included files from outside of the tree, because it cannot read them.
func (r *reader) readPipeline(definition *Definition, root *ecosystem.YAMLValue) {
	p := pipeline{byKey: map[string]*ecosystem.YAMLValue{}, file: map[*ecosystem.YAMLValue]string{}}
	r.addIncluded(definition, &p, definition.File, root, 0)
	env := readEnv(p.field("variables"), nil)
	for _, yamlField := range p.fields {
		yamlValue := yamlField.Value
		if slices.Contains(pipelineWords, yamlField.Key) || strings.HasPrefix(yamlField.Key, ".") ||
			yamlValue.Fields == nil ||
			len(definition.Jobs) == maxJobs || r.room < 0 {
			continue
		}
		job := p.listTemplates(yamlValue)
		valueOf := func(key string) *ecosystem.YAMLValue {
			return firstValue(extendedField(job, key), p.field("default").Field(key), p.field(key))
		}
		aside, never := asideOfJob(job)
		if extendedField(job, "script") == nil || never {
			continue
		}
		j := Job{Name: yamlField.Key, Line: yamlField.Line, Image: readImage(valueOf("image")),
			Env: readEnv(extendedField(job, "variables"), env)}
		for _, s := range valueOf("services").List() {
			image := readImage(s)
			name, _, _ := strings.Cut(path.Base(image), ":")
			j.Services = append(j.Services,
				Service{Name: cmp.Or(s.FieldText("alias"), name), Image: image, Env: readEnv(s.Field("variables"), nil),
					Line: s.Line})
		}
		for _, key := range []string{"before_script", "script"} {
			for _, step := range r.readReferences(p, valueOf(key), 0) {
				step.Continues, step.Aside = len(j.Steps) > 0, aside
				if at := p.file[yamlValue]; at != definition.File {
					step.File = at
				}
				r.addStep(&j, step)
			}
		}
		definition.Jobs = append(definition.Jobs, j)
	}
}

func firstValue(values ...*ecosystem.YAMLValue) *ecosystem.YAMLValue {
	for _, yamlValue := range values {
		if yamlValue != nil {
			return yamlValue
		}
	}
	return nil
}

// listTemplates returns a job and the templates that it extends, without duplicates. The order is that of the lookup
// of keys: the last template of a list comes first.
func (p pipeline) listTemplates(job *ecosystem.YAMLValue) (found []*ecosystem.YAMLValue) {
	var add func(v *ecosystem.YAMLValue, depth int)
	add = func(yamlValue *ecosystem.YAMLValue, depth int) {
		if yamlValue == nil || depth > maxExtends || len(found) == maxTemplates || slices.Contains(found, yamlValue) {
			return
		}
		found = append(found, yamlValue)
		names := yamlValue.Field("extends").List()
		for _, name := range slices.Backward(names[:min(len(names), maxExtends)]) {
			add(p.field(name.Text), depth+1)
		}
	}
	add(job, 0)
	return found
}

// extendedField returns the value of a key of a job. If the job lacks the key, the first template that has it counts.
// It returns nil if there is none.
func extendedField(job []*ecosystem.YAMLValue, key string) *ecosystem.YAMLValue {
	for _, template := range job {
		if v := template.Field(key); v != nil {
			return v
		}
	}
	return nil
}

// readImage returns the name of an image, written as a text or as the field "name" of a mapping.
func readImage(yamlValue *ecosystem.YAMLValue) string {
	if yamlValue == nil {
		return ""
	}
	return cmp.Or(yamlValue.Text, yamlValue.FieldText("name"))
}

// readScript returns the lines of a script, each as a step. A nested list comes from an alias.
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

// maxReferences limits how deep references may be nested.
const maxReferences = 4

// readReferences returns the lines of a script, including the scripts that it refers to (!reference [.setup,
// script]).
func (r *reader) readReferences(p pipeline, v *ecosystem.YAMLValue, depth int) (out []Step) {
	for _, line := range p.resolveReference(v).List() {
		// References may lead to thousands of others and never to a script.
		if r.room--; r.room < 0 || len(out) >= maxSteps {
			return out
		}
		if named := p.resolveReference(line); named != line && depth < maxReferences {
			out = append(out, r.readReferences(p, named, depth+1)...)
		} else {
			out = append(out, readScript(&ecosystem.YAMLValue{Items: []*ecosystem.YAMLValue{line}})...)
		}
	}
	return out
}

// resolveReference returns the value that a reference names. A reference is a list of keys. Other values are returned
// unchanged.
func (p pipeline) resolveReference(yamlValue *ecosystem.YAMLValue) *ecosystem.YAMLValue {
	if yamlValue == nil || len(yamlValue.Items) < 2 || len(yamlValue.Items) > 3 {
		return yamlValue
	}
	found := p.field(yamlValue.Items[0].Text)
	for _, key := range yamlValue.Items[1:] {
		found = found.Field(key.Text)
	}
	if found == nil {
		return yamlValue
	}
	return found
}

// readTravis reads a .travis.yml: its script, for all the jobs of its matrix.
func (r *reader) readTravis(definition *Definition, root *ecosystem.YAMLValue) {
	job := Job{Name: "script", Line: 1, Env: map[string]string{}}
	for _, key := range []string{"before_script", "script"} {
		for _, step := range readScript(root.Field(key)) {
			step.Continues = len(job.Steps) > 0
			r.addStep(&job, step)
		}
	}
	for _, s := range root.Field("services").List() {
		job.Services = append(job.Services, Service{Name: s.Text, Image: s.Text, Env: map[string]string{}, Line: s.Line})
	}
	if v := root.Field("script"); v != nil {
		job.Line = v.Line
	}
	job.Packages = readTravisPackages(root)
	if len(job.Steps)+len(job.Services) > 0 {
		definition.Jobs = append(definition.Jobs, job)
	}
}
