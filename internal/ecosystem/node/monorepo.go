package node

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/company/glob"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// configEndings lists the extensions of files that configure vitest and jest.
var configEndings = []string{".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"}

// runnerProjects describes the packages whose tests a folder's runner also runs.
type runnerProjects struct {
	dir, format string
	patterns    []glob.Glob // patterns of folders or of configuration files
	excluded    []glob.Glob
}

var (
	vitestProjectsRE = lazyregexp.New(`\b(?:projects|workspace)['"]?\s*[:(]`)
	jestProjectsRE   = lazyregexp.New(`\bprojects\b`)
	literalRE        = lazyregexp.New(`'([^'\n]{1,200})'|"([^"\n]{1,200})"`)
	importLineRE     = lazyregexp.New(`(?m)^\s*(?:import\b|(?:const|let|var)\b.*\brequire\().*$`)
)

// Limits for the patterns with which a runner finds its projects.
const (
	maxProjectPatterns = 200
	projectSteps       = 1 << 20 // steps for comparing one folder with all patterns
)

// findProjects returns the projects in a runner's configuration of the package. It returns nil if there are
// none.
func (s scriptChecks) findProjects(runner string) *runnerProjects {
	projects := &runnerProjects{dir: s.dir, format: testreport.FormatJUnit}
	text, all := "", vitestProjectsRE
	if runner == "jest" {
		projects.format, all = formatJestJSON, jestProjectsRE
		var settings struct{ Projects json.RawMessage }
		if json.Unmarshal(s.manifest.Jest, &settings) == nil && len(settings.Projects) > 0 {
			text = "projects: " + string(settings.Projects)
		}
	}
	for _, name := range s.listConfigs(runner) {
		own := s.tree.ReadManifest(s.dir, name)
		if strings.HasPrefix(name, "vitest.workspace") || strings.HasPrefix(name, "vitest.projects") {
			text = "projects: " + own
			break
		}
		if text == "" && all.MatchString(own) {
			text = own
		}
	}
	at := all.FindStringIndex(text)
	if at == nil {
		return nil
	}
	for _, m := range literalRE.FindAllStringSubmatch(
		importLineRE.ReplaceAllString(text[at[0]:], ""), maxProjectPatterns) {
		pattern := strings.TrimPrefix(strings.TrimPrefix(m[1]+m[2], "<rootDir>/"), "./")
		into := &projects.patterns
		if rest, ok := strings.CutPrefix(pattern, "!"); ok {
			pattern, into = strings.TrimPrefix(rest, "./"), &projects.excluded
		}
		if g, err := glob.ParsePattern(strings.TrimSuffix(pattern, "/"), glob.Full); err == nil {
			*into = append(*into, g)
		}
	}
	return projects
}

// findScriptProjects finds the runner's projects if the test script of the root of several packages only
// runs vitest or jest.
func (s scriptChecks) findScriptProjects(checks *packageChecks) {
	for _, g := range checks.tests {
		if g.program != "vitest" && g.program != "jest" {
			return // unknown which packages it reaches
		}
	}
	if len(checks.tests) > 0 {
		checks.projects = s.findProjects(checks.tests[0].program)
	}
}

// listConfigs lists the package's configuration files of a runner. For vitest, workspace files come first.
func (s scriptChecks) listConfigs(runner string) (out []string) {
	names := []string{"jest.config"}
	if runner == "vitest" {
		names = []string{"vitest.workspace", "vitest.projects", "vitest.config", "vite.config"}
	}
	for _, name := range names {
		for _, ending := range configEndings {
			if s.tree.HasFile(s.dir, name+ending) {
				out = append(out, name+ending)
			}
		}
	}
	return out
}

// isConfigured reports whether the projects' tests include those of a folder. If there are no literal
// patterns, because they are computed, every folder counts.
func (p *runnerProjects) isConfigured(tree *ecosystem.Tree, dir string) bool {
	rel := strings.TrimPrefix(strings.TrimPrefix(dir, p.dir), "/")
	budget := projectSteps
	names := []string{rel, rel + "/src/a.test.ts", rel + "/test/a.test.ts", rel + "/tests/a.test.ts"}
	for _, name := range tree.Dirs[dir] {
		names = append(names, rel+"/"+name)
	}
	matches := func(g glob.Glob) bool {
		return slices.ContainsFunc(names, func(n string) bool { return g.MatchWithin(n, &budget) })
	}
	return !slices.ContainsFunc(p.excluded, matches) && (len(p.patterns) == 0 || slices.ContainsFunc(p.patterns, matches))
}

