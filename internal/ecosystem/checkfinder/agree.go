package checkfinder

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// selection holds the arguments that change the scope or strictness of a check from its program's default. They are
// flags and names in the tree.
type selection struct {
	flags []string // sorted
	names []string
	// closer are its flags that select nothing and look closer at the same tests.
	closer []string
}

// readSelection parses a command's arguments. It ignores flags that select nothing, such as those for the format of
// results, the number of parallel tests and timeouts.
func (c call) readSelection(key string) selection {
	words := c.unwrapCommand()
	program, sub, _ := strings.Cut(key, " ")
	if len(words) == 0 || program == "tox" || program == "nox" || targetOf(words) != "" {
		return selection{} // the key contains their session or target
	}
	words = skipInterpreter(words)[1:] // python3 setup.py test
	table := append(slices.Clone(reportFlags["every"]), reportFlags[program]...)
	// The key contains the subcommand, possibly under another name.
	verbs := []string{sub}
	switch program {
	case "script":
		verbs = []string{"run", "run-script", "t", "tst", sub}
	case "vitest":
		verbs = []string{"run"}
	case "unittest":
		verbs = []string{"discover"} // the default without arguments
	case "cargo":
		verbs = []string{"llvm-cov", "tarpaulin", "nextest", "run", sub}
	}
	var s selection
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, _, hasValue := strings.Cut(w, "=")
		switch {
		case w == "--":
		case strings.HasPrefix(w, "-"):
			index := slices.IndexFunc(table, func(f string) bool {
				bare := strings.TrimSuffix(f, " V")
				return name == bare || strings.HasSuffix(bare, "*") && strings.HasPrefix(name, strings.TrimSuffix(bare, "*"))
			})
			if slices.Contains(closerFlags[program], name) {
				s.closer = append(s.closer, w)
			}
			if index < 0 {
				s.flags = append(s.flags, w)
			} else if strings.HasSuffix(table[index], " V") && !hasValue {
				i++ // its value
			}
		default:
			if index := slices.Index(verbs, w); index >= 0 && len(s.names) == 0 {
				verbs = verbs[index+1:]
				continue
			}
			s.names = append(s.names, strings.TrimSuffix(strings.TrimPrefix(w, "./"), "/"))
		}
	}
	slices.Sort(s.flags)
	return s
}

// closerFlags lists flags, by program, with which the same tests find more. They make no other check; a gate that lacks
// one is named.
var closerFlags = map[string][]string{"go": {"-race"}}

// reportFlags lists flags, by program, that do not select anything. A trailing V marks flags whose value may be a
// separate argument. Flags like -race and coverage run the same tests, so they count as the same check.
var reportFlags = map[string][]string{
	"every": {"-v", "-vv", "--verbose", "-q", "--quiet", "--color", "--colors", "--no-color", "--no-colors"},
	"go": {"-race", "-cover", "-covermode V", "-coverprofile V", "-coverpkg V", "-count V", "-timeout V", "-p V",
		"-parallel V", "-shuffle V", "-json", "-failfast", "-mod V", "-trimpath",
		"--format V", "--junitfile V", "--jsonfile V", "-f V"}, // the last four are gotestsum's
	"pytest": {"--cov", "--cov=*", "--cov-*", "--no-cov", "--junitxml V", "--junit-xml V", "--html V",
		"--self-contained-html", "--durations V", "--tb V", "-n V", "--numprocesses V", "--dist V", "-x", "--exitfirst",
		"--maxfail V", "--basetemp V", "--show-capture V", "-ra", "-rA", "-rf", "-rs", "-rsx", "-rxs", "-s", "-l",
		"--showlocals", "--benchmark-*", "--timeout V"},
	"unittest": {"-b", "--buffer", "-f", "--failfast"},
	"cargo": {"--no-fail-fast", "--locked", "--offline", "--frozen", "-j V", "--jobs V", "--message-format V", "--color V",
		"--nocapture", "--no-capture",
		"--lcov", "--codecov", "--cobertura", "--html", "--text", "--output-path V", "--output-dir V", "--out V", "-o V",
		"--ignore-filename-regex V"},
	"script": {"--silent", "-s", "--if-present", "--coverage", "--ci", "--run", "--reporter V", "--reporters V",
		"--watch=false", "--watchAll=false", "--no-watch", "--passWithNoTests", "--runInBand", "-i", "--maxWorkers V",
		"--forceExit", "--detectOpenHandles", "--bail", "--no-cache"},
	"jest": {"--coverage", "--coverage*", "--ci", "--json", "--outputFile V", "--reporters V", "--watch=false",
		"--watchAll=false", "--passWithNoTests", "--runInBand", "-i", "--maxWorkers V", "--forceExit", "--detectOpenHandles",
		"--bail", "--no-cache", "--silent", "--logHeapUsage"},
	"vitest": {"--coverage", "--coverage*", "--run", "--reporter V", "--outputFile V", "--watch=false", "--no-watch",
		"--passWithNoTests", "--silent", "--bail", "--no-cache"},
	"mocha": {"--reporter V", "-R V", "--bail", "-b", "--parallel", "--jobs V", "-j V", "--exit",
		"--timeout V", "-t V"},
	"playwright": {"--reporter V", "--workers V", "-j V", "--forbid-only", "--pass-with-no-tests", "--retries V",
		"--trace V", "--timeout V", "--output V", "--max-failures V", "-x"},
	"eslint":  {"--cache", "--cache-*", "--format V", "-f V"},
	"ruff":    {"--output-format V", "--no-cache", "--no-fix"},
	"ctest":   {"--output-on-failure", "-V", "-VV", "-j V", "--parallel V", "--timeout V", "--test-dir V"},
	"meson":   {"-C V", "--print-errorlogs", "-j V", "--num-processes V"},
	"mvn":     {"-B", "--batch-mode", "-ntp", "--no-transfer-progress", "-e", "-o", "--offline"},
	"mvnw":    {"-B", "--batch-mode", "-ntp", "--no-transfer-progress", "-e"},
	"gradle":  {"--no-daemon", "--stacktrace", "--info", "--scan", "--offline", "--console V"},
	"gradlew": {"--no-daemon", "--stacktrace", "--info", "--scan", "--console V"},
	"phpunit": {"--bootstrap V", "--coverage-*", "--testdox", "--no-coverage", "--log-junit V", "--stop-on-failure"},
	"rubocop": {"--parallel", "-P", "--format V", "-f V", "--display-cop-names", "-D"},
	"rspec":   {"--format V", "-f V", "--fail-fast", "--out V", "-o V"},
	"make":    {"-j*", "-k", "-s", "--no-print-directory"},
}

