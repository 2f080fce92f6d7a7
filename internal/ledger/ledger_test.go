package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/hosttest"

	"pgregory.net/rapid"
)

// Feature: ledger, Property 1: Append and Read
//
// TestAppendReadIsIdentity appends whatever can be said, one command after
// the other, and reads it back through both handles and from any point on
// (STA-6, STA-15).
func TestAppendReadIsIdentity(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine writes and reads a hundred histories")
	b := setup(t)
	l := b.open(t)
	var model []company.Event
	data := rapid.OneOf(
		rapid.Just(json.RawMessage(nil)),
		rapid.Map(rapid.MapOfN(rapid.String(), rapid.Float64(), 0, 3), func(m map[string]float64) json.RawMessage {
			text, err := json.MarshalIndent(m, " ", "\t")
			if err != nil {
				panic(err)
			}
			return text
		}),
		rapid.Map(rapid.String(), func(s string) json.RawMessage {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err)
			}
			return text
		}))
	drafts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) company.Event {
		return company.Event{
			Seq:   rapid.Uint64().Draw(t, "seq"), // overwritten
			Task:  company.TaskID(rapid.SampledFrom([]string{"", "t1", "t12"}).Draw(t, "task")),
			Run:   company.RunID(rapid.SampledFrom([]string{"", "t12-03.2"}).Draw(t, "run")),
			Actor: rapid.OneOf(rapid.String(), rapid.Just("bad utf-8 \xff\xed\xa0\x80<&>\u2028")).Draw(t, "actor"),
			Kind:  rapid.String().Draw(t, "kind"), Cause: rapid.String().Draw(t, "cause"),
			Data: data.Draw(t, "data"),
		}
	}), 1, 5)
	commands := 0
	rapid.Check(t, func(rt *rapid.T) {
		commands++
		now := noon.Add(time.Duration(rapid.Int64Range(0, 1e18).Draw(rt, "now")))
		events, err := l.Append(b.ctx, ledger.Command{ID: fmt.Sprint("c", commands)}, now, drafts.Draw(rt, "drafts"))
		must(t, err)
		for _, e := range events {
			if !e.Time.Equal(now) || e.Time.Location() != time.UTC {
				rt.Fatalf("event time %v, want %v in UTC", e.Time, now)
			}
		}
		model = append(model, events...)
		from := rapid.IntRange(0, len(model)+1).Draw(rt, "from")
		if got, want := readAll(t, b, l, uint64(from)), model[min(max(from, 1)-1, len(model)):]; !same(got, want) {
			rt.Fatalf("from %d:\n got %v\nwant %v", from, got, want)
		}
	})
	requireChain(t, model)
	again := b.open(t)
	if again.Head() != l.Head() || again.Head().Seq != uint64(len(model)) ||
		again.Head().Hash != model[len(model)-1].Hash() {
		t.Fatalf("head %+v, reopened %+v, of %d events", l.Head(), again.Head(), len(model))
	}
	if got := readAll(t, b, again, 0); !same(got, model) {
		t.Fatal("a second handle reads something else")
	}
	must(t, again.Verify(b.ctx))
	enough := 0
	if err := l.Read(b.ctx, 0, func(company.Event) error { enough++; return errStop }); !errors.Is(err, errStop) ||
		enough != 1 {
		t.Fatalf("an error of fn came back as %v after %d calls", err, enough)
	}
}

func same(a, b []company.Event) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

func TestAppendRefusals(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	_, err := l.Append(b.ctx, ledger.Command{ID: ""}, noon, []company.Event{draft("a", 1)})
	requireCode(t, err, company.EInvalid)
	if events, err := l.Append(b.ctx, ledger.Command{ID: "nothing"}, noon, nil); events != nil || err != nil {
		t.Fatalf("no drafts: %v, %v", events, err)
	}
	for name, data := range map[string]any{
		"too large": strings.Repeat("x", bus.MaxRecord), "inexact": uint64(1<<53 + 1),
	} {
		_, err := l.Append(b.ctx, ledger.Command{ID: name}, noon, []company.Event{draft("ok", 1), draft("bad", data)})
		requireCode(t, err, company.EInvalid)
	}
	if head := l.Head(); head != (ledger.Head{}) {
		t.Fatalf("refused commands left %+v", head)
	}
	if got := mustAppend(t, b, l, "c", draft("a", 1)); got[0].Seq != 1 || got[0].Prev != "" {
		t.Fatalf("first event %+v", got[0])
	}
}

