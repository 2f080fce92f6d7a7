package makefile

import (
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

var (
	// ruleRE is the line that begins a rule: its targets and what they need.
	ruleRE = lazyregexp.New(`^([A-Za-z0-9_./%-]+(?:[ \t]+[A-Za-z0-9_./%-]+)*)[ \t]*::?[ \t]*([^=#;]*)(?:[;#].*)?$`)
	// variableRE is a line that gives a variable a value.
	variableRE  = lazyregexp.New(`^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*(?:\?|:{0,3}|!)=[ \t]*(.*?)[ \t]*$`)
	referenceRE = lazyregexp.New(`\$[({]([A-Za-z_][A-Za-z0-9_]*)[)}]`)
)

// maxTargets bounds the targets of a Makefile that are named.
const maxTargets = 200

// Propose names the targets of the Makefile at the root, with their recipes.
func (Ecosystem) Propose(t *ecosystem.Tree) []ecosystem.Proposal {
	for _, name := range makefiles {
		if t.HasFile("", name) {
			return readTargets(name, t.ReadManifest("", name))
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
	for _, l := range lines {
		if recipe, ok := strings.CutPrefix(l.text, "\t"); ok {
			recipe = strings.TrimLeft(strings.TrimSpace(recipe), "@-+ ")
			for _, i := range open {
				if recipe != "" && !strings.HasPrefix(recipe, "#") {
					out[i].Runs = append(out[i].Runs, expandVariables(recipe, values))
				}
			}
			continue
		}
		if strings.TrimSpace(l.text) == "" || strings.HasPrefix(l.text, "#") {
			continue
		}
		open = nil
		m := ruleRE.FindStringSubmatch(l.text)
		if m == nil || variableRE.MatchString(l.text) {
			continue
		}
		for target := range strings.FieldsSeq(m[1]) {
			if strings.HasPrefix(target, ".") || strings.ContainsAny(target, "%") || len(out) == maxTargets {
				continue
			}
			p := ecosystem.Proposal{Command: "make " + target, File: file, Line: l.line}
			for needed := range strings.FieldsSeq(m[2]) {
				if needed != "|" && !strings.ContainsAny(needed, "$%") {
					p.Runs = append(p.Runs, "make "+needed)
				}
			}
			open = append(open, len(out))
			out = append(out, p)
		}
	}
	return out
}

type numberedLine struct {
	text string
	line int
}

// joinContinued are the lines of a Makefile, those that end in a backslash joined with the
// next.
func joinContinued(text string) (out []numberedLine) {
	goesOn := false
	for i, l := range strings.Split(text, "\n") {
		l = strings.TrimSuffix(l, "\r")
		more := strings.HasSuffix(l, `\`)
		if l = strings.TrimSuffix(l, `\`); goesOn {
			out[len(out)-1].text += " " + strings.TrimSpace(l)
		} else {
			out = append(out, numberedLine{l, i + 1})
		}
		goesOn = more
	}
	return out
}

// maxValue bounds what a line of a recipe grows to, in bytes.
const maxValue = 4 << 10

// expandVariables puts the values of variables into a line, and leaves what the
// Makefile does not give to the shell.
func expandVariables(line string, values map[string]string) string {
	for range 4 {
		was := line
		line = referenceRE.ReplaceAllStringFunc(line, func(ref string) string {
			if v, ok := values[referenceRE.FindStringSubmatch(ref)[1]]; ok {
				return v
			}
			return ref
		})
		if line == was || len(line) > maxValue {
			break
		}
	}
	return strings.ReplaceAll(line[:min(len(line), maxValue)], "$$", "$")
}
