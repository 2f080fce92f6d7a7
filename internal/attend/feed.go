package attend

import (
	"context"
	"time"

	"company/internal/client"
	"company/internal/company"
	"company/internal/console"
	"company/internal/entrance"
	"company/internal/feed"
	"company/internal/office"
)

// FeedOptions say what of an office's feed is printed.
type FeedOptions struct {
	Task   company.TaskID // empty: of all
	Follow bool           // go on with what happens
	From   uint64         // number of the first event; 0 and 1: the first of all
	Last   int            // how many items at most of what has happened; 0: all
	Since  time.Time      // items before it are left out; zero: none
}

// Feed prints what has happened in an office and, where it is to follow, what happens
// until ctx ends, over the ends of companies and the starts of others. It then returns the
// cause of ctx. To follow an office that was never opened is ENotFound.
func Feed(ctx context.Context, ent *entrance.Entrance, o FeedOptions) error {
	seen := max(1, o.From) - 1
	for {
		conn, paths, err := ent.ConnectOnce(ctx)
		if err == nil {
			err = feedOnce(ctx, ent.Console, conn, o, &seen)
			conn.Close()
			if conn.IsMissing() && err == nil {
				if o.Follow {
					return company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" opens one`)
				}
				ent.Console.PrintNote(`nothing has happened here yet: company submit "…" begins`)
			}
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !o.Follow:
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
func feedOnce(ctx context.Context, con *console.Console, conn *client.Office, o FeedOptions, seen *uint64) error {
	var named []company.TaskID
	if o.Task != "" {
		named = append(named, o.Task)
	}
	s, err := conn.Work(ctx, named...)
	if err != nil {
		return err
	}
	stay := o.Follow && conn.IsServed()
	if !stay && *seen >= s.Seq {
		return nil
	}
	out := &feed.Tail{Out: con.Out, Most: o.Last, Holds: *seen < s.Seq && (o.Last > 0 || !stay && con.HasPager())}
	display := con.NewFeedDisplay(out, con.Out)
	show := func(it feed.Item) error {
		*seen = max(*seen, it.Seq)
		if it.Time.Before(o.Since) {
			return nil
		}
		return printItem(con, display, it)
	}
	if *seen < s.Seq {
		if err := conn.Follow(ctx, feed.Range{From: *seen + 1, Until: s.Seq, Task: o.Task}, show); err != nil {
			return err
		}
		*seen = s.Seq
	}
	if text := out.Release(); text != "" {
		if err := con.PrintLong(text); err != nil {
			return err
		}
	}
	if !stay {
		return nil
	}
	return conn.Follow(ctx, feed.Range{From: *seen + 1, Task: o.Task}, show)
}

func printItem(con *console.Console, display *feed.Display, it feed.Item) error {
	if con.Output == "json" {
		return con.PrintJSON(display.Out, it)
	}
	_, err := display.Show(it)
	return err
}
