package cifile

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// maxCondition is the longest condition that is looked at, in bytes.
const maxCondition = 2000

var (
	// falseRE is a condition that holds for no event: what has it is switched off.
	falseRE = lazyregexp.New(`^false$`)
	// systemRE is a condition on the system that a job runs on.
	systemRE = lazyregexp.New(`^(?:runner\.os|matrix\.[a-z0-9_.-]+)\s*(==|!=)\s*'([^']*)'$`)
	// matrixSystemRE is a condition on the name of a system in a matrix.
	matrixSystemRE = lazyregexp.New(`^(!?)(?:startswith|contains)\(\s*matrix\.[a-z0-9_.-]+\s*,\s*'([^']*)'\s*\)$`)
	// laterRE is a condition on events other than a change.
	laterRE = lazyregexp.New(`^(?:github\.event_name\s*==\s*'(?:schedule|release|workflow_dispatch|repository_dispatch)'|startswith\(\s*github\.ref\s*,\s*'refs/tags/[^']*'\s*\)|github\.ref_type\s*==\s*'tag')$`)
	// otherSystemRE is the name of a system that is not Linux.
	otherSystemRE = lazyregexp.New(`(?i)^(?:windows|win32|win64|win-|macos|mac-|osx|darwin)`)
)

// listConditions lists the conditions of a job or a step that must all hold, in small letters. One with || or parentheses around
// others is one condition, which nothing here knows.
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

// neverRuns reports whether a job or a step of a workflow is switched off, or runs on other systems than Linux alone. systems are
// the systems that the job runs on, where they are known.
func neverRuns(v *ecosystem.YAMLValue, systems []string) bool {
	if falseRE.MatchString(strings.ToLower(strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(v.FieldText("if")), "${{"), "}}")))) {
		return true
	}
	if len(systems) > 0 && !slices.ContainsFunc(systems, func(s string) bool { return !otherSystemRE.MatchString(s) }) {
		return true
	}
	return slices.ContainsFunc(listConditions(v), func(c string) bool {
		if m := systemRE.FindStringSubmatch(c); m != nil {
			return m[1] == "==" && otherSystemRE.MatchString(m[2]) || m[1] == "!=" && m[2] == "linux"
		}
		m := matrixSystemRE.FindStringSubmatch(c)
		return m != nil && (m[1] == "" && otherSystemRE.MatchString(m[2]) || m[1] == "!" && strings.HasPrefix(m[2], "ubuntu"))
	})
}

// asideOf says why the CI does not judge a change by a job or a step of a workflow; empty: it does.
func asideOf(v *ecosystem.YAMLValue) string {
	switch {
	case v.FieldText("continue-on-error") == "true":
		return asideSoft
	case slices.ContainsFunc(listConditions(v), laterRE.MatchString):
		return asideLater
	}
	return ""
}

// changeEvents are the events by which a workflow runs for a change, or is run by a workflow that does.
var changeEvents = []string{"pull_request", "pull_request_target", "merge_group", "workflow_call", "workflow_run"}

// asideOfEvents says why the CI does not judge a change by a workflow with these events: none of them is one of a change. A push
// of tags alone is a release.
func asideOfEvents(on *ecosystem.YAMLValue) string {
	if on == nil {
		return ""
	}
	var names []string
	for _, v := range on.List() {
		names = append(names, v.Text)
	}
	for _, f := range on.Fields {
		pushes := f.Key == "push" && (f.Value.Field("tags") == nil || f.Value.Field("branches") != nil)
		if f.Key != "push" || pushes {
			names = append(names, f.Key)
		}
	}
	if slices.Contains(names, "push") || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(changeEvents, n) }) {
		return ""
	}
	return asideLater
}
