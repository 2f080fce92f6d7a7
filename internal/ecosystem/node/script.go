package node

import (
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
	managed         bool              // only its manager can run what it has installed
	audited         []string          // what runs before and after the tests, and has lost an audit
}

func (p packageJSON) dependsOn(name string) bool {
	return p.Dependencies[name] != "" || p.DevDependencies[name] != ""
}

// pinScript is a script as the base has it, with what its manager runs before
// and after it: a branch that rewrites its scripts does not rewrite its gate. env and
// args go to the script itself. Empty: only the manager can run it.
func (p packageJSON) pinScript(dir, name, env, args string) string {
	if p.managed {
		return ""
	}
	all := []string{p.Scripts["pre"+name], env + p.Scripts[name] + args, p.Scripts["post"+name]}
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

// findTest finds the command for the tests of a package. The test script's
// steps before and after its runner stay; the runner gets a report option.
func (m Manager) findTest(dir string, manifest packageJSON) *company.GateCommand {
	script := strings.TrimSpace(manifest.Scripts["test"])
	if script == "" || strings.Contains(script, "no test specified") {
		switch {
		case len(manifest.Workspaces) > 0: // they say it, each for itself
		case manifest.dependsOn("vitest"):
			run := m.Exec + "vitest run"
			report := run + " --passWithNoTests --reporter=default --reporter=junit --outputFile=" + testreport.File
			return &company.GateCommand{Command: run, Probe: m.Probe("vitest"), Parse: testreport.FormatJUnit,
				Report: report, Plant: plantScript, Canary: report + " " + ecosystem.CanaryPlaceholder}
		case manifest.dependsOn("jest"):
			run := m.Exec + "jest --ci"
			report := run + " --passWithNoTests --json --outputFile=" + testreport.File
			return &company.GateCommand{Command: run, Probe: m.Probe("jest"), Parse: formatJestJSON,
				Report: report, Plant: plantScript, Canary: report + " " + ecosystem.CanaryPlaceholder}
		}
		return nil
	}
	gate := &company.GateCommand{Command: m.formatTestCommand(manifest), Report: manifest.pinScript(dir, "test", "", ""), Parse: testreport.FormatPlain}
	last := script
	if at := strings.LastIndex(last, "&&"); at >= 0 {
		last = last[at+2:]
	}
	if strings.ContainsAny(last, "|;&><`$()") {
		return gate // arguments would end up anywhere
	}
	manifest = manifest.quietly(script, last)
	env, args, only := "", "", "" // only runs the company's own test and no other
	switch programName(last) {
	case "vitest":
		gate.Parse, gate.Probe, args = testreport.FormatJUnit, m.Probe("vitest"), " --run --passWithNoTests --reporter=default --reporter=junit --outputFile="+testreport.File
		only = " " + ecosystem.CanaryPlaceholder
		if choosesFiles(last, "vitest", "run") {
			only = " -t " + ecosystem.CanaryPlaceholder
		}
	case "jest":
		gate.Parse, gate.Probe, args = formatJestJSON, m.Probe("jest"), " --ci --passWithNoTests --json --outputFile="+testreport.File
		only = " " + ecosystem.CanaryPlaceholder
		if choosesFiles(last, "jest") {
			only = " -t " + ecosystem.CanaryPlaceholder
		}
	case "mocha":
		gate.Parse, gate.Probe, args, only = formatTAP, m.Probe("mocha"), " --reporter tap", " --grep "+ecosystem.CanaryPlaceholder
	case "ava":
		gate.Parse, gate.Probe, args, only = formatTAP, m.Probe("ava"), " --tap", " '--match=*"+ecosystem.CanaryPlaceholder+"*'"
	case "tape", "tap":
		gate.Parse = formatTAP
	case "node":
		if slices.Contains(strings.Fields(last), "--test") {
			gate.Parse, env = formatTAP, "export NODE_OPTIONS=--test-reporter=tap; "
			at := len(script) - len(last) // behind "--test" come files
			alone := packageJSON{Scripts: maps.Clone(manifest.Scripts)}
			alone.Scripts["test"] = script[:at] + strings.Replace(manifest.Scripts["test"][at:], "--test", "--test --test-name-pattern="+ecosystem.CanaryPlaceholder, 1)
			gate.Canary = alone.pinScript(dir, "test", env, "")
		}
	}
	if only != "" {
		gate.Canary = manifest.pinScript(dir, "test", env, args+only)
	}
	if gate.Canary != "" {
		gate.Plant = plantScript
	}
	if gate.Report = manifest.pinScript(dir, "test", env, args); gate.Report == "" { // by its manager, and without what that cannot pass on
		gate.Report = strings.TrimSuffix(gate.Command+m.Arguments+args, m.Arguments)
		if env != "" {
			gate.Report = strings.Replace(gate.Command, m.Name+" test", "NODE_OPTIONS=--test-reporter=tap "+m.Name+" test", 1)
		}
	}
	return gate
}

// Flags of a script that a gate cannot have: to wait for changes, and to report
// to somewhere else. Two of one kind are an error of the runner's, or none of
// them is heeded.
var (
	watchFlag   = lazyregexp.New(`\s--watch(?:All)?(?:=true)?(\s|$)`)
	shortWatch  = lazyregexp.New(`\s-w(\s|$)`) // jest has another meaning for it
	watchWord   = lazyregexp.New(`\bvitest\s+(?:watch|dev)\b`)
	ownReporter = lazyregexp.New(`\s--reporter(?:=|\s+)` + flagValue)
	ownFile     = lazyregexp.New(`\s--outputFile(?:\.\w+)?(?:=|\s+)` + flagValue)
	ownJSON     = lazyregexp.New(`\s--json(?:=true)?(\s|$)`)
)

const flagValue = `(?:[^\s'"]+|'[^']*'|"[^"]*")`

// quietly is a manifest whose test script, with its last line, leaves watching
// and reporting to the gate.
func (p packageJSON) quietly(script, last string) packageJSON {
	line := watchFlag.ReplaceAllString(last, "$1")
	switch programName(last) {
	case "vitest":
		line = watchWord.ReplaceAllString(line, "vitest run")
		line = ownFile.ReplaceAllString(ownReporter.ReplaceAllString(line, ""), "")
	case "jest":
		line = ownFile.ReplaceAllString(ownJSON.ReplaceAllString(line, "$1"), "")
	case "mocha", "ava":
		line = shortWatch.ReplaceAllString(line, "$1")
	case "node":
	default:
		return p
	}
	p.Scripts = maps.Clone(p.Scripts)
	p.Scripts["test"] = strings.TrimSuffix(script, last) + line
	return p
}

// choosesFiles says whether a script names files to its runner: one more would
// be taken beside them, and not out of them.
func choosesFiles(line string, words ...string) bool {
	started := false
	for word := range strings.FieldsSeq(line) {
		switch {
		case slices.Contains(words, path.Base(word)):
			started = true
		case started && !strings.HasPrefix(word, "-"):
			return true
		}
	}
	return false
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
