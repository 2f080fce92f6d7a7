package gates

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
)

// packageJSON is what counts of a package.json.
type packageJSON struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
	PackageManager  string            `json:"packageManager"`
	Workspaces      json.RawMessage   `json:"workspaces"`
}

func (p packageJSON) dependsOn(name string) bool {
	return p.Dependencies[name] != "" || p.DevDependencies[name] != ""
}

// lintTools says which package brings the program of a lint script.
var lintTools = map[string]string{
	"eslint": "eslint", "biome": "@biomejs/biome", "tsc": "typescript", "prettier": "prettier", "standard": "standard",
	"xo": "xo", "oxlint": "oxlint", "next": "next", "vue-tsc": "vue-tsc", "jshint": "jshint", "stylelint": "stylelint",
}

// nodeComponents are the npm packages of a repository that have a test or lint of
// their own. What a package above runs for its workspaces is not run again.
func (s *repoScan) nodeComponents() []component {
	var out []component
	root := packageJSON{}
	for _, dir := range s.foldersWith("package.json") {
		text := s.readManifest(dir, "package.json")
		var p packageJSON
		// A manifest is often more than this wants to know, of odd types.
		if err := json.Unmarshal([]byte(text), &p); err != nil && len(p.Scripts) == 0 {
			s.addNote("package.json in %s cannot be read: %v", displayDir(dir), err)
			continue
		}
		if dir == "" {
			root = p
		}
		s.noteOtherManagers(dir, p)
		got := component{dir: dir, kind: "node", description: "npm package", lint: s.nodeLint(dir, p, root), test: s.nodeTest(dir, p)}
		if above := findCovering(out, dir); above != nil { // a workspace of what is checked already
			if above.test != nil {
				got.test = nil
			}
			if above.lint != nil {
				got.lint = nil
			}
			if got.lint == nil && got.test == nil {
				continue
			}
		}
		if got.lint == nil && got.test == nil {
			if dir == "" {
				s.addNote("package.json has neither a test nor a lint that can be run")
			}
			continue
		}
		out = append(out, got)
	}
	return out
}

func findCovering(parts []component, dir string) *component {
	for i := range parts {
		if isUnder(dir, parts[i].dir) {
			return &parts[i]
		}
	}
	return nil
}

func (s *repoScan) noteOtherManagers(dir string, p packageJSON) {
	for _, other := range []struct{ file, name string }{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lockb", "bun"}, {"bun.lock", "bun"}} {
		if s.hasFile(dir, other.file) && !s.hasFile(dir, "package-lock.json") {
			s.addNote("%s is there: dependencies are installed with npm from a package-lock.json, %s is not supported", path.Join(dir, other.file), other.name)
		}
	}
	if name, _, _ := strings.Cut(p.PackageManager, "@"); name != "" && name != "npm" {
		s.addNote("%s asks for %s; scripts are run with npm", path.Join(dir, "package.json"), printablePath(name))
	}
}

// nodeLint is the lint script, where its program is one of the dependencies:
// what is not installed cannot judge.
func (s *repoScan) nodeLint(dir string, p, root packageJSON) *company.GateCommand {
	script := p.Scripts["lint"]
	if script == "" {
		return nil
	}
	tool := programName(script)
	pkg := lintTools[tool]
	if pkg == "" || !p.dependsOn(pkg) && !root.dependsOn(pkg) {
		s.addNote("the lint script in %s is left out: its program (%s) is not one of the dependencies", displayDir(dir), printablePath(tool))
		return nil
	}
	return &company.GateCommand{Command: "npm run lint", Report: p.pinScript(dir, "lint", "", ""), Probe: probeCommand(tool)}
}

