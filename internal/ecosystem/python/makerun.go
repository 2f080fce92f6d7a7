package python

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/makefile"
)

// readMakeRun reads the target of the root's Makefile that runs the tests with pytest or unittest
// alone: in which folder, with which arguments and variables. What only make knows is not read.
func readMakeRun(t *ecosystem.Tree) environmentRun {
	for _, p := range (makefile.Ecosystem{}).Propose(t) {
		if !slices.Contains([]string{"make test", "make tests", "make check"}, p.Command) {
			continue
		}
		run := environmentRun{file: p.File, set: map[string]string{}}
		for _, line := range p.Runs {
			if strings.HasPrefix(line, "make ") { // what the target needs
				continue
			}
			if strings.ContainsAny(line, "$`|<>(){}") || !run.addLine(line) {
				return environmentRun{}
			}
		}
		if hasTestCommand(run.commands) {
			return run
		}
	}
	return environmentRun{}
}

// addLine takes a line of a recipe apart. Not ok: it has something else than a folder, variables and a
// command, or a second command.
func (r *environmentRun) addLine(line string) (ok bool) {
	for part := range strings.SplitSeq(strings.ReplaceAll(line, "&&", ";"), ";") {
		words := strings.Fields(part)
		switch {
		case len(words) == 0:
			continue
		case words[0] == "cd" && len(words) == 2 && r.dir == "" && len(r.commands) == 0:
			r.dir = strings.TrimSuffix(words[1], "/")
			continue
		}
		for len(words) > 0 {
			name, value, isVariable := strings.Cut(words[0], "=")
			if !isVariable || !variableRE.MatchString(name) {
				break
			}
			r.set[name] = strings.Trim(value, `'"`)
			words = words[1:]
		}
		command := strings.Join(words, " ")
		if split, ok := commandWords(command); !ok || len(split) == 0 || len(r.commands) > 0 {
			return false
		} else if runner, _ := testRunner(split); runner == "" {
			return false
		}
		r.commands = append(r.commands, command)
	}
	return true
}
