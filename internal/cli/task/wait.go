package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/office"
	"company/internal/retry"
	"company/internal/view"
)

// takeOverPause is how long an office may be without a company, after one has
// ended, before the tasks there count as tasks that rest: a submit that follows
// them takes over.
const takeOverPause = 3 * time.Second

// errWaitedLong ends a wait whose time is up.
var errWaitedLong = errors.New("the time of the wait is up")

// NewWait makes company wait.
func NewWait(env *command.Environment) *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
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
	c.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait at most, such as 90s or 2h (default: without end)")
	return c
}

// parseTasks reads the ids of tasks; one that is named twice counts once.
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
	err := waitForTasks(wctx, env, ids)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errWaitedLong):
		env.PrintNote("waited for %s; the work goes on", timeout)
	case err != nil:
		return err
	}
	sums, conn, err := entrance.Read(ctx, env.Entrance, func(o *client.Office, ctx context.Context) ([]view.Summary, error) { return readSummaries(ctx, o, ids) })
	if err != nil {
		return err
	}
	conn.Close()
	return printSummaries(env, sums)
}

// waitForTasks returns when the tasks have come to rest, under this company or
// one that takes over from it.
func waitForTasks(ctx context.Context, env *command.Environment, ids []company.TaskID) error {
	f := &follower{env: env, tasks: ids, waits: true}
	for {
		conn, paths, err := env.ConnectOffice(ctx)
		if err != nil {
			return err
		}
		w, err := conn.Work(ctx, ids...)
		if err == nil && conn.IsServed() {
			f.lastSeq = w.Seq
			err = f.followTasks(ctx, conn)
		}
		conn.Close()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case conn.IsServed() && (client.IsFeedCut(err) || company.CodeOf(err) == company.EHeld):
		default:
			return err
		}
		late, cancel := context.WithTimeout(ctx, takeOverPause)
		_ = retry.Until(late, retry.Every(50*time.Millisecond), func() (bool, error) { return office.IsHeld(paths), nil }) // late: no other company came
		cancel()
	}
}
