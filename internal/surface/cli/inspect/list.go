package inspect

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
)

// NewList returns the "company list" command.
func NewList(env *command.Environment) *cobra.Command {
	var filter view.TaskFilter
	cmd := &cobra.Command{
		Use: "list", Short: "List the tasks of the office, the newest first",
		Example: "  company list\n  company list --tag api --priority high\n  company list --state failed -n 20\n  company " +
			"list --state open,paused -o json\n  company list --template '{{range .tasks}}{{.id}} " +
			"{{.status}}{{\"\\n\"}}{{end}}'",
		Long: `Lists tasks. --state narrows them to those in one of the states named: a state as
company status shows it (done, "needs you"), a status as -o json has it, or open,
ended, paused. --priority narrows them to those
of one of the priorities named, --tag to those with every tag named.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if filter.Limit < 0 {
				return company.E(company.EUsage, fmt.Sprintf("-n %d", filter.Limit)).Fix("-n 20, or -n 0 for all")
			}
			return showView(c.Context(), env,
				func(o *client.Office, ctx context.Context) (view.TaskList, error) { return o.TaskList(ctx, filter) },
				func(v view.TaskList) string { return v.Render(env.Style(env.Out)) })
		},
	}
	cmd.Flags().StringSliceVar(&filter.States, "state", nil, "only those in one of these states")
	cmd.Flags().StringSliceVar(&filter.Priorities, "priority", nil,
		"only those of one of these priorities: low, medium, high")
	cmd.Flags().StringSliceVar(&filter.Tags, "tag", nil, "only those with all of these tags")
	cmd.Flags().IntVarP(&filter.Limit, "limit", "n", 30, "how many at most; 0: all")
	_ = cmd.RegisterFlagCompletionFunc(
		"state", cobra.FixedCompletions(view.TaskStateTexts(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc(
		"priority", cobra.FixedCompletions(command.PriorityWords, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
