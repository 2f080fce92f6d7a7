package prbody

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// prGates is the verdict on the tree that is asked to be merged: what passed,
// and everything that is not simply green.
func prGates(t *company.Task, o PROptions) string {
	if t.Gate == nil || len(t.Gate.Result.Checks) == 0 {
		return "## Gates\n\nNone were run.\n"
	}
	checks := t.Gate.Result.Checks
	var rows [][]string
	for _, c := range checks {
		took := c.Took.Round(10 * time.Millisecond).String()
		exit := strconv.Itoa(c.ExitCode)
		if c.Skipped || c.Absent {
			exit, took = "-", "-"
		}
		rows = append(rows, []string{escapeMarkdown(c.Name), codeSpan(c.Command), exit, took, gateStatusText(c)})
	}
	var b strings.Builder
	b.WriteString("## Gates\n\n" + markdownTable(o, []string{"gate", "command", "exit", "took", "result"}, rows) +
		fmt.Sprintf("\n\nRun on the tree of %s in a fresh container without a network; the exit code is the daemon's.\n", t.Head.Short()))
	var notes []string
	for _, c := range checks {
		notes = append(notes, gateNotes(c, t.Gate.Result.Overlooked(c), o)...)
	}
	notes = append(notes, leftOutNotes(t)...)
	notes = append(notes, unrunNotes(t, o)...)
	notes = append(notes, firstStepNotes(t, o)...)
	notes = append(notes, baseNotes(t, o)...)
	if changed := catalog.GateFilesOf(t); len(changed) > 0 {
		notes = append(notes, "This change touches what the **gates are made of**: "+joinCode(changed, o))
	}
	notes = append(notes, redGreenNotes(t.Gate.Result.RedGreen, o)...)
	for _, c := range checks {
		if k := c.Canary; k != nil && len(k.Proven) > 0 {
			notes = append(notes, escapeMarkdown(c.Name)+" looks at what is changed: a test that must fail, put there by the company, turned it red in "+joinCode(k.Proven, o))
		}
	}
	for i, n := range notes {
		if i == o.maxRows {
			fmt.Fprintf(&b, "- %d more notes are not shown\n", len(notes)-i)
			break
		}
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("- " + n + "\n")
	}
	return b.String()
}

// leftOutNotes say which packages the checks had not, or in other versions than the lock files
// have, since a registry was not to be asked.
func leftOutNotes(t *company.Task) (out []string) {
	if t.Prepared == nil {
		return nil
	}
	for _, n := range t.Prepared.Notes {
		if strings.Contains(n, "deps.without has ") {
			out = append(out, "The **image of the checks** has other packages than are asked for: "+escapeMarkdown(n))
		}
	}
	return out
}

