package checkfinder

import (
	"path"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// scripted lists the clients for which "run test" and "test" run a script of a manifest.
var scripted = []string{"npm", "yarn", "pnpm", "bun"}

// parted lists programs whose first argument is a subcommand.
var parted = []string{"go", "cargo", "make", "gmake", "meson", "mvn", "mvnw", "gradle", "gradlew", "rake", "rails",
	"dotnet", "mix", "swift", "deno", "composer", "dune", "stack", "cabal", "zig", "bazel",
	"richgo", "cross", "prek", "terraform", "tofu", "artisan", "console", "ng", "astro", "buf", "ninja", "just", "task",
	"mage", "invoke", "nx", "turbo", "lerna", "django-admin", "manage.py", "setup.py", "sbt", "lein", "flutter", "dart",
	"grunt", "gulp", "pre-commit", "poe", "hatch", "rye"}

// flagsWithValue lists flags with a value that may precede the subcommand.
var flagsWithValue = []string{"-C", "-f", "--prefix", "-w", "--workspace", "--filter", "-F", "-p", "--cwd",
	"--manifest-path", "--dir"}

// numberRE matches an argument that cannot be a target.
var numberRE = lazyregexp.New(`^[0-9]+$`)

// aliases maps programs to others that run the same checks.
var aliases = map[string]string{"gotestsum": "go test", "richgo test": "go test", "rake spec": "rspec",
	"py.test": "pytest", "cargo nextest": "cargo test", "gmake": "make", "simple-phpunit": "phpunit",
	"paratest": "phpunit", "cargo llvm-cov": "cargo test", "cargo tarpaulin": "cargo test", "cargo check": "cargo clippy",
	"cargo c": "cargo clippy", "cargo t": "cargo test", "npm t": "script test", "npm tst": "script test",
	"setup.py test": "unittest", "setup.py pytest": "pytest"}

// commandKey returns a key for a command without its flags. Two commands with the same key run the same program on
// the same target. It is empty for a command without a name.
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
	rest := skipFlags(words[1:], flagsWithValue)
	for len(rest) > 1 && numberRE.MatchString(rest[0]) { // make -j 4 check
		rest = skipFlags(rest[1:], flagsWithValue)
	}
	if len(rest) > 0 {
		sub = strings.ReplaceAll(rest[0], unknown, "")
		if program == "composer" && (sub == "run" || sub == "run-script") && len(rest) > 1 {
			sub = rest[1]
		}
		if slices.Contains(scripted, program) {
			if index := slices.Index(rest, "run"); program == "yarn" && sub == "workspaces" && index > 0 && index+1 < len(rest) {
				return "yarn workspaces:" + rest[index+1] // a script of each workspace
			}
			if program == "yarn" && sub == "workspace" && len(rest) > 2 {
				rest = rest[2:] // the name of a workspace, then one of its scripts
				sub = rest[0]
			}
			if sub == "run" || sub == "run-script" {
				if named := skipFlags(rest[1:], flagsWithValue); len(named) > 0 {
					return "script " + named[0]
				}
			}
			if sub == "test" && program != "bun" ||
				slices.Contains(ownScripts[program], "") && !slices.Contains(ownScripts[program], sub) {
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
	if strings.Contains(words[0], "/") && !strings.Contains(words[0], "node_modules/.bin/") &&
		!strings.Contains(words[0], "bin/") && key == program {
		key = path.Clean(words[0]) // a script of the tree, by its path
	}
	for from, to := range aliases {
		if key == from || strings.HasPrefix(key, from+" ") {
			return to
		}
	}
	return strings.Replace(key, "gmake ", "make ", 1)
}

// programName returns the name of a program from its path.
func programName(word string) string { return strings.TrimSuffix(path.Base(word), ".phar") }

// sessionOf returns the environment for tox or the session for nox in the arguments. It returns "" if there is none,
// or if it is an interpreter, because those run the tests.
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

// interpreterRE matches a tox environment that is only an interpreter or that the CI chooses.
var interpreterRE = lazyregexp.New(`^(py|python|pypy)[0-9.]*(-|,|$)|\$`)

// interpreterEndRE matches the interpreter at the end of a nox session's name.
var interpreterEndRE = lazyregexp.New(`-(py|python|pypy)?[0-9]+\.[0-9]+$`)

// ownScripts lists the clients that run a script by its name alone, with the names of their own commands.
var ownScripts = map[string][]string{
	"yarn": {"install", "add", "remove", "cache", "config", "global", "link", "set", "up", "why", "workspace",
		"workspaces", "dlx", "plugin", "npm", "pack", "publish", "version", "info", "audit", ""},
	"pnpm": {"install", "i", "add", "update", "up", "upgrade", "remove", "rm", "uninstall", "link", "unlink", "import",
		"rebuild", "prune", "fetch", "patch", "audit", "list", "ls", "outdated", "why", "exec", "dlx", "create",
		"publish", "pack", "store", "root", "bin", "setup", "init", "deploy", "env", "config", "licenses", "server", "dedupe",
		"approve-builds", "ci", "version", "login", "whoami", ""},
}

// aside lists programs that prepare, report or inspect, with any arguments.
var aside = strings.Fields(
	`echo printf true false : test [ [[ export set unset source . git apt apt-get dpkg apk yum dnf pacman brew choco pip pip3 gem conda mamba curl wget docker docker-compose podman
	gh mkdir rm rmdir cp mv ln ls cat tee tar unzip zip chmod chown touch find grep sed awk sort head tail which command type sleep wait kill exit return codecov coveralls goveralls ssh scp rsync
	virtualenv venv nvm asdf rustup gcloud aws kubectl helm open xdg-open start code vim nano cmake configure man less more diff date uname`)

// testers lists programs that run tests with any arguments.
var testers = strings.Fields(
	`pytest tox nox ctest rspec phpunit simple-phpunit paratest codecept phpspec pest ginkgo jest vitest mocha ava tap tape bats prove nose2 nosetests stestr trial unittest gotestsum busted karma cypress playwright behave cucumber
	lit avocado doctest runtests runtests.py shellspec roundup minitest jasmine qunit zope-testrunner green ward robot`)

// linters lists programs that report faults in code.
var linters = strings.Fields(
	`golangci-lint staticcheck revive errcheck gofmt gofumpt goimports ruff flake8 pylint mypy pyright pyflakes pycodestyle pydocstyle black isort bandit eslint prettier tsc standard xo biome oxlint
	vue-tsc svelte-check knip publint attw dprint cspell secretlint depcheck misspell gosec ineffassign gocyclo nilaway gci deptry pydoclint interrogate docformatter yapf basedpyright djlint sqlfluff check-manifest
	lint-imports pyrefly zizmor php-cs-fixer pint ecs rector phpmd deptrac phan brakeman reek steep taplo stylelint shellcheck shfmt clippy rustfmt clang-format clang-tidy cppcheck rubocop standardrb phpcs phpstan psalm yamllint markdownlint markdownlint-cli2 codespell hadolint actionlint vulture black ty`)

// preparing lists subcommands that prepare or publish.
var preparing = strings.Fields(
	`install i add get mod build generate download update upgrade sync lock init fetch publish pack clean restore tool env version login config cache link run-script compile release deploy docs doc fmt format fix`)

var (
	testWord = lazyregexp.New(
		`(?i)(^|[-_:./])(tests?|check|checks|spec|specs|unittests?|runtests?|testsuite|verify|nextest|e2e|integration|acceptance|smoke|functional|conformance)($|[-_:./])`)
	// testTask matches a Gradle-style task: integrationTest, spotlessCheck.
	testTask  = lazyregexp.New(`[a-z](Tests?|Check)$`)
	watchWord = lazyregexp.New(`(?i)(^|[-_:.])watch($|[-_:.])`)
	// wholeWord matches a target or script for all checks.
	wholeWord = lazyregexp.New(`(?i)^(ci|cibuild|validate|presubmit|pre-?commit|qa)(\.[a-z]+)?$`)
	// lintName matches a program with "lint" in its name.
	lintName = lazyregexp.New(`(^|[a-z]-?)lint(-[a-z0-9]+)?$`)
	lintWord = lazyregexp.New(
		`(?i)(^|[-_:./])(lint|linters?|vet|clippy|typecheck|type-check|types|stylecheck|check-format|format-check|fmt-check|check-fmt|lint-check)($|[-_:./])`)
)

// testsBy maps programs that do more than test to their test subcommands.
var testsBy = map[string]string{"playwright": "test", "cypress": "run"}

// checkKind returns the kind of check of a command: Test, Lint, or "" if it is not a check.
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
	case c.comparesTree():
		return Lint
	case slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--exit-code-from") }):
		// docker compose up
		return Test
	case slices.Contains(aside, program) && (words[0] == program || path.IsAbs(words[0])):
		return ""
	case !c.asked && neverFails(program, words[1:]):
		return ""
	case slices.ContainsFunc(words[1:], func(w string) bool { return w == "--version" || w == "--help" || w == "-h" }):
		return ""
	case slices.ContainsFunc(words, asksToWatch):
		return "" // a watching program does not end
	case program == "tox", program == "nox":
		if _, session, named := strings.Cut(c.commandKey(), " "); named {
			return kindOfSession(session)
		}
		return Test
	case testsBy[program] != "" && (len(words) < 2 || words[1] != testsBy[program]):
		return "" // other subcommands fetch browsers or show a report
	case slices.Contains(testers, program):
		return Test
	case slices.Contains(linters, program), lintName.MatchString(program) && program != "commitlint":
		// commitlint needs the history
		return Lint
	}
	key := c.commandKey()
	name, sub, _ := strings.Cut(key, " ")
	if target := targetOf(words); target != "" {
		return kindOfWord(target)
	}
	switch {
	case key == "go test" && slices.ContainsFunc(words, func(w string) bool { return goMeasureRE.MatchString(w) }):
		return "" // it runs benchmarks or fuzzing
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
		return "" // ci installs packages
	case (sub == "fmt" || sub == "format") && slices.ContainsFunc(words, checkFlagRE.MatchString):
		return Lint
	case slices.ContainsFunc(words[1:], comparingRE.MatchString): // go mod tidy -diff, addlicense -check
		return Lint
	case program == "php" && slices.Contains(words, "-l"):
		return Lint
	case slices.Contains(testingGoals[name], sub):
		if slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(w, "-DskipTests") || strings.HasPrefix(w, "-Dmaven.test.skip")
		}) {
			return ""
		}
		return Test
	case sub != "" && slices.Contains(preparing, sub):
		return ""
	case sub != "": // of a program with subcommands
		return kindOfWord(sub)
	case strings.Contains(words[0], "/"), path.Ext(key) != "":
		return kindOfScript(path.Base(key), skipInterpreter(words)[1:])
	case c.namesScript(words):
		return kindOfWord(words[0])
	}
	return ""
}

