package inspect

import (
	"context"

	"github.com/spf13/cobra"

	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
)

// NewLogs returns the "company logs" command.
func NewLogs(env *command.Environment) *cobra.Command {
	follow, full := false, false
	cmd := &cobra.Command{
		Use: "logs <run|subtask|task>", Short: "Show the conversation of a run",
		Example: "  company logs t12-03\n  company logs t12-03.2 --full -v\n  company logs --full -f t12-03\n" +
			"  company logs t12-plan.1 -o json",
		Long: `Shows the conversation of a run, finished or not: what the agent was told and what
it says. For a subtask this is the newest run of its worker, for a task the newest
run of all. --full adds the tool calls with their results, and the prompt of the
agent's role. Long messages and results are shortened unless -v is given. Secrets
are masked.

--follow keeps streaming until the run ends. If company ends first, it waits for
the next one. With --full on a terminal, the last lines of a running command are
shown below the messages. With -o json, each message, tool call and piece of new
command output is one object.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error {
			if follow {
				return foreground.FollowLog(c.Context(), env.Entrance, args[0], full)
			}
			return runLogs(c.Context(), env, args[0], full)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "show tool calls and the prompt of the role, too")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep streaming until the run ends")
	return cmd
}

func runLogs(ctx context.Context, env *command.Environment, id string, full bool) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	run, transcript, err := foreground.ReadLog(ctx, conn, paths, id)
	if err != nil {
		return err
	}
	visibility := foreground.VisibilityOf(full)
	if env.Output == "json" {
		transcript = transcript.Select(visibility)
		return env.PrintJSON(env.Out, map[string]any{
			"schema_version": 1, "run": run, "agent": transcript.AgentID, "total_tokens": transcript.TotalTokens,
			"visibility": visibility, "messages": emptyIfNil(transcript.Messages),
			"tool_calls": emptyIfNil(transcript.ToolCalls),
		})
	}
	return env.PrintLong(transcript.RenderText(foreground.MostLines(env.Verbose), visibility))
}

func emptyIfNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
