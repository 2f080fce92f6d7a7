package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/company/jcs"
	"company/internal/ledger"
	"company/internal/lib/hosttest"

	"pgregory.net/rapid"
)

// Feature: ledger, Property 3: Batches Round-Trip
//
// Batches of any commands read back as they were added, through every handle, and
// each command gets its own events again (STA-6).
func TestBatchesReadBack(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine writes and reads a hundred histories")
	b := setup(t)
	l := b.open(t)
	var model []company.Event
	own := map[string][]company.Event{}
	commands, records := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		batch := l.Begin()
		records++
		for range rapid.IntRange(1, 4).Draw(rt, "commands") {
			commands++
			id := fmt.Sprint("c", commands)
			var drafts []company.Event
			for range rapid.IntRange(1, 3).Draw(rt, "events") {
				drafts = append(
					drafts, draft(rapid.String().Draw(rt, "kind"),
						map[string]any{"n": commands, "Text": rapid.String().Draw(rt, "text")}))
			}
			events, err := batch.Add(ledger.Command{ID: id}, noon.Add(time.Duration(commands)), drafts)
			must(t, err)
			if again, err := batch.Earlier(ledger.Command{ID: id}); err != nil || !same(again, events) {
				rt.Fatalf("%s in its batch: %v, %v", id, again, err)
			}
			own[id], model = events, append(model, events...)
		}
		head, err := l.AppendBatch(b.ctx, batch)
		must(t, err)
		if last := model[len(model)-1]; head != l.Head() || head.Seq != last.Seq || head.Hash != last.Hash() {
			rt.Fatalf("head %+v, last event %+v", head, last)
		}
		from := rapid.IntRange(1, len(model)).Draw(rt, "from")
		if got := readAll(t, b, l, uint64(from)); !same(got, model[from-1:]) {
			rt.Fatalf("from %d: %v", from, got)
		}
		id := fmt.Sprint("c", rapid.IntRange(1, commands).Draw(rt, "repeated"))
		if got, err := l.Earlier(b.ctx, ledger.Command{ID: id}); err != nil || !same(got, own[id]) {
			rt.Fatalf("%s again: %v, %v; want %v", id, got, err, own[id])
		}
	})
	requireChain(t, model)
	again := b.open(t)
	if again.Head() != l.Head() || !same(readAll(t, b, again, 0), model) {
		t.Fatal("a second handle reads something else")
	}
	for id, events := range own {
		if got, err := again.Earlier(b.ctx, ledger.Command{ID: id}); err != nil || !same(got, events) {
			t.Fatalf("%s through a second handle: %v, %v", id, got, err)
		}
	}
	raw, err := faultyLog{b.Bus.Log(), b.faulty}.all(b.ctx, "ledger")
	if must(t, err); len(raw) != records {
		t.Fatalf("%d batches are %d records", records, len(raw))
	}
}

// Whatever becomes of the append of a batch, sending it again stores it once; one
// behind which the ledger has moved on stores nothing.
func TestBatchIsStoredOnce(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	batch := func(ids ...string) *ledger.Batch {
		out := l.Begin()
		for _, id := range ids {
			_, err := out.Add(ledger.Command{ID: id}, noon, []company.Event{draft("x", id)})
			must(t, err)
		}
		return out
	}
	b.onAppend = lostAnswer
	_, err := l.AppendBatch(b.ctx, batch("a", "b"))
	must(t, err)

	b.onAppend = lostRequest
	lost := batch("c", "d")
	_, err = l.AppendBatch(b.ctx, lost)
	requireCode(t, err, company.EBus)
	if !ledger.IsOutage(err) {
		t.Errorf("no answer is not an outage: %v", err)
	}
	for range 2 { // the second time it is there already
		if head, err := l.AppendBatch(b.ctx, lost); err != nil || head.Seq != 4 {
			t.Fatalf("sent again: %+v, %v", head, err)
		}
	}

	late := batch("e", "f")
	mustAppend(t, b, b.open(t), "foreign", draft("y", 1))
	_, err = l.AppendBatch(b.ctx, late)
	requireCode(t, err, company.EConflict)
	if ledger.IsOutage(err) {
		t.Error("a lost race is an outage")
	}
	if head, err := l.AppendBatch(b.ctx, l.Begin()); err != nil || head.Seq != 5 {
		t.Fatalf("an empty batch: %+v, %v", head, err)
	}
	must(t, l.Verify(b.ctx))
	all := readAll(t, b, l, 0)
	if requireChain(t, all); len(all) != 5 {
		t.Fatalf("%d events", len(all))
	}
}

func TestBatchRefusals(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	batch := l.Begin()
	add := func(id string, data any) error {
		_, err := batch.Add(ledger.Command{ID: id}, noon, []company.Event{draft("x", data)})
		return err
	}
	must(t, add("a", 1))
	requireCode(t, add("", 1), company.EInvalid)
	requireCode(t, add("b", uint64(1<<53+1)), company.EInvalid)
	if err := add("c", strings.Repeat("x", ledger.MaxBatch)); !errors.Is(err, ledger.ErrBatchFull) {
		t.Fatalf("too much for a batch: %v", err)
	}
	_, err := batch.Add(ledger.Command{ID: "d"}, noon, nil)
	requireCode(t, err, company.EInvalid)
	if _, err := batch.Add(ledger.Command{ID: "w", Wish: "a"}, noon, []company.Event{draft("x", 2)}); err != nil {
		t.Fatal(err)
	}
	_, err = batch.Earlier(ledger.Command{ID: "w", Wish: "b"})
	requireCode(t, err, company.EConflict)
	if head, err := l.AppendBatch(b.ctx, batch); err != nil || head.Seq != 2 || batch.Len() != 2 {
		t.Fatalf("%+v, %v: what was refused has changed the batch", head, err)
	}
	batch = l.Begin() // one command alone may fill a record
	must(t, add("e", strings.Repeat("x", bus.MaxRecord-1000)))
	_, err = l.AppendBatch(b.ctx, batch)
	must(t, err)
	batch = l.Begin()
	requireCode(t, add("f", strings.Repeat("x", bus.MaxRecord)), company.EInvalid)
}

