package node

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// checkTools maps the program of a lint or type script to the package that provides it.
var checkTools = map[string]string{
	"eslint": "eslint", "biome": "@biomejs/biome", "tsc": "typescript", "prettier": "prettier", "standard": "standard",
	"xo": "xo", "oxlint": "oxlint", "next": "next", "vue-tsc": "vue-tsc", "jshint": "jshint", "stylelint": "stylelint",
	"svelte-check": "svelte-check", "astro": "astro", "nuxt": "nuxt", "nuxi": "nuxi",
	"react-router": "@react-router/dev",
}

// buildTools maps the program of a build script to the package that provides it.
var buildTools = map[string]string{
	"tsc": "typescript", "vue-tsc": "vue-tsc", "tsup": "tsup", "tsdown": "tsdown", "vite": "vite", "rollup": "rollup",
	"webpack": "webpack", "ng": "@angular/cli",
	"esbuild": "esbuild", "unbuild": "unbuild", "next": "next", "nest": "@nestjs/cli", "svelte-kit": "@sveltejs/kit",
	"astro": "astro", "nuxt": "nuxt", "rspack": "@rspack/cli",
	"react-router": "@react-router/dev",
}

// typeScripts lists names of scripts that may check types. A script counts if its program is in typeTools.
var (
	typeScripts = []string{"typecheck", "type-check", "check-types", "check:types", "types:check", "lint:types",
		"tsc", "check"}
	typeTools = []string{"tsc", "vue-tsc", "svelte-check", "astro", "nuxi", "nuxt"}
)

// scriptChecks finds the lint, type, build and test checks of a package.
type scriptChecks struct {
	m              Manager
	tree           *ecosystem.Tree
	dir            string
	manifest, root packageJSON
	ci             ciCalls
	left           *int // remaining bytes of scripts that may be parsed
}

// isInstalled reports whether a package is a dependency of this package or of the root.
func (s scriptChecks) isInstalled(pkg string) bool {
	return pkg != "" && (s.manifest.dependsOn(pkg) || s.root.dependsOn(pkg))
}

// toolOf returns the program of the last step of a script. It returns "" if a step watches for changes or
// if a step's program is not installed, because such a script is not a usable check. tools maps programs to
// their packages.
func (s scriptChecks) toolOf(name string, tools map[string]string) string {
	tool := ""
	steps, _ := s.m.readSteps(s.manifest, s.manifest.Scripts[name], s.left)
	for _, one := range steps {
		if watchesRE.MatchString(one.text) {
			return "" // never ends
		}
		tool, _ = findProgram(one.words)
		if !s.isInstalled(tools[tool]) && !s.isInstalled(buildTools[tool]) {
			return ""
		}
	}
	return tool
}

// watchesRE matches a flag with which a compiler waits for changes.
var watchesRE = lazyregexp.New(`\s(--watch|-w)(\s|$)`)

// findLint returns the lint script if its first program is a dependency. Without a lint script it returns
// Nx's lint.
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
	s.tree.AddNote("the lint script in %s is left out: its program (%s) is not one of the dependencies",
		ecosystem.DisplayDir(s.dir), ecosystem.PrintablePath(tool))
	return nil
}

// findTypes returns a script that checks the types, or else a run of TypeScript's compiler that the
// repository does not ask for itself.
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
		return s.compilerGate("tsc --build --emitDeclarationOnly") // this is how Nx checks the types of its projects
	}
	// Types that svelte-kit, nuxt or astro generate are missing. Without them the compiler alone reports
	// errors everywhere.
	if !s.tree.HasFile(s.dir, "tsconfig.json") ||
		emptyProjectRE.MatchString(s.tree.ReadManifest(s.dir, "tsconfig.json")) || s.isInstalled("@sveltejs/kit") ||
		s.isInstalled("nuxt") || s.isInstalled("astro") {
		return nil
	}
	if s.toolOf("lint", checkTools) == "tsc" {
		return nil // the lint script already runs it
	}
	return s.compilerGate(append(s.makeTypes(), "tsc --noEmit")...)
}

