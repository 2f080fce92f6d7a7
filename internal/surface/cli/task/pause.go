package task

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// NewPause returns the "company pause" command.
func NewPause(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "pause [task|subtask]...", Short: "Pause tasks or subtasks",
		Example: "  company pause t12\n  company pause t12-02\n  company pause",
		Long: `Pauses the given tasks and subtasks, or all unfinished tasks. The work of their runs is
kept, and no more model calls are made. Everything else continues, including the
other subtasks of a task until they depend on a paused one. To continue, use company
resume t12, company resume t12-02, or company resume for everything.`,
		ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return slices.Concat(v.Open, v.Unfinished) }),
		Args:              cobra.ArbitraryArgs,
		RunE:              func(c *cobra.Command, args []string) error { return pauseNamed(c.Context(), env, args) },
	}
}

// pauseNamed pauses the named tasks and subtasks, or all open tasks if there are no arguments.
func pauseNamed(ctx context.Context, env *command.Environment, args []string) error {
	work, conn, err := officeaccess.Read(
		ctx, env.Entrance, func(o *client.Office, ctx context.Context) (view.Work, error) { return o.Work(ctx) })
	if err != nil {
		return err
	}
	defer conn.Close()
	ids, subs := work.Open, []company.SubtaskID{}
	if len(args) > 0 {
		if ids, subs, err = findPausable(ctx, conn, args); err != nil {
			return err
		}
	}
	paused := []company.TaskID{}
	for _, id := range ids {
		_, err := conn.Do(ctx, "", company.Pause{Task: id})
		if company.CodeOf(err) == company.EConflict && len(args) == 0 {
			continue // it has ended since
		}
		if err != nil {
			return err
		}
		paused = append(paused, id)
	}
	for _, id := range subs {
		if _, err := conn.Do(ctx, "", company.PauseSubtask{Subtask: id}); err != nil {
			return err
		}
	}
	return printPaused(env, paused, subs)
}

// findPausable looks up the tasks and subtasks that args name. It fails if any of them cannot be
// paused.
func findPausable(
	ctx context.Context, conn *client.Office, args []string,
) (ids []company.TaskID, subs []company.SubtaskID, err error) {
	subs = []company.SubtaskID{}
	for _, arg := range args {
		if sub := company.SubtaskID(arg); sub.Valid() {
			if _, err := conn.Try(ctx, company.PauseSubtask{Subtask: sub}); err != nil {
				return nil, nil, err
			}
			subs = append(subs, sub)
			continue
		}
		progress, err := conn.TaskProgress(ctx, arg)
		if err != nil {
			return nil, nil, err
		}
		if progress.Over {
			return nil, nil, company.E(company.EConflict, string(progress.ID)+" has ended already: "+progress.Status.Text()).
				Fix("company status lists the tasks")
		}
		ids = append(ids, progress.ID)
	}
	return ids, subs, nil
}

func printPaused(env *command.Environment, ids []company.TaskID, subs []company.SubtaskID) error {
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "paused": ids, "paused_subtasks": subs})
	}
	var names []string
	for _, id := range ids {
		names = append(names, string(id))
	}
	for _, id := range subs {
		names = append(names, string(id))
	}
	if len(names) == 0 {
		_, err := fmt.Fprintln(env.Out, "nothing to pause")
		return err
	}
	one := ""
	if len(names) == 1 {
		one = " " + names[0]
	}
	_, err := fmt.Fprintf(env.Out, "%s paused; continue with: company resume%s\n", strings.Join(names, ", "), one)
	return err
}