// cargoLints lists subcommands of cargo that report faults in code.
var cargoLints = []string{"fmt", "deny", "machete", "udeps", "sort", "spellcheck"}

// checkingFlags lists the flags that make file-writing programs check only. Without such a flag, they never fail.
var checkingFlags = map[string][]string{
	"black": {"--check"}, "isort": {"--check", "--check-only", "-c"}, "yapf": {"--diff", "-d"},
	"docformatter": {"--check", "-c"}, "prettier": {"--check", "-c", "--list-different", "-l"},
	"shfmt": {"-d", "--diff", "-l"},
	"gofmt": {}, "gofumpt": {}, "goimports": {}, "gci": {}, "clang-format": {"--dry-run", "-n", "-Werror"},
	"rustfmt": {"--check"}, "php-cs-fixer": {"--dry-run", "check"}, "pint": {"--test"}, "rector": {"--dry-run", "-n"},
}

// neverFails reports whether a program succeeds regardless of its findings, because it only reports or fixes them.
func neverFails(program string, arguments []string) bool {
	has := func(flags ...string) bool {
		return slices.ContainsFunc(arguments, func(a string) bool { return slices.Contains(flags, a) })
	}
	flags, writes := checkingFlags[program]
	switch {
	case has("--exit-zero", "--write"):
		return program != "biome" // biome fails if it cannot fix a finding
	case program == "ruff" && has("format"):
		return !has("--check", "--diff")
	case program == "cargo" && has("fmt"):
		return !has("--check")
	}
	return writes && !has(flags...)
}