// TestRepeatedCommand: the same command gets the events of the first time, in
// every way in which it can be repeated.
func TestRepeatedCommand(t *testing.T) {
	b := setup(t)
	l, other := b.open(t), b.open(t)
	first := mustAppend(t, b, l, "c1", draft("a", 1), draft("b", 2))
	for i, handle := range []*ledger.Ledger{l, other, b.open(t)} {
		got, err := handle.Append(b.ctx, ledger.Command{ID: "c1"}, noon.Add(time.Hour), []company.Event{draft("other", 9)})
		if err != nil || !same(got, first) {
			t.Fatalf("repeat %d: %v, %v; want %v", i, got, err, first)
		}
	}
	second := mustAppend(t, b, l, "c2", draft("c", 3))
	if got := mustAppend(t, b, other, "c2", draft("c", 3)); !same(got, second) {
		t.Fatalf("repeat of the same bytes through a handle that is behind: %v", got)
	}

	b.onAppend = lostAnswer
	third := mustAppend(t, b, l, "c3", draft("d", 4)) // read back
	if got := mustAppend(t, b, l, "c3", draft("d", 4)); !same(got, third) || third[0].Seq != 4 {
		t.Fatalf("after a lost answer: %v, then %v", third, got)
	}
	b.onAppend = lostRequest
	_, err := l.Append(b.ctx, ledger.Command{ID: "c4"}, noon, []company.Event{draft("e", 5)})
	requireCode(t, err, company.EBus)
	mustAppend(t, b, l, "c4", draft("e", 5))

	all := readAll(t, b, l, 0)
	requireChain(t, all)
	if len(all) != 5 {
		t.Fatalf("%d events, want 5", len(all))
	}
}

// TestOneIDForTwoCommands: an id that its sender chose stands for one wish.
func TestOneIDForTwoCommands(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	hire := ledger.Command{ID: "president:1", Wish: "a"}
	first, err := l.Append(b.ctx, hire, noon, []company.Event{draft("a", 1)})
	must(t, err)
	for _, handle := range []*ledger.Ledger{l, b.open(t)} {
		got, err := handle.Earlier(b.ctx, hire)
		if err != nil || !same(got, first) {
			t.Fatalf("the same command: %v, %v; want %v", got, err, first)
		}
		_, err = handle.Earlier(b.ctx, ledger.Command{ID: hire.ID, Wish: "b"})
		requireCode(t, err, company.EConflict)
		_, err = handle.Append(b.ctx, ledger.Command{ID: hire.ID, Wish: "b"}, noon, []company.Event{draft("b", 2)})
		requireCode(t, err, company.EConflict)
		if got, err := handle.Earlier(b.ctx, ledger.Command{ID: "president:2", Wish: "a"}); got != nil || err != nil {
			t.Fatalf("a new id: %v, %v", got, err)
		}
	}
	old := mustAppend(t, b, l, "from before", draft("c", 3)) // it has no wish
	if got, err := l.Earlier(b.ctx, ledger.Command{ID: "from before", Wish: "c"}); err != nil || !same(got, old) {
		t.Fatalf("a command of an older version: %v, %v", got, err)
	}
}

