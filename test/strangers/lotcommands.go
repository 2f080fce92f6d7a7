package strangers

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"company/internal/lib/boundedparse/yaml"
)

// A theirCommand is one command by which the maintainers check their repository.
type theirCommand struct {
	File string // that has it
	Text string // their words
	Run  string // how it is run outside; empty: it is not, see Why
	Dir  string // below the root
	Why  string // it is not run
}

const (
	// mostCommands bounds the commands of one repository.
	mostCommands = 8
	// mostDefinition bounds a file that is read for commands.
	mostDefinition = 1 << 20
)

// findCommands reads the commands of a repository by a fixed rule: CI definitions and
// package.json's script lint, else the scripts and targets that are called what checks are called, else Debian's tests,
// else what the build files imply. None of the company's own detection is used.
func findCommands(from Checkout) []theirCommand {
	var found []theirCommand
	for _, file := range listDefinitions(from.Dir) {
		text, err := readBounded(filepath.Join(from.Dir, filepath.FromSlash(file)))
		if err != nil {
			continue
		}
		var tree any
		if yaml.Decode(text, &tree, false) != nil {
			continue // a server would not read it
		}
		for _, step := range listSteps(tree, "") {
			for _, line := range splitCommands(step.text) {
				if isCheck(line) {
					found = append(found, theirCommand{File: file, Text: line, Run: line, Dir: step.dir})
				}
			}
		}
	}
	if len(found) == 0 {
		found = append(found, findScripts(from.Dir, checkScripts...)...)
	} else { // a CI of others' workflows often hides it, and a change that it refuses is no good one
		found = append(found, findScripts(from.Dir, "lint")...)
	}
	if len(found) == 0 {
		found = append(found, findTargets(from.Dir)...)
	}
	if native := nativeSequence(from.Dir); native.Run != "" {
		// Steps of a native build need each other; they run as one command.
		found = append([]theirCommand{native},
			slices.DeleteFunc(found, func(c theirCommand) bool { return isNativeStep(c.Text) })...)
	}
	if len(found) == 0 {
		found = append(found, impliedCommand(from.Dir))
	}
	return limitCommands(found)
}

// limitCommands leaves out what stands twice, names what cannot be run, and keeps the
// first mostCommands.
func limitCommands(found []theirCommand) (out []theirCommand) {
	seen := map[string]bool{}
	for _, c := range found {
		if seen[c.Dir+"\n"+c.Text] || c.Text == "" {
			continue
		}
		seen[c.Dir+"\n"+c.Text] = true
		switch {
		case strings.Contains(c.Text, "${{"), strings.Contains(c.Text, "<<"), strings.Contains(c.Text, "$["):
			c.Run, c.Why = "", "its words are filled in by a CI server"
		case strings.HasPrefix(c.Dir, "/") || strings.Contains(c.Dir, "$"):
			c.Run, c.Why = "", "its folder is one of a CI server"
		}
		if out = append(out, c); len(out) == mostCommands {
			break
		}
	}
	return out
}

// readBounded reads a file of a repository that is no link and not too large.
func readBounded(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostDefinition {
		return nil, errors.New(name + " is no file, or too large")
	}
	return os.ReadFile(name)
}

