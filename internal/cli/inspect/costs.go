package inspect

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/view"
)

// NewCosts makes company costs.
func NewCosts(env *command.Environment) *cobra.Command {
	days := 0
	c := &cobra.Command{
		Use: "costs", Short: "What the work cost, by day, model and task",
		Example: "  company costs\n  company costs --days 7\n  company costs -o json",
		Long: `Sums what runs cost that have ended: tokens, and USD where the models' prices are
known. A day is that of a run's end, in this machine's time zone. What runs under
way hold is shown by company budget.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 0 {
				return company.E(company.EUsage, fmt.Sprintf("--days %d", days)).Fix("--days 7, or 0 for all")
			}
			return runCosts(c.Context(), env, days)
		},
	}
	c.Flags().IntVar(&days, "days", 0, "only of the last so many days, today included; 0: all")
	return c
}

func runCosts(ctx context.Context, env *command.Environment, days int) error {
	since := time.Time{}
	if days > 0 {
		y, m, d := env.WallTime().Local().Date()
		since = time.Date(y, m, d-days+1, 0, 0, 0, 0, time.Local)
	}
	v, conn, err := entrance.Read(ctx, env.Entrance, func(o *client.Office, ctx context.Context) (view.Spending, error) { return o.Spending(ctx, since) })
	if err != nil {
		return err
	}
	conn.Close()
	if env.Output == "json" {
		return env.PrintJSON(env.Out, v)
	}
	_, err = fmt.Fprint(env.Out, v.RenderText())
	return err
}
