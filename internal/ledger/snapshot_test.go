package ledger_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/hosttest"

	"pgregory.net/rapid"
)

// fold is a state that depends on every event and their order.
func fold(state []byte, e company.Event) []byte {
	h, err := company.HashOf([]string{string(state), string(e.Hash())})
	if err != nil {
		panic(err)
	}
	return []byte(h)
}

// writesText writes a state that is a text.
func writesText(state string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, state)
		return err
	}
}

// replay is what a start does: the snapshot if there is one, then the tail.
func replay(t testing.TB, b *bench, l *ledger.Ledger) (state []byte, from uint64) {
	t.Helper()
	seq, state, _, err := l.LoadSnapshot(b.ctx)
	must(t, err)
	must(t, l.Read(b.ctx, seq+1, func(e company.Event) error { state = fold(state, e); return nil }))
	return state, seq
}

// Feature: ledger, Property 7: Snapshot and Tail
//
// TestSnapshotAndTailIsFullReplay grows one ledger, with snapshots and
// restarts in between, and compares each start with the whole history (STA-3).
func TestSnapshotAndTailIsFullReplay(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine writes and reads a hundred histories")
	b := setup(t)
	l := b.open(t)
	var whole []byte // folded from the events as they came
	commands, snapshots := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 6).Draw(rt, "appends") {
			commands++
			var drafts []company.Event
			for range rapid.IntRange(1, 3).Draw(rt, "events") {
				drafts = append(drafts, draft("x", commands))
			}
			for _, e := range mustAppend(t, b, l, fmt.Sprint(commands), drafts...) {
				whole = fold(whole, e)
			}
		}
		if rapid.Bool().Draw(rt, "save") {
			// Of the head, or of a point that the ledger has left behind.
			at, state := l.Head(), whole
			if rapid.Bool().Draw(rt, "behind") {
				commands++
				for _, e := range mustAppend(t, b, l, fmt.Sprint(commands), draft("x", commands)) {
					whole = fold(whole, e)
				}
			}
			must(t, l.SaveSnapshot(b.ctx, at, writesText(string(state))))
			snapshots++
		}
		if rapid.Bool().Draw(rt, "restart") {
			l = b.open(t)
		}
		again := b.open(t)
		state, from := replay(t, b, again)
		if string(state) != string(whole) || again.Head() != l.Head() {
			rt.Fatalf("from %d: state %s, want %s; head %+v, want %+v", from, state, whole, again.Head(), l.Head())
		}
		if snapshots > 0 && from == 0 {
			rt.Fatal("the snapshot was not used")
		}
		// Commands from before the snapshot are known, and their events found.
		n := rapid.IntRange(1, commands).Draw(rt, "repeated")
		events := mustAppend(t, b, again, fmt.Sprint(n), draft("never stored", 0))
		if len(events) == 0 || string(events[0].Data) != fmt.Sprint(n) {
			rt.Fatalf("repeat of command %d: %v", n, events)
		}
	})
	must(t, l.Verify(b.ctx))
	requireChain(t, readAll(t, b, b.open(t), 1))
}

// snapshotted is a ledger of ten commands with a snapshot at the seventh.
func snapshotted(t *testing.T) *bench {
	b := setup(t)
	l := b.open(t)
	for n := range 10 {
		mustAppend(t, b, l, fmt.Sprint(n), draft("x", n))
		if n == 6 {
			must(t, l.SaveSnapshot(b.ctx, l.Head(), writesText("state\nat 7")))
		}
	}
	return b
}

func requireSnapshot(t *testing.T, b *bench, want bool) {
	t.Helper()
	l := b.open(t)
	seq, state, ok, err := l.LoadSnapshot(b.ctx)
	if err != nil || ok != want || ok && (seq != 7 || string(state) != "state\nat 7") ||
		!ok && (seq != 0 || state != nil) {
		t.Fatalf("snapshot at %d, %q, %v, %v; want it %v", seq, state, ok, err, want)
	}
	if l.Head().Seq != 10 {
		t.Fatalf("head %+v", l.Head())
	}
}

// Feature: ledger, Property 8: Damaged Snapshots Are Ignored
//
// TestDamagedSnapshotIsIgnored flips each byte of the file, and cuts it short (ART-9).
func TestDamagedSnapshotIsIgnored(t *testing.T) {
	b := snapshotted(t)
	requireSnapshot(t, b, true)
	file := b.snapshotFile()
	good, err := os.ReadFile(file)
	must(t, err)
	rapid.Check(t, func(rt *rapid.T) {
		bad := append([]byte(nil), good...)
		at := rapid.IntRange(0, len(bad)-1).Draw(rt, "at")
		if rapid.Bool().Draw(rt, "cut") {
			bad = bad[:at]
		} else {
			bad[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "mask"))
		}
		must(t, os.WriteFile(file, bad, 0o600))
		requireSnapshot(t, b, false)
	})
	must(t, os.WriteFile(file, good, 0o600))
	requireSnapshot(t, b, true)
	must(t, os.Remove(file))
	requireSnapshot(t, b, false)
}

