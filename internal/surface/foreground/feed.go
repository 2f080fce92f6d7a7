package foreground

import (
	"context"
	"time"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
)

// FeedOptions select the events of an office's feed to print.
type FeedOptions struct {
	Task   company.TaskID // empty means all tasks
	Run    company.RunID  // of the task; empty means all runs
	Kinds  []string       // kinds of events; empty means everything
	Follow bool           // keep printing new events
	From   uint64         // number of the first event (0 and 1 mean from the start)
	Last   int            // maximum number of past items (0 means no limit)
	Since  time.Time      // skip older items; the zero time means no limit
}

func (o FeedOptions) selectRange(from, until uint64) feed.Range {
	return feed.Range{From: from, Until: until, Task: o.Task, Run: o.Run, Kinds: o.Kinds}
}

// Feed prints the events of an office. With Follow it keeps printing across restarts of the
// company until ctx ends, and returns the cause of ctx. Following an office that was never opened
// returns ENotFound.
func Feed(ctx context.Context, ent *officeaccess.Entrance, feedOptions FeedOptions) error {
	seen := max(1, feedOptions.From) - 1
	for {
		conn, paths, err := ent.ConnectOnce(ctx)
		if err == nil {
			// This process is not to have the office for long.
			stay := feedOptions.Follow && !conn.IsMissing() && !ent.HasOffice()
			err = feedOnce(ctx, ent.Console, conn, feedOptions, stay, &seen)
			conn.Close()
			if conn.IsMissing() && err == nil {
				if feedOptions.Follow {
					return company.E(company.ENotFound, "there is no office here yet").Fix(`company submit "…" creates one`)
				}
				ent.Console.PrintNote(`nothing has happened here yet: company submit "…" begins`)
			}
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !feedOptions.Follow:
			return err
		case err != nil && !client.IsFeedCut(err) && company.CodeOf(err) != company.EHeld:
			return err
		}
		if err := ent.AwaitHolder(ctx, paths); err != nil {
			return err
		}
	}
}

// feedOnce prints the existing events after seen. With stay it continues until the process that has
// the office ends (io.EOF).
func feedOnce(
	ctx context.Context, con *terminalio.Console, conn *client.Office, feedOptions FeedOptions, stay bool, seen *uint64,
) error {
	var named []company.TaskID
	if feedOptions.Task != "" {
		named = append(named, feedOptions.Task)
	}
	work, err := conn.Work(ctx, named...)
	if err != nil {
		return err
	}
	if !stay && *seen >= work.Seq {
		return nil
	}
	out := &feed.Tail{Out: con.Out, Most: feedOptions.Last,
		Holds: *seen < work.Seq && (feedOptions.Last > 0 || !stay && con.HasPager())}
	display := con.NewFeedDisplay(out, con.Out)
	show := func(item feed.Item) error {
		*seen = max(*seen, item.Seq)
		if item.Time.Before(feedOptions.Since) {
			return nil
		}
		return printItem(con, display, item)
	}
	if *seen < work.Seq {
		if err := conn.Follow(ctx, feedOptions.selectRange(*seen+1, work.Seq), show); err != nil {
			return err
		}
		*seen = work.Seq
	}
	if text := out.Release(); text != "" {
		if err := con.PrintLong(text); err != nil {
			return err
		}
	}
	if !stay {
		return nil
	}
	return conn.Follow(ctx, feedOptions.selectRange(*seen+1, 0), show)
}

func printItem(con *terminalio.Console, display *feed.Display, item feed.Item) error {
	if con.Output == "json" {
		return con.PrintJSON(display.Out, item)
	}
	_, err := display.Show(item)
	return err
}
