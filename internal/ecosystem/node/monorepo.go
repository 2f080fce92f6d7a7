package node

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/glob"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// configEndings end the names of files that configure vitest and jest.
var configEndings = []string{".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"}

// runnerProjects are the packages whose tests the runner of a folder runs with its own.
type runnerProjects struct {
	dir, format string
	patterns    []glob.Glob // of folders or of their configurations
	excluded    []glob.Glob
}

var (
	vitestProjectsRE = lazyregexp.New(`\b(?:projects|workspace)['"]?\s*[:(]`)
	jestProjectsRE   = lazyregexp.New(`\bprojects\b`)
	literalRE        = lazyregexp.New(`'([^'\n]{1,200})'|"([^"\n]{1,200})"`)
	importLineRE     = lazyregexp.New(`(?m)^\s*(?:import\b|(?:const|let|var)\b.*\brequire\().*$`)
)

// Limits of the patterns by which a runner finds its projects.
const (
	maxProjectPatterns = 200
	projectSteps       = 1 << 20 // of the comparison of one folder with them
)

// findProjects returns the projects of a runner that the package has. Nil: its configuration names none.
func (s scriptChecks) findProjects(runner string) *runnerProjects {
	p := &runnerProjects{dir: s.dir, format: testreport.FormatJUnit}
	text, all := "", vitestProjectsRE
	if runner == "jest" {
		p.format, all = formatJestJSON, jestProjectsRE
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
	for _, m := range literalRE.FindAllStringSubmatch(importLineRE.ReplaceAllString(text[at[0]:], ""), maxProjectPatterns) {
		pattern := strings.TrimPrefix(strings.TrimPrefix(m[1]+m[2], "<rootDir>/"), "./")
		into := &p.patterns
		if rest, ok := strings.CutPrefix(pattern, "!"); ok {
			pattern, into = strings.TrimPrefix(rest, "./"), &p.excluded
		}
		if g, err := glob.ParsePattern(strings.TrimSuffix(pattern, "/"), glob.Full); err == nil {
			*into = append(*into, g)
		}
	}
	return p
}

// findScriptProjects finds the projects of the runner that the test script of a root of several packages
// ends in.
func (s scriptChecks) findScriptProjects(c *packageChecks) {
	for _, g := range c.tests {
		if g.program != "vitest" && g.program != "jest" {
			return // what reaches the packages is not known
		}
	}
	if len(c.tests) > 0 {
		c.projects = s.findProjects(c.tests[0].program)
	}
}

// listConfigs are the files of the package that configure a runner, its workspaces first.
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

// isConfigured reports whether the tests of a folder are among the projects' tests. Patterns that are
// computed are taken for all folders.
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

// findRunner returns the runner of a package that has no test script, or nil. The root of several packages
// runs what its configuration names as projects; the packages have tests of their own else.
func (s scriptChecks) findRunner(c *packageChecks) *company.GateCommand {
	for _, runner := range []string{"vitest", "jest"} {
		if len(s.manifest.Workspaces) > 0 {
			if !s.manifest.dependsOn(runner) {
				continue
			}
			if c.projects = s.findProjects(runner); c.projects != nil {
				return s.m.runnerGate(runner)
			}
			continue
		}
		configured := len(s.listConfigs(runner)) > 0 && s.dir != "" && s.root.dependsOn(runner)
		if runner == "vitest" && configured { // vite builds what has no tests, too
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

// localRunners look for tests in a folder of their own, and not in those of the packages below.
var localRunners = []string{"mocha", "tape", "tap", "playwright"}

// farRunners look for tests in all folders, or ask the packages for theirs.
var farRunners = []string{"vitest", "jest", "node --test", "ava", "turbo", "nx", "lerna", "npm", "pnpm", "yarn"}

// reachesPackages reports whether the tests of a package may be those of the packages below it, too,
// as far as its script shows. Scripts for parts of the tests say less than one for all.
func (c *packageChecks) reachesPackages() bool {
	return slices.ContainsFunc(c.tests, func(g namedGate) bool {
		if c.scripted {
			return !slices.Contains(localRunners, g.program)
		}
		return slices.Contains(farRunners, g.program)
	})
}

// maxSeparate is how many packages of a root without tests have gates of their own. Beyond it one
// commandOf runs the tests of all.
const maxSeparate = 8

// addForAll adds a check for the tests of all packages to a root that has no script for them: where the packages show
// none, or are too many for gates of their own.
func (s scriptChecks) addForAll(c *packageChecks, packages map[string]*packageChecks) {
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
				c.tests = append(c.tests, namedGate{gate: s.m.runnerGate(runner), program: runner})
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
		return // yarn 1 fails where a package has no such script
	}
	one := step{text: command, words: strings.Fields(command)}
	report := s.m.reportOf(one)
	own := packageJSON{managed: s.manifest.managed}
	gate := &company.GateCommand{Command: s.m.commandOf(one), Report: own.pinTexts(s.dir, report.env+report.text), Parse: testreport.FormatPlain}
	if program := one.words[0]; program != s.m.Name {
		gate.Probe = s.m.Probe(program)
	}
	c.tests = append(c.tests, namedGate{gate: gate, program: one.words[0]})
	for _, p := range packages {
		if p != c && p.scripted {
			p.tests = nil
		}
	}
}

// packageTool describes a program that runs the scripts of several packages. Its flags have it print the
// runners' output without a name before each line, and go on after a failure.
type packageTool struct {
	env      string // variables that keep it off the network and from leaving a process behind
	flags    []string
	unwanted *lazyregexp.Regexp // flags that select by the history of the repository, which checks do not have
}

var packageTools = map[string]packageTool{
	"turbo": {
		env: "export TURBO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1 TURBO_UI=false; ", flags: []string{"--log-prefix=none", "--continue"},
		unwanted: lazyregexp.New(`\s--(?:affected|filter(?:=|\s+)'?"?[^\s'"]*\[[^\s'"]*'?"?)(?:\s|$)`),
	},
	"nx": {
		env:      "export NX_DAEMON=false NX_NO_CLOUD=true NX_TUI=false NX_SKIP_NX_CACHE=true; ",
		unwanted: lazyregexp.New(`\s--(?:base|head|affected)(?:=|\s+)\S+`),
	},
	"lerna": {env: "export NX_DAEMON=false NX_NO_CLOUD=true; ", flags: []string{"--no-prefix", "--no-bail"}, unwanted: lazyregexp.New(`\s--since(?:=\S+)?(?:\s|$)`)},
}

var nxAffectedRE = lazyregexp.New(`\bnx\s+affected(?::(\w+))?`)

// forPackages returns the text of a step that runs the scripts of several packages, as a gate runs it. Not ok:
// it is none.
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
		if at := strings.Index(before, " -- "); at >= 0 { // what follows goes to the scripts
			return tool.env, before[:at] + flags + before[at:], true
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

// classifyForPackages returns what a command that runs the scripts of several packages is for.
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

// splitTargets returns the arguments up to "--". Lists of targets such as "lint,test" are split.
func splitTargets(args []string) (out []string) {
	for _, w := range args {
		if w == "--" {
			break
		}
		out = append(out, strings.Split(w, ",")...)
	}
	return out
}
