package task

import (
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/replay"
	"company/internal/safetext"
	"company/internal/view"
)

// NewReplay makes company replay.
func NewReplay(env *command.Environment) *cobra.Command {
	var save, record string
	cmd := &cobra.Command{
		Use: "replay <task> | --record FILE", Short: "Do a finished task again from its record, without a model",
		Example: "  company replay t12\n  company replay t12 -o json | jq .divergence\n  company replay t12 --save t12.record\n  company replay --record t12.record",
		Long: `Does a finished task again, up to its pull request, and compares what comes of it with
the record: the tree of each run's commit and of each merge, the verdicts of the gates,
and the tree of the integration branch. The office's ledger and the journals of the runs
are the record. No model is asked: each request gets its recorded reply, provided that its
messages are the recorded ones. Tools, gates and merges are done for real, in containers
of the task's image. Your answers and messages are given again at their places.

It happens in a temporary folder, on the recorded base. Your checkout, your office, the
remote and the forge are not touched. A company may be at work in the office: it gives
the record, and goes on.

--save writes the record into a file and replays nothing. The file has the history of the
repository, the conversations and the settings that the outcome hangs on; --record replays it,
on another machine, too, without the office that it comes from.

The first difference ends it: E_DIVERGED, exit code 1, with the run, the number of the
request and the message, or with the verdict that is another. Results of tools that differ
are warnings. What cannot be replayed: a task that has not ended, a follow-up, and runs
that were ended by a time limit or by the loss of their container after they had changed
something.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case record != "" && len(args)+len(save) > 0:
				return company.E(company.EUsage, "--record stands alone").Because("its file says which task it is").Fix("company replay --record FILE")
			case record != "":
				return printReplay(env, func(progress func(string)) (*replay.Report, error) { return env.ReplayRecord(c.Context(), record, progress) })
			case len(args) == 0:
				return company.E(company.EUsage, "no task is named").Fix("company replay <task>, or company replay --record FILE")
			}
			id := company.TaskID(args[0])
			if !id.Valid() {
				_, err := view.FindTask(nil, args[0])
				return err
			}
			if save != "" {
				saved, err := env.SaveRecord(c.Context(), id, save)
				if err != nil {
					return err
				}
				return env.PrintResult(saved)
			}
			return printReplay(env, func(progress func(string)) (*replay.Report, error) { return env.ReplayTask(c.Context(), id, progress) })
		},
	}
	cmd.Flags().StringVar(&save, "save", "", "write the record into this new file, and replay nothing")
	cmd.Flags().StringVar(&record, "record", "", "replay the record in this file, not one of the office")
	return cmd
}

// printReplay prints what comes of a replay.
func printReplay(env *command.Environment, do func(progress func(line string)) (*replay.Report, error)) error {
	progress := func(string) {}
	if !env.Quiet && env.Output == "text" {
		progress = func(line string) { fmt.Fprintln(env.Err, safetext.EscapeLine(line, 200)) }
	}
	report, err := do(progress)
	if err == nil {
		err = env.PrintResult(report)
	}
	if err != nil {
		return err
	}
	return report.Err()
}
