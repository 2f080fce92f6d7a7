package foreground

import (
	"context"
	"slices"
	"sync"

	"company/internal/api/client"
	"company/internal/present/feed"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
	"company/internal/upkeep/notify"
)

// StartBell rings the bell of the terminal when something needs the president, if notify.by contains bell. Call stop
// to end it.
func StartBell(ctx context.Context, ent *officeaccess.Entrance, items notify.Feed) (stop func()) {
	if !terminalio.IsTerminal(ent.Console.Err) {
		return func() {}
	}
	paths, err := ent.FindOffice()
	if err != nil {
		return func() {}
	}
	loaded, err := ent.LoadConfig(ctx, paths)
	if err != nil || !slices.Contains(loaded.Config.Notify.By, "bell") {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	loop := notify.Loop{Ways: []notify.Way{notify.Bell{Terminal: ent.Console.Err}}, Feed: items,
		Link: func() string { return "" }, Report: func(string, error) {}}
	var ringing sync.WaitGroup
	ringing.Go(func() { _ = loop.Run(ctx) }) // it ends with the feed
	return func() { cancel(); ringing.Wait() }
}

// newItems is the feed of an office from an event on.
type newItems struct {
	conn *client.Office
	from uint64
}

// FollowNew calls fn for the items.
func (n newItems) FollowNew(ctx context.Context, fn func(feed.Item) error) error {
	return n.conn.Follow(ctx, feed.Range{From: n.from}, fn)
}
