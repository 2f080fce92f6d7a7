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
		first, module := true, false // of a simple command; the name of a module of Python
		for word := range strings.FieldsSeq(command) {
			switch {
			case strings.Contains("&& || ; |", word):
				first = true
				continue
			case first && strings.Contains(word, "="): // a variable
				continue
			case (first || module) && packages[path.Base(word)] != "" && !strings.Contains(word, "/") && !slices.Contains(out, word):
				out = append(out, word)
			}
			first, module = strings.HasSuffix(word, ";"), word == "-m" && strings.Contains(command, "python")
		}
	}
	return out
}
