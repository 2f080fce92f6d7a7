package worker

import (
	_ "embed" // the prompt is a file
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

// system is every worker's system prompt. It is the same for every run, so that servers can cache it.
//
//go:embed prompts/worker.md
var system string

// circumstances holds the parts of a brief besides the ticket.
type circumstances struct {
	project string                  // about the project, quoted
	branch  toolproto.PrepareResult // its state in the container
	brought broughtFiles            // files that the ticket names
	answers []*company.Approval     // of the president
	merged  []*company.Subtask      // tickets merged before it, newest first
	// earlier is the work of earlier runs, or nil without any.
	earlier *earlierWork
}

// writeTicket writes a manager's ticket for a worker.
func writeTicket(w *strings.Builder, sub *company.Subtask) {
	fmt.Fprintf(w, "# Ticket %s: %s\n\n%s\n\n## Acceptance criteria\n", sub.ID, agent.JoinLines(sub.Planned.Title),
		agent.EscapeHeadings(sub.Planned.Description))
	for _, text := range sub.Planned.AcceptanceCriteria {
		fmt.Fprintf(w, "- %s\n", agent.JoinLines(text))
	}
	w.WriteString("\n## Write set\n")
	for _, glob := range sub.Planned.WriteSet {
		w.WriteString(agent.EscapeHeadings(agent.JoinLines(glob)) + "\n") // \# in a glob matches #, too
	}
}

// writeAnswers writes the president's answers, which are part of the instruction.
func writeAnswers(w *strings.Builder, answers []*company.Approval) {
	for _, a := range answers {
		fmt.Fprintf(w, "\nAsked: %s\nThe president answered: %s\n", agent.EscapeHeadings(a.Question), a.Text)
	}
}

// largeParts tells a worker with a whole instruction when several workers would do it better.
const largeParts = "Your ticket is the whole instruction. If it has large parts that do not need each other, call " +
	"escalate before you change anything, and name each part with its files: others do them at the same time as you. " +
	"Large is what takes minutes to write, hundreds of lines each; smaller parts are yours.\n"

// askFirst tells a worker with a whole instruction when it asks the president.
const askFirst = "If the instruction can be read in two ways that lead to different programs, and the repository " +
	"does not decide between them, call ask_president before you change anything. Decide whatever else is open.\n"

// writeInstruction writes the president's instruction as the ticket of a worker.
func writeInstruction(w *strings.Builder, task *company.Task, sub *company.Subtask, answers []*company.Approval) {
	fmt.Fprintf(w, "# Ticket %s\n\n%s\n", sub.ID, task.Instruction)
	writeAnswers(w, answers)
	if sub.MayAsk() {
		w.WriteString("\n" + askFirst)
	}
	if task.AwaitsSplit(sub) {
		w.WriteString("\n" + largeParts)
	}
}

// ticketBrief returns the first message about a ticket. Parts that are the same for each run of the ticket come
// first, so that servers can cache them.
func ticketBrief(task *company.Task, sub *company.Subtask, c circumstances) string {
	var w strings.Builder
	if sub.Planned.IsInstruction() {
		writeInstruction(&w, task, sub, c.answers)
	} else {
		writeTicket(&w, sub)
	}
	if task.Settings.ProtectTests {
		w.WriteString("\nTests that were there before this task stay as they are: to change or delete one needs the " +
			"president's leave. Put new tests into new files.\n")
	}
	if gates := agent.ListGates(task.Prepared.Gates); gates != "" {
		fmt.Fprintf(&w, "\n## Checks that your branch must pass\n%s", gates)
	}
	if task.Settings.RedGreen == company.RedGreenRequire {
		w.WriteString("\nWhere your change touches source that the tests cover, at least one test of your branch must fail " +
			"without the change and pass with it: the tests are run on the base without the rest of your change.\n")
	}
	if !sub.Planned.IsInstruction() {
		fmt.Fprintf(&w, "\n## The whole task\n%s\n", task.Instruction)
		writeAnswers(&w, c.answers)
		w.WriteString(describeSiblings(task, sub))
	}
	if c.project != "" {
		fmt.Fprintf(&w, "\n## The project\n%s\n", c.project)
	}
	w.WriteString(writeMerged(task, sub, c.merged))
	w.WriteString(agent.QuoteNotes(task.Notes()))
	w.WriteString(writeDecisions(task))
	fmt.Fprintf(&w, "\n## Your branch\nYou are on %s at %s.", agent.JoinLines(c.branch.Branch),
		agent.JoinLines(company.OID(c.branch.Head).Short()))
	if c.branch.Dirty {
		w.WriteString(" Uncommitted work of this run, saved before an interruption, lies in the work tree.")
	}
	w.WriteString("\n")
	if target := task.Prepared.Target; target != "" {
		fmt.Fprintf(&w, "The pull request's base, %s, stands at %s. The ticket may ask you to merge it: git merge "+
			"--no-commit %s, resolve, test, then git_commit.\n",
			agent.JoinLines(task.Prepared.Base.PRBranch), target, target)
	}
	w.WriteString(c.brought.writeBrought())
	if sub.Input != "" {
		fmt.Fprintf(&w, "\n## Why you are here again\n%s\n", agent.EscapeHeadings(sub.Input))
		if g := sub.LastRed(); g != "" {
			w.WriteString("\n" + agent.Quote(agent.GateOutput, "", g))
		}
		if idle := sub.IdleTests(); len(idle) > 0 {
			w.WriteString("\nThese new tests of yours pass without the change too, so that they do not show it:\n" +
				agent.Quote("tests_that_show_nothing", "", strings.Join(idle, "\n")))
		}
	}
	w.WriteString(writeMinorFindings(task, sub))
	w.WriteString(c.earlier.writeEarlier())
	return w.String()
}
