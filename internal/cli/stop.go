package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"company/internal/client"
	"company/internal/company"
	"company/internal/retry"
	"company/internal/view"
)

// stopTimeout is how long stop watches the runs let go.
const stopTimeout = 10 * time.Second

func newStop(a *app) *cobra.Command {
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
			return a.runStop(c.Context(), why)
		},
	}
}

func (a *app) runStop(ctx context.Context, why string) error {
	conn, _, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	at, err := readWork(ctx, conn)
	if err != nil {
		return err
	}
	if at.Epoch > 0 { // where nothing ever began there is nothing to stop
		if _, err := conn.Do(ctx, "", company.Stop{Why: why}); err != nil {
			return err
		}
	}
	if conn.IsServed() {
		if err := a.watchStop(ctx, conn); err != nil {
			return err
		}
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "stopped": at.Epoch > 0, "was_stopped": at.Stopped, "runs": at.Held})
	}
	switch {
	case at.Epoch == 0:
		fmt.Fprintln(a.out, "nothing has ever run here")
	case at.Stopped:
		fmt.Fprintln(a.out, "stopped already")
	default:
		fmt.Fprintf(a.out, "stopped: %s cut; nothing begins until company resume\n", company.Count(len(at.Held), "run"))
	}
	return nil
}

// watchStop waits until no run is held any more. The company that was at work
// may end meanwhile: then it has let go, too.
func (a *app) watchStop(ctx context.Context, conn *client.Office) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, company.E(company.ETimeout, "the office is stopped, but its runs have not let go in time").Fix("company status shows them"))
	defer cancel()
	return retry.Until(ctx, retry.Every(20*time.Millisecond), func() (bool, error) {
		at, err := readWork(ctx, conn)
		if err != nil {
			return ctx.Err() == nil, nil // it has ended
		}
		return len(at.Held) == 0, nil
	})
}

func newResume(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "resume [task]", Short: "Go on with what is unfinished, paused or stopped",
		Example: "  company resume\n  company resume t12",
		Long: `Goes on with the task that is named, or with all that have not ended, and
follows them as submit does. A stop of the office is lifted first, and what
made those tasks rest: a pause, or an interrupt. After a crash this is all there
is to do; with recovery: ask, it is what an unfinished task waits for.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			id := ""
			if len(args) == 1 {
				id = args[0]
				if !company.TaskID(id).Valid() {
					_, err := view.FindTask(nil, id)
					return err
				}
			}
			return a.runResume(c.Context(), id)
		},
	}
}

func (a *app) runResume(ctx context.Context, id string) error {
	paths, _, err := a.loadReady(ctx)
	if err != nil {
		return err
	}
	if !paths.Exists() {
		return company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" opens one`)
	}
	var ids []company.TaskID // that this command is about: found at the first look, and kept
	known, lifted := false, false
	var ended []view.Summary // when there is nothing to do
	err = a.runJob(ctx, foregroundJob{
		paths: paths,
		precheck: func(ctx context.Context, conn *client.Office, w *view.Work) (bool, error) {
			switch {
			case known:
			case id == "":
				ids = w.Open
			default:
				if _, err := readTask(ctx, conn, id); err != nil {
					return false, err
				}
				ids = []company.TaskID{company.TaskID(id)}
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
			w, err := readWork(ctx, conn, ids...)
			if err != nil {
				return ids, err
			}
			for _, id := range ids {
				if w.Progress(id).Paused {
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
		return a.printNothingToDo()
	case ended != nil:
		return a.printSummaries(ended)
	}
	return nil
}

func (a *app) printNothingToDo() error {
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "tasks": []view.Summary{}})
	}
	fmt.Fprintln(a.out, "nothing is unfinished")
	return nil
}

func newCancel(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "cancel <task> [why]", Short: "End a task; what is merged stays on its branch",
		Example: "  company cancel t12\n  company cancel t12 \"no longer needed\"",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			why := ""
			if len(args) == 2 {
				why = args[1]
			}
			return a.runCancel(c.Context(), args[0], why)
		},
	}
}

func (a *app) runCancel(ctx context.Context, id, why string) error {
	conn, _, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t, err := readTask(ctx, conn, id)
	if err != nil {
		return err
	}
	if _, err := conn.Do(ctx, "", company.Cancel{Task: t.ID, Why: why}); err != nil {
		return err
	}
	if t, err = readTask(ctx, conn, id); err != nil {
		return err
	}
	return a.printOutcome(conn, t, map[string]any{}, string(t.ID)+" is cancelled")
}
