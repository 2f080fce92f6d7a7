package node

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// auditPrograms lists programs that ask a registry for known vulnerabilities of the installed packages.
var auditPrograms = []string{"aud", "audit-ci", "better-npm-audit", "npm-audit-resolver", "snyk"}

// leaveOutAudits removes audits from the scripts that run before and after the tests. Checks run offline,
// so an audit fails in every tree and does not depend on the change.
func (p packageJSON) leaveOutAudits(tree *ecosystem.Tree, dir string) packageJSON {
	for _, hook := range []string{"pretest", "posttest"} {
		var audits, others []string
		for step := range strings.SplitSeq(p.Scripts[hook], "&&") {
			if isAudit(step) {
				audits = append(audits, strings.TrimSpace(step))
			} else {
				others = append(others, step)
			}
		}
		if len(audits) == 0 {
			continue
		}
		p.Scripts = maps.Clone(p.Scripts)
		p.Scripts[hook] = strings.TrimSpace(strings.Join(others, "&&"))
		p.audited = append(p.audited, hook)
		tree.AddNote("%s: %s asks a registry for weaknesses of packages (%s): tests are run without that, since checks are "+
			"offline",
			manifestIn(dir), hook, ecosystem.PrintablePath(strings.Join(audits, " && ")))
	}
	return p
}

var quotedRE = lazyregexp.New(`'[^']*'|"[^"]*"`)

// isAudit reports whether a step of a script is only an audit.
func isAudit(step string) bool {
	step = quotedRE.ReplaceAllString(step, "")
	if strings.ContainsAny(step, "'\"|;&<>`$()\n") {
		return false
	}
	var words []string
	for word := range strings.FieldsSeq(step) {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") && word != "npx" && word != "cross-env" {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return false
	}
	program, _, _ := strings.Cut(path.Base(words[0]), "@")
	if slices.Contains(auditPrograms, program) {
		return true
	}
	if program == "yarn" && len(words) > 2 && words[1] == "npm" { // yarn 4 has yarn npm audit
		words = words[1:]
	}
	return slices.Contains([]string{"npm", "pnpm", "yarn"}, program) && len(words) > 1 && words[1] == "audit"
}

// formatTestCommand returns the command that runs the test script. It leaves out an audit in posttest where
// npm has an option for that.
func (m Manager) formatTestCommand(manifest packageJSON) string {
	if manifest.parted {
		return strings.ReplaceAll(manifest.Scripts["test"], "npm run ", m.Name+" run ")
	}
	command := m.Name + " test"
	if m.Name != "npm" || !slices.Equal(manifest.audited, []string{"posttest"}) || manifest.Scripts["posttest"] != "" {
		return command
	}
	command += " --ignore-scripts" // skips pretest and posttest
	if manifest.Scripts["pretest"] != "" {
		command = "npm run pretest && " + command
	}
	return command
}