var (
	// wholeTree lists names that select everything that a program finds.
	wholeTree = []string{"", ".", "...", "**"}
	// testFolders lists folders that runners search by default.
	testFolders = []string{"test", "tests", "spec", "t", "__tests__"}
)

// withoutWorkspace returns flags without those that make cargo select all crates of a workspace.
func withoutWorkspace(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return f == "--workspace" || f == "--all" })
}

// cargoParts lists flags that make cargo run only a part of its default.
var cargoParts = []string{"--lib", "--doc", "--bins", "--tests", "--test", "--bin"}

// widen returns the selection of a cargo command without the arguments that restrict it to a part of the selection
// by. Such arguments select a crate of a workspace, a kind of tests, or names.
func (s selection) widen(by selection) selection {
	all := len(withoutWorkspace(by.flags)) < len(by.flags)
	if len(by.names) > 0 {
		return s
	}
	s.flags = slices.DeleteFunc(slices.Clone(s.flags), func(f string) bool {
		name, _, _ := strings.Cut(f, "=")
		return slices.Contains(cargoParts, name) || all && (name == "-p" || name == "--package" || name == "--exclude")
	})
	if !slices.Contains(s.flags, "-p") && !slices.Contains(s.flags, "--package") &&
		!slices.Contains(s.flags, "--features") && !slices.Contains(s.flags, "-F") && !slices.Contains(s.flags, "-D") {
		s.names = nil
	}
	return s
}

// filtering lists runners that use names as filters of their default.
var filtering = []string{"jest", "vitest"}

// ownBrowserRE matches a flag that makes Playwright run tests in the browser that images have.
var ownBrowserRE = lazyregexp.New(`(?i)^--project=.*(?:chrom|pixel|galaxy)`)

