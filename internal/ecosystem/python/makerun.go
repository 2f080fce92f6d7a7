package python

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/makefile"
)

// readMakeRun reads a target of the root's Makefile that only runs the tests with pytest or unittest: the
// folder, the arguments and the variables. It returns an empty run if the recipe needs make or a shell to
// expand it.
func readMakeRun(t *ecosystem.Tree) environmentRun {
	for _, proposal := range (makefile.Ecosystem{}).Propose(t) {
		if !slices.Contains([]string{"make test", "make tests", "make check"}, proposal.Command) {
			continue
		}
		run := environmentRun{file: proposal.File, set: map[string]string{}}
		for _, line := range proposal.Runs {
			if strings.HasPrefix(line, "make ") { // a target that this one needs
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

// addLine parses a line of a recipe. ok is false if the line has anything other than a folder, variables
// and a command, or if there is a second command.
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