// TestLateArrival: an append whose request was given up arrives after another
// command, or before it; either way one of them is refused.
func TestLateArrival(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	mustAppend(t, b, l, "c1", draft("a", 1))
	var late func() (uint64, error)
	b.onAppend = func(next func() (uint64, error)) (uint64, error) { late = next; return 0, bus.ErrUnknown }
	_, err := l.Append(b.ctx, ledger.Command{ID: "c2"}, noon, []company.Event{draft("b", 2)})
	requireCode(t, err, company.EBus)
	if _, err := late(); err != nil {
		t.Fatal(err)
	}
	_, err = l.Append(b.ctx, ledger.Command{ID: "c3"}, noon, []company.Event{draft("c", 3)})
	requireCode(t, err, company.EConflict)
	if l.Head().Seq != 2 {
		t.Fatalf("head %+v, want event 2", l.Head())
	}

	b.onAppend = func(next func() (uint64, error)) (uint64, error) { late = next; return 0, bus.ErrUnknown }
	_, err = l.Append(b.ctx, ledger.Command{ID: "c4"}, noon, []company.Event{draft("d", 4)})
	requireCode(t, err, company.EBus)
	mustAppend(t, b, l, "c5", draft("e", 5))
	if _, err := late(); !errors.Is(err, bus.ErrConflict) {
		t.Fatalf("late append: %v", err)
	}
	must(t, l.Verify(b.ctx))
	requireChain(t, readAll(t, b, l, 0))
}

