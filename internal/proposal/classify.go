package proposal

import (
	"path"
	"slices"
	"strings"

	"company/internal/lazyregexp"
)

// scripted are the clients whose "run test" and "test" are a script of a manifest.
var scripted = []string{"npm", "yarn", "pnpm", "bun"}

// parted are programs whose first argument says what they do.
var parted = []string{"go", "cargo", "make", "gmake", "meson", "mvn", "mvnw", "gradle", "gradlew", "rake", "rails", "dotnet", "mix", "swift", "deno", "composer", "dune", "stack", "cabal", "zig", "bazel",
	"richgo", "cross", "prek", "terraform", "tofu", "artisan", "console", "ng", "astro", "buf", "ninja", "just", "task", "mage", "invoke", "nx", "turbo", "lerna", "django-admin", "manage.py", "setup.py", "sbt", "lein", "flutter", "dart", "grunt", "gulp", "pre-commit", "poe"}

// flagsWithValue are flags before that argument which take a value.
var flagsWithValue = []string{"-C", "-f", "--prefix", "-w", "--workspace", "--filter", "-F", "-p", "--cwd", "--manifest-path", "--dir"}

// aliases are programs that run what another one does, under names of their own.
var aliases = map[string]string{"gotestsum": "go test", "richgo test": "go test", "rake spec": "rspec", "py.test": "pytest", "cargo nextest": "cargo test", "gmake": "make", "simple-phpunit": "phpunit", "paratest": "phpunit", "cargo llvm-cov": "cargo test", "cargo tarpaulin": "cargo test", "cargo check": "cargo clippy", "cargo c": "cargo clippy", "cargo t": "cargo test", "npm t": "script test", "npm tst": "script test", "setup.py test": "unittest", "setup.py pytest": "pytest"}

