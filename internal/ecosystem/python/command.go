package python

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/shellquote"
)

// quoteWord quotes one argument for a shell. Plain arguments are not changed.
func quoteWord(w string) string {
	if plainWordRE.MatchString(w) {
		return w
	}
	return shellquote.QuoteArgument(w)
}

var plainWordRE = lazyregexp.New(`^[A-Za-z0-9_./,:@%+={}-]+$`)

// splitWords splits a command into arguments without a shell. It handles only quotes and backslashes. ok is
// false if a quote has no end.
func splitWords(command string) (words []string, ok bool) {
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == '\\' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
			inWord = true
		case c == ' ' || c == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, quote == 0
}

// reportingPrograms are programs in a test environment that run no tests. Package managers are included
// because they install packages, which the image has done already. Their "run" command counts as the
// program that it starts (commandWords).
var reportingPrograms = append(
	[]string{"coverage", "codecov", "coveralls", "flake8", "mypy", "black", "isort", "ruff", "pylint", "pyright",
		"sphinx-build", "twine", "pip", "check-manifest", "echo", "rm", "mkdir", "find", "pip-audit", "bandit", "true"},
	packageManagers...)

// packageManagers are programs that install packages and whose "run" command starts an installed program.
var packageManagers = []string{"uv", "poetry", "pdm", "pipenv", "hatch", "rye"}

// runFlagsWithValue lists flags of "run" that take a value.
var runFlagsWithValue = []string{"--with", "--with-editable", "--with-requirements", "--extra", "--group",
	"--only-group", "--no-group", "--package", "--python", "--env", "--venv", "--project", "--directory", "-p", "-e"}

// commandWords splits a command of an environment into arguments. It removes marks for the command's runner
// and a package manager that starts the command: "- poetry run pytest -q" becomes pytest -q.
func commandWords(command string) (words []string, ok bool) {
	words, ok = splitWords(strings.TrimLeft(command, "-!@ "))
	if len(words) < 3 || words[1] != "run" || !slices.Contains(packageManagers, path.Base(words[0])) {
		return words, ok
	}
	rest := words[2:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") && rest[0] != "-m" {
		n := 1
		if slices.Contains(runFlagsWithValue, rest[0]) {
			n = 2
		}
		rest = rest[min(n, len(rest)):]
	}
	if len(rest) > 0 && rest[0] == "-m" { // uv run -m pytest
		rest = append([]string{"python3"}, rest...)
	}
	return rest, ok
}

// testRunner returns the test runner in a command, pytest or unittest, and its arguments. It returns "" for
// an unknown runner.
func testRunner(words []string) (runner string, args []string) {
	for len(words) > 0 {
		switch program := path.Base(words[0]); {
		case program == "pytest" || program == "py.test":
			return "pytest", words[1:]
		case (program == "coverage" || program == "slipcover") && len(words) > 1:
			i := slices.Index(words, "-m")
			if words[1] != "run" || i < 0 {
				return "", nil
			}
			words = words[i+1:]
		case pythonProgramRE.MatchString(program):
			i := 1
			for i < len(words) && strings.HasPrefix(words[i], "-") && words[i] != "-m" {
				if words[i] == "-W" || words[i] == "-X" {
					i++
				}
				i++
			}
			if i+1 >= len(words) || words[i] != "-m" {
				return "", nil
			}
			words = words[i+1:]
		case program == "unittest":
			return "unittest", words[1:]
		case program == "xvfb-run" || program == "env" || program == "time":
			words = words[1:]
		default:
			return "", nil
		}
	}
	return "", nil
}

var pythonProgramRE = lazyregexp.New(`^python(3(\.[0-9]+)?)?$`)

// hasTestCommand reports whether any of the commands runs tests with a known runner.
func hasTestCommand(commands []string) bool {
	return slices.ContainsFunc(commands, func(c string) bool {
		words, ok := commandWords(c)
		if !ok || len(words) == 0 {
			return false
		}
		runner, _ := testRunner(words)
		return runner != "" || isTestScript(words)
	})
}

// isTestScript reports whether a command runs a test script of the project, by its name: python
// runtests.py, trial, django's manage.py test. Names of nose don't count, because pytest and unittest also
// run its tests.
func isTestScript(words []string) bool {
	if pythonProgramRE.MatchString(path.Base(words[0])) && len(words) > 1 {
		words = words[1:]
	}
	name := strings.ToLower(strings.TrimSuffix(path.Base(words[0]), ".py"))
	if slices.Contains([]string{"trial", "stestr", "ward"}, name) {
		return true
	}
	return strings.Contains(name, "test") && !strings.HasPrefix(name, "nose") && !strings.HasPrefix(name, "zope") ||
		name == "manage" && slices.Contains(words, "test") || name == "setup" && slices.Contains(words, "test")
}

// testCommand is a project's test command, as a runner of environments such as tox defines it.
type testCommand struct {
	runner string   // pytest or unittest, or empty if plain is set
	args   []string // arguments of the runner
	below  string   // folder for pytest, relative to the project's
	plain  string   // the commands as shell text
	file   string   // the file that defines the command
}

