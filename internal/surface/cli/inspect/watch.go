package inspect

import (
	"github.com/spf13/cobra"

	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
)

// NewWatch returns the "company watch" command. submit submits the tasks of its user.
func NewWatch(env *command.Environment, submit foreground.Submitter) *cobra.Command {
	return &cobra.Command{
		Use: "watch [task]", Short: "Open the full-screen terminal UI",
		Example: "  company watch\n  company watch t12",
		Long: `Shows tasks, workers, questions for you and events live. Open a task to see its
subtasks and runs, the conversation of a run, the diff with the reviewer's findings
and the output of gates. You can submit, pause and cancel tasks and answer
questions. ? lists the keys. q quits; company keeps working.

It needs a terminal of at least 60x16 and works over ssh. Without one, use company
status and company feed.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(cmd *cobra.Command, args []string) error {
			task := ""
			if len(args) == 1 {
				task = args[0]
			}
			return foreground.Watch(cmd.Context(), env.Entrance, task, submit)
		},
	}
}
