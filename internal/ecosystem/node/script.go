package node

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// packageJSON is what counts of a package.json.
type packageJSON struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
	PackageManager  string            `json:"packageManager"`
	Workspaces      json.RawMessage   `json:"workspaces"`
	Jest            json.RawMessage   `json:"jest"`
	// Wireit are the scripts that wireit runs, by their names.
	Wireit  map[string]wireitScript `json:"wireit"`
	managed bool                    // only its manager can run what it has installed
	audited []string                // what runs before and after the tests, and has lost an audit
	parted  bool                    // its test script is made of those for parts of the tests
}

func (p packageJSON) dependsOn(name string) bool {
	return p.versionOf(name) != ""
}

// versionOf is the range of versions that a package asks for of a dependency.
func (p packageJSON) versionOf(name string) string {
	return cmp.Or(p.Dependencies[name], p.DevDependencies[name])
}

// pinScript is a script as the base has it, with what its manager runs before
// and after it: a branch that rewrites its scripts does not rewrite its gate. env goes to
// the script itself. Empty: only the manager can run it.
func (p packageJSON) pinScript(dir, name, env string) string {
	return p.pinTexts(dir, p.Scripts["pre"+name], env+p.Scripts[name], p.Scripts["post"+name])
}

// pinTexts makes one command of the texts of scripts. Empty: only the manager can run them.
func (p packageJSON) pinTexts(dir string, all ...string) string {
	if p.managed {
		return ""
	}
	line := ""
	for _, script := range all {
		if strings.Contains(script, "npm_") || strings.ContainsAny(script, "\n\x00") {
			return "" // it asks for what a manager sets
		}
		if script == "" {
			continue
		}
		if line != "" {
			line += " && "
		}
		if strings.Contains(script, "#") {
			script += "\n" // it may end in a comment
		}
		line += "( " + script + " )"
	}
	at, bins := "$PWD", ""
	for range ecosystem.Depth(dir) + 1 {
		bins += at + "/node_modules/.bin:"
		at += "/.."
	}
	return `PATH="` + bins + `$PATH"; export PATH; ` + line
}

// What makes vitest and jest report, on a suite that may be empty.
const (
	vitestArguments = " --passWithNoTests --reporter=default --reporter=junit --outputFile=" + testreport.File
	jestArguments   = " --ci --passWithNoTests --json --outputFile=" + testreport.File
)

// hasTestScript reports whether a package has a script for its tests. The one that "npm init" writes
// is none.
func (p packageJSON) hasTestScript() bool {
	script := strings.TrimSpace(p.Scripts["test"])
	return script != "" && !strings.Contains(script, "no test specified")
}

// useParts makes a test script of those for the parts of the tests, where a package has none for all of them.
func (p *packageJSON) useParts() {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.Scripts)) {
		if partScriptRE.MatchString(name) && !otherScriptRE.MatchString(name) && scriptNameRE.MatchString(name) {
			all = append(all, "npm run "+name)
		}
	}
	if len(all) == 0 || len(all) > maxTestGates {
		return
	}
	p.Scripts = maps.Clone(p.Scripts)
	p.Scripts["test"] = strings.Join(all, " && ")
	p.parted = true
}

var (
	partScriptRE = lazyregexp.New(`^(?:tests?[:-].+|unit|unit-?tests?|e2e)$`)
	// otherScriptRE matches names of scripts that run the same tests in another way, or none.
	otherScriptRE = lazyregexp.New(`(?:^|[:-])(?:watch|debug|dev|ui|open|headed|cov|coverage|update|inspect|report|bench|all|ci|build|compile|prepare|setup|clean|install|lint|types?)(?:$|[:-])`)
)

// runnerGate is a runner by itself, in a folder whose package has no script for it.
func (m Manager) runnerGate(runner string) *company.GateCommand {
	gate := &company.GateCommand{Command: m.Exec + "vitest run", Parse: testreport.FormatJUnit}
	args := vitestArguments
	if runner == "jest" {
		gate.Command, gate.Parse, args = m.Exec+"jest --ci", formatJestJSON, strings.TrimPrefix(jestArguments, " --ci")
	}
	gate.Probe, gate.Report, gate.Plant = m.Probe(runner), gate.Command+args, plantScript
	gate.Canary = gate.Report + " " + ecosystem.CanaryPlaceholder
	return gate
}

// runnerOf returns the runner of runnerGate.
func runnerOf(gate *company.GateCommand) string {
	if gate.Parse == formatJestJSON {
		return "jest"
	}
	return "vitest"
}

// findTests finds the commands for the tests of a package. Steps before and after a runner
// stay; the runner gets a report option.
func (s scriptChecks) findTests(c *packageChecks) {
	defer s.addCIBrowsers(c)
	if !s.manifest.hasTestScript() {
		s.manifest.useParts()
	}
	if !s.manifest.hasTestScript() {
		if gate := s.findRunner(c); gate != nil {
			c.tests = append(c.tests, namedGate{gate: gate, program: runnerOf(gate)})
		}
		return
	}
	if c.scripted = !s.manifest.parted; c.scripted {
		defer s.addCIParts(c)
	}
	manifest := s.manifest.leaveOutAudits(s.tree, s.dir)
	if len(s.manifest.Workspaces) > 0 {
		defer s.findScriptProjects(c)
	}
	if !s.splitTests(manifest, c) {
		c.tests = append(c.tests, namedGate{gate: s.m.wholeTest(s.dir, manifest)})
	}
}

