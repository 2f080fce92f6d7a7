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
		Use: "list", Short: "List tasks, newest first",
		Example: "  company list\n  company list --tag api --priority high\n  company list --state failed -n 20\n  company " +
			"list --state open,paused -o json | jq -r '.tasks[].id'",
		Long: `Lists the tasks of the office. --state takes states as company status shows them
(done, "needs you"), statuses as in -o json, or open, ended, paused. A task matches
if it has any of the given states, any of the given priorities and all given tags.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if filter.Limit < 0 {
				return company.E(company.EUsage, fmt.Sprintf("invalid -n %d", filter.Limit)).Fix("-n 20, or -n 0 for all")
			}
			return showView(c.Context(), env,
				func(o *client.Office, ctx context.Context) (view.TaskList, error) { return o.TaskList(ctx, filter) },
				func(v view.TaskList) string { return v.Render(env.Style(env.Out)) })
		},
	}
	cmd.Flags().StringSliceVar(&filter.States, "state", nil, "only tasks in any of these states")
	cmd.Flags().StringSliceVar(&filter.Priorities, "priority", nil,
		"only tasks of any of these priorities: low, medium, high")
	cmd.Flags().StringSliceVar(&filter.Tags, "tag", nil, "only tasks with all of these tags")
	cmd.Flags().IntVarP(&filter.Limit, "limit", "n", 30, "maximum number of tasks (0 for all)")
	_ = cmd.RegisterFlagCompletionFunc(
		"state", cobra.FixedCompletions(view.TaskStateTexts(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc(
		"priority", cobra.FixedCompletions(command.PriorityWords, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