// findRunner returns the runner of a package without a test script, or nil. At the root of several
// packages, it returns a runner only if the runner's configuration names projects. Otherwise the packages
// have their own tests.
func (s scriptChecks) findRunner(checks *packageChecks) *company.GateCommand {
	for _, runner := range []string{"vitest", "jest"} {
		if len(s.manifest.Workspaces) > 0 {
			if !s.manifest.dependsOn(runner) {
				continue
			}
			if checks.projects = s.findProjects(runner); checks.projects != nil {
				return s.m.runnerGate(runner)
			}
			continue
		}
		configured := len(s.listConfigs(runner)) > 0 && s.dir != "" && s.root.dependsOn(runner)
		if runner == "vitest" && configured { // vite also builds packages that have no tests
			configured = slices.ContainsFunc(s.listConfigs(runner), func(name string) bool {
				return !strings.HasPrefix(name, "vite.config") || vitestSettingsRE.MatchString(s.tree.ReadManifest(s.dir, name))
			})
		}
		if s.manifest.dependsOn(runner) || configured {
			return s.m.runnerGate(runner)
		}
	}
	return nil
}

var vitestSettingsRE = lazyregexp.New(`\btest['"]?\s*:\s*\{`)

// localRunners look for tests in their own folder and not in the packages below.
var localRunners = []string{"mocha", "tape", "tap", "playwright"}

// farRunners look for tests in all folders or call the packages' own tests.
var farRunners = []string{"vitest", "jest", "node --test", "ava", "turbo", "nx", "lerna", "npm", "pnpm", "yarn"}

// reachesPackages reports whether the tests of a package may include those of the packages below it, as far
// as its script shows. If the tests are from scripts for parts, only runners known to reach other packages
// count.
func (c *packageChecks) reachesPackages() bool {
	return slices.ContainsFunc(c.tests, func(g namedGate) bool {
		if c.scripted {
			return !slices.Contains(localRunners, g.program)
		}
		return slices.Contains(farRunners, g.program)
	})
}

// maxSeparate limits the packages with their own gates under a root without tests. With more packages, a
// single command runs all tests.
const maxSeparate = 8

// addForAll adds a check with the tests of all packages to a root that has no test script. It does so if
// the packages have no visible tests, or if too many have a test script for separate gates.
func (s scriptChecks) addForAll(checks *packageChecks, packages map[string]*packageChecks) {
	tested, scripted := 0, 0
	for _, p := range packages {
		if len(p.tests) > 0 {
			tested++
			if p.scripted {
				scripted++
			}
		}
	}
	command := ""
	switch {
	case tested > 0 && scripted <= maxSeparate:
		return
	case s.manifest.dependsOn("nx") && s.tree.HasFile(s.dir, "nx.json"):
		command = "nx run-many -t test"
	case tested == 0:
		for _, runner := range []string{"vitest", "jest"} {
			if s.manifest.dependsOn(runner) {
				checks.tests = append(checks.tests, namedGate{gate: s.m.runnerGate(runner), program: runner})
				return
			}
		}
		return
	case s.manifest.dependsOn("turbo"):
		command = "turbo run test"
	case s.manifest.dependsOn("lerna"):
		command = "lerna run test"
	case s.m.Name == "npm":
		command = "npm test --workspaces --if-present"
	case s.m.Name == "pnpm":
		command = "pnpm -r test"
	default:
		return // yarn 1 fails if a package lacks the script
	}
	one := step{text: command, words: strings.Fields(command)}
	report := s.m.reportOf(one)
	own := packageJSON{managed: s.manifest.managed}
	gate := &company.GateCommand{Command: s.m.commandOf(one), Report: own.pinTexts(s.dir, report.env+report.text),
		Parse: testreport.FormatPlain}
	if program := one.words[0]; program != s.m.Name {
		gate.Probe = s.m.Probe(program)
	}
	checks.tests = append(checks.tests, namedGate{gate: gate, program: one.words[0]})
	for _, p := range packages {
		if p != checks && p.scripted {
			p.tests = nil
		}
	}
}

// packageTool describes a program that runs scripts in several packages. Its flags remove the prefix before
// each output line, and make it continue after a failure.
type packageTool struct {
	env      string // variables that prevent network access and background processes
	flags    []string
	unwanted *lazyregexp.Regexp // flags that select packages by git history, which checks don't have
}