// checkFlagRE matches a flag that makes a formatter report changes and fail.
var checkFlagRE = lazyregexp.New(`^--?(check|verify|set-exit|exit-code|diff)`)

// comparingRE matches a flag that makes a file-writing program report changes and fail.
var comparingRE = lazyregexp.New(`^--?(check|check-only|diff)$`)

// testingGoals lists build targets that include the tests.
var testingGoals = map[string][]string{"mvn": {"package", "install", "verify"},
	"mvnw": {"package", "install", "verify"}, "gradle": {"build"}, "gradlew": {"build"}}

// goMeasureRE matches a flag that makes go test run benchmarks or fuzzing.
var goMeasureRE = lazyregexp.New(`^--?(bench|fuzz)(=|$)`)

// asksToWatch reports whether an argument makes its program wait for changes.
func asksToWatch(word string) bool {
	flag, value, _ := strings.Cut(word, "=")
	return (flag == "--watch" || flag == "--watchAll") && value != "false" ||
		watchWord.MatchString(word) && !strings.HasPrefix(word, "-")
}

// kindOfWord returns the kind of check that the name of a target or script suggests, or "".
func kindOfWord(word string) string {
	switch {
	case lintWord.MatchString(word):
		return Lint
	case testWord.MatchString(word), testTask.MatchString(word), wholeWord.MatchString(word):
		return Test
	}
	return ""
}

// kindOfScript returns the kind of check of a script of the tree, by its name or its first argument: ./dev.sh test.
func kindOfScript(name string, arguments []string) string {
	if kind := kindOfWord(name); kind != "" || len(arguments) == 0 || !targetRE.MatchString(arguments[0]) ||
		strings.ContainsAny(arguments[0], "/.") {
		return kind
	}
	return kindOfWord(arguments[0])
}

// kindOfSession returns the kind of check of a tox environment or a nox session.
func kindOfSession(name string) string {
	if slices.Contains(linters, name) ||
		slices.Contains([]string{"style", "quality", "typing", "mypy", "format", "code", "static"}, name) {
		return Lint
	}
	return kindOfWord(name)
}