// oldRecord is a record as versions before 2 wrote it: one command.
func oldRecord(
	t *testing.T, prev company.Event, id string, wish company.Hash, drafts ...company.Event,
) ([]byte, []company.Event) {
	t.Helper()
	var events []company.Event
	for _, e := range drafts {
		e.Seq, e.Time = prev.Seq+1, noon.UTC()
		if prev.Seq > 0 {
			e.Prev = prev.Hash()
		}
		text, err := jcs.Marshal(e)
		must(t, err)
		var stored company.Event
		must(t, json.Unmarshal(text, &stored))
		events, prev = append(events, stored), stored
	}
	rec := map[string]any{"command": id, "events": events, "sum": ""}
	if wish != "" {
		rec["wish"] = wish
	}
	sum, err := company.HashOf(rec)
	must(t, err)
	rec["sum"] = sum
	text, err := jcs.Marshal(rec)
	must(t, err)
	return text, events
}

// A ledger of before goes on as it is: its records are read, its commands known, and
// batches follow them.
func TestOldRecords(t *testing.T) {
	b := setup(t)
	var all []company.Event
	var prev company.Event
	at := uint64(0)
	for n := range 5 {
		text, events := oldRecord(t, prev, fmt.Sprint("old", n), []company.Hash{"", "a"}[n%2], draft("x", n),
			draft("y", "é<"))
		var err error
		at, err = b.Bus.Log().Append(b.ctx, "ledger", text, at, fmt.Sprint(n))
		must(t, err)
		all, prev = append(all, events...), events[1]
	}
	l := b.open(t)
	if got := readAll(t, b, l, 0); !same(got, all) {
		t.Fatalf("read %v, want %v", got, all)
	}
	batch := l.Begin()
	for n := range 3 {
		events, err := batch.Add(ledger.Command{ID: fmt.Sprint("new", n)}, noon, []company.Event{draft("z", n)})
		must(t, err)
		all = append(all, events...)
	}
	_, err := l.AppendBatch(b.ctx, batch)
	must(t, err)
	for _, l := range []*ledger.Ledger{l, b.open(t)} {
		must(t, l.Verify(b.ctx))
		if got := readAll(t, b, l, 3); !same(got, all[2:]) {
			t.Fatalf("read %v, want %v", got, all[2:])
		}
		got, err := l.Earlier(b.ctx, ledger.Command{ID: "old1", Wish: "a"})
		if err != nil || !same(got, all[2:4]) {
			t.Fatalf("a command of before: %v, %v", got, err)
		}
		_, err = l.Earlier(b.ctx, ledger.Command{ID: "old1", Wish: "b"})
		requireCode(t, err, company.EConflict)
		if got, err := l.Earlier(b.ctx, ledger.Command{ID: "new2"}); err != nil || !same(got, all[12:]) {
			t.Fatalf("a command of a batch: %v, %v", got, err)
		}
	}
	requireChain(t, all)
}

// A record whose sums are right and whose frame is not, or that a later version wrote,
// is refused.
func TestOddRecords(t *testing.T) {
	_, events := oldRecord(t, company.Event{}, "c", "", draft("x", 1), draft("y", 2))
	command := func(id string, n int) map[string]any { return map[string]any{"id": id, "n": n} }
	for name, c := range map[string]struct {
		version  int
		commands []map[string]any
		says     string
	}{
		"good":           {2, []map[string]any{command("a", 1), command("b", 1)}, ""},
		"too few":        {2, []map[string]any{command("a", 1)}, "at event 1"},
		"too many":       {2, []map[string]any{command("a", 1), command("b", 2)}, "at event 1"},
		"none":           {2, []map[string]any{command("a", 2), command("b", 0)}, "at event 1"},
		"less than none": {2, []map[string]any{command("a", 3), command("b", -1)}, "at event 1"},
		"no id":          {2, []map[string]any{command("", 2)}, "at event 1"},
		"no command":     {2, nil, "at event 1"},
		"later":          {3, []map[string]any{command("a", 2)}, "version 3"},
	} {
		b := setup(t)
		rec := map[string]any{"events": events, "sum": "", "v": c.version}
		if c.commands != nil {
			rec["commands"] = c.commands
		}
		sum, err := company.HashOf(rec)
		must(t, err)
		rec["sum"] = sum
		text, err := jcs.Marshal(rec)
		must(t, err)
		_, err = b.Bus.Log().Append(b.ctx, "ledger", text, 0, "1")
		must(t, err)
		l, err := ledger.Open(b.ctx, b.faulty, ledger.Options{})
		if c.says == "" {
			if must(t, err); !slices.EqualFunc(
				readAll(t, b, l, 0), events, func(a, b company.Event) bool { return a.Hash() == b.Hash() }) {
				t.Errorf("%s: read otherwise", name)
			}
			continue
		}
		if company.CodeOf(err) != company.ELedger || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
