// Package checkers knows programs that check a repository of any language, and that Debian has: spellers, linters of shell
// scripts and of YAML, runners of tests in a shell. It owns their names and promises that an image has the ones that a
// check calls. It finds no checks: a repository's CI names them.
package checkers

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// Programs are such programs, of whatever language.
type Programs struct{}

// packages are Debian's packages of the programs, by the programs' names.
var packages = map[string]string{
	"bats": "bats", "black": "black", "checkbashisms": "devscripts", "clang-format": "clang-format", "clang-tidy": "clang-tidy", "codespell": "codespell", "cppcheck": "cppcheck",
	"flake8": "flake8", "isort": "isort", "jq": "jq", "pycodestyle": "pycodestyle", "pydocstyle": "pydocstyle", "pyflakes": "pyflakes3", "pylint": "pylint", "reuse": "reuse", "shellcheck": "shellcheck",
	"shfmt": "shfmt", "tidy": "tidy", "xmllint": "libxml2-utils", "yamllint": "yamllint",
}

var (
	_ ecosystem.Provider = Programs{}
	_ ecosystem.Needer   = Programs{}
)

// Name is that of no toolchain.
func (Programs) Name() string { return "checkers" }

// Toolchains are the programs, each by itself.
func (Programs) Toolchains() []ecosystem.Toolchain {
	var out []ecosystem.Toolchain
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		out = append(out, ecosystem.Toolchain{Name: name, Title: name, Contents: name, Packages: []string{packages[name]}})
	}
	return out
}

// Needs are the programs that commands call.
func (Programs) Needs(_ *ecosystem.Tree, _ func(string) bool, commands []string) (out []string) {
	for _, command := range commands {
		first, listed, before := true, false, "" // of a simple command; behind xargs; the word before
		for word := range strings.FieldsSeq(command) {
			name := strings.TrimLeft(word, "\"$(`")
			switch {
			case strings.Contains("&& || ; |", word):
				first, listed, before = true, false, ""
				continue
			case first && strings.Contains(word, "="): // a variable
				continue
			case (first || listed || before == "-exec" || before == "-m" && strings.Contains(command, "python") || name != word) &&
				packages[path.Base(name)] != "" && !strings.Contains(name, "/") && !slices.Contains(out, name):
				out = append(out, name)
			}
			listed = listed || first && word == "xargs"
			first, before = strings.HasSuffix(word, ";"), word
		}
	}
	return out
}
