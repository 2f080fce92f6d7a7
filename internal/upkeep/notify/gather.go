package notify

import (
	"slices"
	"time"

	"company/internal/present/feed"
)

const (
	// settleTime is how long the first notice waits for others, because the consequences of one event arrive within
	// moments.
	settleTime = 2 * time.Second
	// restTime is the minimum time between two messages.
	restTime = time.Minute
	// maxPending limits the pending notices. The oldest are dropped, because a person looks for the newest.
	maxPending = 100
)

// gatherer collects notices into messages. It reads no clock, and is not safe for concurrent use.
type gatherer struct {
	pending []Notice
	since   time.Time // arrival of the first pending notice
	sent    time.Time // time of the last message; zero if there was none
}

// takeItem processes a line of the feed that arrived at a time.
func (g *gatherer) takeItem(item feed.Item, now time.Time) {
	g.pending = slices.DeleteFunc(g.pending, func(n Notice) bool { return endsReason(item, n) })
	notice, ok := noticeOf(item)
	if !ok {
		return
	}
	if len(g.pending) == 0 {
		g.since = now
	}
	g.pending = append(g.pending, notice)
	if over := len(g.pending) - maxPending; over > 0 {
		g.pending = slices.Delete(g.pending, 0, over)
	}
}

// nextDue returns when the next message is due. ok is false if no notice is pending.
func (g *gatherer) nextDue() (at time.Time, ok bool) {
	if len(g.pending) == 0 {
		return time.Time{}, false
	}
	at = g.since.Add(settleTime)
	if rested := g.sent.Add(restTime); !g.sent.IsZero() && rested.After(at) {
		at = rested
	}
	return at, true
}

// takePending returns the notices for the message that is sent now.
func (g *gatherer) takePending(now time.Time) []Notice {
	out := g.pending
	g.pending, g.sent = nil, now
	return out
}
