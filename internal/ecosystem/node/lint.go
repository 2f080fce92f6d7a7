package node

import (
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// lintTools says which package brings the program of a script that checks.
var lintTools = map[string]string{
	"eslint": "eslint", "biome": "@biomejs/biome", "tsc": "typescript", "prettier": "prettier", "standard": "standard",
	"xo": "xo", "oxlint": "oxlint", "next": "next", "vue-tsc": "vue-tsc", "jshint": "jshint", "stylelint": "stylelint",
}

// buildTools says the same of a script that builds.
var buildTools = map[string]string{
	"tsc": "typescript", "vue-tsc": "vue-tsc", "tsup": "tsup", "tsdown": "tsdown", "vite": "vite", "rollup": "rollup", "webpack": "webpack", "ng": "@angular/cli",
	"esbuild": "esbuild", "unbuild": "unbuild", "next": "next", "nest": "@nestjs/cli", "svelte-kit": "@sveltejs/kit", "astro": "astro", "nuxt": "nuxt", "rspack": "@rspack/cli",
}

// typeScripts are names of scripts that check types.
var typeScripts = []string{"typecheck", "type-check", "check-types", "types:check", "tsc"}

// findLint is the lint script, where its program is one of the dependencies: a
// program that is not installed cannot judge. Where no linter is, TypeScript's own
// check is one: a script for it, the compiler, or the build.
func (m Manager) findLint(tree *ecosystem.Tree, dir string, manifest, root packageJSON) *company.GateCommand {
	has := func(pkg string) bool { return pkg != "" && (manifest.dependsOn(pkg) || root.dependsOn(pkg)) }
	if script := manifest.Scripts["lint"]; script != "" {
		tool := programName(script)
		if has(lintTools[tool]) {
			return m.lintScript(dir, "lint", tool, manifest)
		}
		tree.AddNote("the lint script in %s is left out: its program (%s) is not one of the dependencies", ecosystem.DisplayDir(dir), ecosystem.PrintablePath(tool))
	}
	if !has("typescript") {
		return nil
	}
	for _, name := range typeScripts {
		if tool := programName(manifest.Scripts[name]); has(lintTools[tool]) {
			return m.lintScript(dir, name, tool, manifest)
		}
	}
	if tree.HasFile(dir, "tsconfig.json") && !emptyProjectRE.MatchString(tree.ReadManifest(dir, "tsconfig.json")) {
		only := packageJSON{Scripts: map[string]string{"tsc": "tsc --noEmit"}}
		return &company.GateCommand{Command: m.Exec + "tsc --noEmit", Report: only.pinScript(dir, "tsc", "", ""), Probe: m.Probe("tsc"), Parse: formatTypeScript}
	}
	if tool := programName(manifest.Scripts["build"]); has(buildTools[tool]) && (tree.HasFile(dir, "tsconfig.json") || tool == "ng") {
		return m.lintScript(dir, "build", tool, manifest)
	}
	return nil
}

// emptyProjectRE finds a tsconfig.json that has no files of its own, only references to
// others: the compiler checks nothing with it but by building.
var emptyProjectRE = lazyregexp.New(`"files"\s*:\s*\[\s*\]`)

// lintScript is a script that serves as a lint.
func (m Manager) lintScript(dir, name, tool string, manifest packageJSON) *company.GateCommand {
	gate := &company.GateCommand{Command: m.Name + " run " + name, Report: manifest.pinScript(dir, name, "", ""), Probe: m.Probe(tool)}
	if tool == "tsc" {
		gate.Parse = formatTypeScript
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

func (r *typeReport) Finish() *testreport.Results { return &r.res }
