package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"company/internal/agent"
	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/office"
	"company/internal/view"
)

// logLines bounds what logs shows of one message or result without -v.
const logLines = 12

// NewLogs makes company logs.
func NewLogs(env *command.Environment) *cobra.Command {
	follow := false
	c := &cobra.Command{
		Use: "logs <run|subtask|task>", Short: "Show the conversation of a run",
		Example: "  company logs t12-03\n  company logs t12-03.2 -v\n  company logs -f t12-03\n  company logs t12-plan.1 -o json",
		Long: `Shows the messages and tool calls of a run: the transcript that is kept when it
ends, else those that its journal holds so far, whichever process is at work on it. Of
a subtask, its newest run of a worker; of a task, the newest of all. Long
messages and results are shortened; -v shows them whole.

--follow goes on with those that come, until the run ends; when no company
is at work any more, it waits for the next. With -o json it prints one object
for each message and tool call.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error {
			if follow {
				return followLogs(c.Context(), env, args[0])
			}
			return runLogs(c.Context(), env, args[0])
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run ends")
	return c
}

// findRun is the run that an id names: the newest of a subtask or of a task.
func findRun(ctx context.Context, conn *client.Office, id string) (*view.Run, error) {
	th, err := conn.Shown(ctx, id)
	if err != nil {
		return nil, err
	}
	switch {
	case th.Run != nil:
		return th.Run, nil
	case th.Question != nil:
		return nil, company.E(company.EUsage, id+" is a question").Fix("company show " + id)
	}
	var run *view.Run
	if th.Subtask != nil {
		run = view.NewestRun(th.Subtask.Runs)
	} else {
		run = th.Task.NewestRun()
	}
	if run == nil {
		return nil, company.E(company.ENotFound, "no run of "+id+" has begun yet").Fix("company show " + id)
	}
	return run, nil
}

func runLogs(ctx context.Context, env *command.Environment, id string) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	run, err := findRun(ctx, conn, id)
	if err != nil {
		return err
	}
	unwritten := slices.ContainsFunc(run.Unwritten, func(u company.UnwrittenFile) bool { return u.File == run.ID.FilePath(officeapp.TranscriptFile) })
	t, err := officeapp.ReadTranscriptFile(paths, run.ID)
	if errors.Is(err, fs.ErrNotExist) || err != nil && unwritten {
		t, err = conn.ReadTranscript(ctx, run.ID)
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
	return env.PrintLong(t.RenderText(mostLines(env)))
}

// mostLines is how many lines of one message or result are shown.
func mostLines(env *command.Environment) int {
	if env.Verbose {
		return 1 << 30
	}
	return logLines
}

// followLogs shows a run's conversation until the run ends, over the ends of companies
// and the starts of others.
func followLogs(ctx context.Context, env *command.Environment, id string) error {
	l := &logFollower{env: env}
	for {
		conn, paths, err := env.ConnectOffice(ctx)
		ended := false
		if err == nil {
			ended, err = l.followOnce(ctx, conn, id)
			conn.Close()
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && ended:
			return nil
		case err != nil && !client.IsFeedCut(err) && company.CodeOf(err) != company.EHeld:
			return err
		case err == nil:
			env.PrintNote("no company is at work on %s; it goes on with: company resume %s", l.run, l.run.Task())
		}
		if err := office.AwaitHolder(ctx, paths); err != nil {
			return err
		}
	}
}

// logFollower shows the conversation of one run, each entry once, however often it is
// read anew.
type logFollower struct {
	env   *command.Environment
	run   company.RunID
	shown int
}

// followOnce shows what there is and, where a company is at work, what comes. It says
// whether the run has ended.
func (l *logFollower) followOnce(ctx context.Context, conn *client.Office, id string) (ended bool, err error) {
	if l.run == "" {
		run, err := findRun(ctx, conn, id)
		if err != nil {
			return false, err
		}
		l.run = run.ID
	}
	run, err := findRun(ctx, conn, string(l.run))
	if err != nil {
		return false, err
	}
	n := 0
	err = conn.StreamTranscript(ctx, l.run, true, func(e agent.TranscriptEntry) error {
		if e.Run != nil {
			return nil
		}
		if n++; n <= l.shown {
			return nil
		}
		l.shown = n
		return l.print(e)
	})
	return err == nil && (conn.IsServed() || run.Ended != nil), err
}

func (l *logFollower) print(e agent.TranscriptEntry) (err error) {
	if l.env.Output == "json" {
		return l.env.PrintJSON(l.env.Out, struct {
			SchemaVersion int           `json:"schema_version"`
			Run           company.RunID `json:"run"`
			agent.TranscriptEntry
		}{1, l.run, e})
	}
	_, err = fmt.Fprint(l.env.Out, e.RenderText(mostLines(l.env)))
	return err
}

func emptyIfNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
