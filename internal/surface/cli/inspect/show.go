package inspect

import (
	"context"

	"company/internal/present/view"

	"github.com/spf13/cobra"

	"company/internal/surface/cli/command"
)

// NewShow returns the "company show" command.
func NewShow(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "show <task|subtask|run|question>", Short: "Show details of a task, subtask, run or question",
		Example: "  company show t12\n  company show t12-03\n  company show t12-03.2\n  company show a7",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error { return runShow(c.Context(), env, args[0]) },
	}
}

func runShow(ctx context.Context, env *command.Environment, id string) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	shown, err := conn.Shown(ctx, id)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, shown.Printed())
	}
	return env.PrintLong(shown.In(paths.Runs).Render(env.Style(env.Out)))
}
