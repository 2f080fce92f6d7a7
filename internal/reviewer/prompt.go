package reviewer

import (
	_ "embed" // the prompt is a file
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/ecosystem/catalog"
	"company/internal/session"
)

// maxGateFiles is how many changed files of gates a brief lists: a vendored tree may have thousands.
const maxGateFiles = 100

// listGateFiles lists the changed files of gates, a line each.
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

func reviewTitle(t *company.Task, sub *company.Subtask) string {
	if sub == nil {
		return "the whole of " + string(t.ID)
	}
	return sub.Planned.Title
}

// maxListed is how many changed files the first message names.
const maxListed = 500

// reviewBrief is the literal ticket, the verdict of the gates and the diff.
func reviewBrief(t *company.Task, sub *company.Subtask, x subject) string {
	var w strings.Builder
	gate := t.Gate
	if sub == nil {
		fmt.Fprintf(&w, "# The whole of task %s\n\nAll its subtasks are merged. Do they add up to the instruction?\n\n## Instruction\n%s\n%s\n## Subtasks\n", t.ID, t.Instruction, formatAnswers(x.answers))
		for _, s := range t.Subtasks {
			fmt.Fprintf(&w, "- %s %s\n%s", s.ID, agent.JoinLines(s.Planned.Title), ticketOf(s))
		}
		w.WriteString(x.round.writeRound(x.head))
	} else {
		gate = sub.Gate
		fmt.Fprintf(&w, "# Ticket %s: %s\n", sub.ID, agent.JoinLines(sub.Planned.Title))
		if !sub.Planned.IsInstruction() {
			fmt.Fprintf(&w, "\n%s\n", agent.EscapeHeadings(sub.Planned.Description))
		}
		if x.whole {
			w.WriteString("\n" + onlyTicket + "\n")
			if !standsInParts(t, sub) {
				w.WriteString("\n## Instruction\n" + t.Instruction + "\n")
			}
			w.WriteString(formatAnswers(x.answers))
		} else if own := t.OwnPart(sub); own != "" {
			w.WriteString(quoteOwnPart(t, sub) + formatAnswers(x.answers))
		}
		w.WriteString(x.round.writeRound(x.head))
	}
	w.WriteString(criteriaText(t, sub))
	if gate != nil {
		w.WriteString("\n## Gates\n")
		for _, c := range gate.Result.Checks {
			fmt.Fprintf(&w, "- %s (%s): %s\n", agent.JoinLines(c.Name), agent.EscapeHeadings(c.Command), checkOutcome(c))
		}
		if red := t.KnownRed(); len(red) > 0 {
			w.WriteString("\nRed on the base already, before any work:\n" + agent.Quote("red_before", "", strings.Join(red, "\n")))
		}
		if unrun := t.ListUnrun(); len(unrun) > 0 {
			w.WriteString("\nThese checks of the repository are not run here. Would the work pass them?\n" + agent.Quote("not_run", "", strings.Join(unrun, "\n")))
		}
		if changed := listGateFiles(t); len(changed) > 0 {
			w.WriteString("\nThe work touches what the gates are made of. Is a check weakened by it?\n" + agent.Quote("gate_files", "", strings.Join(changed, "\n")))
		}
		for _, c := range gate.Result.Checks {
			w.WriteString(lookedAt(c, gate.Result.Overlooked(c)))
		}
		if len(x.flags) > 0 {
			w.WriteString("\nThese could keep tests from running, or from counting, and no check can see all of it. Read them closely; what makes a suite say less than before, or behave by what it finds around it, is blocking:\n" + agent.Quote("flags", "", strings.Join(x.flags, "\n")))
		}
		w.WriteString(redToGreen(gate.Result.RedGreen))
		if gone := removedTests(gate.Result); len(gone) > 0 {
			w.WriteString("\nThese tests passed on the base and are no longer run. Is that what the ticket asks for?\n" + agent.Quote("tests_gone", "", strings.Join(gone, "\n")))
		}
		if gate.Result.Untested {
			w.WriteString("- there are none: untested\n")
		} else if why := gate.Result.ExplainUntested(); why != "" {
			fmt.Fprintf(&w, "\nUntested: %s. Nothing but you looks at what the work does.\n", agent.JoinLines(why))
		}
	}
	if sub != nil {
		w.WriteString(outsideText(t, sub))
	} else {
		w.WriteString(outsideOfTickets(t))
	}
	if len(x.mentions) > 0 {
		w.WriteString("\n## Names in commit messages\nThe forge notifies whoever is called @name there. A package or a decorator is fine; a message that calls a person or a team is blocking (at the message: no file, no line).\n" + agent.Quote("messages", "", strings.Join(x.mentions, "\n")))
	}
	if len(t.Dependencies) > 0 {
		w.WriteString("\n## Dependencies that the task added (are they needed, and the right ones?)\n")
		for _, d := range t.Dependencies {
			fmt.Fprintf(&w, "- %s\n", agent.JoinLines(d.String()))
		}
	}
	if x.advice != "" {
		w.WriteString("\n## What the repository says to agents\n" + x.advice)
	}
	if x.baseTree {
		w.WriteString("\n" + formatBaseTree(x.from))
	}
	fmt.Fprintf(&w, "\n## The diff, %s..%s\n", x.from.Short(), x.head.Short())
	w.WriteString(session.FormatDiff(x.diff, maxListed))
	return w.String()
}

