package makefile

import (
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

var (
	// ruleRE is the line that begins a rule: its targets and what they need.
	ruleRE = lazyregexp.New(`^([A-Za-z0-9_./%-]+(?:[ \t]+[A-Za-z0-9_./%-]+)*)[ \t]*::?[ \t]*([^=#;]*)(?:[;#].*)?$`)
	// variableRE is a line that gives a variable a value.
	variableRE  = lazyregexp.New(`^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*(?:\?|:{0,3}|!)=[ \t]*(.*?)[ \t]*$`)
	referenceRE = lazyregexp.New(`\$[({]([A-Za-z_][A-Za-z0-9_]*)[)}]`)
)

// Bounds of what is named of a Makefile, which may be hostile: its targets, and what all
// of them need and run.
const (
	maxTargets = 200
	maxRuns    = 10_000
)

// Propose names the targets of the Makefile at the root, with their recipes.
func (Ecosystem) Propose(tree *ecosystem.Tree) []ecosystem.Proposal {
	for _, name := range makefiles {
		if tree.HasFile("", name) {
			return readTargets(name, tree.ReadManifest("", name))
		}
	}
	return nil
}

func readTargets(file, text string) []ecosystem.Proposal {
	lines := joinContinued(text)
	values := map[string]string{"MAKE": "make"}
	for _, l := range lines {
		if m := variableRE.FindStringSubmatch(l.text); m != nil && values[m[1]] == "" {
			values[m[1]] = m[2]
		}
	}
	var out []ecosystem.Proposal
	var open []int // the rules that a recipe is for
	runs := 0
	addRun := func(i int, command string) {
		if runs < maxRuns {
			out[i].Runs = append(out[i].Runs, command)
			runs++
		}
	}
	for _, numberedLine := range lines {
		if recipe, ok := strings.CutPrefix(numberedLine.text, "\t"); ok {
			recipe = strings.TrimLeft(strings.TrimSpace(recipe), "@-+ ")
			if recipe == "" || strings.HasPrefix(recipe, "#") || len(open) == 0 || runs == maxRuns {
				continue
			}
			recipe = expandVariables(recipe, values)
			for _, i := range open {
				addRun(i, recipe)
			}
			continue
		}
		if strings.TrimSpace(numberedLine.text) == "" || strings.HasPrefix(numberedLine.text, "#") {
			continue
		}
		open = nil
		m := ruleRE.FindStringSubmatch(numberedLine.text)
		if m == nil || variableRE.MatchString(numberedLine.text) {
			continue
		}
		for target := range strings.FieldsSeq(m[1]) {
			if strings.HasPrefix(target, ".") || strings.ContainsAny(target, "%") || len(out) == maxTargets {
				continue
			}
			open = append(open, len(out))
			out = append(out, ecosystem.Proposal{Command: "make " + target, File: file, Line: numberedLine.line})
			for needed := range strings.FieldsSeq(m[2]) {
				if runs == maxRuns {
					break
				}
				if needed != "|" && !strings.ContainsAny(needed, "$%") {
					addRun(len(out)-1, "make "+needed)
				}
			}
		}
	}
	return out
}

type numberedLine struct {
	text string
	line int
}

// joinContinued are the lines of a Makefile, those that end in a backslash joined with the
// next. Its cost is that of the text, however many lines are joined.
func joinContinued(text string) (out []numberedLine) {
	var whole strings.Builder
	goesOn := false
	for i, l := range strings.Split(text, "\n") {
		l, more := strings.CutSuffix(strings.TrimSuffix(l, "\r"), `\`)
		if goesOn {
			whole.WriteString(" " + strings.TrimSpace(l))
		} else {
			whole.Reset()
			whole.WriteString(l)
			out = append(out, numberedLine{line: i + 1})
		}
		out[len(out)-1].text = whole.String()
		goesOn = more
	}
	return out
}

// maxValue bounds what a line of a recipe grows to, in bytes.
const maxValue = 4 << 10

// expandVariables puts the values of variables into a line, and leaves what the
// Makefile does not give to the shell.
func expandVariables(line string, values map[string]string) string {
	line = line[:min(len(line), maxValue)]
	for range 4 {
		was, room := line, maxValue
		line = referenceRE.ReplaceAllStringFunc(line, func(ref string) string {
			v, ok := values[referenceRE.FindStringSubmatch(ref)[1]]
			if !ok {
				return ref
			}
			v = v[:min(len(v), room)]
			room -= len(v)
			return v
		})
		if line == was || len(line) > maxValue {
			break
		}
	}
	return strings.ReplaceAll(line[:min(len(line), maxValue)], "$$", "$")
}
