package inspect

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/view"
)

// NewList makes company list.
func NewList(env *command.Environment) *cobra.Command {
	var states []string
	limit := 0
	c := &cobra.Command{
		Use: "list", Short: "List the tasks of the office, the newest first",
		Example: "  company list\n  company list --state failed -n 20\n  company list --state open,paused -o json\n  company list --template '{{range .tasks}}{{.id}} {{.status}}{{\"\\n\"}}{{end}}'",
		Long: `Lists tasks. --state narrows them to those in one of the states named: a status
as company status shows it, or open, ended, paused.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 0 {
				return company.E(company.EUsage, fmt.Sprintf("-n %d", limit)).Fix("-n 20, or -n 0 for all")
			}
			v, conn, err := command.Read(c.Context(), env, func(o *client.Office, ctx context.Context) (view.TaskList, error) {
				return o.TaskList(ctx, states, limit)
			})
			if err != nil {
				return err
			}
			conn.Close()
			if env.Output == "json" {
				return env.PrintJSON(env.Out, v)
			}
			_, err = fmt.Fprint(env.Out, v.RenderText())
			return err
		},
	}
	c.Flags().StringSliceVar(&states, "state", nil, "only those in one of these states")
	c.Flags().IntVarP(&limit, "limit", "n", 30, "how many at most; 0: all")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(view.TaskStates, cobra.ShellCompDirectiveNoFileComp))
	return c
}
