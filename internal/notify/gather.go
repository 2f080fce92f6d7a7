package notify

import (
	"slices"
	"time"

	"company/internal/feed"
)

const (
	// settleTime is how long the first notice waits for others: what one event causes
	// comes within moments.
	settleTime = 2 * time.Second
	// restTime is the least time between two messages.
	restTime = time.Minute
	// maxPending bounds the notices that wait. The oldest go first: the newest is what a
	// person looks for.
	maxPending = 100
)

// gatherer gathers notices into messages. It reads no clock, and is not for concurrent use.
type gatherer struct {
	pending []Notice
	since   time.Time // when the first of pending came
	sent    time.Time // the last message; zero: none yet
}

// takeItem takes a line of the feed that came at a moment.
func (g *gatherer) takeItem(it feed.Item, now time.Time) {
	g.pending = slices.DeleteFunc(g.pending, func(n Notice) bool { return endsReason(it, n) })
	n, ok := noticeOf(it)
	if !ok {
		return
	}
	if len(g.pending) == 0 {
		g.since = now
	}
	g.pending = append(g.pending, n)
	if over := len(g.pending) - maxPending; over > 0 {
		g.pending = slices.Delete(g.pending, 0, over)
	}
}

// nextDue is when the next message is to go; ok is false where nothing is pending.
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

// takePending gives the notices of the message that goes now.
func (g *gatherer) takePending(now time.Time) []Notice {
	out := g.pending
	g.pending, g.sent = nil, now
	return out
}
