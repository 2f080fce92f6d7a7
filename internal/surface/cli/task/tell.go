package task

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// NewTell returns the "company tell" command.
func NewTell(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "tell <subtask> <text>", Short: "Send a message to the worker of a subtask",
		Example: `  company tell t12-03 "keep the old flag, only deprecate it"`,
		Long: `Sends a message to the worker of a subtask. The worker reads it at its next turn, as
an instruction from the president. If the run ends before that, the subtask's next
run starts with it. The message is stored in the ledger before the command returns,
and company show and company feed show it.`,
		Args: cobra.ExactArgs(2), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Running }),
		RunE: func(c *cobra.Command, args []string) error { return runTell(c.Context(), env, args[0], args[1]) },
	}
}

func runTell(ctx context.Context, env *command.Environment, id, text string) error {
	sub := company.SubtaskID(id)
	if !sub.Valid() {
		fault := company.E(company.EUsage, fmt.Sprintf("invalid subtask id %q", id)).
			Fix("subtask ids look like t12-03: company status lists them")
		if run := company.RunID(id); run.Valid() {
			_, of, _, _, err := run.Split()
			if err == nil && of != "" {
				fault = fault.Fix("company tell " + string(of) + " reaches its current run")
			}
		}
		return fault
	}
	shown, conn, err := officeaccess.Read(
		ctx, env.Entrance, func(o *client.Office, ctx context.Context) (view.Shown, error) { return o.Shown(ctx, id) })
	if err != nil {
		return err
	}
	defer conn.Close()
	done, err := conn.Do(ctx, "", company.Tell{Subtask: sub, Text: text})
	if err != nil {
		return err
	}
	run := company.RunID("")
	for _, e := range done.Events {
		run = e.Run
	}
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "subtask": shown.Subtask.ID, "run": run, "at_work": conn.IsAtWork()})
	}
	fmt.Fprintf(env.Out, "%s will read it at its next turn\n", run)
	if !conn.IsAtWork() {
		env.PrintNote("continue with: company resume %s", sub.Task())
	}
	return nil
}