var packageTools = map[string]packageTool{
	"turbo": {
		env:      "export TURBO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1 TURBO_UI=false; ",
		flags:    []string{"--log-prefix=none", "--continue"},
		unwanted: lazyregexp.New(`\s--(?:affected|filter(?:=|\s+)'?"?[^\s'"]*\[[^\s'"]*'?"?)(?:\s|$)`),
	},
	"nx": {
		env:      "export NX_DAEMON=false NX_NO_CLOUD=true NX_TUI=false NX_SKIP_NX_CACHE=true; ",
		unwanted: lazyregexp.New(`\s--(?:base|head|affected)(?:=|\s+)\S+`),
	},
	"lerna": {env: "export NX_DAEMON=false NX_NO_CLOUD=true; ", flags: []string{"--no-prefix", "--no-bail"},
		unwanted: lazyregexp.New(`\s--since(?:=\S+)?(?:\s|$)`)},
}

var nxAffectedRE = lazyregexp.New(`\bnx\s+affected(?::(\w+))?`)

// forPackages returns the text of a step, changed for a gate, if the step runs the scripts of several
// packages. Otherwise ok is false.
func forPackages(one step) (env, text string, ok bool) {
	program, args := findProgram(one.words)
	tool, known := packageTools[program]
	text = one.text
	switch {
	case known:
		text = tool.unwanted.ReplaceAllString(text, " ")
		text = nxAffectedRE.ReplaceAllStringFunc(text, func(s string) string {
			if target := nxAffectedRE.FindStringSubmatch(s)[1]; target != "" {
				return "nx run-many --target=" + target
			}
			return "nx run-many"
		})
		before, flags := text, ""
		for _, flag := range tool.flags {
			name, _, _ := strings.Cut(flag, "=")
			if !slices.ContainsFunc(args, func(w string) bool { return w == name || strings.HasPrefix(w, name+"=") }) {
				flags += " " + flag
			}
		}
		if index := strings.Index(before, " -- "); index >= 0 { // the rest are arguments of the scripts
			return tool.env, before[:index] + flags + before[index:], true
		}
		return tool.env, strings.TrimRight(text, " ") + flags, true
	case path.Base(program) == "pnpm" && slices.ContainsFunc(args, func(w string) bool {
		return w == "-r" || w == "--recursive" || strings.HasPrefix(w, "--filter") || w == "-F"
	}):
		return "", strings.Replace(text, "pnpm ", "pnpm --no-bail --reporter-hide-prefix ", 1), true
	}
	return "", text, false
}

var (
	testTargetRE = lazyregexp.New(`^(?:(?:--targets?=)?|affected:|[\w@/.-]+:)(?:tests?|unit|spec)(?:[:-][\w:-]+)?$`)
	e2eTargetRE  = lazyregexp.New(`^(?:(?:--targets?=)?|affected:|[\w@/.-]+:)e2e(?:[:-][\w:-]+)?$`)
)

// classifyForPackages returns the kind of a command that runs the scripts of several packages, or
// stepOther.
func classifyForPackages(program string, args []string) stepKind {
	switch program {
	case "turbo", "nx", "lerna":
	case "npm":
		if !slices.ContainsFunc(args, func(w string) bool {
			return w == "--workspaces" || w == "-ws" || w == "--workspace" || w == "-w" || strings.HasPrefix(w, "--workspace")
		}) {
			return stepOther
		}
	case "pnpm":
		if !slices.ContainsFunc(args, func(w string) bool {
			return w == "-r" || w == "--recursive" || strings.HasPrefix(w, "--filter") || w == "-F"
		}) {
			return stepOther
		}
	case "yarn":
		if !slices.Contains(args, "workspaces") && !slices.Contains(args, "workspace") {
			return stepOther
		}
	default:
		return stepOther
	}
	tasks := splitTargets(args)
	switch {
	case slices.ContainsFunc(tasks, testTargetRE.MatchString):
		return stepTests
	case slices.ContainsFunc(tasks, e2eTargetRE.MatchString):
		return stepBrowser
	}
	return stepOther
}

// splitTargets returns the arguments before "--". It splits lists of targets such as "lint,test".
func splitTargets(args []string) (out []string) {
	for _, w := range args {
		if w == "--" {
			break
		}
		out = append(out, strings.Split(w, ",")...)
	}
	return out
}
