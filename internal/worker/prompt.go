package worker

import (
	_ "embed" // the prompt is a file
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/toolproto"
)

// system is every worker's system prompt. It holds nothing that changes from
// run to run, so that servers can cache it.
//
//go:embed prompts/worker.md
var system string

// circumstances are what a brief tells beside the ticket.
type circumstances struct {
	project string                  // of the project, quoted
	branch  toolproto.PrepareResult // as it stands in the container
	brought broughtFiles            // that the ticket names
	merged  []*company.Subtask      // before it, the newest first
	// earlier is what the runs before have left.
	// Nil: nothing.
	earlier *earlierWork
}

// ticketBrief is the ticket, with its description. What each run of the ticket
// has alike comes first, so that servers can cache it.
func ticketBrief(t *company.Task, sub *company.Subtask, c circumstances) string {
	var w strings.Builder
	fmt.Fprintf(&w, "# Ticket %s: %s\n\n%s\n\n## Acceptance criteria\n", sub.ID, agent.JoinLines(sub.Planned.Title), agent.EscapeHeadings(sub.Planned.Description))
	for _, text := range sub.Planned.AcceptanceCriteria {
		fmt.Fprintf(&w, "- %s\n", agent.JoinLines(text))
	}
	w.WriteString("\n## Write set\n")
	for _, glob := range sub.Planned.WriteSet {
		w.WriteString(agent.EscapeHeadings(agent.JoinLines(glob)) + "\n") // \# in a glob is a #, too
	}
	if t.Settings.ProtectTests {
		w.WriteString("\nTests that were there before this task stay as they are: to change or delete one needs the president's leave. Put new tests into new files.\n")
	}
	if gates := agent.ListGates(t.Prepared.Gates); gates != "" {
		fmt.Fprintf(&w, "\n## Checks that your branch must pass\n%s", gates)
	}
	if t.Settings.RedGreen == company.RedGreenRequire {
		w.WriteString("\nWhere your change touches source that the tests cover, at least one test of your branch must fail without the change and pass with it: the tests are run on the base without the rest of your change.\n")
	}
	fmt.Fprintf(&w, "\n## The whole task\n%s\n", t.Instruction)
	if c.project != "" {
		fmt.Fprintf(&w, "\n## The project\n%s\n", c.project)
	}
	w.WriteString(writeMerged(t, sub, c.merged))
	fmt.Fprintf(&w, "\n## Your branch\nYou are on %s at %s.", agent.JoinLines(c.branch.Branch), agent.JoinLines(company.OID(c.branch.Head).Short()))
	if c.branch.Dirty {
		w.WriteString(" Uncommitted work of this run, saved before an interruption, lies in the work tree.")
	}
	w.WriteString("\n")
	if target := t.Prepared.Target; target != "" {
		fmt.Fprintf(&w, "The pull request's base, %s, stands at %s. The ticket may ask you to merge it: git merge --no-commit %s, resolve, test, then git_commit.\n",
			agent.JoinLines(t.Prepared.Base.PRBranch), target, target)
	}
	w.WriteString(c.brought.writeBrought())
	if sub.Input != "" {
		fmt.Fprintf(&w, "\n## Why you are here again\n%s\n", agent.EscapeHeadings(sub.Input))
		if g := sub.LastRed(); g != "" {
			w.WriteString("\n" + agent.Quote(agent.GateOutput, "", g))
		}
		if idle := sub.IdleTests(); len(idle) > 0 {
			w.WriteString("\nThese new tests of yours pass without the change too, so that they do not show it:\n" + agent.Quote("tests_that_show_nothing", "", strings.Join(idle, "\n")))
		}
	}
	w.WriteString(c.earlier.writeEarlier())
	return w.String()
}
