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
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// packageJSON holds the relevant fields of a package.json.
type packageJSON struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
	PackageManager  string            `json:"packageManager"`
	Workspaces      json.RawMessage   `json:"workspaces"`
	Jest            json.RawMessage   `json:"jest"`
	// Wireit holds the scripts that wireit runs, by name.
	Wireit  map[string]wireitScript `json:"wireit"`
	managed bool                    // only its manager can run the installed programs
	audited []string                // pretest or posttest, if an audit was removed from it
	parted  bool                    // its test script combines scripts for parts of the tests
}

func (p packageJSON) dependsOn(name string) bool {
	return p.versionOf(name) != ""
}

// versionOf returns the version range of a dependency, or "" if it is not a dependency.
func (p packageJSON) versionOf(name string) string {
	return cmp.Or(p.Dependencies[name], p.DevDependencies[name])
}

// pinScript returns the text of a script in the base, with the scripts that its manager runs before and
// after it. A branch that changes its scripts thus does not change its gate. env is put before the script
// itself. The result is empty if only the manager can run it.
func (p packageJSON) pinScript(dir, name, env string) string {
	return p.pinTexts(dir, p.Scripts["pre"+name], env+p.Scripts[name], p.Scripts["post"+name])
}

// pinTexts combines texts of scripts into one command. It returns "" if only the manager can run them.
func (p packageJSON) pinTexts(dir string, all ...string) string {
	if p.managed {
		return ""
	}
	line := ""
	for _, script := range all {
		if strings.Contains(script, "npm_") || strings.ContainsAny(script, "\n\x00") {
			return "" // it needs variables that a manager sets
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

// Arguments that make vitest and jest write a report, and accept an empty suite.
const (
	vitestArguments = " --passWithNoTests --reporter=default --reporter=junit --outputFile=" + testreport.File
	jestArguments   = " --ci --passWithNoTests --json --outputFile=" + testreport.File
)

// hasTestScript reports whether a package has a test script other than the placeholder of "npm init".
func (p packageJSON) hasTestScript() bool {
	script := strings.TrimSpace(p.Scripts["test"])
	return script != "" && !strings.Contains(script, "no test specified")
}

// useParts creates a test script from the scripts for parts of the tests. It is for a package without a
// script for all tests.
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
	// otherScriptRE matches names of scripts that run the same tests in another way, or run no tests.
	otherScriptRE = lazyregexp.New(
		`(?:^|[:-])(?:watch|debug|dev|ui|open|headed|cov|coverage|update|inspect|report|bench|all|ci|build|compile|prepare|setup|clean|install|lint|types?)(?:$|[:-])`)
)

// runnerGate returns a check that calls a runner directly, for a package without a test script.
func (m Manager) runnerGate(runner string) *company.GateCommand {
	gate := &company.GateCommand{Command: m.Exec + "vitest run", Parse: testreport.FormatJUnit}
	args := vitestArguments
	if runner == "jest" {
		gate.Command = m.Exec + "jest --ci"
		gate.Parse = formatJestJSON
		args = strings.TrimPrefix(jestArguments, " --ci")
	}
	gate.Probe = m.Probe(runner)
	gate.Report = gate.Command + args
	gate.Plant = plantScript
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

// findTests finds the commands for the tests of a package. It keeps steps before and after a runner, and
// adds a report option to the runner.
func (s scriptChecks) findTests(checks *packageChecks) {
	defer s.addCIBrowsers(checks)
	if !s.manifest.hasTestScript() {
		s.manifest.useParts()
	}
	if !s.manifest.hasTestScript() {
		if gate := s.findRunner(checks); gate != nil {
			checks.tests = append(checks.tests, namedGate{gate: gate, program: runnerOf(gate)})
		}
		return
	}
	if checks.scripted = !s.manifest.parted; checks.scripted {
		defer s.addCIParts(checks)
	}
	manifest := s.manifest.leaveOutAudits(s.tree, s.dir)
	if len(s.manifest.Workspaces) > 0 {
		defer s.findScriptProjects(checks)
	}
	if !s.splitTests(manifest, checks) {
		checks.tests = append(checks.tests, namedGate{gate: s.m.wholeTest(s.dir, manifest)})
	}
}

// wholeTest returns a check that runs the test script as a whole. If its last command is a runner, the
// check gets the runner's report.
func (m Manager) wholeTest(dir string, manifest packageJSON) *company.GateCommand {
	gate := &company.GateCommand{Command: m.formatTestCommand(manifest), Report: manifest.pinScript(dir, "test", ""),
		Parse: testreport.FormatPlain}
	script := strings.TrimSpace(manifest.Scripts["test"])
	last := script
	if index := strings.LastIndex(last, "&&"); index >= 0 {
		last = last[index+2:]
	}
	if strings.ContainsAny(last, "|;&><`$()") {
		return gate // appended arguments could go to any command
	}
	if before := strings.TrimSuffix(script, last); slices.ContainsFunc(
		strings.FieldsFunc(before, isBetweenWords), isRunner) {
		return gate // there would be several reports
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
	if gate.Report = pin(report.env, report.text); gate.Report == "" {
		// run by its manager, without options that the manager cannot pass on
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

// Flags of a script that a gate must remove: those that wait for changes, and those that change the report.
// With two of a kind, the runner fails or ignores both.
var (
	watchFlag   = lazyregexp.New(`\s--watch(?:All)?(?:=true)?(\s|$)`)
	shortWatch  = lazyregexp.New(`\s-w(\s|$)`) // jest has another meaning for it
	watchWord   = lazyregexp.New(`\bvitest\s+(?:watch|dev)\b`)
	ownReporter = lazyregexp.New(`\s--reporter(?:=|\s+)` + flagValue)
	ownFile     = lazyregexp.New(`\s--outputFile(?:\.\w+)?(?:=|\s+)` + flagValue)
	// With several reporters, Node's runner requires a destination for each.
	ownNodeReporter = lazyregexp.New(`\s--test-reporter(?:-destination)?(?:=|\s+)` + flagValue)
	ownJSON         = lazyregexp.New(`\s--json(?:=true)?(\s|$)`)
)

const flagValue = `(?:[^\s'"]+|'[^']*'|"[^"]*")`

// quiet returns the command of a runner without its flags for watching and reporting.
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

// choosesFiles reports whether the arguments of a runner select files. A further file would then extend the
// selection, not restrict it. verbs are arguments that are not files.
func choosesFiles(words []string, verbs ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, "-") && !slices.Contains(verbs, w)
	})
}

// programName returns the name of the program that a script's line starts.
func programName(line string) string {
	for word := range strings.FieldsSeq(line) {
		if strings.Contains(word, "=") || word == "npx" || word == "cross-env" || word == "env" || word == "--no-install" {
			continue
		}
		return path.Base(word)
	}
	return ""
}
