package ledger_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
)

// counted counts the calls of a bus.
type counted struct {
	bus.Bus
	reads, lasts, purges atomic.Int64
}

func (c *counted) Log() bus.Log { return countedLog{c.Bus.Log(), c} }

type countedLog struct {
	bus.Log
	c *counted
}

func (l countedLog) Read(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	l.c.reads.Add(1)
	return l.Log.Read(ctx, subject, from, fn)
}

func (l countedLog) Last(ctx context.Context, subject string) (bus.Message, error) {
	l.c.lasts.Add(1)
	return l.Log.Last(ctx, subject)
}

func (l countedLog) Purge(ctx context.Context, subject string) error {
	l.c.purges.Add(1)
	return l.Log.Purge(ctx, subject)
}

// A holder reads, seals and purges the journal that it has begun without a read of the
// bus; the sealed text is that of the bus, byte for byte.
func TestHolderKnowsItsJournal(t *testing.T) {
	b := setup(t)
	c := &counted{Bus: b.Bus}
	l, err := ledger.Open(b.ctx, c, b.options())
	must(t, err)
	j := mustOpen(t, b, l, run, 5)
	for k := range 20 {
		mustRecord(t, b, j, "turn", strings.Repeat("<&>é\n", k))
	}
	lasts, reads := c.lasts.Load(), c.reads.Load()
	n := 0
	for range 3 {
		must(t, j.Read(b.ctx, func(ledger.Record) error { n++; return nil }))
	}
	hash, err := j.Seal(b.ctx)
	must(t, err)
	if n != 3*21 || c.lasts.Load() != lasts || c.reads.Load() != reads {
		t.Fatalf("%d records; the bus was asked %d and %d times", n, c.lasts.Load()-lasts, c.reads.Load()-reads)
	}
	requireSealed(t, b, j, hash)
	must(t, j.Purge(b.ctx))
	if c.purges.Load() != 1 || len(journalOf(t, b, l, run)) != 0 {
		t.Fatal("its records are there after the purge")
	}
}

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
			var told []company.Hash
			hash, err := j.SealBeside(b.ctx, func(h company.Hash) error {
				told = append(told, h)
				return nil
			})
			must(t, err)
			if len(told) == 0 || len(told) > 2 || told[len(told)-1] != hash {
				t.Errorf("sealed into %s, what is stored beside it was given %v", hash, told)
			}
			requireSealed(t, b, j, hash)
			must(t, j.Purge(b.ctx))
		})
	}
}

// What is stored beside a seal fails alone: the journal is sealed the next time, into the
// blob that was named.
func TestSealAfterAFailureBesideIt(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	j := mustOpen(t, b, l, run, 5)
	mustRecord(t, b, j, "turn", 1)
	full := errors.New("the disk is full")
	var first company.Hash
	if hash, err := j.SealBeside(b.ctx, func(h company.Hash) error { first = h; return full }); !errors.Is(err, full) ||
		hash != "" {
		t.Fatalf("%s, %v", hash, err)
	}
	_, err := j.Append(b.ctx, "turn", 2)
	requireCode(t, err, company.EStale)
	for range 2 {
		hash, err := j.SealBeside(b.ctx, func(h company.Hash) error {
			if h != first {
				t.Errorf("another hash, %s and not %s", h, first)
			}
			return nil
		})
		if err != nil || hash != first {
			t.Fatalf("%s, %v", hash, err)
		}
	}
	requireSealed(t, b, j, first)
	must(t, j.Purge(b.ctx))
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
