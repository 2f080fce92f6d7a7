// Package checkers lists programs in Debian that check repositories of any language. They include spell checkers,
// linters of shell scripts and YAML, and test runners for the shell. It ensures that an image has the ones that a
// check calls. It finds no checks itself, because a repository's CI names them.
package checkers

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// Programs is the ecosystem of these programs.
type Programs struct{}

// packages maps programs to Debian packages.
var packages = map[string]string{
	"bats": "bats", "black": "black", "checkbashisms": "devscripts", "clang-format": "clang-format",
	"clang-tidy": "clang-tidy", "codespell": "codespell", "cppcheck": "cppcheck",
	"flake8": "flake8", "isort": "isort", "jq": "jq", "pycodestyle": "pycodestyle", "pydocstyle": "pydocstyle",
	"pyflakes": "pyflakes3", "pylint": "pylint", "reuse": "reuse", "shellcheck": "shellcheck",
	"shfmt": "shfmt", "tidy": "tidy", "xmllint": "libxml2-utils", "yamllint": "yamllint",
}

var (
	_ ecosystem.Provider = Programs{}
	_ ecosystem.Needer   = Programs{}
)

// Name returns a name that is not a toolchain.
func (Programs) Name() string { return "checkers" }

// Toolchains returns one toolchain for each program.
func (Programs) Toolchains() []ecosystem.Toolchain {
	var out []ecosystem.Toolchain
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		out = append(out, ecosystem.Toolchain{Name: name, Title: name, Contents: name, Packages: []string{packages[name]}})
	}
	return out
}

// Needs returns the programs that commands call.
func (Programs) Needs(_ *ecosystem.Tree, _ func(string) bool, commands []string) (out []string) {
	for _, command := range commands {
		first := true     // at the start of a simple command
		var listed bool   // after xargs
		var before string // the previous token
		for word := range strings.FieldsSeq(command) {
			name := strings.TrimLeft(word, "\"$(`")
			switch {
			case strings.Contains("&& || ; |", word):
				first = true
				listed = false
				before = ""
				continue
			case first && strings.Contains(word, "="): // a variable
				continue
			case (first || listed || before == "-exec" || before == "-m" && strings.Contains(command, "python") ||
				name != word) &&
				packages[path.Base(name)] != "" && !strings.Contains(name, "/") && !slices.Contains(out, name):
				out = append(out, name)
			}
			listed = listed || first && word == "xargs"
			first, before = strings.HasSuffix(word, ";"), word
		}
	}
	return out
}
