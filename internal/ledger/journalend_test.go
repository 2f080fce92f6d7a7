package ledger_test

import (
	"testing"

	"company/internal/company"
	"company/internal/ledger"
)

// requireSealed holds a sealed journal to the bus's records, and to a repeat.
func requireSealed(t *testing.T, b *bench, j *ledger.Journal, hash company.Hash) {
	t.Helper()
	again, err := j.Seal(b.ctx)
	must(t, err)
	other := b.open(t)
	fromBus, _, err := other.SealJournal(b.ctx, run)
	must(t, err)
	if hash != again || hash != fromBus {
		t.Fatalf("sealed as %s and %s, and from the bus as %s", hash, again, fromBus)
	}
	_, err = j.Append(b.ctx, "turn", "late")
	requireCode(t, err, company.EStale)
}

// Whatever stands in the journal besides what its holder wrote, and whichever answers
// were lost, is sealed too.
func TestHolderSealsWhatIsThere(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, b *bench, l *ledger.Ledger) *ledger.Journal{
		"an earlier holder's records, read": func(t *testing.T, b *bench, l *ledger.Ledger) *ledger.Journal {
			mustRecord(t, b, mustOpen(t, b, l, run, 3), "turn", 1)
			_, _, err := l.SealJournal(b.ctx, run)
			must(t, err)
			j := mustOpen(t, b, l, run, 5)
			must(t, j.Read(b.ctx, func(ledger.Record) error { return nil }))
			mustRecord(t, b, j, "turn", 2)
			return j
		},
		"an earlier holder's records, not read": func(t *testing.T, b *bench, l *ledger.Ledger) *ledger.Journal {
			mustRecord(t, b, mustOpen(t, b, l, run, 3), "turn", 1)
			return mustOpen(t, b, l, run, 5)
		},
		"an answer that was lost": func(t *testing.T, b *bench, l *ledger.Ledger) *ledger.Journal {
			j := mustOpen(t, b, l, run, 5)
			b.onAppend = lostAnswer
			mustRecord(t, b, j, "turn", 1)
			mustRecord(t, b, j, "turn", 2)
			return j
		},
		"an answer to the seal that was lost": func(t *testing.T, b *bench, l *ledger.Ledger) *ledger.Journal {
			j := mustOpen(t, b, l, run, 5)
			mustRecord(t, b, j, "turn", 1)
			b.onAppend = lostAnswer
			return j
		},
		"a seal that did not arrive": func(t *testing.T, b *bench, l *ledger.Ledger) *ledger.Journal {
			j := mustOpen(t, b, l, run, 5)
			mustRecord(t, b, j, "turn", 1)
			b.onAppend = lostRequest
			return j
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			l := b.open(t)
			j := do(t, b, l)
			hash, err := j.Seal(b.ctx)
			must(t, err)
			requireSealed(t, b, j, hash)
			must(t, j.Purge(b.ctx))
		})
	}
}

// A holder whose run has gone to another one seals nothing of it.
func TestOldHolderSealsNothing(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	old := mustOpen(t, b, l, run, 3)
	mustRecord(t, b, mustOpen(t, b, l, run, 5), "turn", 1)
	for range 2 {
		_, err := old.Seal(b.ctx)
		requireCode(t, err, company.EStale)
	}
	_, err := old.Append(b.ctx, "turn", 2)
	requireCode(t, err, company.EStale)
	requireJournal(t, b, l, run, `3:opened`, `5:opened`, `5:turn1`)
}
