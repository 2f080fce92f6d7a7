package inspect

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/view"
)

// logLines bounds what logs shows of one message or result without -v.
const logLines = 12

// NewLogs makes company logs.
func NewLogs(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "logs <run|subtask|task>", Short: "Show the conversation of a run",
		Example: "  company logs t12-03\n  company logs t12-03.2 -v\n  company logs t12-plan.1 -o json",
		Long: `Shows what was said and done in a run: the transcript that is kept when it
ends, else what its journal holds so far. Of a subtask, its newest run of a
worker; of a task, the newest of all. Long
messages and results are shortened; -v shows them whole. While another process
is at work on the office, the journal is that one's: then only runs that have
ended can be shown.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error { return runLogs(c.Context(), env, args[0]) },
	}
}

func runLogs(ctx context.Context, env *command.Environment, id string) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	th, err := conn.Shown(ctx, id)
	if err != nil {
		return err
	}
	run := th.Run
	if run == nil {
		if th.Subtask == nil {
			run = th.Task.NewestRun()
		} else {
			run = view.NewestRun(th.Subtask.Runs)
		}
		if run == nil {
			return company.E(company.ENotFound, "no run of "+id+" has begun yet").Fix("company show " + id)
		}
	}
	unwritten := slices.ContainsFunc(run.Unwritten, func(u company.UnwrittenFile) bool { return u.File == run.ID.FilePath(officeapp.TranscriptFile) })
	t, err := officeapp.ReadTranscriptFile(paths, run.ID)
	if errors.Is(err, fs.ErrNotExist) || err != nil && unwritten {
		t, err = conn.ReadJournal(ctx, run.ID)
	}
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{
			"schema_version": 1, "run": run.ID, "agent": t.AgentID, "total_tokens": t.TotalTokens,
			"messages": emptyIfNil(t.Messages), "tool_calls": emptyIfNil(t.ToolCalls),
		})
	}
	most := logLines
	if env.Verbose {
		most = 1 << 30
	}
	return env.PrintLong(t.RenderText(most))
}

func emptyIfNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
