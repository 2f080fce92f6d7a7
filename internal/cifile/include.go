package cifile

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/glob"
)

// Bounds of the files that a pipeline includes.
const (
	maxIncludes     = 60 // files of the tree
	maxIncludeDepth = 4
	maxMatching     = 4 << 20 // steps of matching names with the files of the tree
)

// addIncluded adds the keys of a file to a pipeline, and those of the files of the tree that it includes, or that its jobs start as
// pipelines of their own. What lies elsewhere is named.
func (r *reader) addIncluded(d *Definition, p *pipeline, file string, root *ecosystem.YAMLValue, depth int) {
	for _, f := range root.Fields {
		if f.Value != nil && p.byKey[f.Key] == nil {
			p.fields = append(p.fields, f)
			p.byKey[f.Key] = f.Value
			p.file[f.Value] = file
		}
	}
	wanted := listIncludes(root.Field("include"))
	for _, f := range root.Fields {
		wanted = append(wanted, listIncludes(f.Value.Field("trigger").Field("include"))...)
	}
	for _, w := range wanted {
		local, isLocal := localFile(w)
		if !isLocal {
			if name := foreignName(w); name != "" && len(d.Foreign) < maxSteps {
				d.Foreign = append(d.Foreign, Action{Name: name, Line: w.Line})
			}
			continue
		}
		found := r.findLocal(local)
		if r.matching < 0 {
			d.Problem = "it includes files by too many names"
			return
		}
		for _, at := range found {
			if depth == maxIncludeDepth || len(d.included) == maxIncludes {
				d.Problem = "it includes too many files, or they include one another"
				return
			}
			if slices.Contains(d.included, at) || at == d.File {
				continue
			}
			d.included = append(d.included, at)
			dir, name := ecosystem.SplitPath(at)
			more, err := r.tree.ReadYAML(dir, name)
			if err != nil {
				d.Problem = ecosystem.PrintablePath(at) + ": " + err.Error()
			} else if more != nil {
				r.addIncluded(d, p, at, more, depth+1)
			}
		}
	}
}

// listIncludes lists the entries of an include: texts, and mappings with a key such as local.
func listIncludes(v *ecosystem.YAMLValue) []*ecosystem.YAMLValue {
	if v != nil && v.Fields != nil {
		return []*ecosystem.YAMLValue{v}
	}
	return v.List()
}

// localFile is the file of the tree that an entry of an include names, as GitLab writes it.
func localFile(v *ecosystem.YAMLValue) (name string, ok bool) {
	name = v.FieldText("local")
	if v.Fields == nil && !strings.Contains(v.Text, "://") {
		name = v.Text
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/"), name != "" && !strings.Contains(name, "$")
}

// foreignName is how an entry that is none of the tree is named to people.
func foreignName(v *ecosystem.YAMLValue) string {
	for _, key := range []string{"remote", "template", "project", "component", "local"} {
		if text := v.FieldText(key); text != "" {
			return "include " + text
		}
	}
	if v.Text == "" {
		return ""
	}
	return "include " + v.Text
}

// findLocal lists the files of the tree that a name of an include stands for; it may have wildcards.
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
		if ext := path.Ext(file); (ext == ".yml" || ext == ".yaml") && pattern.MatchWithin(file, &r.matching) && len(out) <= maxIncludes {
			out = append(out, file)
		}
	}
	return out
}

// asideOfJob says why GitLab does not judge a change by a job, and whether it never runs, or on another system.
func asideOfJob(job []*ecosystem.YAMLValue) (aside string, never bool) {
	isNever := func(v *ecosystem.YAMLValue) bool { return v.FieldText("when") == "never" }
	isLater := func(v *ecosystem.YAMLValue) bool {
		text := v.FieldText("if")
		return v.FieldText("when") == "manual" || isNever(v) || strings.Contains(text, "schedule") && !strings.Contains(text, "||") && !strings.Contains(text, "!=")
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
