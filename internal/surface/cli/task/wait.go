package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
	"company/internal/surface/officeaccess"
)

// errWaitedLong is the cause of a wait that timed out.
var errWaitedLong = errors.New("wait timed out")

// NewWait returns the "company wait" command.
func NewWait(env *command.Environment) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait <task>...", Short: "Wait until tasks end or need you",
		Example: `  company wait t12
  company wait t12 t13 --timeout 30m
  id=$(company submit --detach -o json "…" | jq -r .task) && company wait "$id"`,
		Long: `Waits until each task has ended or cannot continue by itself: it waits for your
answer, it is paused, the office is stopped, or no company is running. Prints a summary
of each task, but no feed. It never starts work or answers questions.

Exit codes: 0 all tasks are complete; 1 a task failed; 2 a task is incomplete (it
cannot continue, was cancelled, or is still running after --timeout; status in -o json
tells which); 130 interrupted.`,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: env.CompleteEachID(func(v view.IDs) []string { return v.Open }),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("timeout") && timeout <= 0 {
				return company.E(company.EUsage, fmt.Sprintf("invalid --timeout %s: must be positive", timeout)).
					Fix("--timeout 30m")
			}
			ids, err := parseTasks(args)
			if err != nil {
				return err
			}
			return runWait(c.Context(), env, ids, timeout)
		},
	}
	addSummaryFlag(env, cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait, such as 90s or 2h (default: no limit)")
	return cmd
}

// parseTasks parses the ids of tasks and drops duplicates.
func parseTasks(args []string) ([]company.TaskID, error) {
	var ids []company.TaskID
	for _, arg := range args {
		if !company.TaskID(arg).Valid() {
			_, err := view.FindTask(nil, arg)
			return nil, err
		}
		if !slices.Contains(ids, company.TaskID(arg)) {
			ids = append(ids, company.TaskID(arg))
		}
	}
	return ids, nil
}

func runWait(ctx context.Context, env *command.Environment, ids []company.TaskID, timeout time.Duration) error {
	env.ReportsWork = true
	wctx := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		wctx, cancel = context.WithTimeoutCause(ctx, timeout, errWaitedLong)
		defer cancel()
	}
	err := foreground.Wait(wctx, env.Entrance, ids)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errWaitedLong):
		env.PrintNote("timed out after %s; the work continues", timeout)
	case err != nil:
		return err
	}
	sums, conn, err := officeaccess.Read(
		ctx, env.Entrance, func(o *client.Office, ctx context.Context) ([]view.Summary, error) {
			return o.Summaries(ctx, ids...)
		})
	if err != nil {
		return err
	}
	conn.Close()
	return printSummaries(env, sums)
}
