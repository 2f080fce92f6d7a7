package task

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// stopTimeout limits how long stop waits for the runs to end.
const stopTimeout = 10 * time.Second

// NewStop returns the "company stop" command.
func NewStop(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "stop [why]", Short: "Stop all work immediately",
		Example: "  company stop\n  company stop \"wrong repository\"",
		Long: `Aborts all model calls and kills all containers. Nothing starts until company resume.
The work of the runs is kept.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			reason := ""
			if len(args) == 1 {
				reason = args[0]
			}
			return runStop(cmd.Context(), env, reason)
		},
	}
}

func runStop(ctx context.Context, env *command.Environment, reason string) error {
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	at, err := conn.Work(ctx)
	if err != nil {
		return err
	}
	if at.Epoch > 0 { // without an epoch no work ever started
		if _, err := conn.Do(ctx, "", company.Stop{Why: reason}); err != nil {
			return err
		}
	}
	if conn.IsAtWork() {
		if err := watchStop(ctx, conn); err != nil {
			return err
		}
	}
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "stopped": at.Epoch > 0, "was_stopped": at.Stopped, "runs": at.Held})
	}
	switch {
	case at.Epoch == 0:
		fmt.Fprintln(env.Out, "nothing has run here yet")
	case at.Stopped:
		fmt.Fprintln(env.Out, "already stopped")
	default:
		fmt.Fprintf(env.Out, "stopped %s; nothing starts until company resume\n", company.Count(len(at.Held), "run"))
	}
	return nil
}

// watchStop waits until no run is held. If the running company ends meanwhile, its runs have
// ended, too.
func watchStop(ctx context.Context, conn *client.Office) error {
	ctx, cancel := context.WithTimeoutCause(
		ctx, stopTimeout, company.E(company.ETimeout, "the office is stopped, but some runs did not end in time").
			Fix("company status shows them"))
	defer cancel()
	return retry.Until(ctx, retry.Every(20*time.Millisecond), func() (bool, error) {
		at, err := conn.Work(ctx)
		if err != nil {
			return ctx.Err() == nil, nil // the company has ended
		}
		return len(at.Held) == 0, nil
	})
}

// NewCancel returns the "company cancel" command.
func NewCancel(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "cancel <task> [why]", Short: "Cancel a task but keep its commits",
		Example: "  company cancel t12\n  company cancel t12 \"no longer needed\"",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Open }),
		RunE: func(cmd *cobra.Command, args []string) error {
			reason := ""
			if len(args) == 2 {
				reason = args[1]
			}
			return runCancel(cmd.Context(), env, args[0], reason)
		},
	}
}

func runCancel(ctx context.Context, env *command.Environment, id, reason string) error {
	conn, progress, err := changeTask(ctx, env, id,
		func(t company.TaskID) company.Command { return company.Cancel{Task: t, Why: reason} })
	if err != nil {
		return err
	}
	defer conn.Close()
	return printOutcome(ctx, env, conn, progress, map[string]any{}, string(progress.ID)+" is cancelled")
}

// changeTask sends a command about a task and returns the task's progress. The caller closes the
// office.
func changeTask(
	ctx context.Context, env *command.Environment, id string, cmd func(company.TaskID) company.Command,
) (*client.Office, *view.Progress, error) {
	progress, conn, err := officeaccess.Read(
		ctx, env.Entrance, func(o *client.Office, ctx context.Context) (*view.Progress, error) {
			return o.TaskProgress(ctx, id)
		})
	if err != nil {
		return nil, nil, err
	}
	if _, err = conn.Do(ctx, "", cmd(progress.ID)); err == nil {
		progress, err = conn.TaskProgress(ctx, id)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, progress, nil
}
