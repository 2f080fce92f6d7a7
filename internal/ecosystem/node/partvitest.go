package node

import (
	"encoding/json"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// vitestFlags are the flags of a script's vitest that choose no tests and no place for them.
var vitestFlags = []string{"--passWithNoTests", "--reporter=default", "--reporter=junit", "--outputFile=" + testreport.File, "--silent", "--globals", "--no-color", "--no-file-parallelism"}

// parseVitest takes a gate apart, as parseJest does.
func parseVitest(gate company.GateCommand) (l runnerLine, ok bool) {
	l, words, ok := splitRunner(gate, testreport.FormatJUnit, "vitest")
	for _, w := range words {
		switch {
		case slices.Contains(coverageFlags, w) || w == "run" || w == "--run":
		case slices.Contains(vitestFlags, w) || strings.HasPrefix(w, "--environment=") || strings.HasPrefix(w, "--maxWorkers=") || strings.HasPrefix(w, "--testTimeout="):
			l.flags += " " + w
		default:
			return l, false
		}
	}
	return l, ok
}

// listVitest prints the gate's folder, and three lines: the settings' text, all test files,
// and those that these files reach by imports. Vitest lists these for a repository of git
// alone, in which they are changed: one is made, of them, and ignores all else.
func (l runnerLine) listVitest(files string) string {
	list := l.program + " list --filesOnly --json"
	return l.before + "printf '%s\\n' \"$PWD\" && git init -q . && mkdir -p .git/info && echo '*' >.git/info/exclude && git add -f --" + files + " && " +
		"{ echo settings; cat vitest.config.* vite.config.* vitest.workspace.* vitest.projects.* 2>/dev/null; } | tr '\\n' ' ' && echo && " +
		list + " | tr -d '\\n' && echo && " + list + " --changed | tr -d '\\n'" + l.after
}

// vitestSteers matches settings by which files work on tests that do not import them, or by
// which files have names of another folder; and settings of which a part lies elsewhere.
var vitestSteers = lazyregexp.New(`(?i)setup|workspace|projects|extends|mergeConfig|serializers|runner|\broot\b|browser|typecheck|isolate|environment\w*['"]?\s*:\s*['"][./]|(?:\bfrom|\bimport\b\s*\(?|\brequire\s*\()\s*['"]\.`)

// vitestReach are all test files and those that a change reaches. Not ok: the settings say
// what else may reach them.
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
