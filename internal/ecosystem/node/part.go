package node

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/shellquote"
)

// jestFlags lists jest flags that neither select tests nor change their folder.
var jestFlags = []string{"--ci", "--passWithNoTests", "--runInBand", "-i", "--verbose", "--silent", "--colors",
	"--color", "--no-cache", "--forceExit", "--detectOpenHandles", "--logHeapUsage", "--errorOnDeprecated"}

// coverageFlags lists flags for test coverage, which is meaningless for a part of the tests.
var coverageFlags = []string{"--coverage", "--coverage=true", "--collectCoverage", "--collectCoverage=true",
	"--no-coverage", "--coverage=false"}

// runnerLine is a gate whose command only runs a test runner. It holds the text before and after the run,
// the part up to the runner's name, and the flags that every run needs.
type runnerLine struct{ before, program, flags, after string }

// parseJest splits a gate that runs jest. ok is false if the gate uses another runner, has other steps, or
// selects tests.
func parseJest(gate company.GateCommand) (l runnerLine, ok bool) {
	l, words, ok := splitRunner(gate, formatJestJSON, "jest")
	for _, w := range words {
		switch {
		case slices.Contains(coverageFlags, w) || w == "--json" || w == "--outputFile="+testreport.File:
		case slices.Contains(jestFlags, w) || strings.HasPrefix(w, "--config=") || strings.HasPrefix(w, "--maxWorkers="):
			l.flags += " " + w
		default:
			return l, false
		}
	}
	l.flags += " --coverage=false"
	return l, ok
}

// splitRunner finds a runner in a gate that can run planted tests by name. It also returns the arguments of
// the runner.
func splitRunner(gate company.GateCommand, format, runner string) (l runnerLine, words []string, ok bool) {
	run, planted := strings.CutSuffix(strings.TrimSuffix(gate.Canary, " )"), " "+ecosystem.CanaryPlaceholder)
	if gate.Parse != format || gate.Plant != plantScript || !planted {
		return l, nil, false
	}
	if head, script, pinned := strings.Cut(run, "; export PATH; ( "); pinned {
		l.before = head + "; export PATH; ( "
		run = script
		l.after = " )"
	}
	words = strings.Fields(run)
	index := slices.IndexFunc(words, func(w string) bool { return path.Base(w) == runner })
	if index < 0 || strings.ContainsAny(run, "|;&><`$()\n#\\'\"") {
		return l, nil, false
	}
	l.program = strings.Join(words[:index+1], " ")
	return l, words[index+1:], true
}

// ListCommand returns a command with which jest or vitest lists test files. It returns "" for other gates.
func (Ecosystem) ListCommand(gate company.GateCommand, changed []string) string {
	files := ""
	for _, p := range changed {
		if slices.Contains(scriptEndings, path.Ext(p)) {
			files += " " + shellquote.QuoteArgument("./"+strings.Repeat("../", ecosystem.Depth(gate.Dir))+p)
		}
	}
	if l, ok := parseJest(gate); ok {
		return l.listJest(files)
	}
	if l, ok := parseVitest(gate); ok {
		return l.listVitest(files)
	}
	return ""
}

// listJest returns a command that prints the gate's folder and four lines from jest: its settings, all test
// files, the test files that import the given files, and all files that import them.
func (l runnerLine) listJest(files string) string {
	jest := l.program + l.flags
	related := jest + " --listTests --json --testPathIgnorePatterns /node_modules/ "
	return l.before + "printf '%s\\n' \"$PWD\" && " + jest + " --showConfig | tr -d '\\n' && echo && " +
		jest + " --listTests --json && echo && " +
		jest + " --listTests --json --findRelatedTests" + files + " && echo && { " +
		related + "--testMatch '**/*' --findRelatedTests" + files + " || " + related + "--testRegex . --findRelatedTests" +
		files + "; }" + l.after
}

// PartCommand returns the command that runs jest or vitest on the named files, with the report of the gate.
func (Ecosystem) PartCommand(gate company.GateCommand, names []string) string {
	files := ""
	for _, n := range names {
		files += " " + shellquote.QuoteArgument(n)
	}
	runnerLine, ok := parseVitest(gate)
	if ok && files != "" {
		return runnerLine.before + runnerLine.program + " run" + runnerLine.flags + files + runnerLine.after
	}
	if runnerLine, ok = parseJest(gate); !ok || files == "" {
		return "exit 1"
	}
	return runnerLine.before + runnerLine.program + runnerLine.flags + " --json --outputFile=" + testreport.File +
		" --runTestsByPath" +
		files + runnerLine.after
}

// IsRedForAll returns true if tests failed, because jest and vitest run each file separately. A part may
// also be red without a failed test, for example for its coverage. Such a failure does not apply to the
// whole.
func (Ecosystem) IsRedForAll(c company.GateCheck) bool { return len(c.Tests) > 0 }