// listDefinitions returns the CI definitions of a repository.
func listDefinitions(dir string) (out []string) {
	for _, pattern := range []string{".github/workflows/*.yml", ".github/workflows/*.yaml", ".travis.yml",
		".gitlab-ci.yml", ".circleci/config.yml"} {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			continue // the patterns are well formed
		}
		for _, f := range found {
			if rel, err := filepath.Rel(dir, f); err == nil {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	return out
}

type ciStep struct{ text, dir string }

// listSteps returns the scripts of a CI definition: what stands under run, script and
// command, at any depth, in the order of the keys' names.
func listSteps(tree any, dir string) (out []ciStep) {
	switch node := tree.(type) {
	case []any:
		for _, n := range node {
			out = append(out, listSteps(n, dir)...)
		}
	case map[string]any:
		if d, ok := node["working-directory"].(string); ok {
			dir = path.Clean(d)
		}
		var keys []string
		for key := range node {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if key == "run" || key == "script" || key == "command" {
				switch value := node[key].(type) {
				case string:
					out = append(out, ciStep{value, dir})
					continue
				case []any:
					for _, v := range value {
						if s, ok := v.(string); ok {
							out = append(out, ciStep{s, dir})
						}
					}
					continue
				}
			}
			out = append(out, listSteps(node[key], dir)...)
		}
	}
	return out
}

// splitCommands splits a script into its lines, and those at &&.
func splitCommands(script string) (out []string) {
	script = strings.ReplaceAll(script, "\\\n", " ")
	for line := range strings.Lines(script) {
		for part := range strings.SplitSeq(line, "&&") {
			if part = strings.Join(strings.Fields(part), " "); part != "" && !strings.HasPrefix(part, "#") {
				out = append(out, part)
			}
		}
	}
	return out
}

// checkRE knows commands that check. notCheckRE knows those of them that install, publish
// or prepare.
var (
	checkRE = regexp.MustCompile(
		`^(sudo )?([A-Z_]+=\S+ )*(npx (--no-install )?|pnpm exec |yarn (run )?|python3? -m |uv run |poetry run |pipenv run )?(\S*/)?(` +
			`go (test|vet|build)|gofmt|golangci-lint|staticcheck|(npm|pnpm|yarn) (run |run-script )?(test|t|lint|build|check|types?|typecheck|type-check|unit|ci)\b|(npm|pnpm|yarn) (run|run-script) \S+|` +
			`tsc|eslint|jest|mocha|vitest|tape|ava|standard|xo|nx |turbo |pytest|py\.test|unittest|nose2?|nosetests|tox|nox|flake8|mypy|ruff|black --check|pylint|` +
			`make\b|ctest|cmake|meson|ninja|\./configure|autoreconf|cargo (test|clippy|check|build|fmt)|composer (test|run|check)|phpunit|phpstan)`)
	notCheckRE = regexp.MustCompile(
		`\b(install|publish|deploy|release|upload|codecov|coveralls|coverage|docker|audit|push|semantic-release|benchmark|bench|pip)\b|^make (deps|setup|dist|clean)|cmake -E|^(npm|pnpm|yarn) ci\b`)
)

// isCheck reports whether a line of a script is a check.
func isCheck(line string) bool { return checkRE.MatchString(line) && !notCheckRE.MatchString(line) }

// isNativeStep reports whether a command is a part of a native build.
func isNativeStep(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	return slices.Contains(
		[]string{"cmake", "make", "ctest", "meson", "ninja", "./configure", "autoreconf", "./autogen.sh"}, first)
}

// checkScripts are the names of scripts and targets that check.
var checkScripts = []string{"test", "lint", "build", "typecheck", "type-check", "check-types", "types", "check",
	"test:unit", "test:e2e"}

// findScripts returns the scripts of package.json that have these names.
func findScripts(dir string, names ...string) (out []theirCommand) {
	text, err := readBounded(filepath.Join(dir, "package.json"))
	if err != nil {
		return nil
	}
	var manifest struct{ Scripts map[string]string }
	if json.Unmarshal(text, &manifest) != nil {
		return nil
	}
	for _, name := range names {
		script := manifest.Scripts[name]
		if script == "" || strings.Contains(script, "no test specified") {
			continue
		}
		run := "npm run " + name
		if strings.TrimSpace(script) == "vitest" {
			run += " -- --run" // else it waits for changes
		}
		out = append(out, theirCommand{File: "package.json", Text: "npm run " + name, Run: run})
	}
	return out
}

var targetRE = regexp.MustCompile(`(?m)^(test|check|lint)\s*:([^=]|$)`)

// findTargets returns the targets of a Makefile that are called what checks are called.
func findTargets(dir string) (out []theirCommand) {
	text, err := readBounded(filepath.Join(dir, "Makefile"))
	if err != nil {
		return nil
	}
	for _, m := range targetRE.FindAllStringSubmatch(string(text), 3) {
		out = append(out, theirCommand{File: "Makefile", Text: "make " + m[1], Run: "make " + m[1]})
	}
	return out
}

// nativeSequence is the build with tests of a project in C or C++.
func nativeSequence(dir string) theirCommand {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case has("package.json"), has("go.mod"), has("Cargo.toml"), has("setup.py"), has("pyproject.toml"),
		has("composer.json"):
		return theirCommand{}
	case has("CMakeLists.txt"):
		return theirCommand{File: "CMakeLists.txt", Text: "ctest", Run: cmakeTest}
	case has("meson.build"):
		return theirCommand{File: "meson.build", Text: "meson test", Run: mesonTest}
	case has("configure"), has("configure.ac"):
		return theirCommand{File: "configure", Text: "make check",
			Run: "if [ ! -x configure ]; then autoreconf -fi; fi && ./configure && make -j2 && make check"}
	}
	return theirCommand{}
}

// impliedCommand is what people type in a repository of this kind that names nothing.
func impliedCommand(dir string) theirCommand {
	for _, c := range []struct{ file, run string }{
		{"go.mod", "go test ./..."}, {"Cargo.toml", "cargo test --offline"}, {"phpunit.xml.dist", "phpunit"},
		{"phpunit.xml", "phpunit"},
		{"setup.py", "python3 -m pytest"}, {"pyproject.toml", "python3 -m pytest"},
	} {
		if _, err := os.Stat(filepath.Join(dir, c.file)); err == nil {
			return theirCommand{File: c.file, Text: c.run, Run: c.run}
		}
	}
	return theirCommand{}
}
