package proposal

import (
	"path"
	"slices"
	"strings"

	"company/internal/lazyregexp"
)

// wrappers are programs that run the command behind them, with the number of arguments
// of their own (of "uv run pytest" two), and those of their flags that take a value.
var wrappers = []struct {
	words []string
	flags []string
}{
	{words: []string{"exec"}}, {words: []string{"env"}, flags: []string{"-u"}}, {words: []string{"time"}}, {words: []string{"sudo"}, flags: []string{"-u"}},
	{words: []string{"nice"}, flags: []string{"-n"}}, {words: []string{"timeout"}}, {words: []string{"xvfb-run"}, flags: []string{"-s", "-n"}}, {words: []string{"catchsegv"}},
	{words: []string{"uv", "run"}, flags: []string{"--with", "--extra", "--group", "-p", "--python"}}, {words: []string{"poetry", "run"}}, {words: []string{"pdm", "run"}}, {words: []string{"hatch", "run"}},
	{words: []string{"pipenv", "run"}}, {words: []string{"rye", "run"}}, {words: []string{"uvx"}, flags: []string{"--with", "--from"}}, {words: []string{"pipx", "run"}},
	{words: []string{"npx"}, flags: []string{"-p", "--package"}}, {words: []string{"pnpm", "exec"}}, {words: []string{"pnpm", "dlx"}}, {words: []string{"yarn", "exec"}}, {words: []string{"bunx"}},
	{words: []string{"npm", "exec"}}, {words: []string{"bundle", "exec"}}, {words: []string{"coverage", "run"}, flags: []string{"--source"}}, {words: []string{"cross-env"}}, {words: []string{"dotenv"}},
	{words: []string{"c8"}}, {words: []string{"nyc"}}, {words: []string{"opam", "exec"}},
}

// pythonRE are the names of Python's interpreter.
var pythonRE = lazyregexp.New(`^(python[0-9.]*|pypy[0-9.]*)$`)

// unwrapCommand is what a command runs in the end: without what stands before it.
func (c call) unwrapCommand() []string {
	words := c.words
	for range 8 {
		was := len(words)
		for len(words) > 0 && assignmentRE.MatchString(words[0]) {
			words = words[1:]
		}
		for _, w := range wrappers {
			if len(words) > len(w.words) && path.Base(words[0]) == w.words[0] && slices.Equal(words[1:len(w.words)], w.words[1:]) {
				words = skipFlags(words[len(w.words):], w.flags)
				if w.words[0] == "timeout" && len(words) > 1 {
					words = words[1:] // how long
				}
				break
			}
		}
		if len(words) > 2 && pythonRE.MatchString(path.Base(words[0])) {
			if rest := skipFlags(words[1:], []string{"-W", "-X"}); len(rest) > 0 && slices.Contains(words[1:len(words)-len(rest)], "-m") {
				words = rest
			}
		}
		if len(words) > 1 && words[0] == "-m" { // coverage run -m pytest
			words = words[1:]
		}
		if len(words) == was {
			break
		}
	}
	return words
}

var assignmentRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

// skipFlags leaves out the flags at the front, and the values of those that take one.
func skipFlags(words, withValue []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if words[0] == "--" || words[0] == "-m" {
			return words[1:]
		}
		n := 1
		if slices.Contains(withValue, words[0]) {
			n = 2
		}
		words = words[min(n, len(words)):]
	}
	return words
}

// scripted are the clients whose "run test" and "test" are a script of a manifest.
var scripted = []string{"npm", "yarn", "pnpm", "bun"}

// parted are programs whose first argument says what they do.
var parted = []string{"go", "cargo", "make", "gmake", "meson", "mvn", "mvnw", "gradle", "gradlew", "rake", "rails", "dotnet", "mix", "swift", "deno", "composer", "dune", "stack", "cabal", "zig", "bazel",
	"ninja", "just", "task", "mage", "invoke", "nx", "turbo", "lerna", "django-admin", "manage.py", "setup.py", "sbt", "lein", "flutter", "dart", "grunt", "gulp", "pre-commit", "poe"}

// flagsWithValue are flags before that argument which take a value.
var flagsWithValue = []string{"-C", "-f", "--prefix", "-w", "--workspace", "--filter", "-p", "--cwd", "--manifest-path", "--dir"}

