// Package makefile is the ecosystem of projects that only have a Makefile.
package makefile

import (
	"cmp"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// Ecosystem is make.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "make" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"make"} }

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return "Makefile" }

// targetRE matches the rule of a target that is asked for, and its prerequisites.
var targetRE = lazyregexp.New(`(?m)^(all|test|check|lint)[ \t]*::?([ \t]*|[ \t]*[^=:\s][^\n]*)$`)

// Detect finds the Makefile at the root of a repository that is of no kind that
// is known better.
func (e Ecosystem) Detect(tree *ecosystem.Tree, found []ecosystem.Component) []ecosystem.Component {
	for _, name := range makefiles {
		if !tree.HasFile("", name) {
			continue
		}
		if len(found) > 0 {
			if slices.ContainsFunc(found, func(c ecosystem.Component) bool {
				return strings.Contains(c.Description, name+" says")
			}) {
				return nil // its target for tests is read
			}
			tree.AddNote("the Makefile's targets are not used, since the project's kind is known (gates.test: make test)")
			return nil
		}
		tree.AddProject(e.Name(), "")
		rules := findRules(tree.ReadManifest("", name))
		component := ecosystem.Component{Kind: e.Name(), Description: name}
		if _, ok := rules["lint"]; ok {
			// What make prints of its recipes is not a finding.
			component.Lint = &company.GateCommand{Command: "make lint", Report: "make -s lint", Parse: testreport.FormatLint}
		}
		for _, target := range []string{"test", "check"} {
			needs, ok := rules[target]
			if !ok {
				continue
			}
			// A rule that needs nothing may test what another has compiled.
			if _, builds := rules["all"]; builds && needs == "" && tree.HasBelow("", sourceExts...) {
				target = "all " + target
			}
			// make stops at the first part that fails, and a red base would hide the others.
			component.Test = &company.GateCommand{Command: "make " + target, Report: "make -k " + target,
				Parse: testreport.FormatPlain}
			break
		}
		if component.Lint == nil && component.Test == nil {
			tree.AddNote("%s has no target test, check or lint", name)
			return nil
		}
		if target := e.findSanitizer(tree); target != "" {
			tree.AddNote("the Makefile has a target for a sanitizer; to judge with it: gates.test: make %s", target)
		}
		return []ecosystem.Component{component}
	}
	return nil
}

// sanitizerRE matches a target that is about a sanitizer, and no file that is made.
var sanitizerRE = lazyregexp.New(`(?i)^[a-z0-9_/-]*(asan|ubsan|saniti[sz]e)[a-z0-9_/-]*$`)

// findSanitizer gives the target for a sanitizer: one that tests by its name, else the
// first. Empty: there is none.
func (e Ecosystem) findSanitizer(tree *ecosystem.Tree) string {
	first := ""
	for _, p := range e.Propose(tree) {
		target := strings.TrimPrefix(p.Command, "make ")
		switch {
		case !sanitizerRE.MatchString(target):
		case strings.Contains(target, "test"), strings.Contains(target, "check"):
			return target
		default:
			first = cmp.Or(first, target)
		}
	}
	return first
}

// findRules gives the prerequisites of the targets that are asked for.
func findRules(makefile string) map[string]string {
	all := map[string][]string{}
	for _, m := range targetRE.FindAllStringSubmatch(makefile, -1) {
		needs, _, _ := strings.Cut(m[2], "#")
		needs, _, _ = strings.Cut(needs, ";") // a recipe in the same line
		all[m[1]] = append(all[m[1]], strings.TrimSpace(needs))
	}
	rules := map[string]string{}
	for target, needs := range all {
		rules[target] = strings.TrimSpace(strings.Join(needs, " "))
	}
	return rules
}
