package task

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
)

// NewResume returns the "company resume" command.
func NewResume(env *command.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume [task|subtask]", Short: "Continue unfinished, paused or stopped work",
		Example: "  company resume\n  company resume t12\n  company resume t12-02",
		Long: `Continues the given task, or all unfinished tasks, and follows them as submit does.
First lifts any office-wide stop, pause or interrupt that applies to these tasks.
For a subtask, only its own pause is lifted. After a crash, this is all you need to
do. With recovery: ask, unfinished tasks wait for this command.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return slices.Concat(v.Open, v.Paused) }),
		RunE: func(c *cobra.Command, args []string) error {
			id := ""
			if len(args) == 1 {
				id = args[0]
				if !company.TaskID(id).Valid() && !company.SubtaskID(id).Valid() {
					_, err := view.FindTask(nil, id)
					return err
				}
			}
			return runResume(c.Context(), env, id)
		},
	}
	addSummaryFlag(env, cmd)
	return cmd
}

func runResume(ctx context.Context, env *command.Environment, id string) error {
	paths, _, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	if !paths.Exists() {
		return company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" creates one`)
	}
	job := &foreground.Resumption{Task: company.TaskID(id)}
	if sub := company.SubtaskID(id); sub.Valid() {
		job.Task, job.Subtask = sub.Task(), sub
	}
	err = runJob(ctx, env, paths, job)
	switch {
	case err != nil:
		return err
	case len(job.Tasks) == 0 && job.HasLifted():
		if env.Output == "json" {
			return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "tasks": []view.Summary{}})
		}
		fmt.Fprintln(env.Out, "the office is no longer stopped; no task is unfinished")
	case len(job.Tasks) == 0:
		return company.E(company.EInvalid, "nothing is unfinished").Because("every task of this office has ended").
			Fix(`company submit "…" begins another; company retry <task> reopens one that failed or was cancelled`)
	case job.Ended != nil:
		return printSummaries(env, job.Ended)
	}
	return nil
}
