package prbody

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// prGates returns the verdict on the tree to be merged: the passed checks, and everything that is not simply green.
func prGates(task *company.Task, prOptions PROptions) string {
	if task.Gate == nil || len(task.Gate.Result.Checks) == 0 {
		return "## Gates\n\nNone were run.\n"
	}
	checks := task.Gate.Result.Checks
	var rows [][]string
	for _, gateCheck := range checks {
		took := gateCheck.Took.Round(10 * time.Millisecond).String()
		exit := strconv.Itoa(gateCheck.ExitCode)
		if gateCheck.Skipped || gateCheck.Absent {
			exit, took = "-", "-"
		}
		rows = append(
			rows, []string{escapeMarkdown(gateCheck.Name), codeSpan(gateCheck.Command), exit, took, gateStatusText(gateCheck)})
	}
	var b strings.Builder
	b.WriteString("## Gates\n\n" + markdownTable(prOptions, []string{"gate", "command", "exit", "took", "result"}, rows) +
		fmt.Sprintf("\n\nRun on the tree of %s in a fresh container without a network; the exit code is the daemon's.\n",
			task.Head.Short()))
	var notes []string
	for _, c := range checks {
		notes = append(notes, gateNotes(c, task.Gate.Result.Overlooked(c), prOptions)...)
	}
	notes = append(notes, leftOutNotes(task)...)
	notes = append(notes, unrunNotes(task, prOptions)...)
	notes = append(notes, firstStepNotes(task, prOptions)...)
	notes = append(notes, baseNotes(task, prOptions)...)
	if changed := catalog.GateFilesOf(task); len(changed) > 0 {
		notes = append(notes, "This change touches what the **gates are made of**: "+joinCode(changed, prOptions))
	}
	notes = append(notes, redGreenNotes(task.Gate.Result.RedGreen, prOptions)...)
	for _, gateCheck := range checks {
		if canary := gateCheck.Canary; canary != nil && len(canary.Proven) > 0 {
			notes = append(notes, escapeMarkdown(gateCheck.Name)+
				" looks at what is changed: a test that must fail, put there by the company, turned it red in "+
				joinCode(canary.Proven, prOptions))
		}
	}
	for i, n := range notes {
		if i == prOptions.maxRows {
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

// leftOutNotes returns notes on packages that the checks lacked, or had in other versions than the lock files,
// because a registry was excluded.
func leftOutNotes(task *company.Task) (out []string) {
	if task.Prepared == nil {
		return nil
	}
	for _, n := range task.Prepared.Notes {
		if strings.Contains(n, "deps.without has ") {
			out = append(out, "The **image of the checks** has other packages than are asked for: "+escapeMarkdown(n))
		}
	}
	return out
}

// unrunNotes names commands that the repository mentions and that are not gates. Commands of its CI are listed above
// as unverified.
func unrunNotes(task *company.Task, prOptions PROptions) []string {
	if task.Prepared == nil {
		return nil
	}
	var names []string
	for _, unrunCheck := range task.Prepared.Unrun {
		if !unrunCheck.OfCI {
			names = append(names, unrunCheck.Command+" ("+unrunCheck.At+")")
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"Not run here, though the repository names it: " + joinCode(names, prOptions)}
}

// gateStatusText returns a check's result and its number of tests.
func gateStatusText(gateCheck company.GateCheck) string {
	word := "failed"
	switch {
	case gateCheck.Skipped:
		return "skipped"
	case gateCheck.Excused == company.ComparedAbsent:
		return "absent"
	case gateCheck.Excused == company.ComparedKnown:
		word = "red as on the base"
	case gateCheck.Excused == company.ComparedAsBefore:
		word = "UNVERIFIED"
	case gateCheck.Passed:
		word = "passed"
	}
	switch testCounts := gateCheck.Counts; {
	case testCounts == nil:
	case noTests(gateCheck):
		word += ", no tests"
	case testCounts.Failed > 0 && testCounts.Passed == 0 && testCounts.Skipped == 0:
		word += ", " + countNoun(testCounts.Failed, "failure")
	case testCounts.Passed > 0 || testCounts.Skipped > 0:
		word += ", " + countNoun(testCounts.Passed+testCounts.Failed+testCounts.Skipped, "test")
		if testCounts.Failed > 0 {
			word += fmt.Sprintf(", %d failed", testCounts.Failed)
		}
		if testCounts.Skipped > 0 {
			word += fmt.Sprintf(", %d skipped", testCounts.Skipped)
		}
	}
	return word
}

// noTests reports whether a test gate's report was understood and contains no tests.
func noTests(c company.GateCheck) bool {
	return c.Counts != nil && *c.Counts == (company.TestCounts{}) && (company.GateCommand{Name: c.Name}).IsTest()
}

func gateNotes(gateCheck company.GateCheck, blind []string, prOptions PROptions) []string {
	var out []string
	name := escapeMarkdown(gateCheck.Name)
	switch gateCheck.Excused {
	case company.ComparedAbsent:
		out = append(out, name+" is **absent**: "+escapeWithin(gateCheck.ExplainAbsence(), 300)+".")
	case company.ComparedKnown:
		var failing []string
		for _, t := range gateCheck.Tests {
			failing = append(failing, t.Name)
		}
		out = append(out, name+" fails on the base too, and in nothing else here: "+joinCode(failing, prOptions))
	case company.ComparedAsBefore:
		reason := "its output names no failure."
		if unrun := gateCheck.Unrun(); len(unrun) > 0 {
			reason = "nothing was run behind " + joinCode(unrun, prOptions) + "."
		}
		out = append(out, name+" is **UNVERIFIED**: it is red on the base too, and new failures in it cannot be recognised: "+
			reason+" The president saw that and let it pass.")
	}
	out = append(out, canaryNotes(gateCheck, blind, prOptions)...)
	if len(gateCheck.Flaky) > 0 {
		out = append(
			out, fmt.Sprintf("%s is **flaky**: it failed, and not in a further run of the same tree: %s", name,
				joinCode(gateCheck.Flaky, prOptions)))
	}
	if len(gateCheck.Gone) > 0 {
		out = append(out, name+" passed these on the base and **no longer runs** them: "+joinCode(gateCheck.Gone, prOptions))
	}
	if noTests(gateCheck) {
		out = append(out, name+" has **no tests**: nothing was run that could fail.")
	}
	return out
}

// canaryNotes returns notes on whether a check covers the files that the change touches. blind lists folders that no
// check covers.
func canaryNotes(gateCheck company.GateCheck, blind []string, prOptions PROptions) []string {
	canary := gateCheck.Canary
	if canary == nil {
		return nil
	}
	name := escapeMarkdown(gateCheck.Name)
	var out []string
	if len(blind) > 0 {
		out = append(out, name+" **does not run the tests** in "+joinCode(blind, prOptions)+
			": company put a test there that must fail, and the check passed. On the base it is the same.")
	}
	if canary.Reason != "" {
		out = append(out, name+" is **unproven**: "+escapeWithin(canary.Reason, 200)+".")
	}
	return out
}

// baseNotes lists failures of the base that this change fixes, and checks that were flaky on the base.
func baseNotes(task *company.Task, prOptions PROptions) []string {
	if task.Baseline == nil {
		return nil
	}
	var out []string
	for i, gateCheck := range task.Baseline.Checks {
		if i >= len(task.Gate.Result.Checks) || len(gateCheck.Flaky) == 0 && gateCheck.ExitCode == 0 {
			continue
		}
		c := task.Gate.Result.Checks[i]
		if gateCheck.ExitCode != 0 && !gateCheck.Absent && c.Passed {
			out = append(out, escapeMarkdown(gateCheck.Name)+" was red on the base and is green here.")
		}
		if len(gateCheck.Flaky) > 0 {
			out = append(out, escapeMarkdown(gateCheck.Name)+" was flaky on the base already: "+
				joinCode(gateCheck.Flaky, prOptions))
		}
	}
	return out
}

// firstStepNotes lists which tests ran when, for tickets that were tested in two steps.
func firstStepNotes(task *company.Task, prOptions PROptions) []string {
	var steps []string
	for _, sub := range task.Subtasks {
		for _, firstStep := range sub.FirstSteps {
			if sub.Merged == "" {
				continue
			}
			steps = append(steps, string(sub.ID)+": "+escapeMarkdown(firstStep.Check)+", "+firstStep.String())
		}
	}
	if steps == nil {
		return nil
	}
	more := ""
	if n := len(steps) - prOptions.maxRows; n > 0 {
		steps, more = steps[:prOptions.maxRows], fmt.Sprintf("; and %d more", n)
	}
	return []string{"Tested in two steps: before the review what a ticket's change can reach (" +
		strings.Join(steps, "; ") + more + "), and all on the merged tree."}
}

// redGreenNotes returns notes on which tests demonstrate the change.
func redGreenNotes(redGreen *company.RedGreen, prOptions PROptions) []string {
	switch {
	case redGreen == nil:
		return nil
	case redGreen.Files == 0:
		return []string{"No test was added or changed."}
	case redGreen.Reason != "":
		return []string{"Which tests fail without this change is not known: " + escapeMarkdown(redGreen.Reason) + "."}
	}
	out := []string{fmt.Sprintf("New tests: %d%s. Red to green (they pass with this change and fail without it): %d",
		redGreen.Fresh, countCases(redGreen), redGreen.Shown)}
	if len(redGreen.Proof) > 0 {
		tests := foldTests(redGreen.Proof)
		out[0] += ": " + joinFolded(tests, redGreen.Shown-len(tests), prOptions)
	}
	if len(redGreen.Unbuilt) > 0 {
		out = append(out, "Without this change these do not compile or load: "+joinCode(redGreen.Unbuilt, prOptions))
	}
	if len(redGreen.Apart) > 0 {
		out = append(out, "Without this change these were run apart from the test files that do not compile: "+
			joinCode(redGreen.Apart, prOptions))
	}
	if len(redGreen.Died) > 0 {
		out = append(out, "Without this change these end before their tests are through, by a panic or an exit: "+
			joinCode(redGreen.Died, prOptions))
	}
	if redGreen.Unseen > 0 {
		out = append(out, fmt.Sprintf("New tests that were not run without this change: %d", redGreen.Unseen))
	}
	if len(redGreen.Idle) > 0 {
		out = append(out, "These new tests pass without this change too, so they do not show it: "+
			joinFolded(foldTests(redGreen.Idle), 0, prOptions))
	}
	return out
}

// countCases returns the number of new cases as text, or "" if there are none.
func countCases(redGreen *company.RedGreen) string {
	if redGreen.Cases == 0 {
		return ""
	}
	return fmt.Sprintf(", new cases: %d", redGreen.Cases)
}

// joinCode lists the first prOptions.maxRows names as code spans.
func joinCode(names []string, prOptions PROptions) string {
	var out []string
	for i, n := range names {
		if i == prOptions.maxRows {
			return strings.Join(out, ", ") + fmt.Sprintf(" and %d more", len(names)-i)
		}
		out = append(out, codeSpan(n))
	}
	return strings.Join(out, ", ")
}