// FindPart finds the test files that import changed files. Changed Markdown files outside of tests affect
// no test. ok is false for other files than scripts, for mocks and type declarations, and for changes that
// jestReach and vitestReach cannot follow.
func (Ecosystem) FindPart(
	gate company.GateCommand, changed []string, output string,
) (part ecosystem.TestPart, ok bool) {
	lines := slices.DeleteFunc(strings.Split(output, "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(lines) < 2 {
		return part, false
	}
	root := lines[0]
	top := root
	if gate.Dir != "" {
		if top, ok = strings.CutSuffix(root, "/"+gate.Dir); !ok {
			return part, false
		}
	}
	var scripts []string
	for _, p := range changed {
		_, name := ecosystem.SplitPath(p)
		if path.Ext(name) == ".md" && !company.IsTest(p) && !strings.Contains(p, "fixtures/") {
			continue
		}
		scripts = append(scripts, path.Join(top, p))
		if !slices.Contains(scriptEndings, path.Ext(name)) || strings.Contains(name, ".d.") || steersTests(p) {
			return part, false
		}
	}
	var all, related []string
	named := top
	if gate.Parse == formatJestJSON {
		all, related, ok = jestReach(lines[1:], top, scripts)
	} else {
		all, related, ok = vitestReach(lines[1:])
		named = root
	}
	others := map[string]bool{}
	for _, file := range all {
		rel, inside := strings.CutPrefix(file, root+"/")
		if !inside || strings.HasPrefix(rel, "-") {
			return part, false
		}
		if slices.Contains(related, file) {
			part.Names = append(part.Names, rel)
		} else {
			others[strings.TrimPrefix(file, named+"/")] = true
		}
	}
	part.Unit, part.Of = "test file", len(all)
	part.Has = func(test string) bool { return !isOfFiles(test, others) }
	return part, ok && len(part.Names) > 0
}

// jestReach returns all test files and those that import the scripts. ok is false if jest does not see one
// of the scripts, such as a deleted one, or if a file in jest's settings imports a script or may do so.
func jestReach(lines []string, top string, scripts []string) (all, related []string, ok bool) {
	if len(lines) != 4 {
		return nil, nil, false
	}
	roots, ok := findRoots(lines[0])
	named := map[string]bool{}
	var settings any
	if !ok || json.Unmarshal([]byte(lines[0]), &settings) != nil {
		return nil, nil, false
	}
	collectStrings(settings, named)
	for file := range named {
		if isUnseenScript(file, top, roots) {
			return nil, nil, false
		}
	}
	var reached []string
	for i, into := range []*[]string{&all, &related, &reached} {
		if json.Unmarshal([]byte(lines[1+i]), into) != nil {
			return nil, nil, false
		}
	}
	for _, file := range scripts {
		if !slices.Contains(reached, file) {
			return nil, nil, false
		}
	}
	return all, related, !slices.ContainsFunc(reached, func(file string) bool {
		return steersTests(file) || named[file]
	})
}

// findRoots returns the folders that jest searches. ok is false if its projects have different folders,
// because jest does not follow imports between those.
func findRoots(settings string) (roots []string, ok bool) {
	var s struct {
		Configs []struct {
			RootDir string
			Roots   []string
		}
	}
	if json.Unmarshal([]byte(settings), &s) != nil {
		return nil, false
	}
	for _, c := range s.Configs {
		if !slices.Equal(c.Roots, s.Configs[0].Roots) {
			return nil, false
		}
		roots = c.Roots
		if len(roots) == 0 {
			roots = []string{c.RootDir}
		}
	}
	return roots, true
}

// collectStrings adds all strings of a JSON value. They are compared in decoded form, because jest escapes
// fewer characters than Go does.
func collectStrings(value any, into map[string]bool) {
	switch v := value.(type) {
	case string:
		into[v] = true
	case []any:
		for _, e := range v {
			collectStrings(e, into)
		}
	case map[string]any:
		for _, e := range v {
			collectStrings(e, into)
		}
	}
}

// isUnseenScript reports whether a string in the settings is a script of the repository outside of jest's
// folders. Jest does not report the imports of such a script. A name pattern is not a script.
func isUnseenScript(file, top string, roots []string) bool {
	if !strings.HasPrefix(file, top+"/") || strings.Contains(file, "/node_modules/") || strings.ContainsAny(file, "*\\") ||
		!slices.Contains(scriptEndings, path.Ext(file)) {
		return false
	}
	return !slices.ContainsFunc(roots,
		func(r string) bool { return strings.HasPrefix(file, strings.TrimSuffix(r, "/")+"/") })
}

// steersTests reports whether a file, by its name, affects tests that do not import it.
func steersTests(file string) bool {
	name := path.Base(file)
	return Ecosystem{}.IsGateFile(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "vitest.") ||
		strings.Contains(name, ".config.") || strings.Contains("/"+file, "/__mocks__/")
}

// isOfFiles reports whether a test belongs to one of the files. A test's name is the path of its file, a
// space and its own name.
func isOfFiles(test string, files map[string]bool) bool {
	for i, c := range test {
		if c == ' ' && files[test[:i]] {
			return true
		}
	}
	return false
}
