package task

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/view"
)

// NewPause makes company pause.
func NewPause(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "pause [task]...", Short: "Let tasks rest; their runs are put away",
		Example: "  company pause t12\n  company pause",
		Long: `Lets the named tasks rest, or all that have not ended. What their runs had done
is kept, and nobody is asked for more. The others go on. A paused task rests
until company resume t12, or company resume for all of them.`,
		ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Open }),
		Args:              cobra.ArbitraryArgs,
		RunE:              func(c *cobra.Command, args []string) error { return pauseTasks(c.Context(), env, args) },
	}
}

func pauseTasks(ctx context.Context, env *command.Environment, args []string) error {
	w, conn, err := command.Read(ctx, env, func(o *client.Office, ctx context.Context) (view.Work, error) { return o.Work(ctx) })
	if err != nil {
		return err
	}
	defer conn.Close()
	ids := w.Open
	if len(args) > 0 {
		ids = nil
		for _, arg := range args { // all are known, or none is paused
			t, err := command.ReadTask(ctx, conn, arg)
			if err != nil {
				return err
			}
			if t.Over {
				return company.E(company.EConflict, string(t.ID)+" has ended already: "+string(t.Status)).Fix("company status lists the tasks")
			}
			ids = append(ids, t.ID)
		}
	}
	paused := []company.TaskID{}
	for _, id := range ids {
		_, err := conn.Do(ctx, "", company.Pause{Task: id})
		if company.CodeOf(err) == company.EConflict && len(args) == 0 {
			continue // it has ended meanwhile
		}
		if err != nil {
			return err
		}
		paused = append(paused, id)
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "paused": paused})
	}
	if len(paused) == 0 {
		_, err := fmt.Fprintln(env.Out, "nothing is under way")
		return err
	}
	one := ""
	if len(paused) == 1 {
		one = " " + string(paused[0])
	}
	_, err = fmt.Fprintf(env.Out, "%s paused; go on with: company resume%s\n", command.JoinIDs(paused), one)
	return err
}
