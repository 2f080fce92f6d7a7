package task

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/retry"
	"company/internal/view"
)

// stopTimeout is how long stop watches the runs let go.
const stopTimeout = 10 * time.Second

// NewStop makes company stop.
func NewStop(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "stop [why]", Short: "Stop everything at once",
		Example: "  company stop\n  company stop \"wrong repository\"",
		Long: `Cuts every model call, kills every container, and lets nothing begin until
company resume. What the runs had done is kept.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			why := ""
			if len(args) == 1 {
				why = args[0]
			}
			return runStop(c.Context(), env, why)
		},
	}
}

func runStop(ctx context.Context, env *command.Environment, why string) error {
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	at, err := conn.Work(ctx)
	if err != nil {
		return err
	}
	if at.Epoch > 0 { // where nothing ever began there is nothing to stop
		if _, err := conn.Do(ctx, "", company.Stop{Why: why}); err != nil {
			return err
		}
	}
	if conn.IsServed() {
		if err := watchStop(ctx, conn); err != nil {
			return err
		}
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "stopped": at.Epoch > 0, "was_stopped": at.Stopped, "runs": at.Held})
	}
	switch {
	case at.Epoch == 0:
		fmt.Fprintln(env.Out, "nothing has ever run here")
	case at.Stopped:
		fmt.Fprintln(env.Out, "stopped already")
	default:
		fmt.Fprintf(env.Out, "stopped: %s cut; nothing begins until company resume\n", company.Count(len(at.Held), "run"))
	}
	return nil
}

// watchStop waits until no run is held any more. The company that was at work
// may end meanwhile: then it has let go, too.
func watchStop(ctx context.Context, conn *client.Office) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, company.E(company.ETimeout, "the office is stopped, but its runs have not let go in time").Fix("company status shows them"))
	defer cancel()
	return retry.Until(ctx, retry.Every(20*time.Millisecond), func() (bool, error) {
		at, err := conn.Work(ctx)
		if err != nil {
			return ctx.Err() == nil, nil // it has ended
		}
		return len(at.Held) == 0, nil
	})
}

// NewCancel makes company cancel.
func NewCancel(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "cancel <task> [why]", Short: "End a task; its commits stay for company diff and company retry",
		Example: "  company cancel t12\n  company cancel t12 \"no longer needed\"",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Open }),
		RunE: func(c *cobra.Command, args []string) error {
			why := ""
			if len(args) == 2 {
				why = args[1]
			}
			return runCancel(c.Context(), env, args[0], why)
		},
	}
}

func runCancel(ctx context.Context, env *command.Environment, id, why string) error {
	conn, t, err := changeTask(ctx, env, id, func(t company.TaskID) company.Command { return company.Cancel{Task: t, Why: why} })
	if err != nil {
		return err
	}
	defer conn.Close()
	return printOutcome(env, conn, t, map[string]any{}, string(t.ID)+" is cancelled")
}

// changeTask sends a command about a task, and reads how far the task is then. The
// caller closes the office.
func changeTask(ctx context.Context, env *command.Environment, id string, cmd func(company.TaskID) company.Command) (*client.Office, *view.Progress, error) {
	t, conn, err := entrance.Read(ctx, env.Entrance, func(o *client.Office, ctx context.Context) (*view.Progress, error) {
		return o.TaskProgress(ctx, id)
	})
	if err != nil {
		return nil, nil, err
	}
	if _, err = conn.Do(ctx, "", cmd(t.ID)); err == nil {
		t, err = conn.TaskProgress(ctx, id)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, t, nil
}
