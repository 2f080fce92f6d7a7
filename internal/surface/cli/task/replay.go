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
		Use: "replay <task> | --record FILE", Short: "Replay a finished task from its record, without a model",
		Example: "  company replay t12\n  company replay t12 -o json | jq .divergence\n  company replay t12 --save " +
			"t12.record\n  company replay --record t12.record",
		Long: `Repeats a finished task up to its pull request and compares the results with the
record: the tree of each run's commit and of each merge, the verdicts of the gates,
and the tree of the integration branch. The record consists of the office's ledger and
the journals of the runs.

No model is called. Each request gets its recorded reply if its messages match the
record. Tools, gates and merges run for real, in containers of the task's image. Your
answers and messages are replayed where you gave them.

The replay uses a temporary folder and the recorded base. Your checkout, the office, the
remote and the forge are not changed, and a running company is not interrupted.

--save writes the record to a file. --record replays it on any machine, without the office.

The replay stops at the first difference with E_DIVERGED (exit code 1) and names the run,
the request and the message, or the verdict. Tool results that differ are warnings.
Unfinished tasks and follow-ups cannot be replayed, nor can runs that had changed
something when a time limit or the loss of their container ended them.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case record != "" && len(args)+len(save) > 0:
				return company.E(company.EUsage, "--record takes no task and no --save").Because("the file names its task").
					Fix("company replay --record FILE")
			case record != "":
				return printReplay(env, how, func(how officeaccess.ReplayChoice) (*replay.Report, error) {
					return env.ReplayRecord(c.Context(), record, how)
				})
			case len(args) == 0:
				return company.E(company.EUsage, "missing task").Fix("company replay <task>, or company replay --record FILE")
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
	cmd.Flags().StringVar(&save, "save", "", "write the record to a new `file` instead of replaying it")
	cmd.Flags().StringVar(&record, "record", "", "replay the record in a `file` instead of a task of the office")
	cmd.Flags().BoolVar(&how.OtherPrompts, "other-prompts", false,
		"only warn about differences in messages that company itself writes")
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
