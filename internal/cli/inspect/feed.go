package inspect

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/office"
	"company/internal/retry"
	"company/internal/view"
)

// errAllShown ends a feed that has shown what there is.
var errAllShown = errors.New("cli: all is shown")

type feedOptions struct {
	task   company.TaskID
	follow bool
	from   uint64
}

// NewFeed makes company feed.
func NewFeed(env *command.Environment) *cobra.Command {
	var o feedOptions
	c := &cobra.Command{
		Use: "feed [task]", Short: "Show what happened, and what happens",
		Example: "  company feed\n  company feed t12 --follow\n  company feed --from 120 -o json",
		Long: `Shows the events of the office, or of one task, from the first on: one line
each (with -o json, one object each). --follow goes on with what happens until
an interrupt, over the ends of companies and the starts of others.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.task = company.TaskID(args[0])
				if !o.task.Valid() {
					_, err := view.FindTask(nil, args[0])
					return err
				}
			}
			return runFeed(c.Context(), env, o)
		},
	}
	c.Flags().BoolVar(&o.follow, "follow", false, "go on with what happens")
	c.Flags().Uint64Var(&o.from, "from", 1, "number of the first event")
	return c
}

func runFeed(ctx context.Context, env *command.Environment, o feedOptions) error {
	seen := max(1, o.from) - 1
	for {
		conn, paths, err := env.ConnectOffice(ctx)
		if err == nil {
			err = feedOnce(ctx, env, conn, o, &seen)
			conn.Close()
			if conn.IsMissing() && err == nil {
				if o.follow {
					return company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" opens one`)
				}
				env.PrintNote(`nothing has happened here yet: company submit "…" begins`)
			}
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !o.follow:
			return err
		case err != nil && !command.IsFeedCut(err) && company.CodeOf(err) != company.EHeld:
			return err
		}
		if err := waitForOffice(ctx, paths); err != nil {
			return err
		}
	}
}

// feedOnce shows the events after seen that are there. Where a company is at
// work and it is to follow, it goes on until that company ends (io.EOF).
func feedOnce(ctx context.Context, env *command.Environment, conn *client.Office, o feedOptions, seen *uint64) error {
	var named []company.TaskID
	if o.task != "" {
		named = append(named, o.task)
	}
	s, err := command.ReadWork(ctx, conn, named...)
	if err != nil {
		return err
	}
	stay := o.follow && conn.IsServed()
	if !stay && *seen >= s.Seq {
		return nil
	}
	err = conn.Follow(ctx, *seen+1, func(it feed.Item) error {
		*seen = max(*seen, it.Seq)
		if (it.Seq != 0 || stay) && (o.task == "" || it.Task == o.task) {
			if _, err := env.PrintItem(env.Out, it); err != nil {
				return err
			}
		}
		if !stay && it.Seq >= s.Seq {
			return errAllShown
		}
		return nil
	})
	if errors.Is(err, errAllShown) {
		return nil
	}
	return err
}

// waitForOffice waits until a process takes the office, or has had it. The
// process that takes it signs the lock's file.
func waitForOffice(ctx context.Context, p office.Paths) error {
	lock, _, err := office.TryLock(p)
	switch {
	case err != nil:
		return err
	case lock == nil:
		return retry.Sleep(ctx, 100*time.Millisecond)
	}
	if err := lock.Release(); err != nil {
		return err
	}
	at := office.LastLocked(p)
	return retry.Until(ctx, retry.Every(250*time.Millisecond), func() (bool, error) { return !office.LastLocked(p).Equal(at), nil })
}