// commandKey names what a command does, without its flags: two commands of one key run
// the same program on the same thing. It is empty for a command without a name.
func (c call) commandKey() string {
	words := c.unwrapCommand()
	if len(words) == 0 || strings.Contains(words[0], unknown) || words[0] == "" {
		return ""
	}
	program := programName(words[0])
	if target := targetOf(words); target != "" {
		return program + " target " + target
	}
	if program == "node" && slices.ContainsFunc(words[1:], func(w string) bool { return w == "--test" }) {
		return "node --test"
	}
	if rest := skipInterpreter(words); len(rest) < len(words) {
		words, program = rest, programName(rest[0])
	} else if pythonRE.MatchString(program) || slices.Contains(interpreters, program) {
		return program
	}
	sub := ""
	if rest := skipFlags(words[1:], flagsWithValue); len(rest) > 0 {
		sub = strings.ReplaceAll(rest[0], unknown, "")
		if program == "composer" && (sub == "run" || sub == "run-script") && len(rest) > 1 {
			sub = rest[1]
		}
		if slices.Contains(scripted, program) {
			if program == "yarn" && sub == "workspace" && len(rest) > 2 {
				rest = rest[2:] // its name, and a script of its own
				sub = rest[0]
			}
			if sub == "run" || sub == "run-script" {
				if named := skipFlags(rest[1:], flagsWithValue); len(named) > 0 {
					return "script " + named[0]
				}
			}
			if sub == "test" && program != "bun" || slices.Contains(ownScripts[program], "") && !slices.Contains(ownScripts[program], sub) {
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

// programName is the name of a program by its path.
func programName(word string) string { return strings.TrimSuffix(path.Base(word), ".phar") }

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
		value = interpreterEndRE.ReplaceAllString(value, "")
		if name != "run" && !interpreterRE.MatchString(value) && !strings.Contains(value, unknown) {
			return value
		}
	}
	return ""
}

// interpreterRE is an environment of tox that is one of the interpreters, or chosen
// by the CI.
var interpreterRE = lazyregexp.New(`^(py|python|pypy)[0-9.]*(-|,|$)|\$`)

// interpreterEndRE is the interpreter behind the name of a session of nox.
var interpreterEndRE = lazyregexp.New(`-(py|python|pypy)?[0-9]+\.[0-9]+$`)

// ownScripts are the clients that run a script by its name alone, with the names of their own commands.
var ownScripts = map[string][]string{
	"yarn": {"install", "add", "remove", "cache", "config", "global", "link", "set", "up", "why", "workspace", "workspaces", "dlx", "plugin", "npm", "pack", "publish", "version", "info", "audit", ""},
	"pnpm": {"install", "i", "add", "update", "up", "upgrade", "remove", "rm", "uninstall", "link", "unlink", "import", "rebuild", "prune", "fetch", "patch", "audit", "list", "ls", "outdated", "why", "exec", "dlx", "create",
		"publish", "pack", "store", "root", "bin", "setup", "init", "deploy", "env", "config", "licenses", "server", "dedupe", "approve-builds", "ci", "version", "login", "whoami", ""},
}

// aside are programs that prepare, report or look, whatever their arguments say.
var aside = strings.Fields(`echo printf true false : test [ [[ export set unset source . git apt apt-get dpkg apk yum dnf pacman brew choco pip pip3 gem conda mamba curl wget docker docker-compose podman
	gh mkdir rm rmdir cp mv ln ls cat tee tar unzip zip chmod chown touch find grep sed awk sort head tail which command type sleep wait kill exit return codecov coveralls goveralls ssh scp rsync
	virtualenv venv nvm asdf rustup gcloud aws kubectl helm open xdg-open start code vim nano cmake configure man less more diff date uname`)

// testers are programs that run tests whatever their arguments are.
var testers = strings.Fields(`pytest tox nox ctest rspec phpunit simple-phpunit paratest codecept phpspec pest ginkgo jest vitest mocha ava tap tape bats prove nose2 nosetests stestr trial unittest gotestsum busted karma cypress playwright behave cucumber
	lit avocado runtests runtests.py shellspec roundup minitest jasmine qunit zope-testrunner green ward robot`)

// linters are programs that read code and report its faults.
var linters = strings.Fields(`golangci-lint staticcheck revive errcheck gofmt gofumpt goimports ruff flake8 pylint mypy pyright pyflakes pycodestyle pydocstyle black isort bandit eslint prettier tsc standard xo biome oxlint
	vue-tsc svelte-check knip publint attw dprint cspell secretlint depcheck misspell gosec ineffassign gocyclo nilaway gci deptry pydoclint interrogate docformatter yapf basedpyright djlint sqlfluff check-manifest
	lint-imports pyrefly zizmor php-cs-fixer pint ecs rector phpmd deptrac phan brakeman reek steep taplo stylelint shellcheck shfmt clippy rustfmt clang-format clang-tidy cppcheck rubocop standardrb phpcs phpstan psalm yamllint markdownlint markdownlint-cli2 codespell hadolint actionlint vulture black ty`)

// preparing are first arguments with which a program prepares or publishes.
var preparing = strings.Fields(`install i add get mod build generate download update upgrade sync lock init fetch publish pack clean restore tool env version login config cache link run-script compile release deploy docs doc fmt format fix`)

var (
	testWord  = lazyregexp.New(`(?i)(^|[-_:./])(tests?|check|checks|spec|specs|unittests?|runtests?|testsuite|verify|nextest|e2e|integration|acceptance|smoke|functional|conformance)($|[-_:./])`)
	watchWord = lazyregexp.New(`(?i)(^|[-_:.])watch($|[-_:.])`)
	// wholeWord is a target or a script for all checks.
	wholeWord = lazyregexp.New(`(?i)^(ci|cibuild|validate|presubmit|pre-?commit|qa)(\.[a-z]+)?$`)
	// lintName is a program that is called a linter.
	lintName = lazyregexp.New(`(^|[a-z]-?)lint(-[a-z0-9]+)?$`)
	lintWord = lazyregexp.New(`(?i)(^|[-_:./])(lint|linters?|vet|clippy|typecheck|type-check|types|stylecheck|check-format|format-check|fmt-check|check-fmt|lint-check)($|[-_:./])`)
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
	if run := programName(skipInterpreter(words)[0]); isChecker(run) {
		program, words = run, skipInterpreter(words)
	}
	switch {
	case slices.Contains(aside, program) && (words[0] == program || path.IsAbs(words[0])):
		return ""
	case !c.asked && neverFails(program, words[1:]):
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
	case slices.Contains(linters, program), lintName.MatchString(program) && program != "commitlint": // which needs the history
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
	case name == "cargo" && slices.Contains(cargoLints, sub), (name == "pre-commit" || name == "prek") && sub == "run":
		return Lint
	case name == "cargo" && (sub == "xtask" || sub == "make") && len(words) > 2:
		return kindOfWord(words[2])
	case name == "cargo" && sub == "miri" && !slices.Contains(words, "setup"):
		return Test
	case slices.Contains(scripted, name) && sub == "ci":
		return "" // it installs
	case (sub == "fmt" || sub == "format") && slices.ContainsFunc(words, checkFlagRE.MatchString):
		return Lint
	case sub != "" && slices.Contains(preparing, sub):
		return ""
	case sub != "": // of a program with subcommands
		return kindOfWord(sub)
	case strings.Contains(words[0], "/"), path.Ext(key) != "":
		return kindOfWord(path.Base(key)) // a script of the tree
	case c.namesScript(words):
		return kindOfWord(words[0])
	}
	return ""
}

// cargoLints are subcommands of cargo that read code and report its faults.
var cargoLints = []string{"fmt", "machete", "udeps", "sort", "spellcheck"}

// checkingFlags are those with which programs that write files check them. Without one of them they do not fail.
var checkingFlags = map[string][]string{
	"black": {"--check"}, "isort": {"--check", "--check-only", "-c"}, "yapf": {"--diff", "-d"}, "docformatter": {"--check", "-c"}, "prettier": {"--check", "-c", "--list-different", "-l"}, "shfmt": {"-d", "--diff", "-l"},
	"gofmt": {}, "gofumpt": {}, "goimports": {}, "gci": {}, "clang-format": {"--dry-run", "-n", "-Werror"}, "rustfmt": {"--check"}, "php-cs-fixer": {"--dry-run", "check"}, "pint": {"--test"}, "rector": {"--dry-run", "-n"},
}

// neverFails reports whether a program ends well whatever it finds: it only reports, or writes what it finds wrong anew.
func neverFails(program string, arguments []string) bool {
	has := func(flags ...string) bool {
		return slices.ContainsFunc(arguments, func(a string) bool { return slices.Contains(flags, a) })
	}
	flags, writes := checkingFlags[program]
	switch {
	case has("--exit-zero", "--write"):
		return program != "biome" // which fails where it cannot write what it finds wrong
	case program == "ruff" && has("format"):
		return !has("--check", "--diff")
	case program == "cargo" && has("fmt"):
		return !has("--check")
	}
	return writes && !has(flags...)
}

// checkFlagRE is a flag with which a formatter says what it would change, and fails.
var checkFlagRE = lazyregexp.New(`^--?(check|verify|set-exit|exit-code|diff)`)

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
	case testWord.MatchString(word), wholeWord.MatchString(word):
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
