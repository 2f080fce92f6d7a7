package ciconfig

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// maxCondition is the size limit of a condition, in bytes.
const maxCondition = 2000

var (
	// falseRE matches a condition that never holds, which disables its job or step.
	falseRE = lazyregexp.New(`^false$`)
	// systemRE matches a condition on the system on which a job runs.
	systemRE = lazyregexp.New(`^(?:runner\.os|matrix\.[a-z0-9_.-]+)\s*(==|!=)\s*'([^']*)'$`)
	// matrixSystemRE matches a condition on the name of a system in a matrix.
	matrixSystemRE = lazyregexp.New(`^(!?)(?:startswith|contains)\(\s*matrix\.[a-z0-9_.-]+\s*,\s*'([^']*)'\s*\)$`)
	// laterRE matches a condition on events other than a change.
	laterRE = lazyregexp.New(
		`^(?:github\.event_name\s*==\s*'(?:schedule|release|workflow_dispatch|repository_dispatch)'|startswith\(\s*github\.ref\s*,\s*'refs/tags/[^']*'\s*\)|github\.ref_type\s*==\s*'tag')$`)
	// otherSystemRE matches the name of a system other than Linux.
	otherSystemRE = lazyregexp.New(`(?i)^(?:windows|win32|win64|win-|macos|mac-|osx|darwin)`)
)

// listConditions lists the conditions of a job or step that must all hold, in lower case. It returns nil for
// conditions with ||. Parentheses are not parsed.
func listConditions(v *ecosystem.YAMLValue) []string {
	text := strings.ToLower(strings.TrimSpace(v.FieldText("if")))
	if text == "" || len(text) > maxCondition || strings.Contains(text, "||") {
		return nil
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "${{"), "}}")
	all := strings.Split(text, "&&")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// neverRuns reports whether a job or step of a workflow is disabled or runs only on systems other than Linux. systems
// lists the job's systems, if known.
func neverRuns(yamlValue *ecosystem.YAMLValue, systems []string) bool {
	if falseRE.MatchString(
		strings.ToLower(
			strings.TrimSpace(
				strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(yamlValue.FieldText("if")), "${{"), "}}")))) {
		return true
	}
	if len(systems) > 0 && !slices.ContainsFunc(systems, func(s string) bool { return !otherSystemRE.MatchString(s) }) {
		return true
	}
	return slices.ContainsFunc(listConditions(yamlValue), func(c string) bool {
		if m := systemRE.FindStringSubmatch(c); m != nil {
			return m[1] == "==" && otherSystemRE.MatchString(m[2]) || m[1] == "!=" && m[2] == "linux"
		}
		m := matrixSystemRE.FindStringSubmatch(c)
		return m != nil && (m[1] == "" && otherSystemRE.MatchString(m[2]) || m[1] == "!" && strings.HasPrefix(m[2], "ubuntu"))
	})
}

// asideOf returns the reason why the CI does not judge changes by a job or step of a workflow, or "".
func asideOf(yamlValue *ecosystem.YAMLValue) string {
	switch {
	case yamlValue.FieldText("continue-on-error") == "true":
		return asideSoft
	case slices.ContainsFunc(listConditions(yamlValue), laterRE.MatchString):
		return asideLater
	}
	return ""
}

// changeEvents lists the events for which a workflow runs for a change, directly or through another workflow.
var changeEvents = []string{"pull_request", "pull_request_target", "merge_group", "workflow_call", "workflow_run"}

// asideOfEvents returns the reason why the CI does not judge changes by a workflow with these events, or "". The
// reason is that none of the events is a change. A push of tags only is a release.
func asideOfEvents(on *ecosystem.YAMLValue) string {
	if on == nil {
		return ""
	}
	var names []string
	for _, v := range on.List() {
		names = append(names, v.Text)
	}
	for _, yamlField := range on.Fields {
		pushes := yamlField.Key == "push" &&
			(yamlField.Value.Field("tags") == nil || yamlField.Value.Field("branches") != nil)
		if yamlField.Key != "push" || pushes {
			names = append(names, yamlField.Key)
		}
	}
	if slices.Contains(names, "push") ||
		slices.ContainsFunc(names, func(n string) bool { return slices.Contains(changeEvents, n) }) {
		return ""
	}
	return asideLater
}
