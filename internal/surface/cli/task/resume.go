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
		Use: "resume [task|subtask]", Short: "Go on with unfinished, paused or stopped work",
		Example: "  company resume\n  company resume t12\n  company resume t12-02",
		Long: `Goes on with the task that is named, or with all that have not ended, and
follows them as submit does. A stop of the office is lifted first, and what
made those tasks rest: a pause of theirs or of their subtasks, or an interrupt. Of a
subtask that is named its pause alone is lifted. After a crash this is all there
is to do; with recovery: ask, it is what an unfinished task waits for.`,
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
		return company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" opens one`)
	}
	job := &foreground.Resumption{Task: company.TaskID(id)}
	if sub := company.SubtaskID(id); sub.Valid() {
		job.Task, job.Subtask = sub.Task(), sub
	}
	err = runJob(ctx, env, paths, job)
	switch {
	case err != nil:
		return err
	case len(job.Tasks) == 0:
		return printNothingToDo(env)
	case job.Ended != nil:
		return printSummaries(env, job.Ended)
	}
	return nil
}

func printNothingToDo(env *command.Environment) error {
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "tasks": []view.Summary{}})
	}
	fmt.Fprintln(env.Out, "nothing is unfinished")
	return nil
}