// compilerGate returns a check that runs the commands without a script, usually those that generate types
// and then TypeScript's compiler.
func (s scriptChecks) compilerGate(commands ...string) *company.GateCommand {
	own := packageJSON{} // these commands run without the manager
	return &company.GateCommand{Command: s.m.Exec + strings.Join(commands, " && "+s.m.Exec),
		Report: own.pinTexts(s.dir, commands...), Probe: s.m.Probe("tsc"), Parse: formatTypeScript, Provisional: true}
}

// typeMakers lists frameworks that generate types for a project's routes, with the first version that has
// the command. The generated types are not committed, and without them the compiler reports missing names.
var typeMakers = []struct {
	pkg          string
	major, minor int
	command      string
}{
	{"next", 15, 5, "next typegen"},
	{"@react-router/dev", 7, 0, "react-router typegen"},
}

// makeTypes returns the commands that generate types for the compiler.
func (s scriptChecks) makeTypes() (commands []string) {
	for _, maker := range typeMakers {
		if wanted := cmp.Or(s.manifest.versionOf(maker.pkg), s.root.versionOf(maker.pkg)); wanted != "" &&
			reachesVersion(wanted, maker.major, maker.minor) {
			commands = append(commands, maker.command)
		}
	}
	return commands
}

// rangeRE matches the version at the start of a version range.
var rangeRE = lazyregexp.New(`^[\^~>=v\s]*(\d+)(?:\.(\d+))?`)

// reachesVersion reports whether a range begins at a version or later. A name such as latest counts as
// later.
func reachesVersion(wanted string, major, minor int) bool {
	match := rangeRE.FindStringSubmatch(wanted)
	if match == nil {
		return true
	}
	hasMajor, _ := strconv.Atoi(match[1])
	hasMinor, _ := strconv.Atoi(match[2])
	return hasMajor > major || hasMajor == major && hasMinor >= minor
}

// findBuild returns the build script as a check. It is provisional because a build may need resources that
// a check lacks, such as a network.
func (s scriptChecks) findBuild() *company.GateCommand {
	tool := s.toolOf("build", buildTools)
	if tool == "" {
		return nil
	}
	gate := s.scriptGate("build", tool)
	gate.Provisional = true
	return gate
}

// emptyProjectRE matches a tsconfig.json that lists no files and only refers to other projects. The
// compiler checks nothing with it except in build mode.
var emptyProjectRE = lazyregexp.New(`"files"\s*:\s*\[\s*\]`)

// scriptGate returns a script of the package as a check. Other scripts of the package that it runs are
// pinned with it.
func (s scriptChecks) scriptGate(name, tool string) *company.GateCommand {
	gate := &company.GateCommand{Command: s.m.Name + " run " + name, Report: s.manifest.pinScript(s.dir, name, ""),
		Probe: s.m.Probe(tool)}
	if steps, ok := s.m.readSteps(s.manifest, s.manifest.Scripts[name], s.left); ok &&
		slices.ContainsFunc(steps, func(one step) bool { return one.via != nil }) {
		var all []string
		for _, one := range steps {
			all = append(all, one.text)
		}
		gate.Report = s.manifest.pinTexts(
			s.dir, s.manifest.Scripts["pre"+name], strings.Join(all, " && "), s.manifest.Scripts["post"+name])
	}
	switch {
	case tool == "tsc":
		gate.Parse = formatTypeScript
	case name != "build":
		gate.Parse = testreport.FormatLint
	}
	return gate
}

// formatTypeScript is the output of TypeScript's compiler when it does not write to a terminal.
const formatTypeScript = "tsc"

var typeErrorRE = lazyregexp.New(`^(?:([^\s(][^(]*)\(\d+,\d+\): )?error (TS\d+): (.*)$`)

// typeReport reads type errors. An error's name does not contain its line, since every change above it
// moves the line.
type typeReport struct{ res testreport.Results }

func (r *typeReport) ReadLine(line string) {
	match := typeErrorRE.FindStringSubmatch(line)
	if match == nil {
		return // other output of the build, or an explanation
	}
	name := match[2] + ": " + match[3]
	if match[1] != "" {
		name = match[1] + ": " + name
	}
	r.res.AddFailure(name, "")
}

func (r *typeReport) Finish() *testreport.Results {
	r.res.Uncounted = true // a compiler counts only its errors
	return &r.res
}