// wholeTest is a test script that is run as it stands. Its last line may be a runner that reports.
func (m Manager) wholeTest(dir string, manifest packageJSON) *company.GateCommand {
	gate := &company.GateCommand{Command: m.formatTestCommand(manifest), Report: manifest.pinScript(dir, "test", ""), Parse: testreport.FormatPlain}
	script := strings.TrimSpace(manifest.Scripts["test"])
	last := script
	if at := strings.LastIndex(last, "&&"); at >= 0 {
		last = last[at+2:]
	}
	if strings.ContainsAny(last, "|;&><`$()") {
		return gate // arguments would end up anywhere
	}
	if before := strings.TrimSuffix(script, last); slices.ContainsFunc(strings.FieldsFunc(before, isBetweenWords), isRunner) {
		return gate // its report would be one of several
	}
	one := step{text: last, words: strings.Fields(last)}
	pin := func(env, text string) string {
		own := packageJSON{Scripts: maps.Clone(manifest.Scripts), managed: manifest.managed}
		own.Scripts["test"] = strings.TrimSuffix(script, last) + text
		return own.pinScript(dir, "test", env)
	}
	if kind, program := one.classify(); kind != stepTests {
		if gate.Report != "" {
			gate.Report = pin("", quiet(program, last))
		}
		return gate
	}
	report := m.reportOf(one)
	gate.Parse = report.format
	if report.tool != "" {
		gate.Probe = m.Probe(report.tool)
	}
	if report.alone != "" {
		gate.Canary = pin(report.env, report.alone)
	}
	if gate.Canary != "" {
		gate.Plant = plantScript
	}
	if gate.Report = pin(report.env, report.text); gate.Report == "" { // by its manager, and without what that cannot pass on
		gate.Report = strings.TrimSuffix(gate.Command+m.Arguments+report.args, m.Arguments)
		if report.env != "" {
			gate.Report = strings.Replace(gate.Command, m.Name+" test", "NODE_OPTIONS=--test-reporter=tap "+m.Name+" test", 1)
		}
	}
	return gate
}

// isBetweenWords reports whether a character separates arguments of a script.
func isBetweenWords(r rune) bool { return strings.ContainsRune(" \t;|&(){}", r) }

// isRunner reports whether an argument of a script starts a runner.
func isRunner(word string) bool { return runners[path.Base(word)] != "" || word == "--test" }

// Flags of a script that a gate cannot have: to wait for changes, and to report
// to somewhere else. Two of one kind are an error of the runner's, or none of
// them is heeded.
var (
	watchFlag   = lazyregexp.New(`\s--watch(?:All)?(?:=true)?(\s|$)`)
	shortWatch  = lazyregexp.New(`\s-w(\s|$)`) // jest has another meaning for it
	watchWord   = lazyregexp.New(`\bvitest\s+(?:watch|dev)\b`)
	ownReporter = lazyregexp.New(`\s--reporter(?:=|\s+)` + flagValue)
	ownFile     = lazyregexp.New(`\s--outputFile(?:\.\w+)?(?:=|\s+)` + flagValue)
	// Node's runner wants a destination for each of several reporters.
	ownNodeReporter = lazyregexp.New(`\s--test-reporter(?:-destination)?(?:=|\s+)` + flagValue)
	ownJSON         = lazyregexp.New(`\s--json(?:=true)?(\s|$)`)
)

const flagValue = `(?:[^\s'"]+|'[^']*'|"[^"]*")`

// quiet returns the text of a runner that leaves watching and reporting to the gate.
func quiet(runner, text string) string {
	line := watchFlag.ReplaceAllString(text, "$1")
	switch runner {
	case "vitest":
		line = watchWord.ReplaceAllString(line, "vitest run")
		return ownFile.ReplaceAllString(ownReporter.ReplaceAllString(line, ""), "")
	case "jest":
		return ownFile.ReplaceAllString(ownJSON.ReplaceAllString(line, "$1"), "")
	case "mocha", "ava":
		return shortWatch.ReplaceAllString(line, "$1")
	case "node --test":
		return ownNodeReporter.ReplaceAllString(line, "")
	case "node":
		return line
	}
	return text
}

// choosesFiles reports whether the arguments of a runner name files. One more would
// be taken beside them, and not out of them. Verbs are no files.
func choosesFiles(words []string, verbs ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, "-") && !slices.Contains(verbs, w)
	})
}

// programName is what a script's line starts.
func programName(line string) string {
	for word := range strings.FieldsSeq(line) {
		if strings.Contains(word, "=") || word == "npx" || word == "cross-env" || word == "env" || word == "--no-install" {
			continue
		}
		return path.Base(word)
	}
	return ""
}