// pinScript is a script as the base has it, with what npm runs before and after
// it: a branch that rewrites its scripts does not rewrite its gate. env and
// args go to the script itself. Empty: only npm can run it.
func (p packageJSON) pinScript(dir, name, env, args string) string {
	all := []string{p.Scripts["pre"+name], env + p.Scripts[name] + args, p.Scripts["post"+name]}
	line := ""
	for _, script := range all {
		if strings.Contains(script, "npm_") || strings.ContainsAny(script, "\n\x00") {
			return "" // it asks for what npm sets
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
	for range pathDepth(dir) + 1 {
		bins += at + "/node_modules/.bin:"
		at += "/.."
	}
	return `PATH="` + bins + `$PATH"; export PATH; ` + line
}

// nodeTest is how the tests of a package are run. Whatever the test script
// does before and after its runner stays; the runner is told to report.
func (s *repoScan) nodeTest(dir string, p packageJSON) *company.GateCommand {
	script := strings.TrimSpace(p.Scripts["test"])
	if script == "" || strings.Contains(script, "no test specified") {
		switch {
		case len(p.Workspaces) > 0: // they say it, each for itself
		case p.dependsOn("vitest"):
			return &company.GateCommand{Command: "npx --no-install vitest run", Probe: probeCommand("vitest"), Parse: FormatJUnit,
				Report: vitestRun, Plant: plantScript, Canary: vitestRun + " " + canaryPlaceholder}
		case p.dependsOn("jest"):
			return &company.GateCommand{Command: "npx --no-install jest --ci", Probe: probeCommand("jest"), Parse: FormatJestJSON,
				Report: jestRun, Plant: plantScript, Canary: jestRun + " " + canaryPlaceholder}
		}
		return nil
	}
	g := &company.GateCommand{Command: "npm test", Report: p.pinScript(dir, "test", "", ""), Parse: FormatPlain}
	last := script
	if i := strings.LastIndex(last, "&&"); i >= 0 {
		last = last[i+2:]
	}
	if strings.ContainsAny(last, "|;&><`$()") {
		return g // arguments would end up who knows where
	}
	p = p.quietly(script, last)
	env, args, only := "", "", "" // only runs the company's own test and no other
	switch programName(last) {
	case "vitest":
		g.Parse, g.Probe, args = FormatJUnit, probeCommand("vitest"), " --run --passWithNoTests --reporter=default --reporter=junit --outputFile="+ReportFile
		only = " " + canaryPlaceholder
		if choosesFiles(last, "vitest", "run") {
			only = " -t " + canaryPlaceholder
		}
	case "jest":
		g.Parse, g.Probe, args = FormatJestJSON, probeCommand("jest"), " --ci --passWithNoTests --json --outputFile="+ReportFile
		only = " " + canaryPlaceholder
		if choosesFiles(last, "jest") {
			only = " -t " + canaryPlaceholder
		}
	case "mocha":
		g.Parse, g.Probe, args, only = FormatTAP, probeCommand("mocha"), " --reporter tap", " --grep "+canaryPlaceholder
	case "ava":
		g.Parse, g.Probe, args, only = FormatTAP, probeCommand("ava"), " --tap", " '--match=*"+canaryPlaceholder+"*'"
	case "tape", "tap":
		g.Parse = FormatTAP
	case "node":
		if slices.Contains(strings.Fields(last), "--test") {
			g.Parse, env = FormatTAP, "export NODE_OPTIONS=--test-reporter=tap; "
			at := len(script) - len(last) // behind "--test" come files
			alone := packageJSON{Scripts: maps.Clone(p.Scripts)}
			alone.Scripts["test"] = script[:at] + strings.Replace(p.Scripts["test"][at:], "--test", "--test --test-name-pattern="+canaryPlaceholder, 1)
			g.Canary = alone.pinScript(dir, "test", env, "")
		}
	}
	if only != "" {
		g.Canary = p.pinScript(dir, "test", env, args+only)
	}
	if g.Canary != "" {
		g.Plant = plantScript
	}
	if g.Report = p.pinScript(dir, "test", env, args); g.Report == "" { // by npm, and without what it cannot pass on
		g.Report = strings.TrimSuffix("npm test --"+args, " --")
		if env != "" {
			g.Report = "NODE_OPTIONS=--test-reporter=tap npm test"
		}
	}
	return g
}

// Flags of a script that a gate cannot have: to wait for changes, and to report
// to somewhere else. Two of one kind are an error of the runner's, or none of
// them is heeded.
var (
	watchFlag   = regexp.MustCompile(`\s--watch(?:All)?(?:=true)?(\s|$)`)
	shortWatch  = regexp.MustCompile(`\s-w(\s|$)`) // jest means another thing by it
	watchWord   = regexp.MustCompile(`\bvitest\s+(?:watch|dev)\b`)
	ownReporter = regexp.MustCompile(`\s--reporter(?:=|\s+)` + flagValue)
	ownFile     = regexp.MustCompile(`\s--outputFile(?:\.\w+)?(?:=|\s+)` + flagValue)
	ownJSON     = regexp.MustCompile(`\s--json(?:=true)?(\s|$)`)
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

// The runners without a script of the project's.
const (
	vitestRun = "npx --no-install vitest run --passWithNoTests --reporter=default --reporter=junit --outputFile=" + ReportFile
	jestRun   = "npx --no-install jest --ci --passWithNoTests --json --outputFile=" + ReportFile
)

// choosesFiles says whether a script names files to its runner: one more would
// be taken beside them, and not out of them.
func choosesFiles(line string, words ...string) bool {
	started := false
	for _, w := range strings.Fields(line) {
		switch {
		case slices.Contains(words, path.Base(w)):
			started = true
		case started && !strings.HasPrefix(w, "-"):
			return true
		}
	}
	return false
}

// programName is what a script's line starts.
func programName(line string) string {
	for _, w := range strings.Fields(line) {
		if strings.Contains(w, "=") || w == "npx" || w == "cross-env" || w == "env" || w == "--no-install" {
			continue
		}
		return path.Base(w)
	}
	return ""
}

// probeCommand asks for a program of a package, here or in a folder above.
func probeCommand(tool string) string { return "npm exec --no --offline -- " + tool + " --version" }
