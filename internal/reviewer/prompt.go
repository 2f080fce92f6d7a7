package reviewer

import (
	_ "embed" // the prompt is a file
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// maxGateFiles limits the listed changed files of gates, because a vendored tree may have thousands.
const maxGateFiles = 100

// listGateFiles lists the changed files of gates, one per line.
func listGateFiles(t *company.Task) []string {
	changed := catalog.GateFilesOf(t)
	if n := len(changed) - maxGateFiles; n > 0 {
		return append(changed[:maxGateFiles:maxGateFiles], fmt.Sprintf("and %d more", n))
	}
	return changed
}

// system is every reviewer's system prompt.
//
//go:embed prompts/reviewer.md
var system string

func reviewTitle(task *company.Task, sub *company.Subtask) string {
	if sub == nil {
		return "the whole of " + string(task.ID)
	}
	return sub.Planned.Title
}

// maxListed limits the changed files that the first message lists.
const maxListed = 500

// reviewBrief returns the first message of a review: the literal ticket, the results of the gates and the diff.
func reviewBrief(task *company.Task, sub *company.Subtask, x subject) string {
	var w strings.Builder
	gate := task.Gate
	if sub == nil {
		fmt.Fprintf(&w, "# The whole of task %s\n\nAll its subtasks are merged. Do they add up to the instruction?\n\n## "+
			"Instruction\n%s\n%s\n## Subtasks\n", task.ID, task.Instruction, formatAnswers(x.answers))
		for _, s := range task.Subtasks {
			fmt.Fprintf(&w, "- %s %s\n%s", s.ID, agent.JoinLines(s.Planned.Title), ticketOf(s))
		}
		w.WriteString(x.round.writeRound(x.head, x.diff))
	} else {
		gate = sub.Gate
		fmt.Fprintf(&w, "# Ticket %s: %s\n", sub.ID, agent.JoinLines(sub.Planned.Title))
		if !sub.Planned.IsInstruction() {
			fmt.Fprintf(&w, "\n%s\n", agent.EscapeHeadings(sub.Planned.Description))
		}
		if x.whole {
			w.WriteString("\n" + onlyTicket + "\n")
		}
		if x.whole || sub.Planned.IsInstruction() {
			w.WriteString("\n## Instruction\n" + task.Instruction + "\n" + formatAnswers(x.answers))
		}
		w.WriteString(x.round.writeRound(x.head, x.diff))
	}
	w.WriteString(criteriaText(task, sub))
	if gate != nil {
		w.WriteString("\n## Gates\n")
		for _, c := range gate.Result.Checks {
			fmt.Fprintf(&w, "- %s (%s): %s\n", agent.JoinLines(c.Name), agent.EscapeHeadings(c.Command), checkOutcome(c))
		}
		if red := task.KnownRed(); len(red) > 0 {
			w.WriteString("\nRed on the base already, before any work:\n" +
				agent.Quote("red_before", "", strings.Join(red, "\n")))
		}
		if unrun := task.ListUnrun(); len(unrun) > 0 {
			w.WriteString("\nThese checks of the repository are not run here. Would the work pass them?\n" +
				agent.Quote("not_run", "", strings.Join(unrun, "\n")))
		}
		if changed := listGateFiles(task); len(changed) > 0 {
			w.WriteString("\nThe work touches what the gates are made of. Is a check weakened by it?\n" +
				agent.Quote("gate_files", "", strings.Join(changed, "\n")))
		}
		for _, c := range gate.Result.Checks {
			w.WriteString(lookedAt(c, gate.Result.Overlooked(c)))
		}
		if len(x.flags) > 0 {
			w.WriteString("\nThese could keep tests from running, or from counting, and no check can see all of it. Read them " +
				"closely; what makes a suite say less than before, or behave by what it finds around it, is blocking:\n" +
				agent.Quote("flags", "", strings.Join(x.flags, "\n")))
		}
		w.WriteString(redToGreen(gate.Result.RedGreen))
		if gone := removedTests(gate.Result); len(gone) > 0 {
			w.WriteString("\nThese tests passed on the base and are no longer run. Is that what the ticket asks for?\n" +
				agent.Quote("tests_gone", "", strings.Join(gone, "\n")))
		}
		if gate.Result.Untested {
			w.WriteString("- there are none: untested\n")
		} else if reason := gate.Result.ExplainUntested(); reason != "" {
			fmt.Fprintf(&w, "\nUntested: %s. Nothing but you looks at what the work does.\n", agent.JoinLines(reason))
		}
	}
	if sub != nil {
		w.WriteString(outsideText(task, sub))
	} else {
		w.WriteString(outsideOfTickets(task))
	}
	w.WriteString(bypassedText(x.bypassed))
	if len(x.mentions) > 0 {
		w.WriteString("\n## Names in commit messages\nThe forge notifies whoever is called @name there. A package or a " +
			"decorator is fine; a message that calls a person or a team is blocking (at the message: no file, no line).\n" +
			agent.Quote("messages", "", strings.Join(x.mentions, "\n")))
	}
	if len(task.Dependencies) > 0 {
		w.WriteString("\n## Dependencies that the task added (are they needed, and the right ones?)\n")
		for _, d := range task.Dependencies {
			fmt.Fprintf(&w, "- %s\n", agent.JoinLines(d.String()))
		}
	}
	w.WriteString(writeClaims(task, sub))
	if x.advice != "" {
		w.WriteString("\n## What the repository says to agents\n" + x.advice)
	}
	if x.baseTree {
		w.WriteString("\n" + formatBaseTree(x.from))
	}
	fmt.Fprintf(&w, "\n## The diff, %s..%s\n", x.from.Short(), x.head.Short())
	if sub != nil && sub.Unchanged {
		said := ""
		if run := task.LastHandedIn(sub.ID); run != nil {
			said = fmt.Sprintf("%s: %s", run.ID, agentrun.CutSummary(run.Summary))
		}
		return w.String() + unchanged + agent.Quote("summary", "", said)
	}
	w.WriteString(agentrun.FormatDiff(x.diff, maxListed))
	return w.String()
}

// unchanged stands in place of the diff of a ticket without a change.
const unchanged = "There is none: the author says that the repository already does what is asked. Check each " +
	"criterion in the repository. What is missing is blocking (no file, no line). What the author says, which nobody " +
	"has checked:\n"

// onlyTicket tells the reviewer of a task's only ticket that no other review follows.
const onlyTicket = "This is the only ticket of the task, and nobody reviews the whole after you: what the " +
	"president's instruction asks for and the ticket leaves out is blocking."

// formatAnswers formats the president's answers, which are part of the instruction.
func formatAnswers(answers []*company.Approval) string {
	var w strings.Builder
	for _, a := range answers {
		fmt.Fprintf(&w, "\nAsked: %s\nThe president answered: %s\n", agent.EscapeHeadings(a.Question), a.Text)
	}
	return w.String()
}

// criteriaText lists the criteria that need evidence.
func criteriaText(task *company.Task, sub *company.Subtask) string {
	var w strings.Builder
	w.WriteString("\n## Acceptance criteria\n")
	for i, c := range reviewCriteria(task, sub) {
		fmt.Fprintf(&w, "%d. %s\n", i+1, agent.JoinLines(c))
	}
	return w.String()
}

// ticketOf lists a merged ticket's criteria, with its reviewer's evidence and the remaining findings.
func ticketOf(subtask *company.Subtask) string {
	var w strings.Builder
	last := subtask.Review.Last
	for i, c := range subtask.Planned.AcceptanceCriteria {
		fmt.Fprintf(&w, "  - must: %s\n", agent.JoinLines(c))
		if last != nil && i < len(last.Evidence) {
			fmt.Fprintf(&w, "    shown by: %s\n", agent.JoinLines(last.Evidence[i]))
		}
	}
	if last != nil {
		for _, f := range last.Findings {
			w.WriteString("  " + findingLine(f))
		}
	}
	return w.String()
}

// findingLine formats a finding of an earlier round, with its reason.
func findingLine(finding company.Finding) string {
	out := "- " + string(finding.Severity) + " "
	if finding.Category != "" {
		out += "(" + finding.Category + ") "
	}
	if at := finding.Where(); at != "" {
		out += at + " "
	}
	out += finding.What
	if finding.Why != "" {
		out += " (" + finding.Why + ")"
	}
	return agent.JoinLines(out) + "\n"
}

// checkOutcome describes the result of a check.
func checkOutcome(gateCheck company.GateCheck) string {
	switch {
	case gateCheck.Skipped:
		return "skipped"
	case gateCheck.Absent:
		if gateCheck.LeftOut {
			return "absent: " + gateCheck.ExplainAbsence()
		}
		return "absent: it cannot run here"
	case gateCheck.Excused == company.ComparedKnown:
		return fmt.Sprintf("exit %d, red as on the base and in nothing else", gateCheck.ExitCode)
	case gateCheck.Excused == company.ComparedAsBefore:
		return fmt.Sprintf("exit %d, red as on the base; new failures cannot be recognised, and the president accepted "+
			"that: find out what you can by running things yourself", gateCheck.ExitCode)
	case !gateCheck.Passed:
		return fmt.Sprintf("red, exit %d", gateCheck.ExitCode)
	case len(gateCheck.Flaky) > 0:
		return "passed, flaky: it failed once and passed when run again" + partRun(gateCheck)
	}
	return "passed" + partRun(gateCheck)
}

// partRun describes the tests that a check ran, if it did not run all.
func partRun(gateCheck company.GateCheck) string {
	if gateCheck.Part == nil {
		return ""
	}
	return "; run in " + gateCheck.Part.String() + ", those that the change can reach. All are run on the merged tree"
}

// redToGreen describes which tests of the change prove it.
func redToGreen(redGreen *company.RedGreen) string {
	switch {
	case redGreen == nil:
		return ""
	case redGreen.Files == 0:
		return "\nNo test was added or changed.\n"
	case redGreen.Reason != "":
		return "\nWhich of its tests fail without the change is not known: " + agent.JoinLines(redGreen.Reason) + ".\n"
	}
	out := ""
	if len(redGreen.Proof) > 0 {
		out += "\nThese tests pass with the change and not without it:\n" +
			agent.Quote("red_to_green", "", strings.Join(redGreen.Proof, "\n"))
	}
	if len(redGreen.Unbuilt) > 0 {
		out += "\nWithout the change these do not compile or load:\n" +
			agent.Quote("not_compiled_without_the_change", "", strings.Join(redGreen.Unbuilt, "\n"))
	}
	if len(redGreen.Apart) > 0 {
		out += "\nThese were run there apart from the files that do not compile:\n" +
			agent.Quote("apart_without_the_change", "", strings.Join(redGreen.Apart, "\n"))
	}
	if len(redGreen.Died) > 0 {
		out += "\nWithout the change these end before their tests are through, by a panic or an exit:\n" +
			agent.Quote("died_without_the_change", "", strings.Join(redGreen.Died, "\n"))
	}
	if redGreen.Unseen > 0 {
		out += fmt.Sprintf("\nOf its %d new tests %d were not run without the change: that these fail there is not shown.\n",
			redGreen.Fresh, redGreen.Unseen)
	}
	if len(redGreen.Idle) > 0 {
		out += "\nThese new tests pass without the change too, so that they do not show it:\n" +
			agent.Quote("tests_that_show_nothing", "", strings.Join(redGreen.Idle, "\n"))
	}
	if out == "" {
		out = "\nNo test of the change fails without it.\n"
	}
	return out
}

// lookedAt describes what a check does not look at. blind lists changed folders that no check looks at.
func lookedAt(gateCheck company.GateCheck, blind []string) string {
	canary := gateCheck.Canary
	if canary == nil {
		return ""
	}
	out := ""
	if len(blind) > 0 {
		out += "\n" + agent.EscapeHeadings(agent.JoinLines(gateCheck.Name)) +
			" does not look at these folders of the change, and did not before it: run their tests yourself.\n" +
			agent.Quote("not_looked_at", "", strings.Join(blind, "\n"))
	}
	if canary.Reason != "" {
		out += "\nWhether " + agent.JoinLines(gateCheck.Name) + " looks at what is changed is not proven: " +
			agent.JoinLines(canary.Reason) + "\n"
	}
	return out
}

// removedTests returns the tests that passed on the base and are no longer run.
func removedTests(gateResult company.GateResult) []string {
	var out []string
	for _, c := range gateResult.Checks {
		out = append(out, c.Gone...)
	}
	return out
}
