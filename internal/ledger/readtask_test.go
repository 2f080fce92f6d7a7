package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"

	"company/internal/lib/hosttest"
)

func draftOf(task company.TaskID, data any) company.Event {
	e := draft("x", data)
	e.Task = task
	return e
}

func readTask(t testing.TB, b *bench, l *ledger.Ledger, task company.TaskID, from uint64) (seqs []uint64) {
	t.Helper()
	must(t, l.ReadTask(b.ctx, task, from, func(e company.Event) error { seqs = append(seqs, e.Seq); return nil }))
	return seqs
}

// Feature: ledger, Property 4: Events of a Task
//
// Whatever was appended, saved and opened again, the events
// of a task are those of the whole ledger that name it (STA-5).
func TestReadTaskIsAFilter(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine writes and reads a hundred histories")
	b := setup(t)
	l := b.open(t)
	var all []company.Event
	tasks := []company.TaskID{"", "t1", "t2", "t3", "t4"}
	commands := 0
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 12).Draw(rt, "appends") {
			var drafts []company.Event
			task := rapid.SampledFrom(tasks).Draw(rt, "task")
			for range rapid.IntRange(1, 3).Draw(rt, "events") {
				if rapid.IntRange(0, 9).Draw(rt, "other") == 0 {
					task = rapid.SampledFrom(tasks).Draw(rt, "another")
				}
				drafts = append(drafts, draftOf(task, commands))
			}
			commands++
			all = append(all, mustAppend(t, b, l, fmt.Sprint(commands), drafts...)...)
		}
		if rapid.Bool().Draw(rt, "save") {
			at := l.Head()
			if rapid.Bool().Draw(rt, "behind") {
				commands++
				all = append(all, mustAppend(t, b, l, fmt.Sprint(commands), draftOf("t1", 0))...)
			}
			must(t, l.SaveSnapshot(b.ctx, at, writesText("state")))
		}
		if rapid.Bool().Draw(rt, "restart") {
			l = b.open(t)
		}
		task, from := rapid.SampledFrom(tasks[1:]).Draw(rt, "of"), rapid.Uint64Range(0, uint64(len(all))+1).Draw(rt, "from")
		var want []uint64
		for _, e := range all {
			if e.Task == task && e.Seq >= from {
				want = append(want, e.Seq)
			}
		}
		if got := readTask(t, b, l, task, from); !slices.Equal(got, want) {
			rt.Fatalf("%s from %d: %v, want %v", task, from, got, want)
		}
	})
}

// What lies before the first event of a task and behind its last one is not read.
func TestReadTaskReadsItsSpan(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	mustAppend(t, b, l, "before", draftOf("t2", 0))
	for i := range 300 { // so that marks lie between
		mustAppend(t, b, l, fmt.Sprint("between", i), draftOf("", i))
	}
	mustAppend(t, b, l, "first", draftOf("t1", 1))
	mustAppend(t, b, l, "other", draftOf("t2", 1))
	mustAppend(t, b, l, "last", draftOf("t1", 2), draftOf("t2", 2))
	mustAppend(t, b, l, "behind", draftOf("t2", 3))
	b.edit = func(all []bus.Message) []bus.Message {
		for _, m := range all { // who reads the first or the last one is told
			if m.Seq == 1 || m.Seq == 305 {
				m.Data[9] ^= 1
			}
		}
		return all
	}
	if got := readTask(t, b, l, "t1", 0); !slices.Equal(got, []uint64{302, 304}) {
		t.Errorf("%v", got)
	}
	requireCode(t, l.ReadTask(b.ctx, "t2", 0, func(company.Event) error { return nil }), company.ELedger)
	enough := errors.New("enough")
	if err := l.ReadTask(b.ctx, "t1", 0, func(company.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("the reader's own error: %v", err)
	}
	// A record that is gone is no shorter history.
	b.edit = func(all []bus.Message) []bus.Message { return all[:len(all)-2] }
	requireCode(t, l.ReadTask(b.ctx, "t1", 0, func(company.Event) error { return nil }), company.ELedger)
	b.edit = func(all []bus.Message) []bus.Message { return slices.Delete(slices.Clone(all), len(all)-3, len(all)-2) }
	requireCode(t, l.ReadTask(b.ctx, "t1", 0, func(company.Event) error { return nil }), company.ELedger)
}
