package view

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// Check is the result of a gate command.
type Check struct {
	Name    string `json:"name"`
	Command string `json:"command"`
	// passed, failed, hollow, skipped or absent; if it failed on the base too: known, unread or as_before
	Verdict  string `json:"verdict"`
	ExitCode int    `json:"exit_code"`
	TookMS   int64  `json:"took_ms"`
	Output   string `json:"output,omitempty"`  // for a failed check
	Absence  string `json:"absence,omitempty"` // reason why an absent check is not run
	Slow     string `json:"slow,omitempty"`    // for a slow check: its duration, and a faster alternative
	Beside   string `json:"beside,omitempty"`  // output that the base does not print

	Counts *company.TestCounts  `json:"counts,omitempty"`
	Tests  []company.TestResult `json:"tests,omitempty"` // failed tests
	Flaky  []string             `json:"flaky,omitempty"`
	Gone   []string             `json:"gone,omitempty"`
	// the part of its suite that it ran for a ticket, if not all of it
	Part   *company.TestPart `json:"part,omitempty"`
	Canary *company.Canary   `json:"canary,omitempty"` // whether it covers the changed code
}

// Gate is the result of all gates on a tree.
type Gate struct {
	Head     company.OID `json:"head"`
	Onto     company.OID `json:"onto"`
	Tree     company.OID `json:"tree"`
	Passed   bool        `json:"passed"`
	Untested bool        `json:"untested"`
	Cached   bool        `json:"cached"`
	Conflict bool        `json:"conflict"`
	Checks   []Check     `json:"checks"`

	// subtasks that were tested together, if more than one
	Stack       []company.SubtaskID `json:"stack,omitempty"`
	RedGreen    *company.RedGreen   `json:"red_green,omitempty"`    // for the ticket or the whole task
	UntestedWhy string              `json:"untested_why,omitempty"` // reason why it has no test
}

func viewGate(gateFinished *company.GateFinished) *Gate {
	if gateFinished == nil {
		return nil
	}
	gate := &Gate{
		Head: gateFinished.Head, Onto: gateFinished.Onto, Tree: gateFinished.Result.Tree, Passed: gateFinished.Result.Passed,
		Untested: gateFinished.Result.Untested,
		Cached:   gateFinished.Result.Cached, Conflict: gateFinished.Conflict, Checks: []Check{},
		RedGreen:    gateFinished.Result.RedGreen,
		UntestedWhy: gateFinished.Result.ExplainUntested(), Stack: gateFinished.Stack,
	}
	for _, c := range gateFinished.Result.Checks {
		gate.Checks = append(gate.Checks, viewCheck(c))
	}
	return gate
}

// othersOfStack names the subtasks that were tested together with the given one. It returns "" if there are none.
func (v *Gate) othersOfStack(id company.SubtaskID) string {
	var others []string
	for _, other := range v.Stack {
		if other != id {
			others = append(others, string(other))
		}
	}
	if others == nil {
		return ""
	}
	return ", together with " + strings.Join(others, ", ")
}

func viewCheck(gateCheck company.GateCheck) Check {
	check := Check{Canary: gateCheck.Canary, Name: gateCheck.Name, Command: gateCheck.Command, Verdict: "failed",
		ExitCode: gateCheck.ExitCode,
		TookMS:   gateCheck.Took.Milliseconds(),
		Counts:   gateCheck.Counts, Tests: gateCheck.Tests, Flaky: gateCheck.Flaky, Gone: gateCheck.Gone,
		Part: gateCheck.Part}
	if gateCheck.IsSlow() {
		check.Slow = gateCheck.DescribeSlow()
	}
	switch {
	case gateCheck.Skipped:
		check.Verdict = "skipped"
	case gateCheck.Absent:
		check.Verdict, check.Absence = string(company.ComparedAbsent), gateCheck.ExplainAbsence()
	case gateCheck.Hollow():
		check.Verdict = "hollow"
	case gateCheck.Passed:
		check.Verdict = "passed"
	case gateCheck.Excused != "":
		check.Verdict = string(gateCheck.Excused)
		check.Output = gateCheck.Output
		check.Beside = gateCheck.Beside
	default:
		check.Output = gateCheck.Output
	}
	return check
}

// viewBaseline returns the results of the gates on the base.
func viewBaseline(gateResult *company.GateResult) []Check {
	out := []Check{}
	if gateResult != nil {
		for _, c := range gateResult.Checks {
			out = append(out, viewCheck(c))
		}
	}
	return out
}