// covers reports whether a command with the selection s checks everything that one with the selection o does. Tests
// in the browser of our images also stand for those in every browser.
func (s selection) covers(o selection, key string) bool {
	isProject := func(f string) bool { return strings.HasPrefix(f, "--project=") }
	if !slices.ContainsFunc(o.flags, isProject) {
		s.flags = slices.DeleteFunc(slices.Clone(s.flags), ownBrowserRE.MatchString)
	} else if !slices.ContainsFunc(o.flags, func(f string) bool { return isProject(f) && !slices.Contains(s.flags, f) }) {
		s.flags = slices.DeleteFunc(slices.Clone(s.flags),
			func(f string) bool { return isProject(f) && !slices.Contains(o.flags, f) })
	}
	program, _, _ := strings.Cut(key, " ")
	if program == "cargo" {
		o = o.widen(s)
		if !slices.Contains(o.flags, "--all-targets") {
			s.flags = slices.DeleteFunc(slices.Clone(s.flags), func(f string) bool { return f == "--all-targets" })
		}
	}
	// All crates of a workspace include those of a folder.
	if !slices.Equal(withoutWorkspace(s.flags), withoutWorkspace(o.flags)) || len(o.flags) > len(s.flags) {
		return false
	}
	isAll := func(name string) bool { return slices.Contains(wholeTree, name) }
	all := slices.ContainsFunc(s.names, isAll)
	for _, name := range o.names {
		within := func(top string) bool {
			top, below := strings.CutSuffix(top, "/...")
			return (below || program != "go") && (name == top || strings.HasPrefix(name, top+"/"))
		}
		switch {
		case slices.Contains(s.names, name):
		case program == "go" && name == "." && slices.Contains(s.names, "..."): // the package of the folder
		case isAll(name) && len(s.names) == 0: // the default checks everything
		case !isAll(name) && slices.ContainsFunc(s.names, within):
		case all && !isAll(name) && !strings.HasPrefix(name, ".."):
		case len(s.names) == 0 && slices.Contains(filtering, program):
		case len(s.names) == 0 && program == "pytest" && slices.ContainsFunc(testFolders, within):
		default:
			return false
		}
	}
	// A command without names checks the default, which a command with names covers only in part.
	return len(o.names) > 0 || len(s.names) == 0 || all ||
		!slices.ContainsFunc(s.names, func(n string) bool { return !slices.Contains(testFolders, n) })
}

// chosenCall is a command that a gate runs, directly or indirectly.
type chosenCall struct {
	key string
	dir string // the folder in which it runs
	// assigns are the variables before the command that may select other tests.
	assigns []string
	selection
}

// ownRoots lists files that make a folder a separate project. A program that runs above such a folder may skip it.
var ownRoots = []string{"go.mod", "Cargo.toml", "package.json", "pyproject.toml", "setup.py", "setup.cfg", "pytest.ini",
	"tox.ini", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "Gemfile", "CMakeLists.txt"}

// coversFolder reports whether a chosen call checks the same files as the call of that key in the folder dir. It must
// run there, or above dir with the whole folder in its scope and without a separate project in between.
func (c *collector) coversFolder(g chosenCall, dir, key string) bool {
	if g.dir == dir {
		return true
	}
	program, _, _ := strings.Cut(key, " ")
	wide := len(g.names) == 0 && program != "go" || slices.ContainsFunc(g.names, func(n string) bool {
		return slices.Contains(wholeTree, n) && (program != "go" || n == "...")
	})
	if g.dir != "" && !strings.HasPrefix(dir, g.dir+"/") || !wide {
		return false
	}
	for at := dir; at != g.dir && at != "" && at != "."; at = path.Dir(at) {
		for _, name := range ownRoots {
			member := name == "Cargo.toml" && len(withoutWorkspace(g.flags)) < len(g.flags)
			if c.tree.HasFile(at, name) && !member {
				return false
			}
		}
	}
	return true
}

// listCloser returns the flags of calls that look closer at the same tests than other calls do.
func listCloser(calls, others []chosenCall) (out []string) {
	for _, one := range calls {
		for _, flag := range one.closer {
			if !slices.Contains(out, flag) &&
				!slices.ContainsFunc(others, func(o chosenCall) bool { return slices.Contains(o.closer, flag) }) {
				out = append(out, flag)
			}
		}
	}
	return out
}

// coverage tells whether a call is checked.
type coverage int

const (
	noCheck coverage = iota // the call is not a check and runs none
	covered
	uncovered
)

// coverageOf reports whether the chosen calls check the same as a call. Either one of them runs the same command, or
// each check behind the call is covered.
func (c *collector) coverageOf(one call, dir string, chosen []chosenCall, depth int) coverage {
	bare, at := one.commandKey(), path.Join(dir, one.dir)
	if c.room--; bare == "" || c.room < 0 {
		return noCheck
	}
	key, wants := scopeKey(bare, at), one.readSelection(bare)
	if slices.ContainsFunc(chosen, func(g chosenCall) bool {
		return g.key == key && slices.Equal(g.assigns, keepChoosing(one.assigns)) && g.covers(wants, bare) &&
			c.coversFolder(g, at, bare)
	}) {
		return covered
	}
	got := noCheck
	if one.checkKind() != "" {
		got = uncovered
	}
	if depth == maxIndirection || len(wants.flags)+len(wants.names) > 0 {
		return got // it is unknown which part its arguments apply to
	}
	parts := noCheck
	for _, runs := range c.scripts[key] {
		for _, inner := range c.parse(runs) {
			parts = max(parts, c.coverageOf(inner, at, chosen, depth+1))
		}
	}
	return cmp.Or(parts, got)
}
