package inspect

import (
	"context"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
)

// NewEvidence returns the "company evidence" commands.
func NewEvidence(env *command.Environment) *cobra.Command {
	group := command.NewGroup("evidence", "Check what shows that a task's claims are true",
		"  company evidence verify t12")
	group.AddCommand(&cobra.Command{
		Use: "verify <task>", Short: "Compare each claim of a task with its evidence",
		Example: "  company evidence verify t12\n  company evidence verify task-012 -o json",
		Long: `Reads the results and journals of the task's runs, the output of its checks, and its
commits and trees in git, and compares each with what the ledger says. It lists the
files that git shows as changed. A claim without evidence is NO_EVIDENCE; then the
exit code is 1. The same comparison is done before a delivery, and a task with such
a claim fails instead of being complete.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error { return verifyEvidence(c.Context(), env, args[0]) },
	})
	return group
}

func verifyEvidence(ctx context.Context, env *command.Environment, id string) error {
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	result, err := conn.CheckEvidence(ctx, id)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		err = env.PrintJSON(env.Out, result)
	} else {
		err = env.PrintLong(result.RenderText())
	}
	if err != nil || result.Verdict == view.EvidenceConsistent {
		return err
	}
	return company.E(company.EEvidence, company.NoEvidence+": "+result.Problems[0]).
		Because(company.Count(len(result.Problems), "claim") + " of " + string(result.Task) + " cannot be shown").
		Fix("company doctor --deep lists damage of the office's files; a copy of them puts the evidence back")
}
