package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// mypy is the name of the toolchain with the type checker.
const mypy = "mypy"

var (
	mypyTable    = lazyregexp.New(`(?m)^\s*\[tool\.mypy\]`)
	mypySection  = lazyregexp.New(`(?m)^\s*\[mypy\]`)
	mypyTargets  = lazyregexp.New(`(?m)^\s*(?:files|packages|modules)\s*=`)
	mypyCommands = lazyregexp.New(`(?:^|[\s;&|])mypy(?:\s|$)`)
)

// findTypes returns a mypy check if a project configures mypy. The project may never run mypy itself, and
// its packages may differ here. The check is therefore provisional: it counts only if the base passes it.
func findTypes(tree *ecosystem.Tree, dir string) *company.GateCommand {
	config := ""
	switch {
	case tree.HasFile(dir, "mypy.ini"):
		config = tree.ReadManifest(dir, "mypy.ini")
	case tree.HasFile(dir, ".mypy.ini"):
		config = tree.ReadManifest(dir, ".mypy.ini")
	case mypyTable.MatchString(tree.ReadManifest(dir, "pyproject.toml")):
		_, config, _ = strings.Cut(tree.ReadManifest(dir, "pyproject.toml"), "[tool.mypy]")
		config, _, _ = strings.Cut(config, "\n[")
	case mypySection.MatchString(tree.ReadManifest(dir, "setup.cfg")):
		_, config, _ = strings.Cut(tree.ReadManifest(dir, "setup.cfg"), "[mypy]")
		config, _, _ = strings.Cut(config, "\n[")
	default:
		return nil
	}
	words, report := "", runMypy
	if !mypyTargets.MatchString(config) {
		words = quoteWords(findPackages(tree, dir))
		report = "set --" + words + "\n" + keepPackages + "\n" + runMypy + ` -- "$@"`
	}
	return &company.GateCommand{Command: "mypy" + words, Report: report, Probe: "command -v mypy",
		Parse: testreport.FormatFindings, Provisional: true}
}

// runMypy runs mypy with the packages of the interpreter that runs the tests.
const runMypy = `mypy --no-error-summary --hide-error-context --no-pretty --no-color-output --python-executable "$(command -v python3)"`

// keepPackages removes packages that a change has moved or deleted. mypy would fail for them, and no change
// to the code could fix that. If none is left, it uses the packages that exist now.
const keepPackages = `for at do
	shift
	[ ! -e "$at" ] || set -- "$@" "$at"
done
[ $# -gt 0 ] || for at in */__init__.py; do
	case $at in [Tt]est*) continue ;; esac
	[ ! -e "$at" ] || set -- "$@" "${at%/*}"
done
[ $# -gt 0 ] || set -- .`

// findPackages returns the top packages of a project, or its src folder. It returns "." if there are none.
func findPackages(tree *ecosystem.Tree, dir string) []string {
	if hasSrcLayout(tree, dir) {
		return []string{"src"}
	}
	var out []string
	for at := range tree.Dirs {
		above, name := ecosystem.SplitPath(at)
		if above == dir && name != "" && tree.HasFile(at, "__init__.py") && !ecosystem.IsForeignDir(at) &&
			!company.IsTest(path.Join(name, "x.py")) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return []string{"."}
	}
	slices.Sort(out)
	return out
}
