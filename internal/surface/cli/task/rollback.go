package task

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
)

// NewRollback returns the "company rollback" command.
func NewRollback(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "rollback <run>", Short: "Undo the changes of a worker's run",
		Example: "  company rollback t12-03.2",
		Long: `Undoes the changes of a worker's run, and those of later runs of the same subtask. The
subtask continues from the commit that the run began from; that of an ended task does
after company retry. While a run of the subtask is at work or paused, cancel the task
first. Merged work stays: take it back with a new task. The undone commits stay in
the office's git store, and company diff still shows them.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error {
			run := company.RunID(args[0])
			if !run.Valid() {
				return company.E(company.EUsage, args[0]+" is not the id of a run").
					Fix("ids of runs look like t12-03.2; company show lists them")
			}
			return rollBack(c.Context(), env, run)
		},
	}
}

func rollBack(ctx context.Context, env *command.Environment, run company.RunID) error {
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	shown, err := conn.Shown(ctx, string(run))
	if err != nil {
		return err
	}
	if _, err = conn.Do(ctx, "", company.RollBack{Run: run}); err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "run": run, "subtask": shown.Run.Subtask,
			"from": shown.Run.From})
	}
	fmt.Fprintf(env.Out, "%s continues from %s, where %s began\n", shown.Run.Subtask, shown.Run.From.Short(), run)
	return nil
}
