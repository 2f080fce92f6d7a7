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

// jestLine is a gate whose command is jest alone: what stands before it, and jest with the
// flags that any run of it needs.
type jestLine struct{ before, jest, after string }

// parseJest takes a gate apart. Not ok: it is another runner's, has steps beside jest, or
// chooses tests.
func parseJest(gate company.GateCommand) (l jestLine, ok bool) {
	run, planted := strings.CutSuffix(strings.TrimSuffix(gate.Canary, " )"), " "+ecosystem.CanaryPlaceholder)
	if gate.Parse != formatJestJSON || gate.Plant != plantScript || !planted {
		return l, false
	}
	if head, script, pinned := strings.Cut(run, "; export PATH; ( "); pinned {
		l.before, run, l.after = head+"; export PATH; ( ", script, " )"
	}
	words := strings.Fields(run)
	at := slices.IndexFunc(words, func(w string) bool { return path.Base(w) == "jest" })
	if at < 0 || strings.ContainsAny(run, "|;&><`$()\n#\\'\"") {
		return l, false
	}
	kept := words[:at+1]
	for _, w := range words[at+1:] {
		switch {
		case slices.Contains(coverageFlags, w) || w == "--json" || w == "--outputFile="+testreport.File:
		case slices.Contains(jestFlags, w) || strings.HasPrefix(w, "--config=") || strings.HasPrefix(w, "--maxWorkers="):
			kept = append(kept, w)
		default:
			return l, false
		}
	}
	l.jest = strings.Join(kept, " ") + " --coverage=false"
	return l, true
}

// ListCommand prints the gate's folder, and four lines of jest's: its settings, all test
// files, those that a change reaches by imports, and all files that it so reaches.
func (Ecosystem) ListCommand(gate company.GateCommand, changed []string) string {
	l, ok := parseJest(gate)
	if !ok {
		return ""
	}
	files := ""
	for _, p := range changed {
		if slices.Contains(scriptEndings, path.Ext(p)) {
			files += " " + shell.QuoteArgument("./"+strings.Repeat("../", ecosystem.Depth(gate.Dir))+p)
		}
	}
	related := l.jest + " --listTests --json --testPathIgnorePatterns /node_modules/ "
	return l.before + "printf '%s\\n' \"$PWD\" && " + l.jest + " --showConfig | tr -d '\\n' && echo && " +
		l.jest + " --listTests --json && echo && " +
		l.jest + " --listTests --json --findRelatedTests" + files + " && echo && { " +
		related + "--testMatch '**/*' --findRelatedTests" + files + " || " + related + "--testRegex . --findRelatedTests" + files + "; }" + l.after
}

// PartCommand is jest on these files, with the report of a gate.
func (Ecosystem) PartCommand(gate company.GateCommand, names []string) string {
	l, ok := parseJest(gate)
	if !ok || len(names) == 0 {
		return "exit 1"
	}
	files := ""
	for _, n := range names {
		files += " " + shell.QuoteArgument(n)
	}
	return l.before + l.jest + " --json --outputFile=" + testreport.File + " --runTestsByPath" + files + l.after
}

// IsRedForAll: jest runs each file by itself. A part that is red without a failed test, as
// for what all tests cover together, says nothing of the whole.
func (Ecosystem) IsRedForAll(c company.GateCheck) bool { return len(c.Tests) > 0 }

// FindPart finds the test files that import what changed. Text for people reaches none. Not
// known: other files than scripts, what configures, stands in for modules or declares types,
// files that jest does not see (deleted ones are among them), and what a file of jest's settings
// imports.
func (Ecosystem) FindPart(gate company.GateCommand, changed []string, output string) (part ecosystem.TestPart, ok bool) {
	lines := slices.DeleteFunc(strings.Split(output, "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(lines) != 5 {
		return part, false
	}
	root, settings := lines[0], lines[1]
	if !isOneProject(settings) {
		return part, false
	}
	var all, related, reached []string
	for i, into := range []*[]string{&all, &related, &reached} {
		if json.Unmarshal([]byte(lines[2+i]), into) != nil {
			return part, false
		}
	}
	top := root
	if gate.Dir != "" {
		if top, ok = strings.CutSuffix(root, "/"+gate.Dir); !ok {
			return part, false
		}
	}
	for _, p := range changed {
		_, name := ecosystem.SplitPath(p)
		if path.Ext(name) == ".md" && !company.IsTest(p) && !strings.Contains(p, "fixtures/") {
			continue
		}
		if !slices.Contains(scriptEndings, path.Ext(name)) || strings.Contains(name, ".d.") || !slices.Contains(reached, path.Join(top, p)) {
			return part, false
		}
	}
	if slices.ContainsFunc(reached, func(file string) bool { return steersJest(file, settings) }) {
		return part, false
	}
	others := map[string]bool{}
	for _, file := range all {
		rel, inside := strings.CutPrefix(file, root+"/")
		if !inside {
			return part, false
		}
		if slices.Contains(related, file) {
			part.Names = append(part.Names, "./"+rel)
		} else {
			others[strings.TrimPrefix(file, top+"/")] = true
		}
	}
	part.Unit, part.Of = "test file", len(all)
	part.Has = func(test string) bool { return !isOfFiles(test, others) }
	return part, len(part.Names) > 0
}

// isOneProject says whether jest looks at all projects of its settings in the same folders:
// it follows no import from one of these into another's.
func isOneProject(settings string) bool {
	var s struct {
		Configs []struct{ Roots []string }
	}
	if json.Unmarshal([]byte(settings), &s) != nil {
		return false
	}
	for _, c := range s.Configs {
		if !slices.Equal(c.Roots, s.Configs[0].Roots) {
			return false
		}
	}
	return true
}

// steersJest says whether a file works on tests that do not import it.
func steersJest(file, settings string) bool {
	name := path.Base(file)
	quoted, _ := json.Marshal(file) // a string always can be
	return Ecosystem{}.IsGateFile(name) || strings.HasPrefix(name, ".") || strings.Contains(name, ".config.") ||
		strings.Contains(file, "/__mocks__/") || strings.Contains(settings, string(quoted))
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
