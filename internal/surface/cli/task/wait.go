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
var errWaitedLong = errors.New("the time of the wait is up")

// NewWait returns the "company wait" command.
func NewWait(env *command.Environment) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait <task>...", Short: "Wait until tasks have ended, or wait for you",
		Example: `  company wait t12
  company wait t12 t13 --timeout 30m
  id=$(company submit --detach --template '{{.task}}' "…") && company wait "$id"`,
		Long: `Waits until each task has ended or rests: it waits for your answer, it is
paused, the office is stopped, or no company is at work on it. It shows no feed,
answers nothing, and ends with the summary of each task. It never starts work.

Exit codes, as those of submit, of the task that fared worst: 0 all complete;
1 one failed; 2 one is incomplete (it rests, it was cancelled, or --timeout is
over, while the work goes on: status in -o json tells which); 130 interrupted.`,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: env.CompleteEachID(func(v view.IDs) []string { return v.Open }),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("timeout") && timeout <= 0 {
				return company.E(company.EUsage, fmt.Sprintf("--timeout %s is no time to wait", timeout)).Fix("--timeout 30m")
			}
			ids, err := parseTasks(args)
			if err != nil {
				return err
			}
			return runWait(c.Context(), env, ids, timeout)
		},
	}
	addSummaryFlag(env, cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait at most, such as 90s or 2h (default: without end)")
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
		env.PrintNote("waited for %s; the work goes on", timeout)
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
