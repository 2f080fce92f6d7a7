package inspect

import (
	"context"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// NewCosts returns the "company costs" command.
func NewCosts(env *command.Environment) *cobra.Command {
	var costQuery view.CostQuery
	cmd := &cobra.Command{
		Use:   "costs [task|ticket|run]",
		Short: "Show costs by day, model and task, or by role, ticket and turn of one task",
		Args:  cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.All }),
		Example: "  company costs --days 7\n  company costs t12 --by turn\n  company costs t12-01 --why",
		Long: `Sums the tokens of finished runs, and their cost in USD where the models' prices
are known. A run counts on the day it ended, in this machine's time zone. For
reservations of unfinished runs, see company budget.

For a task, a ticket or a run, the journals are read, so unfinished runs are
included. --why breaks down the input of the ten most expensive requests.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				costQuery.ID = args[0]
			}
			if err := costQuery.Check(); err != nil {
				return err
			}
			if costQuery.ID == "" {
				return showView(c.Context(), env, func(o *client.Office, ctx context.Context) (view.Spending, error) {
					return o.Spending(ctx, costQuery.Since(env.WallTime()))
				}, view.Spending.RenderText)
			}
			return showView(c.Context(), env, func(o *client.Office, ctx context.Context) (view.TaskCosts, error) {
				return o.TaskCosts(ctx, costQuery.ID, costQuery.Detail())
			},
				func(v view.TaskCosts) string { return v.Render(costQuery, env.Style(env.Out)) })
		},
	}
	cmd.Flags().IntVar(&costQuery.Days, "days", 0, "only the last `n` days, including today (0 for all)")
	cmd.Flags().StringVar(&costQuery.By, "by", "", "group a task's costs by role, ticket or turn")
	cmd.Flags().BoolVar(&costQuery.Why, "why", false, "explain a task's ten most expensive requests")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(view.CostsBy, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// showView prints a view that it reads from the office.
func showView[T any](
	ctx context.Context, env *command.Environment, read func(*client.Office, context.Context) (T, error),
	render func(T) string,
) error {
	v, conn, err := officeaccess.Read(ctx, env.Entrance, read)
	if err != nil {
		return err
	}
	conn.Close()
	if env.Output == "json" {
		return env.PrintJSON(env.Out, v)
	}
	return env.PrintLong(render(v))
}
