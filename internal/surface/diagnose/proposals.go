package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/checkfinder"
	"company/internal/gates"
	"company/internal/lib/healthcheck"
	"company/internal/lib/safetext"
	"company/internal/office/config"
)

// Proposed is a command with which the repository's maintainers check it.
type Proposed struct {
	Kind    string   `json:"kind"` // lint | test
	Command string   `json:"command"`
	Dir     string   `json:"dir,omitempty"`
	At      []string `json:"at"`                // file:line
	Agrees  bool     `json:"agrees"`            // a detected check runs the same
	Gate    string   `json:"gate,omitempty"`    // check that runs the command: a detected one or its own
	Why     string   `json:"why,omitempty"`     // reason why no check runs it
	Setting string   `json:"setting,omitempty"` // line for company.yaml that makes the command the gate
}

// newProposed converts the found commands for programs.
func newProposed(found checkfinder.Found) []Proposed {
	out := []Proposed{}
	for _, command := range found.Commands {
		out = append(
			out, Proposed{Kind: command.Kind, Command: command.Command, Dir: command.Dir, At: command.At, Agrees: command.Agrees,
				Gate: command.Gate, Why: command.Why,
				Setting: command.Setting()})
	}
	return out
}

// describeCommand describes the command and its source for people.
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
		return text + ": the detected checks already run it"
	case p.Gate != "":
		return text + ": a separate check, if it passes on the base"
	case p.Why != "":
		return text + ": not run, " + p.Why
	}
	return text + ": not run"
}

// maxProposed limits the commands shown of a kind.
const maxProposed = 3

// proposalLines returns the first commands of each kind as lines for people. It keeps their order
// and counts the rest.
func proposalLines(all []Proposed) []string {
	var out []string
	for _, kind := range []string{checkfinder.Test, checkfinder.Lint} {
		var mine []Proposed
		for _, proposed := range all {
			if proposed.Kind == kind {
				mine = append(mine, proposed)
			}
		}
		for i, proposed := range mine {
			if i == maxProposed && len(mine) > maxProposed+1 {
				out = append(out, fmt.Sprintf("%s: and %d more", kind, len(mine)-i))
				break
			}
			out = append(out, kind+": "+proposed.describeCommand())
		}
	}
	return out
}

// hasTestGate reports whether a gate runs tests, regardless of its result on the base. Provisional
// gates do not count.
func hasTestGate(p gates.Project) bool {
	return slices.ContainsFunc(p.Gates, func(g company.GateCommand) bool { return g.IsTest() && !g.Provisional })
}

// firstSetting returns the line for company.yaml of the first test command that has one, or "".
func firstSetting(all []Proposed) string {
	for _, proposed := range all {
		if proposed.Kind == checkfinder.Test && proposed.Setting != "" {
			return safetext.EscapeLine(proposed.Setting, 200)
		}
	}
	return ""
}

// testLines returns the config line that adds a test gate, or nil.
func testLines(p gates.Project) []company.ConfigLine {
	if line, ok := p.TestLine(); ok {
		return []company.ConfigLine{line}
	}
	return nil
}

// ProposedLines returns the config lines that findings propose, without duplicates.
func ProposedLines(findings []healthcheck.Finding) []company.ConfigLine {
	var out []company.ConfigLine
	for _, f := range findings {
		for _, configLine := range f.Lines {
			if !slices.ContainsFunc(out, func(o company.ConfigLine) bool {
				return o.Key == configLine.Key && o.Value == configLine.Value
			}) {
				out = append(out, configLine)
			}
		}
	}
	return out
}

// untestedRemedy explains how to add a test gate to a repository.
func untestedRemedy(project gates.Project) string {
	all := newProposed(project.Proposals)
	for _, note := range project.Notes {
		if file, reason, ok := strings.Cut(note, " cannot be read: "); ok {
			return "mend " + safetext.EscapeLine(file, 120) + " (" + safetext.EscapeLine(reason, 200) +
				"); or write gates.test: './your-tests.sh' into company.yaml"
		}
	}
	if line := firstSetting(all); line != "" {
		return "write " + line + " into company.yaml"
	}
	return "write gates.test: './your-tests.sh' into company.yaml, or add a first test where a known runner looks " +
		"(docs/repositories.md)"
}

// checkProposals compares the detected checks with the commands that the repository's maintainers
// run.
func checkProposals(cfg config.Config, seen RepoCheck) []healthcheck.Finding {
	found := seen.Project.Proposals
	all := newProposed(found)
	if len(all)+len(found.Problems) == 0 {
		return nil
	}
	result := healthcheck.Result{OK: true, Found: strings.Join(proposalLines(all), "; ")}
	tests := found.OfKind(checkfinder.Test)
	agrees := slices.ContainsFunc(tests, func(c checkfinder.Command) bool { return c.Agrees || c.Gate != "" })
	switch {
	case len(found.Problems) > 0:
		result.OK, result.Warn = false, true
		result.Found = strings.TrimPrefix(result.Found+"; "+safetext.EscapeLine(found.Problems[0], 200), "; ")
		result.Needed, result.Fix = "readable files, and checks that do not prompt",
			"fix that, or set another command with gates.test in company.yaml"
	case len(tests) > 0 && !agrees && cfg.Gates.Test.Mode == config.Auto:
		result.OK, result.Warn = false, true
		result.Needed = "the tests that its maintainers run"
		if result.Fix = "check whether the detected command runs the same tests"; firstSetting(all) != "" {
			result.Fix, result.Lines = "if they differ: "+untestedRemedy(seen.Project), testLines(seen.Project)
		}
	}
	return []healthcheck.Finding{{Name: "maintainers", Result: result}}
}

// BannerLines lists the checks of a submission, and how to add a test if there is none.
func BannerLines(cfg config.Config, seen RepoCheck) []string {
	lines := GateLines(seen)
	if line := untestedLine(cfg, seen); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// untestedLine explains how to add a test if none was found. It returns "" if there is a test
// gate, if the gates are unknown, or if gates.test is not auto.
func untestedLine(c config.Config, seen RepoCheck) string {
	if seen.GatesError != nil || hasTestGate(seen.Project) || c.Gates.Test.Mode != config.Auto {
		return ""
	}
	return "no test was found, so results will be marked UNTESTED; to add one: " + untestedRemedy(seen.Project)
}
