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

// pipeline is a .gitlab-ci.yml with the files of the tree that it includes.
type pipeline struct {
	fields []ecosystem.YAMLField // of its own file first
	byKey  map[string]*ecosystem.YAMLValue
	file   map[*ecosystem.YAMLValue]string
}

// field is the value of a key of the pipeline, or nil.
func (p pipeline) field(key string) *ecosystem.YAMLValue { return p.byKey[key] }

// readPipeline reads a .gitlab-ci.yml. What it includes from elsewhere is not there
// to read, and is named.
func (r *reader) readPipeline(d *Definition, root *ecosystem.YAMLValue) {
	p := pipeline{byKey: map[string]*ecosystem.YAMLValue{}, file: map[*ecosystem.YAMLValue]string{}}
	r.addIncluded(d, &p, d.File, root, 0)
	env := readEnv(p.field("variables"), nil)
	for _, f := range p.fields {
		v := f.Value
		if slices.Contains(pipelineWords, f.Key) || strings.HasPrefix(f.Key, ".") || v.Fields == nil || len(d.Jobs) == maxJobs || r.room < 0 {
			continue
		}
		job := p.listTemplates(v)
		valueOf := func(key string) *ecosystem.YAMLValue {
			return firstValue(extendedField(job, key), p.field("default").Field(key), p.field(key))
		}
		aside, never := asideOfJob(job)
		if extendedField(job, "script") == nil || never {
			continue
		}
		j := Job{Name: f.Key, Line: f.Line, Image: readImage(valueOf("image")), Env: readEnv(extendedField(job, "variables"), env)}
		for _, s := range valueOf("services").List() {
			image := readImage(s)
			name, _, _ := strings.Cut(path.Base(image), ":")
			j.Services = append(j.Services, Service{Name: cmp.Or(s.FieldText("alias"), name), Image: image, Env: readEnv(s.Field("variables"), nil), Line: s.Line})
		}
		for _, key := range []string{"before_script", "script"} {
			for _, s := range r.readReferences(p, valueOf(key), 0) {
				s.Continues, s.Aside = len(j.Steps) > 0, aside
				if at := p.file[v]; at != d.File {
					s.File = at
				}
				r.addStep(&j, s)
			}
		}
		d.Jobs = append(d.Jobs, j)
	}
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
func (p pipeline) listTemplates(job *ecosystem.YAMLValue) (found []*ecosystem.YAMLValue) {
	var add func(v *ecosystem.YAMLValue, depth int)
	add = func(v *ecosystem.YAMLValue, depth int) {
		if v == nil || depth > maxExtends || len(found) == maxTemplates || slices.Contains(found, v) {
			return
		}
		found = append(found, v)
		names := v.Field("extends").List()
		for _, name := range slices.Backward(names[:min(len(names), maxExtends)]) {
			add(p.field(name.Text), depth+1)
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

// maxReferences bounds references that lead to one another.
const maxReferences = 4

// readReferences are the lines of a script, with those of the scripts that it refers to (!reference [.setup, script]).
func (r *reader) readReferences(p pipeline, v *ecosystem.YAMLValue, depth int) (out []Step) {
	for _, line := range p.resolveReference(v).List() {
		// References may lead to thousands of others, and to no script in the end.
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

// resolveReference returns the value that a reference names, which is a list of keys; of other values it is the value itself.
func (p pipeline) resolveReference(v *ecosystem.YAMLValue) *ecosystem.YAMLValue {
	if v == nil || len(v.Items) < 2 || len(v.Items) > 3 {
		return v
	}
	found := p.field(v.Items[0].Text)
	for _, key := range v.Items[1:] {
		found = found.Field(key.Text)
	}
	if found == nil {
		return v
	}
	return found
}

// readTravis reads a .travis.yml: its script, for all the jobs of its matrix.
func (r *reader) readTravis(d *Definition, root *ecosystem.YAMLValue) {
	j := Job{Name: "script", Line: 1, Env: map[string]string{}}
	for _, key := range []string{"before_script", "script"} {
		for _, s := range readScript(root.Field(key)) {
			s.Continues = len(j.Steps) > 0
			r.addStep(&j, s)
		}
	}
	for _, s := range root.Field("services").List() {
		j.Services = append(j.Services, Service{Name: s.Text, Image: s.Text, Env: map[string]string{}, Line: s.Line})
	}
	if v := root.Field("script"); v != nil {
		j.Line = v.Line
	}
	j.Packages = readTravisPackages(root)
	if len(j.Steps)+len(j.Services) > 0 {
		d.Jobs = append(d.Jobs, j)
	}
}