// aliases are programs that run what another one does, under names of their own.
var aliases = map[string]string{"gotestsum": "go test", "py.test": "pytest", "cargo nextest": "cargo test", "gmake": "make", "npm t": "script test", "npm tst": "script test", "setup.py test": "unittest", "setup.py pytest": "pytest"}

// commandKey names what a command does, without its flags: two commands of one key run
// the same program on the same thing. It is empty for a command without a name.
func (c call) commandKey() string {
	words := c.unwrapCommand()
	if len(words) == 0 || strings.Contains(words[0], unknown) || words[0] == "" {
		return ""
	}
	program := path.Base(words[0])
	if target := targetOf(words); target != "" {
		return program + " target " + target
	}
	if pythonRE.MatchString(program) || slices.Contains([]string{"bash", "sh", "ruby", "node", "perl", "php"}, program) {
		rest := skipFlags(words[1:], nil)
		if program == "node" && slices.ContainsFunc(words[1:], func(w string) bool { return w == "--test" }) {
			return "node --test"
		}
		if len(rest) == 0 || strings.Contains(rest[0], unknown) {
			return program
		}
		words, program = rest, path.Base(rest[0])
	}
	sub := ""
	if rest := skipFlags(words[1:], flagsWithValue); len(rest) > 0 {
		sub = strings.ReplaceAll(rest[0], unknown, "")
		if slices.Contains(scripted, program) {
			if (sub == "run" || sub == "run-script") && len(rest) > 1 {
				return "script " + rest[1]
			}
			if sub == "test" || program == "yarn" && !slices.Contains(yarnWords, sub) {
				return "script " + sub
			}
		}
	}
	if program == "tox" || program == "nox" {
		return strings.TrimSpace(program + " " + sessionOf(words[1:]))
	}
	key := program
	if slices.Contains(parted, program) || slices.Contains(scripted, program) || program == "cmake" && sub == "" {
		key = strings.TrimSpace(program + " " + sub)
	}
	if strings.Contains(words[0], "/") && !strings.Contains(words[0], "node_modules/.bin/") && !strings.Contains(words[0], "bin/") && key == program {
		key = path.Clean(words[0]) // a script of the tree, by its path
	}
	for from, to := range aliases {
		if key == from || strings.HasPrefix(key, from+" ") {
			return to
		}
	}
	return strings.Replace(key, "gmake ", "make ", 1)
}

// sessionOf is the environment that tox, or the session that nox is asked for; none
// where it is one of the interpreters, which run the tests.
func sessionOf(words []string) string {
	for i, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if name != "-e" && name != "-s" && name != "--session" && name != "--sessions" && name != "run" {
			continue
		}
		if !ok && i+1 < len(words) {
			value = words[i+1]
		}
		if name != "run" && !interpreterRE.MatchString(value) && !strings.Contains(value, unknown) {
			return value
		}
	}
	return ""
}

// interpreterRE is an environment of tox that is one of the interpreters, or chosen
// by the CI.
var interpreterRE = lazyregexp.New(`^(py|python|pypy)[0-9.]*(-|,|$)|\$`)

// yarnWords are yarn's own commands; any other is a script.
var yarnWords = []string{"install", "add", "remove", "cache", "config", "global", "link", "set", "up", "why", "workspace", "workspaces", "dlx", "plugin", "npm", "pack", "publish", "version", "info", "audit", ""}

// aside are programs that prepare, report or look, whatever their arguments say.
var aside = strings.Fields(`echo printf true false : test [ [[ export set unset source . git apt apt-get dpkg apk yum dnf pacman brew choco pip pip3 gem conda mamba curl wget docker docker-compose podman
	gh mkdir rm rmdir cp mv ln ls cat tee tar unzip zip chmod chown touch find grep sed awk sort head tail which command type sleep wait kill exit return codecov coveralls goveralls ssh scp rsync
	virtualenv venv nvm asdf rustup gcloud aws kubectl helm open xdg-open start code vim nano cmake configure man less more diff date uname`)

// testers are programs that run tests whatever their arguments are.
var testers = strings.Fields(`pytest tox nox ctest rspec phpunit pest jest vitest mocha ava tap tape bats prove nose2 nosetests stestr trial unittest gotestsum busted karma cypress playwright behave cucumber
	lit avocado runtests runtests.py shellspec roundup minitest jasmine qunit zope-testrunner green ward robot`)

