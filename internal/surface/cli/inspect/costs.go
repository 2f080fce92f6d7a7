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
		Short: "What the work cost, by day, model and task; by role, ticket and turn of one task",
		Args:  cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.All }),
		Example: "  company costs --days 7\n  company costs t12 --by turn\n  company costs t12-01 --why",
		Long: `Sums what runs cost that have ended: tokens, and USD where the models' prices are
known. A day is that of a run's end, in this machine's time zone. Of a task, a ticket or
a run it reads the journals, also while runs are under way: --why takes the input of the
ten dearest requests apart. What runs under way hold is shown by company budget.`,
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
	cmd.Flags().IntVar(&costQuery.Days, "days", 0, "only of the last so many days, today included; 0: all")
	cmd.Flags().StringVar(&costQuery.By, "by", "", "of a task: by role, ticket or turn")
	cmd.Flags().BoolVar(&costQuery.Why, "why", false, "of a task: what made its ten dearest requests dear")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(view.CostsBy, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// showView prints a view that it reads from the office.
func showView[T any](
	ctx context.Context, env *command.Environment, read func(*client.Office, context.Context) (T, error),
	render func(T) string,
) error {
	env.OnlyReads = true
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