// unrunNotes names what the repository's people run beside the gates. What their CI runs stands above,
// as unverified.
func unrunNotes(t *company.Task, o PROptions) []string {
	if t.Prepared == nil {
		return nil
	}
	var names []string
	for _, u := range t.Prepared.Unrun {
		if !u.OfCI {
			names = append(names, u.Command+" ("+u.At+")")
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"Not run here, though the repository names it: " + joinCode(names, o)}
}

// gateStatusText is a check's result and the count of its tests.
func gateStatusText(c company.GateCheck) string {
	word := "failed"
	switch {
	case c.Skipped:
		return "skipped"
	case c.Excused == company.ComparedAbsent:
		return "absent"
	case c.Excused == company.ComparedKnown:
		word = "red as on the base"
	case c.Excused == company.ComparedAsBefore:
		word = "UNVERIFIED"
	case c.Passed:
		word = "passed"
	}
	switch n := c.Counts; {
	case n == nil:
	case noTests(c):
		word += ", no tests"
	case n.Failed > 0 && n.Passed == 0 && n.Skipped == 0:
		word += ", " + countNoun(n.Failed, "failure")
	case n.Passed > 0 || n.Skipped > 0:
		word += ", " + countNoun(n.Passed+n.Failed+n.Skipped, "test")
		if n.Failed > 0 {
			word += fmt.Sprintf(", %d failed", n.Failed)
		}
		if n.Skipped > 0 {
			word += fmt.Sprintf(", %d skipped", n.Skipped)
		}
	}
	return word
}

// noTests says whether a test gate was understood and reports no test at all.
func noTests(c company.GateCheck) bool {
	return c.Counts != nil && *c.Counts == (company.TestCounts{}) && (company.GateCommand{Name: c.Name}).IsTest()
}

func gateNotes(c company.GateCheck, blind []string, o PROptions) []string {
	var out []string
	name := escapeMarkdown(c.Name)
	switch c.Excused {
	case company.ComparedAbsent:
		out = append(out, name+" is **absent**: "+c.ExplainAbsence()+".")
	case company.ComparedKnown:
		var failing []string
		for _, t := range c.Tests {
			failing = append(failing, t.Name)
		}
		out = append(out, name+" fails on the base too, and in nothing else here: "+joinCode(failing, o))
	case company.ComparedAsBefore:
		why := "its output names no failure."
		if unrun := c.Unrun(); len(unrun) > 0 {
			why = "nothing was run behind " + joinCode(unrun, o) + "."
		}
		out = append(out, name+" is **UNVERIFIED**: it is red on the base too, and new failures in it cannot be recognised: "+why+" The president saw that and let it pass.")
	}
	out = append(out, canaryNotes(c, blind, o)...)
	if len(c.Flaky) > 0 {
		out = append(out, fmt.Sprintf("%s is **flaky**: it failed, and not in a further run of the same tree: %s", name, joinCode(c.Flaky, o)))
	}
	if len(c.Gone) > 0 {
		out = append(out, name+" passed these on the base and **no longer runs** them: "+joinCode(c.Gone, o))
	}
	if noTests(c) {
		out = append(out, name+" has **no tests**: nothing was run that could fail.")
	}
	return out
}

// canaryNotes say whether a check looks at what the change touches; blind are folders at which none does.
func canaryNotes(c company.GateCheck, blind []string, o PROptions) []string {
	k := c.Canary
	if k == nil {
		return nil
	}
	name := escapeMarkdown(c.Name)
	var out []string
	if len(blind) > 0 {
		out = append(out, name+" **does not run the tests** in "+joinCode(blind, o)+": company put a test there that must fail, and the check passed. On the base it is the same.")
	}
	if k.Reason != "" {
		out = append(out, name+" is **unproven**: "+escapeWithin(k.Reason, 200)+".")
	}
	return out
}

// baseNotes are the failures of the base that this change has mended.
func baseNotes(t *company.Task, o PROptions) []string {
	if t.Baseline == nil {
		return nil
	}
	var out []string
	for i, b := range t.Baseline.Checks {
		if i >= len(t.Gate.Result.Checks) || len(b.Flaky) == 0 && b.ExitCode == 0 {
			continue
		}
		c := t.Gate.Result.Checks[i]
		if b.ExitCode != 0 && !b.Absent && c.Passed {
			out = append(out, escapeMarkdown(b.Name)+" was red on the base and is green here.")
		}
		if len(b.Flaky) > 0 {
			out = append(out, escapeMarkdown(b.Name)+" was flaky on the base already: "+joinCode(b.Flaky, o))
		}
	}
	return out
}

// firstStepNotes list which tests ran when, where tickets were tested in two steps.
func firstStepNotes(t *company.Task, o PROptions) []string {
	var steps []string
	for _, sub := range t.Subtasks {
		for _, f := range sub.FirstSteps {
			if sub.Merged == "" {
				continue
			}
			steps = append(steps, string(sub.ID)+": "+escapeMarkdown(f.Check)+", "+f.String())
		}
	}
	if steps == nil {
		return nil
	}
	more := ""
	if n := len(steps) - o.maxRows; n > 0 {
		steps, more = steps[:o.maxRows], fmt.Sprintf("; and %d more", n)
	}
	return []string{"Tested in two steps: before the review what a ticket's change can reach (" + strings.Join(steps, "; ") + more + "), and all on the merged tree."}
}

// redGreenNotes say which tests of the change show anything.
func redGreenNotes(r *company.RedGreen, o PROptions) []string {
	switch {
	case r == nil:
		return nil
	case r.Files == 0:
		return []string{"No test was added or changed."}
	case r.Reason != "":
		return []string{"Which tests fail without this change is not known: " + escapeMarkdown(r.Reason) + "."}
	}
	out := []string{fmt.Sprintf("New tests: %d%s. Red to green (they pass with this change and fail without it): %d", r.Fresh, countCases(r), r.Shown)}
	if len(r.Proof) > 0 {
		tests := foldTests(r.Proof)
		out[0] += ": " + joinFolded(tests, r.Shown-len(tests), o)
	}
	if len(r.Unbuilt) > 0 {
		out = append(out, "Without this change these do not compile or load: "+joinCode(r.Unbuilt, o))
	}
	if len(r.Died) > 0 {
		out = append(out, "Without this change these end before their tests are through, by a panic or an exit: "+joinCode(r.Died, o))
	}
	if r.Unseen > 0 {
		out = append(out, fmt.Sprintf("New tests that were not run without this change: %d", r.Unseen))
	}
	if len(r.Idle) > 0 {
		out = append(out, "These new tests pass without this change too, so they do not show it: "+joinFolded(foldTests(r.Idle), 0, o))
	}
	return out
}

// countCases names the new cases beside new tests.
func countCases(r *company.RedGreen) string {
	if r.Cases == 0 {
		return ""
	}
	return fmt.Sprintf(", new cases: %d", r.Cases)
}

// joinCode names the first of a list.
func joinCode(names []string, o PROptions) string {
	var out []string
	for i, n := range names {
		if i == o.maxRows {
			return strings.Join(out, ", ") + fmt.Sprintf(" and %d more", len(names)-i)
		}
		out = append(out, codeSpan(n))
	}
	return strings.Join(out, ", ")
}
