package ciconfig

import (
	"path"
	"slices"
	"strings"

	"company/internal/company/glob"
	"company/internal/ecosystem"
)

// Limits for the files that a pipeline includes.
const (
	maxIncludes     = 60 // files of the tree
	maxIncludeDepth = 4
	maxMatching     = 4 << 20 // steps of matching names against the files of the tree
)

// addIncluded adds the keys of a file to a pipeline. It also adds the files of the tree that the file includes or
// that its jobs start as child pipelines. Files from elsewhere are listed in Foreign.
func (r *reader) addIncluded(definition *Definition, p *pipeline, file string, root *ecosystem.YAMLValue, depth int) {
	for _, yamlField := range root.Fields {
		if yamlField.Value != nil && p.byKey[yamlField.Key] == nil {
			p.fields = append(p.fields, yamlField)
			p.byKey[yamlField.Key] = yamlField.Value
			p.file[yamlField.Value] = file
		}
	}
	wanted := listIncludes(root.Field("include"))
	for _, f := range root.Fields {
		wanted = append(wanted, listIncludes(f.Value.Field("trigger").Field("include"))...)
	}
	for _, yamlValue := range wanted {
		local, isLocal := localFile(yamlValue)
		if !isLocal {
			if name := foreignName(yamlValue); name != "" && len(definition.Foreign) < maxSteps {
				definition.Foreign = append(definition.Foreign, Action{Name: name, Line: yamlValue.Line})
			}
			continue
		}
		found := r.findLocal(local)
		if r.matching < 0 {
			definition.Problem = "it includes files by too many names"
			return
		}
		for _, at := range found {
			if depth == maxIncludeDepth || len(definition.included) == maxIncludes {
				definition.Problem = "it includes too many files, or they include one another"
				return
			}
			if slices.Contains(definition.included, at) || at == definition.File {
				continue
			}
			definition.included = append(definition.included, at)
			dir, name := ecosystem.SplitPath(at)
			more, err := r.tree.ReadYAML(dir, name)
			if err != nil {
				definition.Problem = ecosystem.PrintablePath(at) + ": " + err.Error()
			} else if more != nil {
				r.addIncluded(definition, p, at, more, depth+1)
			}
		}
	}
}

// listIncludes lists the entries of an include: texts, and mappings with a key such as local.
func listIncludes(yamlValue *ecosystem.YAMLValue) []*ecosystem.YAMLValue {
	if yamlValue != nil && yamlValue.Fields != nil {
		return []*ecosystem.YAMLValue{yamlValue}
	}
	return yamlValue.List()
}

// localFile returns the file of the tree in an include entry, in GitLab's syntax.
func localFile(yamlValue *ecosystem.YAMLValue) (name string, ok bool) {
	name = yamlValue.FieldText("local")
	if yamlValue.Fields == nil && !strings.Contains(yamlValue.Text, "://") {
		name = yamlValue.Text
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/"), name != "" && !strings.Contains(name, "$")
}

// foreignName returns the name, for users, of an entry that is not in the tree.
func foreignName(yamlValue *ecosystem.YAMLValue) string {
	for _, key := range []string{"remote", "template", "project", "component", "local"} {
		if text := yamlValue.FieldText(key); text != "" {
			return "include " + text
		}
	}
	if yamlValue.Text == "" {
		return ""
	}
	return "include " + yamlValue.Text
}

// findLocal lists the files of the tree that match an include name, which may have wildcards.
func (r *reader) findLocal(name string) []string {
	if !strings.Contains(name, "*") {
		if _, ok := r.tree.Files[name]; ok {
			return []string{name}
		}
		return nil
	}
	pattern, err := glob.Parse(name)
	if err != nil {
		return nil
	}
	top, _, _ := strings.Cut(name, "*")
	dir, _ := ecosystem.SplitPath(top)
	var out []string
	for _, file := range r.tree.FilesBelow(dir) {
		if r.matching--; r.matching < 0 {
			break
		}
		if ext := path.Ext(file); (ext == ".yml" || ext == ".yaml") && pattern.MatchWithin(file, &r.matching) &&
			len(out) <= maxIncludes {
			out = append(out, file)
		}
	}
	return out
}

// asideOfJob returns the reason why GitLab does not judge changes by a job. never means that the job never runs, or
// only on another system.
func asideOfJob(job []*ecosystem.YAMLValue) (aside string, never bool) {
	isNever := func(v *ecosystem.YAMLValue) bool { return v.FieldText("when") == "never" }
	isLater := func(yamlValue *ecosystem.YAMLValue) bool {
		text := yamlValue.FieldText("if")
		return yamlValue.FieldText("when") == "manual" || isNever(yamlValue) ||
			strings.Contains(text, "schedule") && !strings.Contains(text, "||") && !strings.Contains(text, "!=")
	}
	rules := extendedField(job, "rules").List()
	for _, v := range extendedField(job, "tags").List() {
		if otherSystemRE.MatchString(v.Text) {
			return "", true
		}
	}
	switch {
	case len(rules) > 0 && !slices.ContainsFunc(rules, func(v *ecosystem.YAMLValue) bool { return !isNever(v) }):
		return "", true
	case len(rules) > 0 && !slices.ContainsFunc(rules, func(v *ecosystem.YAMLValue) bool { return !isLater(v) }):
		return asideLater, false
	}
	text := func(key string) string {
		if v := extendedField(job, key); v != nil {
			return v.Text
		}
		return ""
	}
	switch only := extendedField(job, "only").List(); {
	case text("allow_failure") == "true":
		return asideSoft, false
	case text("when") == "never":
		return "", true
	case text("when") == "manual", len(only) == 1 && (only[0].Text == "schedules" || only[0].Text == "tags"):
		return asideLater, false
	}
	return "", false
}