// statusLabel returns a short status for a table.
func (v *Gate) statusLabel() string {
	switch {
	case v == nil:
		return "-"
	case v.Untested, v.Passed && v.UntestedWhy != "":
		return "UNTESTED"
	case v.Passed:
		return "gates passed"
	}
	return "gates red"
}

// Render renders the result of each check, with the output of failed ones.
func (v *Gate) Render(style Style) string {
	var b strings.Builder
	for _, check := range v.Checks {
		sign, color := check.sign()
		tail := fmt.Sprintf(", exit %d, %.1fs%s", check.ExitCode, float64(check.TookMS)/1000, check.verdictNote())
		writeWrapped(&b, style, "  "+style.Paint(color, sign)+" ",
			safetext.EscapeLine(check.Name, 240)+": "+safetext.EscapeLine(check.Command, 120)+tail)
		for _, l := range []struct {
			what  string
			names []string
		}{{"flaky", check.Flaky}, {"no longer run", check.Gone}, {"covers", namePaths(check.canaryProof().Proven)},
			{"does not cover", namePaths(slices.Concat(check.canaryProof().Blind, check.canaryProof().Hollow))},
			{"unproven", check.canaryProof().reasonList()}} {
			if len(l.names) > 0 {
				names := safetext.EscapeLine(strings.Join(l.names, ", "), 300)
				writeWrapped(&b, style, "      "+l.what+": ", names)
			}
		}
		switch {
		case check.Beside != "":
			b.WriteString("      not printed on the base:\n" + lastLines(check.Beside, 40))
		case check.Output != "" && check.Verdict != string(company.ComparedKnown):
			b.WriteString(lastLines(check.Output, 30))
		}
	}
	if redGreen := v.RedGreen; redGreen != nil && redGreen.Reason == "" {
		fmt.Fprintf(&b, "  new tests: %d; red to green: %d; test files changed: %d\n", redGreen.Fresh, redGreen.Shown,
			redGreen.Files)
		if redGreen.Unseen > 0 {
			fmt.Fprintf(&b, "  new tests that could not run without the change: %d\n", redGreen.Unseen)
		}
		for _, l := range []struct {
			what  string
			names []string
		}{{"does not compile or load", redGreen.Unbuilt}, {"exits before its tests finish", redGreen.Died}} {
			if len(l.names) > 0 {
				writeWrapped(&b, style, "  "+l.what+" without the change: ", safetext.EscapeLine(strings.Join(l.names, ", "), 300))
			}
		}
	}
	if v.UntestedWhy != "" {
		writeWrapped(&b, style, "  UNTESTED: ", v.UntestedWhy)
	}
	return b.String()
}

// namePaths returns folders of a repository for people, to whom "." would be the end of a sentence.
func namePaths(folders []string) []string {
	out := slices.Clone(folders)
	for i, folder := range out {
		if folder == "." {
			out[i] = "./"
		}
	}
	return out
}

// sign returns the symbol and colour of a verdict.
func (c Check) sign() (sign, color string) {
	switch c.Verdict {
	case "passed":
		return "+", termtext.Green
	case "failed", "hollow":
		return "x", termtext.Red
	case "unread":
		return "?", termtext.Yellow
	case "known", "as_before":
		return "~", termtext.Yellow
	}
	return "-", ""
}

// canaryProof returns the proof of which code a check covers, as far as known.
func (c Check) canaryProof() canaryProof {
	if c.Canary == nil {
		return canaryProof{}
	}
	return canaryProof(*c.Canary)
}

type canaryProof company.Canary

func (p canaryProof) reasonList() []string {
	if p.Reason == "" {
		return nil
	}
	return []string{p.Reason}
}

// verdictNote explains a verdict other than passed or failed, and counts the tests.
func (c Check) verdictNote() string {
	out := map[string]string{
		"known":     ", red as on the base",
		"as_before": ", UNVERIFIED: red as on the base, and new failures cannot be told apart; accepted by the president",
		"hollow":    ", HOLLOW: it passed with a test that must fail",
		"unread":    ", red as on the base, and new failures cannot be told apart",
		"absent":    ", " + c.Absence, "skipped": ", skipped",
	}[c.Verdict]
	if c.Part != nil {
		out += ", " + c.Part.String() + "; all run on the merged tree"
	}
	if n := c.Counts; n != nil && *n != (company.TestCounts{}) {
		out += fmt.Sprintf(", %d passed, %d failed, %d skipped", n.Passed, n.Failed, n.Skipped)
	}
	return out
}
