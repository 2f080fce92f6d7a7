package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// mypy is the toolchain of the checker of types.
const mypy = "mypy"

var (
	mypyTable    = lazyregexp.New(`(?m)^\s*\[tool\.mypy\]`)
	mypySection  = lazyregexp.New(`(?m)^\s*\[mypy\]`)
	mypyTargets  = lazyregexp.New(`(?m)^\s*(?:files|packages|modules)\s*=`)
	mypyCommands = lazyregexp.New(`(?:^|[\s;&|])mypy(?:\s|$)`)
)

// findTypes is mypy, where a project configures it. Nothing need ask for it, and its packages may be others here: it judges
// where the base is green by it.
func findTypes(t *ecosystem.Tree, dir string) *company.GateCommand {
	config := ""
	switch {
	case t.HasFile(dir, "mypy.ini"):
		config = t.ReadManifest(dir, "mypy.ini")
	case t.HasFile(dir, ".mypy.ini"):
		config = t.ReadManifest(dir, ".mypy.ini")
	case mypyTable.MatchString(t.ReadManifest(dir, "pyproject.toml")):
		_, config, _ = strings.Cut(t.ReadManifest(dir, "pyproject.toml"), "[tool.mypy]")
		config, _, _ = strings.Cut(config, "\n[")
	case mypySection.MatchString(t.ReadManifest(dir, "setup.cfg")):
		_, config, _ = strings.Cut(t.ReadManifest(dir, "setup.cfg"), "[mypy]")
		config, _, _ = strings.Cut(config, "\n[")
	default:
		return nil
	}
	words, report := "", runMypy
	if !mypyTargets.MatchString(config) {
		words = quoteWords(findPackages(t, dir))
		report = "set --" + words + "\n" + keepPackages + "\n" + runMypy + ` -- "$@"`
	}
	return &company.GateCommand{Command: "mypy" + words, Report: report, Probe: "command -v mypy", Parse: testreport.FormatFindings, Provisional: true}
}

// runMypy is mypy with the packages of the interpreter that the tests run with.
const runMypy = `mypy --no-error-summary --hide-error-context --no-pretty --no-color-output --python-executable "$(command -v python3)"`

// keepPackages leaves those packages out that a change has moved or removed: mypy refuses them, and no work could mend
// that. Where none is left, those that there are now are looked at.
const keepPackages = `for at do
	shift
	[ ! -e "$at" ] || set -- "$@" "$at"
done
[ $# -gt 0 ] || for at in */__init__.py; do
	case $at in [Tt]est*) continue ;; esac
	[ ! -e "$at" ] || set -- "$@" "${at%/*}"
done
[ $# -gt 0 ] || set -- .`

// findPackages are the packages of a project that lie at its top, or its src folder, or all of it.
func findPackages(t *ecosystem.Tree, dir string) []string {
	if hasSrcLayout(t, dir) {
		return []string{"src"}
	}
	var out []string
	for at := range t.Dirs {
		above, name := ecosystem.SplitPath(at)
		if above == dir && name != "" && t.HasFile(at, "__init__.py") && !ecosystem.IsForeignDir(at) && !company.IsTest(path.Join(name, "x.py")) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return []string{"."}
	}
	slices.Sort(out)
	return out
}
