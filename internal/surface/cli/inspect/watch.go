package inspect

import (
	"github.com/spf13/cobra"

	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
)

// NewWatch returns the "company watch" command. Tasks submitted there run in background.
func NewWatch(env *command.Environment, background foreground.Background) *cobra.Command {
	return &cobra.Command{
		Use: "watch [task]", Short: "Watch the company at work, and answer it, on the whole terminal",
		Example: "  company watch\n  company watch t12",
		Long: `Shows tasks, who works on them, what waits for you and what happens, live: a
task with its subtasks and runs, the conversation of a run, a diff with the
reviewer's findings, the output of gates. Tasks are submitted there, paused and
cancelled, and questions answered. ? lists the keys; q quits, and the company goes on.

It needs a terminal of 60x16 or more, and works over ssh. Elsewhere company status
and company feed tell the same.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(cmd *cobra.Command, args []string) error {
			task := ""
			if len(args) == 1 {
				task = args[0]
			}
			return foreground.Watch(cmd.Context(), env.Entrance, task, background)
		},
	}
}
