package worker

import (
	_ "embed" // the prompt is a file
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/sandbox"
)

// system is every worker's system prompt. It holds nothing that changes from
// run to run, so that servers can cache it.
//
//go:embed prompts/worker.md
var system string

// ticketBrief is the ticket, with its literal description.
func ticketBrief(t *company.Task, sub *company.Subtask, project string, b *sandbox.Sandbox) string {
	var w strings.Builder
	fmt.Fprintf(&w, "# Ticket %s: %s\n\n%s\n\n## Acceptance criteria\n", sub.ID, sub.Planned.Title, sub.Planned.Description)
	for _, c := range sub.Planned.AcceptanceCriteria {
		fmt.Fprintf(&w, "- %s\n", c)
	}
	fmt.Fprintf(&w, "\n## Write set\n%s\n", strings.Join(sub.Planned.WriteSet, "\n"))
	if t.Settings.ProtectTests {
		w.WriteString("\nTests that were there before this task stay as they are: to change or delete one needs the president's leave. Put new tests into new files.\n")
	}
	if gates := agent.ListGates(t.Prepared.Gates); gates != "" {
		fmt.Fprintf(&w, "\n## Checks that your branch must pass\n%s", gates)
	}
	if t.Settings.RedGreen == company.RedGreenRequire {
		w.WriteString("\nWhere your change touches source that the tests cover, at least one test of your branch must fail without the change and pass with it: the tests are run on the base without the rest of your change.\n")
	}
	if len(sub.Planned.Context) > 0 {
		fmt.Fprintf(&w, "\n## Read first\n%s\n", strings.Join(sub.Planned.Context, "\n"))
	}
	fmt.Fprintf(&w, "\nYou are on branch %s at %s.", b.Prepared.Branch, company.OID(b.Prepared.Head).Short())
	if b.Prepared.Dirty {
		w.WriteString(" Uncommitted work of this run, saved before an interruption, lies in the work tree.")
	}
	w.WriteString("\n")
	if target := t.Prepared.Target; target != "" {
		fmt.Fprintf(&w, "The pull request's base, %s, stands at %s. The ticket may ask you to merge it: git merge --no-commit %s, resolve, test, then git_commit.\n",
			t.Prepared.Base.PRBranch, target, target)
	}
	if sub.Input != "" {
		fmt.Fprintf(&w, "\n## Why you are here again\n%s\n", sub.Input)
		if g := sub.LastRed(); g != "" {
			w.WriteString("\n" + agent.Quote(agent.GateOutput, "", g))
		}
		if idle := sub.IdleTests(); len(idle) > 0 {
			w.WriteString("\nThese new tests of yours pass without the change too, so that they do not show it:\n" + agent.Quote("tests_that_show_nothing", "", strings.Join(idle, "\n")))
		}
	}
	fmt.Fprintf(&w, "\n## The whole task, for orientation\n%s\n", t.Instruction)
	if project != "" {
		fmt.Fprintf(&w, "\n## The project\n%s\n", project)
	}
	return w.String()
}
