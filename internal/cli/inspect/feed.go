package inspect

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/office"
	"company/internal/view"
)

type feedOptions struct {
	task   company.TaskID
	follow bool
	from   uint64
	last   int       // how many items at most of what has happened; 0: all
	since  time.Time // items before it are left out
}

// NewFeed makes company feed.
func NewFeed(env *command.Environment) *cobra.Command {
	var o feedOptions
	var since string
	c := &cobra.Command{
		Use: "feed [task]", Short: "Show what happened, and what happens",
		Example: "  company feed\n  company feed t12 --follow\n  company feed -n 20\n  company feed --since 2h -v\n  company feed --from 120 -o json",
		Long: `Shows the events of the office, or of one task, from the first on (with -o json,
one object each). --follow goes on with what happens until an interrupt, over
the ends of companies and the starts of others.

` + feed.Legend,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.task = company.TaskID(args[0])
				if !o.task.Valid() {
					_, err := view.FindTask(nil, args[0])
					return err
				}
			}
			if o.last < 0 {
				return company.E(company.EUsage, "-n needs a number from 1 on").Fix("-n 20")
			}
			var err error
			if o.since, err = clock.ParseSince(since, env.WallTime()); err != nil {
				return err
			}
			return runFeed(c.Context(), env, o)
		},
	}
	c.Flags().BoolVar(&o.follow, "follow", false, "go on with what happens")
	c.Flags().Uint64Var(&o.from, "from", 1, "number of the first event")
	c.Flags().IntVarP(&o.last, "last", "n", 0, "only the last so many of what has happened (default: all)")
	c.Flags().StringVar(&since, "since", "", "only what happened since: 30m, 2h, 3d, 14:30, 2026-03-01, or an RFC 3339 time")
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
		case err != nil && !client.IsFeedCut(err) && company.CodeOf(err) != company.EHeld:
			return err
		}
		if err := office.AwaitHolder(ctx, paths); err != nil {
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
	s, err := conn.Work(ctx, named...)
	if err != nil {
		return err
	}
	stay := o.follow && conn.IsServed()
	if !stay && *seen >= s.Seq {
		return nil
	}
	out := &feed.Tail{Out: env.Out, Most: o.last, Holds: *seen < s.Seq && (o.last > 0 || !stay && env.HasPager())}
	display := env.NewFeedDisplay(out, env.Out)
	show := func(it feed.Item) error {
		*seen = max(*seen, it.Seq)
		if it.Time.Before(o.since) {
			return nil
		}
		return printItem(env, display, it)
	}
	if *seen < s.Seq {
		if err := conn.Follow(ctx, feed.Range{From: *seen + 1, Until: s.Seq, Task: o.task}, show); err != nil {
			return err
		}
		*seen = s.Seq
	}
	if text := out.Release(); text != "" {
		if err := env.PrintLong(text); err != nil {
			return err
		}
	}
	if !stay {
		return nil
	}
	return conn.Follow(ctx, feed.Range{From: *seen + 1, Task: o.task}, show)
}

func printItem(env *command.Environment, display *feed.Display, it feed.Item) error {
	if env.Output == "json" {
		return env.PrintJSON(display.Out, it)
	}
	_, err := display.Show(it)
	return err
}
