package task

import (
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/safetext"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// NewReplay returns the "company replay" command.
func NewReplay(env *command.Environment) *cobra.Command {
	var save, record string
	var how officeaccess.ReplayChoice
	cmd := &cobra.Command{
		Use: "replay <task> | --record FILE", Short: "Do a finished task again from its record, without a model",
		Example: "  company replay t12\n  company replay t12 -o json | jq .divergence\n  company replay t12 --save " +
			"t12.record\n  company replay --record t12.record",
		Long: `Does a finished task again, up to its pull request, and compares what comes of it with
the record: the tree of each run's commit and of each merge, the verdicts of the gates,
and the tree of the integration branch. The office's ledger and the journals of the runs
are the record. No model is asked: each request gets its recorded reply, provided that its
messages are the recorded ones. Tools, gates and merges are done for real, in containers
of the task's image. Your answers and messages are given again at their places.

It happens in a temporary folder, on the recorded base. Your checkout, your office, the
remote and the forge are not touched. A company may be at work in the office: it gives
the record, and goes on.

--save writes the record into a file; --record replays it on any machine, without the office.

The first difference ends it: E_DIVERGED, exit code 1, with the run, the number of the
request and the message, or with the verdict that is another. Results of tools that differ
are warnings. Not replayed are tasks that have not ended, follow-ups, and runs that a time
limit, or the loss of their container, has ended after they had changed something.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case record != "" && len(args)+len(save) > 0:
				return company.E(company.EUsage, "--record stands alone").Because("its file says which task it is").
					Fix("company replay --record FILE")
			case record != "":
				return printReplay(env, how, func(how officeaccess.ReplayChoice) (*replay.Report, error) {
					return env.ReplayRecord(c.Context(), record, how)
				})
			case len(args) == 0:
				return company.E(company.EUsage, "no task is named").Fix("company replay <task>, or company replay --record FILE")
			}
			id := company.TaskID(args[0])
			if !id.Valid() {
				_, err := view.FindTask(nil, args[0])
				return err
			}
			if save == "" {
				return printReplay(env, how, func(how officeaccess.ReplayChoice) (*replay.Report, error) {
					return env.ReplayTask(c.Context(), id, how)
				})
			}
			saved, err := env.SaveRecord(c.Context(), id, save)
			if err == nil {
				err = env.PrintResult(saved)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&save, "save", "", "write the record into this new file, and replay nothing")
	cmd.Flags().StringVar(&record, "record", "", "replay the record in this file, not one of the office")
	cmd.Flags().BoolVar(&how.OtherPrompts, "other-prompts", false,
		"let messages that company itself writes differ with a warning; replies stay the recorded ones")
	return cmd
}

// printReplay runs a replay and prints its report.
func printReplay(
	env *command.Environment, how officeaccess.ReplayChoice, do func(officeaccess.ReplayChoice) (*replay.Report, error),
) error {
	how.Progress = func(string) {}
	if !env.Quiet && env.Output == "text" {
		how.Progress = func(line string) { fmt.Fprintln(env.Err, safetext.EscapeLine(line, 200)) }
	}
	report, err := do(how)
	if err == nil {
		err = env.PrintResult(report)
	}
	if err != nil {
		return err
	}
	return report.Err()
}
