package catalog

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// otherGateFiles are files that define checks in toolchains without an ecosystem. Configured gates may use such
// toolchains.
var otherGateFiles = []string{
	"*.csproj", "*.fsproj", "*.vbproj", "*.sln", "*.slnx", "*.props", "*.targets", "*.runsettings", "*.ruleset",
	".globalconfig", "global.json", "nuget.config", "NuGet.Config", "xunit.runner.json",
	"BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", ".bazelrc", "*.bzl", "BUCK", "pants.toml",
	"SConstruct", "SConscript", "wscript",
	"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "justfile", "Justfile", ".justfile", "*.just",
	"Earthfile", "mise.toml", ".mise.toml", ".tool-versions",
	".formatter.exs", ".credo.exs", "test_helper.exs", "build.sbt", "build.zig", "deps.edn", "project.clj", "pubspec.yaml",
	"analysis_options.yaml", "dart_test.yaml",
	"stack.yaml", "cabal.project", "*.cabal", "dune", "dune-project", ".swiftlint.yml", ".editorconfig",
	".pre-commit-config.yaml", ".shellcheckrc", ".yamllint*", ".hadolint.yaml", ".luacheckrc", ".busted", "bats.conf",
	"cspell*.json", ".cspell.json", ".markdownlint*", "typos.toml", "_typos.toml", ".typos.toml", "dprint.json",
	"knip.json", "knip.jsonc", "REUSE.toml", "dep5", "taplo.toml", ".taplo.toml", "buf.yaml", ".sqlfluff", ".djlintrc",
}

// IsGateFile reports whether the file at a path defines checks.
func IsGateFile(p string) bool {
	return isOfEcosystem(p) || ecosystem.HasName(p, otherGateFiles)
}

// isOfEcosystem reports whether a path defines checks of a toolchain that company knows.
func isOfEcosystem(p string) bool {
	_, name := path.Split(p)
	return slices.ContainsFunc(Of[ecosystem.GateFiler](), func(e ecosystem.GateFiler) bool { return e.IsGateFile(p) }) ||
		slices.ContainsFunc(unknown, func(u unknownManifest) bool { return u.file == name })
}

// IsGateFileOf reports whether a path defines checks, or is a program of the repository that one of these gates runs:
// ./test.sh, python runtests.py.
func IsGateFileOf(gates []company.GateCommand, p string) bool {
	return IsGateFile(p) || isRunBy(gates, p)
}

// SteersGate reports whether a path may decide which files one of these gates checks. Unlike IsGateFileOf, it ignores
// the files of other toolchains. For a change of an .editorconfig, for example, canaries in all test folders would
// prove nothing.
func SteersGate(gates []company.GateCommand, p string) bool {
	return isOfEcosystem(p) || isRunBy(gates, p)
}

// isRunBy reports whether a path is a program that one of the gates runs.
func isRunBy(gates []company.GateCommand, p string) bool {
	return slices.ContainsFunc(gates, func(g company.GateCommand) bool {
		return slices.Contains(programsOf(g.Dir, g.Command), p) || slices.Contains(programsOf(g.Dir, g.Report), p)
	})
}

// GateFilesOf returns the changed files of a task that define checks, sorted and without duplicates.
func GateFilesOf(task *company.Task) []string {
	var gates []company.GateCommand
	if task.Prepared != nil {
		gates = task.Prepared.Gates
	}
	var out []string
	for _, sub := range task.Subtasks {
		for _, change := range sub.Changes {
			if IsGateFileOf(gates, change.Path) {
				out = append(out, change.Path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// interpreters are programs that run the file in their first argument that is not a flag.
var interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "source", ".", "python", "python3", "node", "tsx",
	"ts-node", "bun", "deno", "ruby", "perl", "php", "lua", "tclsh", "Rscript", "escript", "elixir"}

// prefixes may precede a command that they run.
var prefixes = []string{"env", "exec", "command", "time", "nice", "xvfb-run", "sudo", "!", "if", "then", "else", "do",
	"while", "until", "{"}

// programsOf returns the paths in the repository that a command in a folder may run. It reads arguments literally: it
// strips quotes but expands no variables. A cd applies until the end of its parentheses.
func programsOf(dir, command string) []string {
	var out, outer []string
	begin := 0
	for i, r := range command + "\n" {
		if !strings.ContainsRune("&|;()`\n", r) {
			continue
		}
		words := commandWords(command[begin:i])
		begin = i + 1
		switch {
		case len(words) == 0:
		case words[0] == "cd":
			dir = folderOf(dir, words[1:])
		default:
			out = append(out, pathsRun(dir, words)...)
		}
		switch {
		case r == '(':
			outer = append(outer, dir)
		case r == ')' && len(outer) > 0:
			dir, outer = outer[len(outer)-1], outer[:len(outer)-1]
		}
	}
	return out
}

// commandWords splits a command into fields and drops prefixes such as env and variables.
func commandWords(text string) []string {
	words := strings.Fields(text)
	for i := range words {
		words[i] = strings.Trim(words[i], `"'`)
	}
	for len(words) > 0 && (slices.Contains(prefixes, words[0]) || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	return words
}

// folderOf returns the folder after cd with these arguments. If it is unknown or outside of the repository, dir is
// returned.
func folderOf(dir string, arguments []string) string {
	i := slices.IndexFunc(arguments, func(w string) bool { return !strings.HasPrefix(w, "-") })
	if i < 0 || strings.ContainsAny(arguments[i], "$~*?[") || path.IsAbs(arguments[i]) {
		return dir
	}
	return path.Join(dir, arguments[i])
}

// settingsRE matches a flag whose value may be a file that influences a program's checks: configuration, exclusions,
// or code to load first.
var settingsRE = lazyregexp.New(
	`(?i)^(-[cipr]|--?[a-z-]*(config|conf|ignore|exclude|baseline|settings|words|rcfile|project|options|bootstrap|setup|require|import)[a-z-]*)$`)

// pathsRun returns the program of a command, the file that an interpreter runs, and the files in flags that influence
// the check.
func pathsRun(dir string, words []string) []string {
	out := []string{path.Join(dir, words[0])}
	for i, w := range words[1:] {
		name, value, hasValue := strings.Cut(w, "=")
		if !settingsRE.MatchString(name) {
			continue
		}
		if !hasValue && i+2 < len(words) {
			value = words[i+2]
		}
		if value != "" && !strings.HasPrefix(value, "-") {
			out = append(out, path.Join(dir, strings.Trim(value, `"'`)))
		}
	}
	if slices.Contains(interpreters, path.Base(words[0])) {
		if i := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }); i >= 0 {
			out = append(out, path.Join(dir, words[1+i]))
		}
	}
	return out
}