// linters are programs that read code and report its faults.
var linters = strings.Fields(`golangci-lint staticcheck revive errcheck gofmt gofumpt goimports ruff flake8 pylint mypy pyright pyflakes pycodestyle pydocstyle black isort bandit eslint prettier tsc standard xo biome oxlint
	stylelint shellcheck shfmt clippy rustfmt clang-format clang-tidy cppcheck rubocop standardrb phpcs phpstan psalm yamllint markdownlint markdownlint-cli2 codespell hadolint actionlint vulture black ty`)

// preparing are first arguments with which a program prepares or publishes.
var preparing = strings.Fields(`install i ci add get mod build generate download update upgrade sync lock init fetch publish pack clean restore tool env version login config cache link run-script compile release deploy docs doc fmt format fix`)

var (
	testWord  = lazyregexp.New(`(?i)(^|[-_:./])(tests?|check|checks|spec|specs|unittests?|runtests?|testsuite|verify|nextest|e2e|integration|acceptance|smoke|functional|conformance)($|[-_:./])`)
	watchWord = lazyregexp.New(`(?i)(^|[-_:.])watch($|[-_:.])`)
	lintWord  = lazyregexp.New(`(?i)(^|[-_:./])(lint|linters?|vet|clippy|typecheck|type-check|types|stylecheck|check-format|format-check|fmt-check|check-fmt|lint-check)($|[-_:./])`)
)

// testsBy are the subcommands by which programs that do more than test do test.
var testsBy = map[string]string{"playwright": "test", "cypress": "run"}

// checkKind says which check a command is: Test, ProposedLint, or none.
func (c call) checkKind() string {
	words := c.unwrapCommand()
	if len(words) == 0 || strings.Contains(words[0], unknown) {
		return ""
	}
	program := path.Base(words[0])
	switch {
	case slices.Contains(aside, program) && !strings.HasPrefix(words[0], "./"):
		return ""
	case slices.ContainsFunc(words[1:], func(w string) bool { return w == "--version" || w == "--help" || w == "-h" }):
		return ""
	case slices.ContainsFunc(words, asksToWatch):
		return "" // it does not end
	case program == "tox", program == "nox":
		if _, session, named := strings.Cut(c.commandKey(), " "); named {
			return kindOfSession(session)
		}
		return Test
	case testsBy[program] != "" && (len(words) < 2 || words[1] != testsBy[program]):
		return "" // it fetches browsers, or shows a report
	case slices.Contains(testers, program):
		return Test
	case slices.Contains(linters, program):
		return Lint
	}
	key := c.commandKey()
	name, sub, _ := strings.Cut(key, " ")
	if target := targetOf(words); target != "" {
		return kindOfWord(target)
	}
	switch {
	case key == "go test" && slices.ContainsFunc(words, func(w string) bool { return goMeasureRE.MatchString(w) }):
		return "" // it measures, or looks for inputs
	case key == "":
		return ""
	case key == "node --test":
		return Test
	case name == "cargo" && sub == "fmt", name == "pre-commit" && sub == "run":
		return Lint
	case sub != "" && slices.Contains(preparing, sub):
		return ""
	case sub != "": // of a program with subcommands
		return kindOfWord(sub)
	case strings.Contains(words[0], "/"), path.Ext(key) != "":
		return kindOfWord(path.Base(key)) // a script of the tree
	}
	return ""
}

// goMeasureRE is a flag by which go test runs benchmarks, or a search for inputs that fail.
var goMeasureRE = lazyregexp.New(`^--?(bench|fuzz)(=|$)`)

// asksToWatch says whether an argument has its program wait for changes.
func asksToWatch(word string) bool {
	flag, value, _ := strings.Cut(word, "=")
	return (flag == "--watch" || flag == "--watchAll") && value != "false" || watchWord.MatchString(word) && !strings.HasPrefix(word, "-")
}

// kindOfWord is the kind of check that a target or a script is called after.
func kindOfWord(word string) string {
	switch {
	case lintWord.MatchString(word):
		return Lint
	case testWord.MatchString(word):
		return Test
	}
	return ""
}

// kindOfSession is the kind of check of an environment of tox or a session of nox.
func kindOfSession(name string) string {
	if slices.Contains(linters, name) || slices.Contains([]string{"style", "quality", "typing", "mypy", "format", "code", "static"}, name) {
		return Lint
	}
	return kindOfWord(name)
}