// findRun returns how tox or nox runs the tests of a project. At the root it falls back to the Makefile.
func findRun(tree *ecosystem.Tree, dir string) environmentRun {
	m, _ := readPyproject([]byte(tree.ReadManifest(dir, "pyproject.toml")))
	for _, run := range []environmentRun{readToxFile(tree.ReadManifest(dir, "tox.ini")), readToxRun(m.Tool.Tox),
		readNoxFile(tree.ReadManifest(dir, "noxfile.py"))} {
		if hasTestCommand(run.commands) {
			return run
		}
	}
	if dir == "" {
		return readMakeRun(tree)
	}
	return environmentRun{}
}

// formatVariables returns the environment of a run's commands in shell syntax. It leaves out variables of
// the runner itself and of reports.
func (r environmentRun) formatVariables() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.set)) {
		value := r.set[name]
		if !variableRE.MatchString(name) || notForGatesRE.MatchString(name) ||
			strings.ContainsFunc(value, unicode.IsControl) {
			continue
		}
		b.WriteString(name + "=" + quoteWord(value) + " ")
	}
	return b.String()
}

var (
	variableRE    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	notForGatesRE = lazyregexp.New(
		`^(PATH|HOME|PYTHONPATH|PYTHONHOME|LD_.*|PIP_.*|UV_.*|TOX_.*|VIRTUALENV_.*|VIRTUAL_ENV|COVER.*|PYTEST_ADDOPTS|CI)$`)
)

// findCommand returns one command for a gate: a single runner with its arguments, or else all commands in
// sequence. It returns false if there is no command.
func (r environmentRun) findCommand() (testCommand, bool) {
	var kept [][]string
	for _, c := range r.commands {
		words, ok := commandWords(c)
		if !ok || len(words) == 0 {
			continue
		}
		runner, _ := testRunner(words)
		if program := path.Base(words[0]); runner == "" &&
			(slices.Contains(reportingPrograms, program) ||
				pythonProgramRE.MatchString(program) && len(words) > 2 && words[1] == "-m" &&
					slices.Contains(reportingPrograms, words[2])) {
			continue
		}
		kept = append(kept, words)
	}
	if len(kept) == 0 {
		return testCommand{}, false
	}
	below, change := "", ""
	if r.dir != "" && r.dir != "." {
		if !filepath.IsLocal(r.dir) {
			return testCommand{}, false
		}
		below = path.Clean(r.dir)
		change = "cd " + quoteWord(below) + " && "
	}
	if runner, args := testRunner(kept[0]); len(kept) == 1 && runner != "" && (below == "" || runner == plantPytest) {
		return testCommand{runner: runner, args: keepArguments(runner, args), below: below, file: r.file}, true
	}
	var lines []string
	for _, words := range kept {
		if runner, args := testRunner(words); runner != "" {
			words = append([]string{"python3", "-m", runner}, keepArguments(runner, args)...)
		} else if pythonProgramRE.MatchString(words[0]) {
			words[0] = "python3"
		}
		for i, w := range words {
			words[i] = quoteWord(w)
		}
		lines = append(lines, r.formatVariables()+strings.Join(words, " "))
	}
	return testCommand{plain: change + strings.Join(lines, " && "), file: r.file}, true
}

// reportArguments lists prefixes of pytest arguments that write reports, stop early, or distribute the
// tests over processes. A gate has its own report, and these arguments must not affect its verdict.
var reportArguments = []string{"--cov", "--no-cov", "--junitxml", "--junit-xml", "--html", "--self-contained-html",
	"--durations", "--color", "--tb", "--numprocesses", "--dist", "--basetemp", "--show-capture", "--maxfail",
	"--benchmark"}

// keepArguments removes arguments of pytest that affect the report and not the selection of tests.
func keepArguments(runner string, args []string) (out []string) {
	if runner != plantPytest {
		return args
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, _, hasValue := strings.Cut(a, "=")
		switch {
		case slices.ContainsFunc(reportArguments, func(r string) bool { return name == r || strings.HasPrefix(name, r+"-") }):
			// The value may be a separate argument: --cov-report xml.
			if takesValue := !strings.HasPrefix(name, "--no-cov") &&
				!slices.Contains([]string{"--self-contained-html", "--cov-append", "--cov-branch"}, name); !hasValue &&
				takesValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
			}
		case a == "-n" && i+1 < len(args):
			i++
		case quietRE.MatchString(a), strings.HasPrefix(a, "-n") && len(a) > 2 && a[2] != '-',
			strings.HasPrefix(a, "-r") && len(a) > 2:
		default:
			out = append(out, a)
		}
	}
	return out
}

var quietRE = lazyregexp.New(`^-(v+|q+|s|x|l|ra|rA|rs)$|^--(verbose|quiet|exitfirst|showlocals)$`)
