package node

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// checkTools says which package brings the program of a script that checks.
var checkTools = map[string]string{
	"eslint": "eslint", "biome": "@biomejs/biome", "tsc": "typescript", "prettier": "prettier", "standard": "standard",
	"xo": "xo", "oxlint": "oxlint", "next": "next", "vue-tsc": "vue-tsc", "jshint": "jshint", "stylelint": "stylelint",
	"svelte-check": "svelte-check", "astro": "astro", "nuxt": "nuxt", "nuxi": "nuxi",
	"react-router": "@react-router/dev",
}

// buildTools says the same of a script that builds.
var buildTools = map[string]string{
	"tsc": "typescript", "vue-tsc": "vue-tsc", "tsup": "tsup", "tsdown": "tsdown", "vite": "vite", "rollup": "rollup", "webpack": "webpack", "ng": "@angular/cli",
	"esbuild": "esbuild", "unbuild": "unbuild", "next": "next", "nest": "@nestjs/cli", "svelte-kit": "@sveltejs/kit", "astro": "astro", "nuxt": "nuxt", "rspack": "@rspack/cli",
	"react-router": "@react-router/dev",
}

// typeScripts are names of scripts that check types. One of checks is it where its program is in typeTools.
var (
	typeScripts = []string{"typecheck", "type-check", "check-types", "check:types", "types:check", "lint:types", "tsc", "check"}
	typeTools   = []string{"tsc", "vue-tsc", "svelte-check", "astro", "nuxi", "nuxt"}
)

// scriptChecks finds the checks that read or build a package.
type scriptChecks struct {
	m              Manager
	tree           *ecosystem.Tree
	dir            string
	manifest, root packageJSON
	ci             ciCalls
	left           *int // bytes of scripts that may be parsed
}

// isInstalled says whether a package is installed.
func (s scriptChecks) isInstalled(pkg string) bool {
	return pkg != "" && (s.manifest.dependsOn(pkg) || s.root.dependsOn(pkg))
}

// toolOf is the program of the last step of a script of which each step has a program that is
// installed: one that is not cannot judge. tools say which package brings a program.
func (s scriptChecks) toolOf(name string, tools map[string]string) string {
	tool := ""
	steps, _ := s.m.readSteps(s.manifest, s.manifest.Scripts[name], s.left)
	for _, one := range steps {
		if watchesRE.MatchString(one.text) {
			return "" // it does not end
		}
		tool, _ = findProgram(one.words)
		if !s.isInstalled(tools[tool]) && !s.isInstalled(buildTools[tool]) {
			return ""
		}
	}
	return tool
}

// watchesRE finds a flag with which a compiler waits for changes.
var watchesRE = lazyregexp.New(`\s(--watch|-w)(\s|$)`)

// findLint is the lint script, where its first program is one of the dependencies, else what Nx runs.
func (s scriptChecks) findLint() *company.GateCommand {
	script := s.manifest.Scripts["lint"]
	if script == "" {
		return s.findNxLint()
	}
	tool := programName(script)
	if steps, ok := s.m.readSteps(s.manifest, script, s.left); ok {
		tool, _ = findProgram(steps[0].words)
	}
	if s.isInstalled(checkTools[tool]) {
		return s.scriptGate("lint", tool)
	}
	s.tree.AddNote("the lint script in %s is left out: its program (%s) is not one of the dependencies", ecosystem.DisplayDir(s.dir), ecosystem.PrintablePath(tool))
	return nil
}

// findTypes is a script that checks the types, else TypeScript's compiler, which the repository does not ask for.
func (s scriptChecks) findTypes() *company.GateCommand {
	if !s.isInstalled("typescript") {
		return nil
	}
	for _, name := range typeScripts {
		if tool := s.toolOf(name, checkTools); slices.Contains(typeTools, tool) {
			return s.scriptGate(name, tool)
		}
	}
	if s.tree.HasFile(s.dir, "nx.json") && emptyProjectRE.MatchString(s.tree.ReadManifest(s.dir, "tsconfig.json")) {
		return s.compilerGate("tsc --build --emitDeclarationOnly") // as Nx checks the types of its projects
	}
	// What svelte-kit, nuxt or astro make is not there: without it the compiler alone finds faults in all.
	if !s.tree.HasFile(s.dir, "tsconfig.json") || emptyProjectRE.MatchString(s.tree.ReadManifest(s.dir, "tsconfig.json")) || s.isInstalled("@sveltejs/kit") || s.isInstalled("nuxt") || s.isInstalled("astro") {
		return nil
	}
	if s.toolOf("lint", checkTools) == "tsc" {
		return nil // the same again
	}
	return s.compilerGate(append(s.makeTypes(), "tsc --noEmit")...)
}

