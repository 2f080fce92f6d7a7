package node

import (
	"encoding/json"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// vitestFlags lists vitest flags that neither select tests nor change their folder.
var vitestFlags = []string{"--passWithNoTests", "--reporter=default", "--reporter=junit",
	"--outputFile=" + testreport.File, "--silent", "--globals", "--no-color", "--no-file-parallelism"}

// parseVitest splits a gate that runs vitest, like parseJest.
func parseVitest(gate company.GateCommand) (l runnerLine, ok bool) {
	l, words, ok := splitRunner(gate, testreport.FormatJUnit, "vitest")
	for _, w := range words {
		switch {
		case slices.Contains(coverageFlags, w) || w == "run" || w == "--run":
		case slices.Contains(vitestFlags, w) || strings.HasPrefix(w, "--environment=") ||
			strings.HasPrefix(w, "--maxWorkers=") || strings.HasPrefix(w, "--testTimeout="):
			l.flags += " " + w
		default:
			return l, false
		}
	}
	return l, ok
}

// listVitest returns a command that prints the gate's folder and three lines: the settings' text, all test
// files, and the test files that import the given files. Vitest lists the last only for changed files of a
// git repository. The command therefore creates a repository of the given files, which ignores all other
// files.
func (l runnerLine) listVitest(files string) string {
	list := l.program + " list --filesOnly --json"
	return l.before + "printf '%s\\n' \"$PWD\" && git init -q . && mkdir -p .git/info && echo '*' >.git/info/exclude && " +
		"git add -f --" + files + " && " +
		"{ echo settings; cat vitest.config.* vite.config.* vitest.workspace.* vitest.projects.* 2>/dev/null; } | tr '\\n' " +
		"' ' && echo && " +
		list + " | tr -d '\\n' && echo && " + list + " --changed | tr -d '\\n'" + l.after
}

// vitestSteers matches settings with which files affect tests that don't import them, settings that change
// the folder of file names, and settings that are partly in other files.
var vitestSteers = lazyregexp.New(
	`(?i)setup|workspace|projects|extends|mergeConfig|serializers|runner|\broot\b|browser|typecheck|isolate|environment\w*['"]?\s*:\s*['"][./]|(?:\bfrom|\bimport\b\s*\(?|\brequire\s*\()\s*['"]\.`)

// vitestReach returns all test files and those that a change affects. ok is false if the settings show that
// the change may affect others.
func vitestReach(lines []string) (all, related []string, ok bool) {
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "settings") || vitestSteers.MatchString(lines[0]) {
		return nil, nil, false
	}
	for i, into := range []*[]string{&all, &related} {
		var files []struct{ File string }
		if json.Unmarshal([]byte(lines[1+i]), &files) != nil {
			return nil, nil, false
		}
		for _, f := range files {
			*into = append(*into, f.File)
		}
	}
	return all, related, true
}
