package task

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/view"
)

// NewResume makes company resume.
func NewResume(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "resume [task|subtask]", Short: "Go on with unfinished, paused or stopped work",
		Example: "  company resume\n  company resume t12\n  company resume t12-02",
		Long: `Goes on with the task that is named, or with all that have not ended, and
follows them as submit does. A stop of the office is lifted first, and what
made those tasks rest: a pause of theirs or of their subtasks, or an interrupt. Of a
subtask that is named its pause alone is lifted. After a crash this is all there
is to do; with recovery: ask, it is what an unfinished task waits for.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return slices.Concat(v.Open, v.Paused) }),
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
}

func runResume(ctx context.Context, env *command.Environment, id string) error {
	paths, _, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	if !paths.Exists() {
		return company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" opens one`)
	}
	var ids []company.TaskID     // that this command is about: found at the first look, and kept
	sub := company.SubtaskID("") // whose pause alone is lifted
	if company.SubtaskID(id).Valid() {
		sub, id = company.SubtaskID(id), string(company.SubtaskID(id).Task())
	}
	known, lifted := false, false
	var ended []view.Summary // when there is nothing to do
	err = runJob(ctx, env, foregroundJob{
		paths: paths,
		precheck: func(ctx context.Context, conn *client.Office, w *view.Work) (bool, error) {
			switch {
			case known:
			case id == "":
				ids = w.Open
			default:
				if _, err := conn.TaskProgress(ctx, id); err != nil {
					return false, err
				}
				ids = []company.TaskID{company.TaskID(id)}
				if sub != "" {
					if _, err := conn.Try(ctx, company.PauseSubtask{Subtask: sub, Off: true}); err != nil {
						return false, err
					}
				}
			}
			known = true
			if w.Stopped {
				return true, nil
			}
			for _, id := range ids {
				if slices.Contains(w.Open, id) {
					return true, nil
				}
			}
			ended, err = readSummaries(ctx, conn, ids)
			return false, err
		},
		start: func(ctx context.Context, conn *client.Office) ([]company.TaskID, error) {
			if lifted { // what was stopped or paused since was meant
				return ids, nil
			}
			if _, err := conn.Do(ctx, "", company.Resume{}); err != nil {
				return ids, err
			}
			if sub != "" {
				_, err := conn.Do(ctx, "", company.PauseSubtask{Subtask: sub, Off: true})
				lifted = err == nil
				return ids, err
			}
			w, err := conn.Work(ctx, ids...)
			if err != nil {
				return ids, err
			}
			for _, id := range ids {
				if t := w.Progress(id); t.Paused || len(t.PausedSubtasks) > 0 {
					if _, err := conn.Do(ctx, "", company.Pause{Task: id, Off: true}); err != nil {
						return ids, err
					}
				}
			}
			lifted = true
			return ids, nil
		},
	})
	switch {
	case err != nil:
		return err
	case len(ids) == 0:
		return printNothingToDo(env)
	case ended != nil:
		return printSummaries(env, ended)
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
