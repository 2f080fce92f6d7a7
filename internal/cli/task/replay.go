package task

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/replay"
	"company/internal/safetext"
	"company/internal/view"
)

// NewReplay makes company replay.
func NewReplay(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "replay <task>", Short: "Do a finished task again from its record, without a model",
		Example: "  company replay t12\n  company replay t12 -o json | jq .divergence",
		Long: `Does a finished task again, up to its pull request, and compares what comes of it with
the record: the tree of each run's commit and of each merge, the verdicts of the gates,
and the tree of the integration branch. The office's ledger and the journals of the runs
are the record. No model is asked: each request gets its recorded reply, provided that its
messages are the recorded ones. Tools, gates and merges are done for real, in containers
of the task's image. Your answers and messages are given again at their places.

It happens in a temporary folder, on the recorded base. Your checkout, your office, the
remote and the forge are not touched. A company may be at work in the office: it gives
the record, and goes on.

The first difference ends it: E_DIVERGED, exit code 1, with the run, the number of the
request and the message, or with the verdict that is another. Results of tools that differ
are warnings. What cannot be replayed: a task that has not ended, a follow-up, and runs
that were ended by a time limit or by the loss of their container after they had changed
something.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			if !company.TaskID(args[0]).Valid() {
				_, err := view.FindTask(nil, args[0])
				return err
			}
			return runReplay(c.Context(), env, company.TaskID(args[0]))
		},
	}
}

func runReplay(ctx context.Context, env *command.Environment, id company.TaskID) error {
	paths, loaded, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	record, err := conn.ReadRecord(ctx, id)
	conn.Close()
	if err != nil {
		return err
	}
	progress := func(string) {}
	if !env.Quiet && env.Output == "text" {
		progress = func(line string) { fmt.Fprintln(env.Err, safetext.EscapeLine(line, 200)) }
	}
	report, err := officeapp.Replay(ctx, officeapp.ReplayOptions{
		Record: record, Paths: paths, Config: loaded, Configs: env.ProjectConfigs(paths), Env: env.LookupEnv, Version: env.Version, Logger: env.Log, Progress: progress,
	})
	if err != nil {
		return err
	}
	if err := printReplay(env, report); err != nil {
		return err
	}
	return report.Err()
}

// printReplay prints what came of a replay.
func printReplay(env *command.Environment, r *replay.Report) error {
	if env.Output == "json" {
		return env.PrintJSON(env.Out, r)
	}
	_, err := fmt.Fprint(env.Out, r.RenderText())
	return err
}
