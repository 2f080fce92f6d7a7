package cli

import (
	"context"
	"fmt"

	"company/internal/view"

	"github.com/spf13/cobra"
)

func newShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show <task|subtask|run|question>", Short: "Show all that is known of a task, a subtask, a run or a question",
		Example: "  company show t12\n  company show t12-03\n  company show t12-03.2\n  company show a7",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error { return a.runShow(c.Context(), args[0]) },
	}
}

func (a *app) runShow(ctx context.Context, id string) error {
	conn, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	v, err := conn.Shown(ctx, id)
	if err != nil {
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, v.Printed())
	}
	fmt.Fprint(a.out, v.In(paths.Runs).RenderText())
	return nil
}
