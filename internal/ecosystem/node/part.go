package node

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/shell"
	"company/internal/testreport"
)

// jestFlags are the flags of a script's jest that choose no tests and no place for them.
var jestFlags = []string{"--ci", "--passWithNoTests", "--runInBand", "-i", "--verbose", "--silent", "--colors", "--color", "--no-cache", "--forceExit", "--detectOpenHandles", "--logHeapUsage", "--errorOnDeprecated"}

// coverageFlags count what tests cover: of a part that says nothing.
var coverageFlags = []string{"--coverage", "--coverage=true", "--collectCoverage", "--collectCoverage=true", "--no-coverage", "--coverage=false"}

// runnerLine is a gate whose command is a runner alone: what stands before and behind it, the
// words up to the runner's name, and flags that any run of it needs.
type runnerLine struct{ before, program, flags, after string }

// parseJest takes a gate apart. Not ok: it is another runner's, has steps beside jest, or
// chooses tests.
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

// splitRunner finds a runner in a gate that runs planted tests by their names, and the words
// behind it.
func splitRunner(gate company.GateCommand, format, runner string) (l runnerLine, words []string, ok bool) {
	run, planted := strings.CutSuffix(strings.TrimSuffix(gate.Canary, " )"), " "+ecosystem.CanaryPlaceholder)
	if gate.Parse != format || gate.Plant != plantScript || !planted {
		return l, nil, false
	}
	if head, script, pinned := strings.Cut(run, "; export PATH; ( "); pinned {
		l.before, run, l.after = head+"; export PATH; ( ", script, " )"
	}
	words = strings.Fields(run)
	at := slices.IndexFunc(words, func(w string) bool { return path.Base(w) == runner })
	if at < 0 || strings.ContainsAny(run, "|;&><`$()\n#\\'\"") {
		return l, nil, false
	}
	l.program = strings.Join(words[:at+1], " ")
	return l, words[at+1:], true
}

// ListCommand has jest or vitest list test files.
func (Ecosystem) ListCommand(gate company.GateCommand, changed []string) string {
	files := ""
	for _, p := range changed {
		if slices.Contains(scriptEndings, path.Ext(p)) {
			files += " " + shell.QuoteArgument("./"+strings.Repeat("../", ecosystem.Depth(gate.Dir))+p)
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

// listJest prints the gate's folder, and four lines of jest's: its settings, all test
// files, those that these files reach by imports, and all files that they so reach.
func (l runnerLine) listJest(files string) string {
	jest := l.program + l.flags
	related := jest + " --listTests --json --testPathIgnorePatterns /node_modules/ "
	return l.before + "printf '%s\\n' \"$PWD\" && " + jest + " --showConfig | tr -d '\\n' && echo && " +
		jest + " --listTests --json && echo && " +
		jest + " --listTests --json --findRelatedTests" + files + " && echo && { " +
		related + "--testMatch '**/*' --findRelatedTests" + files + " || " + related + "--testRegex . --findRelatedTests" + files + "; }" + l.after
}

// PartCommand is jest or vitest on these files, with the report of a gate.
func (Ecosystem) PartCommand(gate company.GateCommand, names []string) string {
	files := ""
	for _, n := range names {
		files += " " + shell.QuoteArgument(n)
	}
	l, ok := parseVitest(gate)
	if ok && files != "" {
		return l.before + l.program + " run" + l.flags + files + l.after
	}
	if l, ok = parseJest(gate); !ok || files == "" {
		return "exit 1"
	}
	return l.before + l.program + l.flags + " --json --outputFile=" + testreport.File + " --runTestsByPath" + files + l.after
}

// IsRedForAll: jest and vitest run each file by itself. A part that is red without a failed test, as
// for what all tests cover together, says nothing of the whole.
func (Ecosystem) IsRedForAll(c company.GateCheck) bool { return len(c.Tests) > 0 }

// FindPart finds the test files that import what changed. Text for people reaches none. Not
// known: other files than scripts, what stands in for modules or declares types, and what
// jestReach and vitestReach do not know.
func (Ecosystem) FindPart(gate company.GateCommand, changed []string, output string) (part ecosystem.TestPart, ok bool) {
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
	all, related, named, ok := []string(nil), []string(nil), top, false
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

// jestReach are all test files and those that the scripts reach. Not ok: jest does not see
// one of these (a deleted one is among them), a file of its settings imports one, or may.
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

// findRoots finds the folders that jest looks at. Not ok: it looks at projects of its settings
// in other folders each, and follows no import from one of these into another's.
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

// collectStrings adds all strings of a JSON value. They are compared decoded: jest escapes
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

// isUnseenScript says whether a string of the settings is a script of the repository outside
// of jest's folders: jest does not tell what that imports. Patterns of names are none.
func isUnseenScript(file, top string, roots []string) bool {
	if !strings.HasPrefix(file, top+"/") || strings.Contains(file, "/node_modules/") || strings.ContainsAny(file, "*\\") || !slices.Contains(scriptEndings, path.Ext(file)) {
		return false
	}
	return !slices.ContainsFunc(roots, func(r string) bool { return strings.HasPrefix(file, strings.TrimSuffix(r, "/")+"/") })
}

// steersTests says whether a file, by its name, works on tests that do not import it.
func steersTests(file string) bool {
	name := path.Base(file)
	return Ecosystem{}.IsGateFile(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "vitest.") || strings.Contains(name, ".config.") || strings.Contains("/"+file, "/__mocks__/")
}

// isOfFiles says whether a test is one of these files, by its name: the file's path, and its
// own behind a space.
func isOfFiles(test string, files map[string]bool) bool {
	for i, c := range test {
		if c == ' ' && files[test[:i]] {
			return true
		}
	}
	return false
}
