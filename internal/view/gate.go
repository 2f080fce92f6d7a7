package view

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// Check is the verdict of one gate command.
type Check struct {
	Name     string `json:"name"`
	Command  string `json:"command"`
	Verdict  string `json:"verdict"` // passed, failed, hollow, skipped, absent; known, unread, as_before: red as on the base
	ExitCode int    `json:"exit_code"`
	TookMS   int64  `json:"took_ms"`
	Output   string `json:"output,omitempty"`  // of a red one
	Absence  string `json:"absence,omitempty"` // why an absent one is not run
	Slow     string `json:"slow,omitempty"`    // of a check that takes long: how long, and what does less
	Beside   string `json:"beside,omitempty"`  // what of it the base does not print

	Counts *company.TestCounts  `json:"counts,omitempty"`
	Tests  []company.TestResult `json:"tests,omitempty"` // that failed
	Flaky  []string             `json:"flaky,omitempty"`
	Gone   []string             `json:"gone,omitempty"`
	Part   *company.TestPart    `json:"part,omitempty"`   // the share of its suite that it ran for a ticket, where that is not all
	Canary *company.Canary      `json:"canary,omitempty"` // whether it looks at what the change touches
}

// Gate is the verdict of all gates on a tree.
type Gate struct {
	Head     company.OID `json:"head"`
	Onto     company.OID `json:"onto"`
	Tree     company.OID `json:"tree"`
	Passed   bool        `json:"passed"`
	Untested bool        `json:"untested"`
	Cached   bool        `json:"cached"`
	Conflict bool        `json:"conflict"`
	Checks   []Check     `json:"checks"`

	Stack       []company.SubtaskID `json:"stack,omitempty"`        // the subtasks that were judged together, where there are several
	RedGreen    *company.RedGreen   `json:"red_green,omitempty"`    // of the ticket, or of the whole task
	UntestedWhy string              `json:"untested_why,omitempty"` // why it shows no test
}

func viewGate(g *company.GateFinished) *Gate {
	if g == nil {
		return nil
	}
	v := &Gate{
		Head: g.Head, Onto: g.Onto, Tree: g.Result.Tree, Passed: g.Result.Passed, Untested: g.Result.Untested,
		Cached: g.Result.Cached, Conflict: g.Conflict, Checks: []Check{}, RedGreen: g.Result.RedGreen,
		UntestedWhy: g.Result.ExplainUntested(), Stack: g.Stack,
	}
	for _, c := range g.Result.Checks {
		v.Checks = append(v.Checks, viewCheck(c))
	}
	return v
}

// othersOfStack names the subtasks that were judged together with one; empty where it
// was judged by itself.
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

func viewCheck(c company.GateCheck) Check {
	v := Check{Canary: c.Canary, Name: c.Name, Command: c.Command, Verdict: "failed", ExitCode: c.ExitCode, TookMS: c.Took.Milliseconds(),
		Counts: c.Counts, Tests: c.Tests, Flaky: c.Flaky, Gone: c.Gone, Part: c.Part}
	if c.IsSlow() {
		v.Slow = c.DescribeSlow()
	}
	switch {
	case c.Skipped:
		v.Verdict = "skipped"
	case c.Absent:
		v.Verdict, v.Absence = string(company.ComparedAbsent), c.ExplainAbsence()
	case c.Hollow():
		v.Verdict = "hollow"
	case c.Passed:
		v.Verdict = "passed"
	case c.Excused != "":
		v.Verdict, v.Output, v.Beside = string(c.Excused), c.Output, c.Beside
	default:
		v.Output = c.Output
	}
	return v
}

// viewBaseline is what the gates say of the base.
func viewBaseline(r *company.GateResult) []Check {
	out := []Check{}
	if r != nil {
		for _, c := range r.Checks {
			out = append(out, viewCheck(c))
		}
	}
	return out
}

// statusLabel is a verdict in a table.
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

// Render is the verdict of each check, with the output of a red one.
func (v *Gate) Render(s Style) string {
	var b strings.Builder
	for _, c := range v.Checks {
		sign, color := c.sign()
		tail := fmt.Sprintf(", exit %d, %.1fs%s", c.ExitCode, float64(c.TookMS)/1000, c.verdictNote())
		writeWrapped(&b, s, "  "+s.Paint(color, sign)+" ", safetext.EscapeLine(c.Name, 240)+": "+safetext.EscapeLine(c.Command, 120)+tail)
		for _, l := range []struct {
			what  string
			names []string
		}{{"flaky", c.Flaky}, {"no longer run", c.Gone}, {"looks at", c.canaryProof().Proven}, {"does not look at", slices.Concat(c.canaryProof().Blind, c.canaryProof().Hollow)}, {"unproven", c.canaryProof().reasonList()}} {
			if len(l.names) > 0 {
				writeWrapped(&b, s, "      "+l.what+": ", safetext.EscapeLine(strings.Join(l.names, ", "), 300))
			}
		}
		switch {
		case c.Beside != "":
			b.WriteString("      the base does not print:\n" + lastLines(c.Beside, 40))
		case c.Output != "" && c.Verdict != string(company.ComparedKnown):
			b.WriteString(lastLines(c.Output, 30))
		}
	}
	if r := v.RedGreen; r != nil && r.Reason == "" {
		fmt.Fprintf(&b, "  new tests: %d; red to green: %d; test files changed: %d\n", r.Fresh, r.Shown, r.Files)
		if r.Unseen > 0 {
			fmt.Fprintf(&b, "  new tests that were not run without the change: %d\n", r.Unseen)
		}
		for _, l := range []struct {
			what  string
			names []string
		}{{"does not compile or load", r.Unbuilt}, {"ends before its tests are through", r.Died}} {
			if len(l.names) > 0 {
				writeWrapped(&b, s, "  "+l.what+" without the change: ", safetext.EscapeLine(strings.Join(l.names, ", "), 300))
			}
		}
	}
	if v.UntestedWhy != "" {
		writeWrapped(&b, s, "  UNTESTED: ", v.UntestedWhy)
	}
	return b.String()
}

// sign is a verdict at a glance.
func (c Check) sign() (sign, color string) {
	switch c.Verdict {
	case "passed":
		return "+", screen.Green
	case "failed", "hollow":
		return "x", screen.Red
	case "unread":
		return "?", screen.Yellow
	case "known", "as_before":
		return "~", screen.Yellow
	}
	return "-", ""
}

// canaryProof says where a check looks, as far as that is proven.
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

// verdictNote is what a verdict means that neither passed nor failed, and how many
// tests there were.
func (c Check) verdictNote() string {
	out := map[string]string{
		"known": ", red as on the base", "as_before": ", UNVERIFIED: red as on the base, and what is new cannot be told; let pass by the president",
		"hollow": ", HOLLOW: a test that must fail did not turn it red",
		"unread": ", red as on the base, and what is new cannot be told",
		"absent": ", " + c.Absence, "skipped": ", skipped",
	}[c.Verdict]
	if c.Part != nil {
		out += ", " + c.Part.String() + "; all are run on the merged tree"
	}
	if n := c.Counts; n != nil {
		out += fmt.Sprintf(", %d passed, %d failed, %d skipped", n.Passed, n.Failed, n.Skipped)
	}
	return out
}