// TestForeignSnapshotIsIgnored: whole in itself, but of another ledger, which
// is longer; that is not evidence of loss in this one.
func TestForeignSnapshotIsIgnored(t *testing.T) {
	b, other := snapshotted(t), setup(t)
	l := other.open(t)
	for n := range 12 {
		mustAppend(t, other, l, fmt.Sprint(n), draft("other", n))
	}
	must(t, l.SaveSnapshot(other.ctx, l.Head(), writesText("foreign")))
	foreign, err := os.ReadFile(other.snapshotFile())
	must(t, err)
	must(t, os.WriteFile(b.snapshotFile(), foreign, 0o600))
	requireSnapshot(t, b, false)
}

// TestSnapshotWitnessesLoss: a ledger that ends before its own snapshot has
// lost acknowledged events, which its chain alone cannot show.
func TestSnapshotWitnessesLoss(t *testing.T) {
	b := snapshotted(t)
	for _, left := range []int{0, 1, 6} {
		b.edit = func(all []bus.Message) []bus.Message { return all[:left] }
		_, err := ledger.Open(b.ctx, b.faulty, b.options())
		requireCode(t, err, company.ELedger)
	}
	b.edit = func(all []bus.Message) []bus.Message { return all[:7] }
	l := b.open(t)
	if l.Head().Seq != 7 {
		t.Fatalf("head %+v", l.Head())
	}
	// Damage in what the snapshot covers is found where it is read.
	b.edit = func(all []bus.Message) []bus.Message { all[2].Data[9] ^= 1; return all }
	l = b.open(t)
	requireCode(t, l.Verify(b.ctx), company.ELedger)
	requireCode(t, l.Read(b.ctx, 1, func(company.Event) error { return nil }), company.ELedger)
	// At the snapshot itself it voids the snapshot, and the replay names it.
	b.edit = func(all []bus.Message) []bus.Message { all[6].Data[9] ^= 1; return all }
	_, err := ledger.Open(b.ctx, b.faulty, b.options())
	requireCode(t, err, company.ELedger)
}

func TestSaveSnapshotRefusals(t *testing.T) {
	b := snapshotted(t)
	l := b.open(t)
	head := l.Head()
	for what, at := range map[string]ledger.Head{
		"another hash":    {Seq: head.Seq, Hash: "wrong", LogSeq: head.LogSeq},
		"a later event":   {Seq: head.Seq + 1, Hash: head.Hash, LogSeq: head.LogSeq + 1},
		"another record":  {Seq: head.Seq, Hash: head.Hash, LogSeq: head.LogSeq - 1},
		"nothing at all":  {},
		"an empty ledger": {LogSeq: 1},
	} {
		if err := l.SaveSnapshot(b.ctx, at, writesText("")); company.CodeOf(err) != company.EInvalid {
			t.Errorf("a snapshot of %s: %v", what, err)
		}
	}
	without, err := ledger.Open(b.ctx, b.faulty, ledger.Options{})
	must(t, err)
	requireCode(t, without.SaveSnapshot(b.ctx, head, writesText("")), company.EInvalid)
	if _, _, ok, err := without.LoadSnapshot(b.ctx); ok || err != nil {
		t.Fatalf("a snapshot from nowhere: %v, %v", ok, err)
	}
	requireSnapshot(t, b, true) // what was refused changed nothing
	var list []json.RawMessage
	must(t, l.Read(b.ctx, 8, func(e company.Event) error { list = append(list, e.Data); return nil }))
	if len(list) != 3 {
		t.Fatalf("%d events after the snapshot", len(list))
	}
}

// A kill while a snapshot is written leaves a file as large as the state. The next snapshot removes it.
func TestSnapshotLeftByAKill(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	mustAppend(t, b, l, "1", draft("x", 1))
	left := filepath.Join(b.dir, ".snapshot.0123456789abcdef")
	foreign := filepath.Join(b.dir, ".snapshot.mine")
	for _, file := range []string{left, foreign} {
		must(t, os.WriteFile(file, []byte("half"), 0o600))
	}
	must(t, l.SaveSnapshot(b.ctx, l.Head(), writesText("x")))
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("what a kill left is there: %v", err)
	}
	if _, err := os.Lstat(foreign); err != nil {
		t.Error(err)
	}
}
