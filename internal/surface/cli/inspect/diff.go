package inspect

import (
	"context"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
)

// NewDiff returns the "company diff" command.
func NewDiff(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "diff <task|subtask|run>", Short: "Show the changes of a task, subtask or run",
		Example: "  company diff t12\n  company diff t12-03\n  company diff t12-03.2 | less",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error {
			return env.PrintDiff(c.Context(), func(ctx context.Context, conn *client.Office) (view.Range, error) {
				return conn.Range(ctx, args[0])
			})
		},
	}
}
