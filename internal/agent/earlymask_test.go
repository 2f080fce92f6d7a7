package agent

import (
	"testing"

	"company/internal/lib/hosttest"
)

// Old results leave a conversation long before its context is full, in large steps: no
// request holds much more than the prompt, the fresh part and one step (WRK-9).
func TestOldResultsAreClearedEarly(t *testing.T) {
	hosttest.NotRaced(t, "a long conversation; shorter ones are raced")
	b := longBench(t, 200, 128_000, 5000)
	b.mustRun(t)
	sent, most := 0, 0
	for _, req := range b.model.requests {
		requireSane(t, req)
		n := requestTokens(req)
		sent, most = sent+n, max(most, n)
	}
	masks := b.journal.count(kindMask)
	t.Logf("%d requests, %d tokens, %d at most, %d steps", len(b.model.requests), sent, most, masks)
	// Texts of the model and calls are never cleared: 200 of some 150 tokens.
	if bound := freshTokens + stepTokens + 200*170; most > bound { // of 102,400 that have room
		t.Errorf("a request has %d tokens, want %d", most, bound)
	}
	if masks == 0 || masks > 25 {
		t.Errorf("%d steps: each costs a server's cache", masks)
	}
}

// The head of a conversation of 300 turns has 4 MiB at most: its messages, its transcript
// and its books.
func TestHeadOfALongConversation(t *testing.T) {
	hosttest.NotRaced(t, "it measures memory")
	w := runLong(t, 300, 128_000, 5000, false)
	held := int64(w.heap[1]) - int64(w.heap[0])
	t.Logf("%.2f MiB are held at the end", float64(held)/(1<<20))
	if held > 4<<20 {
		t.Errorf("%d bytes are held, want %d", held, 4<<20)
	}
}
