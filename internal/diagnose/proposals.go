package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/config"
	"company/internal/gates"
	"company/internal/health"
	"company/internal/proposal"
	"company/internal/safetext"
)

// Proposed is a command by which the repository's own people check it.
type Proposed struct {
	Kind    string   `json:"kind"` // lint | test
	Command string   `json:"command"`
	Dir     string   `json:"dir,omitempty"`
	At      []string `json:"at"`                // file:line
	Agrees  bool     `json:"agrees"`            // what was found runs the same
	Gate    string   `json:"gate,omitempty"`    // the check that runs it: one that was found, or its own
	Why     string   `json:"why,omitempty"`     // that none does
	Setting string   `json:"setting,omitempty"` // the line of company.yaml that makes it the gate
}

// newProposed are the commands that were found, for programs.
func newProposed(found proposal.Found) []Proposed {
	out := []Proposed{}
	for _, c := range found.Commands {
		out = append(out, Proposed{Kind: c.Kind, Command: c.Command, Dir: c.Dir, At: c.At, Agrees: c.Agrees, Gate: c.Gate, Why: c.Why, Setting: c.Setting()})
	}
	return out
}

// describeCommand is the command for people, with where it comes from.
func (p Proposed) describeCommand() string {
	text := p.Command
	if p.Dir != "" {
		text += ", in " + p.Dir
	}
	at := p.At[0]
	if n := len(p.At) - 1; n > 0 {
		at += fmt.Sprintf(" and %d more", n)
	}
	text = safetext.EscapeLine(text, 160) + " (" + safetext.EscapeLine(at, 120) + ")"
	switch {
	case p.Agrees:
		return text + ": what was found runs the same"
	case p.Gate != "":
		return text + ": a check of its own, where it is green on the base"
	case p.Why != "":
		return text + ": not run, " + p.Why
	}
	return text + ": not run"
}

// maxProposed is how many commands of a kind are shown.
const maxProposed = 3

// proposalLines are the commands for people: of each kind the first, those that
// were found nowhere else before those that agree.
func proposalLines(all []Proposed) []string {
	var out []string
	for _, kind := range []string{proposal.Test, proposal.Lint} {
		var mine []Proposed
		for _, p := range all {
			if p.Kind == kind {
				mine = append(mine, p)
			}
		}
		for i, p := range mine {
			if i == maxProposed && len(mine) > maxProposed+1 {
				out = append(out, fmt.Sprintf("%s: and %d more", kind, len(mine)-i))
				break
			}
			out = append(out, kind+": "+p.describeCommand())
		}
	}
	return out
}

// hasTestGate says whether a command runs tests, whatever it says of the base.
func hasTestGate(p gates.Project) bool {
	return slices.ContainsFunc(p.Gates, func(g company.GateCommand) bool { return g.IsTest() && !g.Provisional })
}

// firstSetting is the line of company.yaml for the strongest test command that can
// be set.
func firstSetting(all []Proposed) string {
	for _, p := range all {
		if p.Kind == proposal.Test && p.Setting != "" {
			return safetext.EscapeLine(p.Setting, 200)
		}
	}
	return ""
}

// testLines are the lines of the config that give a repository a test gate: one, or none.
func testLines(p gates.Project) []company.ConfigLine {
	if line, ok := p.TestLine(); ok {
		return []company.ConfigLine{line}
	}
	return nil
}

// ProposedLines are the lines of the config that findings propose, each once.
func ProposedLines(all []health.Finding) []company.ConfigLine {
	var out []company.ConfigLine
	for _, f := range all {
		for _, l := range f.Lines {
			if !slices.ContainsFunc(out, func(o company.ConfigLine) bool { return o.Key == l.Key && o.Value == l.Value }) {
				out = append(out, l)
			}
		}
	}
	return out
}

// untestedRemedy is how a repository without a test gate comes to have one.
func untestedRemedy(p gates.Project) string {
	all := newProposed(p.Proposals)
	for _, note := range p.Notes {
		if file, why, ok := strings.Cut(note, " cannot be read: "); ok {
			return "mend " + safetext.EscapeLine(file, 120) + " (" + safetext.EscapeLine(why, 200) + "); or write gates.test: './your-tests.sh' into company.yaml"
		}
	}
	if line := firstSetting(all); line != "" {
		return "write " + line + " into company.yaml"
	}
	return "write gates.test: './your-tests.sh' into company.yaml, or add a first test where a known runner looks (docs/repositories.md)"
}

// checkProposals holds the checks that were found to those that the repository's own
// people run.
func checkProposals(c config.Config, seen RepoCheck) []health.Finding {
	found := seen.Project.Proposals
	all := newProposed(found)
	if len(all)+len(found.Problems) == 0 {
		return nil
	}
	r := health.Result{OK: true, Found: strings.Join(proposalLines(all), "; ")}
	tests := found.OfKind(proposal.Test)
	agrees := slices.ContainsFunc(tests, func(c proposal.Command) bool { return c.Agrees || c.Gate != "" })
	switch {
	case len(found.Problems) > 0:
		r.OK, r.Warn = false, true
		r.Found = strings.TrimPrefix(r.Found+"; "+safetext.EscapeLine(found.Problems[0], 200), "; ")
		r.Needed, r.Fix = "files that can be read, and checks that ask nobody", "mend that; or name another command with gates.test in company.yaml"
	case len(tests) > 0 && !agrees && c.Gates.Test.Mode == config.Auto:
		r.OK, r.Warn = false, true
		r.Needed = "the tests that its maintainers run"
		if r.Fix = "see whether what was found runs the same tests"; firstSetting(all) != "" {
			r.Fix, r.Lines = "where they are others: "+untestedRemedy(seen.Project), testLines(seen.Project)
		}
	}
	return []health.Finding{{Name: "maintainers", Result: r}}
}

// BannerLines are the checks as a submission begins with them, and how to have a
// test where there is none.
func BannerLines(c config.Config, seen RepoCheck) []string {
	lines := GateLines(seen)
	if line := untestedLine(c, seen); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// untestedLine says that no test was found and how to have one, or nothing.
func untestedLine(c config.Config, seen RepoCheck) string {
	if seen.GatesError != nil || hasTestGate(seen.Project) || c.Gates.Test.Mode != config.Auto {
		return ""
	}
	return "no test was found, so what is complete will say UNTESTED; to have one: " + untestedRemedy(seen.Project)
}
