package task

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/office"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
)

// addSummaryFlag adds --summary to a command that prints summaries of tasks at its end (X35).
func addSummaryFlag(env *command.Environment, c *cobra.Command) {
	c.Flags().BoolVar(&env.SummaryBlock, "summary", false,
		"end with the block for scripts: [RESULT], [TASK], [NEXT], [WHY], [COST], [HINT]")
}

// runJob follows a job until its tasks rest, prints the results, and returns an error with the
// exit code.
func runJob(ctx context.Context, env *command.Environment, paths office.Paths, job foreground.Job) error {
	env.ReportsWork = true
	end, err := foreground.Run(ctx, env.Entrance, paths, job)
	if err != nil {
		return err
	}
	return printEnd(env, end)
}

// printEnd prints the results of a job and returns an error with its exit code.
func printEnd(env *command.Environment, end foreground.End) error {
	if end.Interrupted {
		return &command.CodedError{Code: command.ExitInterrupt}
	}
	return printSummaries(env, end.Summaries)
}

// resultCodes maps the result of a summary to an exit code.
var resultCodes = map[string]int{"COMPLETE": command.ExitComplete, "INCOMPLETE": command.ExitIncomplete,
	"ERROR": command.ExitError}

// printSummaries prints the summaries and returns an error with the exit code of the worst result.
func printSummaries(env *command.Environment, sums []view.Summary) error {
	if len(sums) == 0 {
		return nil // the caller prints more
	}
	code := command.ExitComplete
	for _, sum := range sums {
		if c := resultCodes[sum.Result]; c == command.ExitError || code == command.ExitComplete {
			code = c
		}
	}
	switch {
	case env.Output != "json":
		for _, sum := range sums {
			if env.SummaryBlock {
				fmt.Fprint(env.Out, sum.RenderText())
			} else {
				fmt.Fprint(env.Out, sum.Render(env.Style(env.Out)))
			}
		}
	case len(sums) == 1:
		if err := env.PrintJSON(env.Out, sums[0]); err != nil {
			return err
		}
	default:
		if err := env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "tasks": sums}); err != nil {
			return err
		}
	}
	if code != command.ExitComplete {
		return &command.CodedError{Code: code}
	}
	return nil
}
