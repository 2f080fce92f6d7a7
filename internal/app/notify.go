package app

import (
	"context"
	"fmt"
	"slices"

	"company/internal/company"
	"company/internal/lib/secret"
	"company/internal/office/config"
	"company/internal/present/feed"
	"company/internal/upkeep/notify"
)

// wireNotices creates the loop that notifies the president. The bell rings at the terminals of
// clients, which follow the work. It returns EAuth if the webhook's secret is not set.
func (a *App) wireNotices(c config.Notify) error {
	var ways []notify.Way
	for _, name := range slices.Compact(slices.Sorted(slices.Values(c.By))) {
		switch name {
		case "desktop":
			ways = append(ways, notify.Desktop{Environ: a.desktopEnviron()})
		case "webhook":
			key := secret.New(a.envValue(c.WebhookEnv))
			if !key.Set() {
				return company.E(company.EAuth, "cannot send notifications to the webhook").Because(c.WebhookEnv + " is NOT SET").
					Fix("export " + c.WebhookEnv + " with the secret of your webhook, or leave webhook out of notify.by")
			}
			ways = append(ways, notify.Webhook{URL: c.WebhookURL, Secret: key})
		}
	}
	a.notices = notify.Loop{
		Ways: ways,
		Feed: a, Link: a.Address,
		Report: func(way string, err error) {
			a.log.Warn("a notice was not delivered", "way", way, "err", err)
			a.publishItem(
				feed.Item{Kind: "notify", Mark: feed.Failed, Text: fmt.Sprintf("you cannot be told by %s: %v", way, err)})
		},
	}
	return nil
}

// FollowNew calls fn for new items of the feed.
func (a *App) FollowNew(ctx context.Context, fn func(feed.Item) error) error {
	return a.Follow(ctx, feed.Range{From: a.View().Seq + 1}, fn)
}

// desktopEnviron returns the environment of the program that shows a notice. It has the variables
// for the desktop and no keys.
func (a *App) desktopEnviron() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR",
		"DBUS_SESSION_BUS_ADDRESS", "LANG"} {
		if v, ok := a.env(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