// compilerGate is TypeScript's compiler by itself, after what makes types for it.
func (s scriptChecks) compilerGate(commands ...string) *company.GateCommand {
	own := packageJSON{} // the compiler is run without the manager, too
	return &company.GateCommand{Command: s.m.Exec + strings.Join(commands, " && "+s.m.Exec), Report: own.pinTexts(s.dir, commands...), Probe: s.m.Probe("tsc"), Parse: formatTypeScript, Provisional: true}
}

// typeMakers are frameworks that make types of a project's routes, from the version on that has the
// command. What they make is in no commit, and without it the compiler finds names that are not there.
var typeMakers = []struct {
	pkg          string
	major, minor int
	command      string
}{
	{"next", 15, 5, "next typegen"},
	{"@react-router/dev", 7, 0, "react-router typegen"},
}

// makeTypes finds the commands that make types for the compiler.
func (s scriptChecks) makeTypes() (commands []string) {
	for _, maker := range typeMakers {
		if wanted := cmp.Or(s.manifest.versionOf(maker.pkg), s.root.versionOf(maker.pkg)); wanted != "" && reachesVersion(wanted, maker.major, maker.minor) {
			commands = append(commands, maker.command)
		}
	}
	return commands
}

// rangeRE finds the version with which a range of versions begins.
var rangeRE = lazyregexp.New(`^[\^~>=v\s]*(\d+)(?:\.(\d+))?`)

// reachesVersion says whether a range begins at a version or later. A name such as latest is later.
func reachesVersion(wanted string, major, minor int) bool {
	match := rangeRE.FindStringSubmatch(wanted)
	if match == nil {
		return true
	}
	hasMajor, _ := strconv.Atoi(match[1])
	hasMinor, _ := strconv.Atoi(match[2])
	return hasMajor > major || hasMajor == major && hasMinor >= minor
}

// findBuild is the build script. It is provisional: it may need what a check has not, such as a
// network.
func (s scriptChecks) findBuild() *company.GateCommand {
	tool := s.toolOf("build", buildTools)
	if tool == "" {
		return nil
	}
	gate := s.scriptGate("build", tool)
	gate.Provisional = true
	return gate
}

// emptyProjectRE finds a tsconfig.json that has no files of its own, only references to
// others: the compiler checks nothing with it but by building.
var emptyProjectRE = lazyregexp.New(`"files"\s*:\s*\[\s*\]`)

// scriptGate is a script that serves as a check. What it runs of the package's other scripts is pinned
// with it.
func (s scriptChecks) scriptGate(name, tool string) *company.GateCommand {
	gate := &company.GateCommand{Command: s.m.Name + " run " + name, Report: s.manifest.pinScript(s.dir, name, ""), Probe: s.m.Probe(tool)}
	if steps, ok := s.m.readSteps(s.manifest, s.manifest.Scripts[name], s.left); ok && slices.ContainsFunc(steps, func(one step) bool { return one.via != nil }) {
		var all []string
		for _, one := range steps {
			all = append(all, one.text)
		}
		gate.Report = s.manifest.pinTexts(s.dir, s.manifest.Scripts["pre"+name], strings.Join(all, " && "), s.manifest.Scripts["post"+name])
	}
	switch {
	case tool == "tsc":
		gate.Parse = formatTypeScript
	case name != "build":
		gate.Parse = testreport.FormatLint
	}
	return gate
}

// formatTypeScript is what TypeScript's compiler prints where no person looks on.
const formatTypeScript = "tsc"

var typeErrorRE = lazyregexp.New(`^(?:([^\s(][^(]*)\(\d+,\d+\): )?error (TS\d+): (.*)$`)

// typeReport reads errors of types. One is named without its line, which moves with
// every change above it.
type typeReport struct{ res testreport.Results }

func (r *typeReport) ReadLine(line string) {
	match := typeErrorRE.FindStringSubmatch(line)
	if match == nil {
		return // the build's other words, or an explanation
	}
	name := match[2] + ": " + match[3]
	if match[1] != "" {
		name = match[1] + ": " + name
	}
	r.res.AddFailure(name, "")
}

func (r *typeReport) Finish() *testreport.Results {
	r.res.Uncounted = true // a compiler counts its findings alone
	return &r.res
}