// onlyTicket tells the reviewer of a task's only ticket that no review follows.
const onlyTicket = "This is the only ticket of the task, and nobody reviews the whole after you: what the president's instruction asks for and the ticket leaves out is blocking."

// formatAnswers are the president's answers, which belong to the instruction.
func formatAnswers(answers []*company.Approval) string {
	var w strings.Builder
	for _, a := range answers {
		fmt.Fprintf(&w, "\nAsked: %s\nThe president answered: %s\n", agent.EscapeHeadings(a.Question), a.Text)
	}
	return w.String()
}

// criteriaText lists what evidence is to be named for.
func criteriaText(t *company.Task, sub *company.Subtask) string {
	var w strings.Builder
	list := reviewCriteria(t, sub)
	if strings.HasPrefix(list[len(list)-1], ofInstruction) {
		w.WriteString("\nThe instruction stands among the criteria part by part. Of a part that asks for nothing, say so.\n")
	}
	w.WriteString("\n## Acceptance criteria\n")
	for _, c := range list {
		fmt.Fprintf(&w, "- %s\n", agent.JoinLines(c))
	}
	return w.String()
}

// ticketOf lists a merged ticket's criteria, with its reviewer's evidence and
// the findings that were left.
func ticketOf(s *company.Subtask) string {
	var w strings.Builder
	last := s.Review.Last
	for i, c := range s.Planned.AcceptanceCriteria {
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

// findingLine is a finding of an earlier round, with its reason.
func findingLine(f company.Finding) string {
	out := "- " + string(f.Severity) + " "
	if f.Category != "" {
		out += "(" + f.Category + ") "
	}
	if at := f.Where(); at != "" {
		out += at + " "
	}
	out += f.What
	if f.Why != "" {
		out += " (" + f.Why + ")"
	}
	return agent.JoinLines(out) + "\n"
}

// checkOutcome is how a check came out.
func checkOutcome(c company.GateCheck) string {
	switch {
	case c.Skipped:
		return "skipped"
	case c.Absent:
		return "absent: " + c.ExplainAbsence()
	case c.Excused == company.ComparedKnown:
		return fmt.Sprintf("exit %d, red as on the base and in nothing else", c.ExitCode)
	case c.Excused == company.ComparedAsBefore:
		return fmt.Sprintf("exit %d, red as on the base; new failures cannot be recognised, and the president accepted that: find out what you can by running things yourself", c.ExitCode)
	case !c.Passed:
		return fmt.Sprintf("red, exit %d", c.ExitCode)
	case len(c.Flaky) > 0:
		return "passed, flaky: it failed once and passed when run again" + partRun(c)
	}
	return "passed" + partRun(c)
}

// partRun says which tests a check ran where these were not all.
func partRun(c company.GateCheck) string {
	if c.Part == nil {
		return ""
	}
	return "; run in " + c.Part.String() + ", those that the change can reach. All are run on the merged tree"
}

// redToGreen is which tests of the change show anything.
func redToGreen(r *company.RedGreen) string {
	switch {
	case r == nil:
		return ""
	case r.Files == 0:
		return "\nNo test was added or changed.\n"
	case r.Reason != "":
		return "\nWhich of its tests fail without the change is not known: " + agent.JoinLines(r.Reason) + ".\n"
	}
	out := ""
	if len(r.Proof) > 0 {
		out += "\nThese tests pass with the change and not without it:\n" + agent.Quote("red_to_green", "", strings.Join(r.Proof, "\n"))
	}
	if len(r.Unbuilt) > 0 {
		out += "\nWithout the change these do not compile or load:\n" + agent.Quote("not_compiled_without_the_change", "", strings.Join(r.Unbuilt, "\n"))
	}
	if len(r.Died) > 0 {
		out += "\nWithout the change these end before their tests are through, by a panic or an exit:\n" + agent.Quote("died_without_the_change", "", strings.Join(r.Died, "\n"))
	}
	if r.Unseen > 0 {
		out += fmt.Sprintf("\nOf its %d new tests %d were not run without the change: that these fail there is not shown.\n", r.Fresh, r.Unseen)
	}
	if len(r.Idle) > 0 {
		out += "\nThese new tests pass without the change too, so that they do not show it:\n" + agent.Quote("tests_that_show_nothing", "", strings.Join(r.Idle, "\n"))
	}
	if out == "" {
		out = "\nNo test of the change fails without it.\n"
	}
	return out
}

// lookedAt says where a check looks, where that is not everywhere; blind are folders at which none does.
func lookedAt(c company.GateCheck, blind []string) string {
	k := c.Canary
	if k == nil {
		return ""
	}
	out := ""
	if len(blind) > 0 {
		out += "\n" + agent.EscapeHeadings(agent.JoinLines(c.Name)) + " does not look at these folders of the change, and did not before it: run their tests yourself.\n" + agent.Quote("not_looked_at", "", strings.Join(blind, "\n"))
	}
	if k.Reason != "" {
		out += "\nWhether " + agent.JoinLines(c.Name) + " looks at what is changed is not proven: " + agent.JoinLines(k.Reason) + "\n"
	}
	return out
}

// removedTests are the tests that passed on the base and are not run any more.
func removedTests(r company.GateResult) []string {
	var out []string
	for _, c := range r.Checks {
		out = append(out, c.Gone...)
	}
	return out
}