// TestConcurrentAppenders: handles that race see EConflict and nothing else,
// and no command is lost or doubled (STA-6).
func TestConcurrentAppenders(t *testing.T) {
	b := setup(t)
	const handles, each = 3, 25
	var wg sync.WaitGroup
	for h := range handles {
		l := b.open(t)
		for g := range 2 { // two goroutines share a handle
			wg.Go(func() {
				for n := 0; n < each; {
					id := fmt.Sprintf("%d/%d/%d", h, g, n)
					_, err := l.Append(b.ctx, ledger.Command{ID: id}, noon, []company.Event{draft("x", id), draft("y", id)})
					switch company.CodeOf(err) {
					case "":
						n++
					case company.EConflict:
					default:
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	l := b.open(t)
	must(t, l.Verify(b.ctx))
	all := readAll(t, b, l, 0)
	requireChain(t, all)
	count := map[string]int{}
	for _, e := range all {
		count[e.Kind+string(e.Data)]++
	}
	if len(count) != handles*2*each*2 || len(all) != len(count) {
		t.Fatalf("%d events, %d distinct; want %d", len(all), len(count), handles*2*each*2)
	}
}

func TestFollow(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	mustAppend(t, b, l, "c1", draft("a", 1), draft("b", 2))
	ctx, cancel := context.WithCancel(b.ctx)
	got := make(chan company.Event)
	ended := make(chan error, 1)
	go func() {
		ended <- l.Follow(ctx, 2, func(e company.Event) error { got <- e; return nil })
	}()
	want := []string{"b", "c", "d", "e"}
	for i, kind := range want {
		switch i {
		case 1:
			mustAppend(t, b, l, "c2", draft("c", 3), draft("d", 4))
		case 3:
			mustAppend(t, b, b.open(t), "c3", draft("e", 5)) // by another handle
		}
		if e := <-got; e.Kind != kind || e.Seq != uint64(i+2) {
			t.Fatalf("followed %+v, want %s", e, kind)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("end of following: %v", err)
	}
	if err := l.Follow(b.ctx, 1, func(company.Event) error { return errStop }); !errors.Is(err, errStop) {
		t.Fatalf("an error of fn came back as %v", err)
	}
}

// Feature: ledger, Property 6: Damage Is Detected
//
// TestDamageIsDetected changes stored records in every way that a disk or a
// hand might: the ledger is refused with the number of the first wrong event.
// Only a missing tail passes, since an append that was never acknowledged
// looks the same; see TestSnapshotWitnessesLoss (ART-9).
func TestDamageIsDetected(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	const records = 20
	first := make([]uint64, records) // number of each record's first event
	for n := range records {
		var drafts []company.Event
		for k := range 1 + n%3 {
			drafts = append(drafts, draft("kind", map[string]any{"n": n, "Text": "é<\n", "k": k}))
		}
		first[n] = mustAppend(t, b, l, fmt.Sprint("command ", n), drafts...)[0].Seq
	}

	rapid.Check(t, func(rt *rapid.T) {
		i := rapid.IntRange(0, records-1).Draw(rt, "record")
		var wrong []uint64 // the events that may be named
		how := rapid.SampledFrom([]string{"flip", "remove", "swap", "repeat", "cut", "insert"}).Draw(rt, "how")
		b.edit = func(all []bus.Message) []bus.Message {
			switch how {
			case "flip":
				at := rapid.IntRange(0, len(all[i].Data)-1).Draw(rt, "byte")
				all[i].Data[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "mask"))
			case "cut":
				all[i].Data = all[i].Data[:rapid.IntRange(0, len(all[i].Data)-1).Draw(rt, "at")]
			case "insert":
				at := rapid.IntRange(0, len(all[i].Data)).Draw(rt, "at")
				all[i].Data = slices.Insert(all[i].Data, at, rapid.SampledFrom([]byte(" \n\t0")).Draw(rt, "what"))
			case "remove":
				i = min(i, records-2)
				all = slices.Delete(all, i, i+1)
			case "swap":
				i = min(i, records-2)
				j := rapid.IntRange(i+1, records-1).Draw(rt, "with")
				all[i].Data, all[j].Data = all[j].Data, all[i].Data
			case "repeat":
				all = slices.Insert(all, i+1, all[i])
			}
			return all
		}
		defer func() { b.edit = nil }()
		all, err := faultyLog{b.Bus.Log(), b.faulty}.all(b.ctx, "ledger") // draws once
		must(t, err)
		b.edit = func([]bus.Message) []bus.Message { return slices.Clone(all) }

		at := first[i]
		if how == "repeat" {
			at = uint64(len(readAllFrom(all[:i+1]))) + 1
		}
		for k := range 3 {
			wrong = append(wrong, at+uint64(k))
		}
		_, err = ledger.Open(b.ctx, b.faulty, ledger.Options{})
		if company.CodeOf(err) != company.ELedger {
			rt.Fatalf("%s at record %d: %v, want %s", how, i, err, company.ELedger)
		}
		if !slices.ContainsFunc(wrong, func(n uint64) bool {
			return strings.Contains(err.Error(), fmt.Sprintf("at event %d:", n))
		}) {
			rt.Fatalf("%s at record %d: %v names none of the events %v", how, i, err, wrong)
		}
		for name, again := range map[string]error{
			"Verify": l.Verify(b.ctx),
			"Read":   l.Read(b.ctx, 0, func(company.Event) error { return nil }),
		} {
			if company.CodeOf(again) != company.ELedger {
				rt.Fatalf("%s: %s says %v", how, name, again)
			}
		}
	})

	b.edit = func(all []bus.Message) []bus.Message { return all[:records-2] }
	short, err := ledger.Open(b.ctx, b.faulty, ledger.Options{})
	must(t, err)
	if want := first[records-2] - 1; short.Head().Seq != want {
		t.Fatalf("without its tail the ledger ends at %d, want %d", short.Head().Seq, want)
	}
	requireCode(t, l.Verify(b.ctx), company.ELedger) // but who knew the tail misses it
}

// TestForeignRecordIsDetected puts a record of another ledger, whole in itself
// and with the right numbers, in the place of ours.
func TestForeignRecordIsDetected(t *testing.T) {
	ours, theirs := setup(t), setup(t)
	for i, b := range []*bench{ours, theirs} {
		l := b.open(t)
		for n := range 4 {
			mustAppend(t, b, l, fmt.Sprint(n), draft("x", i))
		}
	}
	foreign, err := faultyLog{theirs.Bus.Log(), theirs.faulty}.all(theirs.ctx, "ledger")
	must(t, err)
	for at, wrong := range map[int]string{0: "at event 2:", 1: "at event 2:", 3: "at event 4:"} {
		ours.edit = func(all []bus.Message) []bus.Message { all[at].Data = foreign[at].Data; return all }
		_, err := ledger.Open(ours.ctx, ours.faulty, ledger.Options{})
		if company.CodeOf(err) != company.ELedger || !strings.Contains(err.Error(), wrong) {
			t.Fatalf("record %d replaced: %v, want %s %s", at, err, company.ELedger, wrong)
		}
	}
}

// readAllFrom counts events of raw records.
func readAllFrom(all []bus.Message) (events []company.Event) {
	for _, m := range all {
		var rec struct{ Events []company.Event }
		if json.Unmarshal(m.Data, &rec) == nil {
			events = append(events, rec.Events...)
		}
	}
	return events
}
