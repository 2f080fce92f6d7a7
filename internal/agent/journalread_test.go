package agent

import (
	"testing"
	"time"

	"company/internal/company"
)

// A run whose later records are gone counts its whole grant as spent, and goes on to its end.
func TestRecordLoss(t *testing.T) {
	whole := newBench(t, resumeScript())
	want := whole.mustRun(t)
	for n := range whole.journal.records {
		replies := whole.journal.prefix(n).count(kindReply)
		b := newBench(t, resumeScript())
		b.blobs = whole.blobs
		b.cfg.Blobs = whole.blobs
		b.journal = whole.journal.prefix(n)
		b.cfg.Journal = b.journal
		past, err := LookBack(t.Context(), b.journal)
		if err != nil {
			t.Fatal(err)
		}
		before := past.Spent
		granted := company.Amount{MicroUSD: before.MicroUSD + 500, Tokens: 7}
		if err := RecordLoss(t.Context(), b.journal, granted, time.Now()); err != nil {
			t.Fatal(err)
		}
		past, err = LookBack(t.Context(), b.journal)
		spent := past.Spent
		if err != nil || spent.MicroUSD != granted.MicroUSD || spent.Tokens != max(7, before.Tokens) {
			t.Fatalf("after record %d: %v is spent, granted %v, %v before: %v", n, spent, granted, before, err)
		}
		out := b.mustRun(t)
		if got := len(whole.model.requests) - replies; len(b.model.requests) != got {
			t.Errorf("after record %d: %d model calls, want %d", n, len(b.model.requests), got)
		}
		if out.End != EndFinal || spoken(out.Messages) != spoken(want.Messages) || out.Spent.MicroUSD < granted.MicroUSD {
			t.Fatalf("after record %d: %s, spent %v:\n%s", n, out.End, out.Spent, spoken(out.Messages))
		}
	}
}
