package company_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	. "company/internal/company"
)

// agendaWatch compares an agenda with what it stands for.
type agendaWatch struct {
	t      tester
	agenda *Agenda
	looks  int
	kept   []TaskID // of events that the agenda was not told of yet
	last   []Effect // that were due at the last look, but for all limits
}

// look brings the agenda up to date and compares it. Now and then it lets an event or
// two go by first, as a batch does.
func (w *agendaWatch) look(s *State, now time.Time, active int, changed ...TaskID) {
	w.t.Helper()
	w.looks++
	w.kept = append(w.kept, changed...)
	if w.looks%5 > 2 {
		return
	}
	w.agenda.Update(s, now, w.kept...)
	w.kept = nil
	for _, active := range []int{active, 0, 1 << 20} {
		if got, want := w.agenda.Due(active), Due(s, now, active); !reflect.DeepEqual(got, want) {
			w.t.Fatalf("at event %d, %s, with %d tasks at once: the agenda has\n%v\ndue is\n%v\n%s", s.Seq, now, active,
				keysOf(got), keysOf(want), outlines(s))
		}
		w.compareHolds(s, now, active)
	}
	if got, want := w.agenda.Next(), NextDue(s, now); !got.Equal(want) {
		w.t.Fatalf("at event %d, %s: the agenda changes at %s, Due at %s", s.Seq, now, got, want)
	}
	free := *s
	free.Office.Workers = 0 // no limit on offers
	all := Due(&free, now, 1<<20)
	for _, e := range append(slices.Clone(all), w.last...) {
		// another task may ask about a cap now
		want := slices.ContainsFunc(all, func(o Effect) bool { return o.Key == e.Key && o.Task == e.Task })
		if got, also := w.agenda.Has(e), IsDue(s, e, now); got != want || also != want {
			w.t.Fatalf("at event %d: %q is due: %v; the agenda says %v, IsDue %v", s.Seq, e.Key, want, got, also)
		}
	}
	w.last = all
}

// compareHolds compares what the agenda holds back with what FindDue does, apart from runs that wait for a worker.
func (w *agendaWatch) compareHolds(s *State, now time.Time, active int) {
	w.t.Helper()
	_, holds := FindDue(s, now, active)
	for _, id := range s.Open {
		var want []Hold
		for _, h := range holds {
			if h.Task == id && h.Kind != HoldWorker && h.Kind != HoldWriters {
				want = append(want, h)
			}
		}
		if got := w.agenda.ListHolds(id); !sameHolds(got, want) {
			w.t.Fatalf("at event %d, %s, with %d tasks at once, %s: the agenda holds\n%+v\nFindDue\n%+v\n%s", s.Seq, now,
				active, id, got, want, outlines(s))
		}
	}
}

// sameHolds compares holds of one task. The order of the tasks under way is that of their turns in the one, and of the
// round in the other.
func sameHolds(got, want []Hold) bool {
	sorted := func(holds []Hold) []Hold {
		out := slices.Clone(holds)
		for i := range out {
			out[i].Tasks = slices.Sorted(slices.Values(out[i].Tasks))
		}
		return out
	}
	return len(got) == len(want) && (len(got) == 0 || reflect.DeepEqual(sorted(got), sorted(want)))
}

func keysOf(effects []Effect) (out []string) {
	for _, e := range effects {
		out = append(out, e.Key)
	}
	return out
}

// Feature: core, Property 9: Agenda Is What Is Due
//
// The agenda is Due, after every event and at every step of the clock of any history,
// with events one by one and several at once (STA-14).
func TestAgendaIsDue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := drawKnobs(t, 120)
		k.Tasks = rapid.IntRange(1, 7).Draw(t, "more tasks")
		w := newWorld(t, k)
		a := agendaWatch{t: t, agenda: &Agenda{}}
		w.watch = func(changed ...TaskID) { t.Helper(); a.look(w.s, w.now, k.Active, changed...) }
		w.live()
		if rapid.Bool().Draw(t, "days go by") {
			w.now = w.now.Add(MaxPassedOver - time.Minute)
			for range 20 {
				w.now = w.now.Add(10 * time.Second)
				w.step()
			}
		}
		w.goWell()
		w.followPulls()
		w.reopenTask()
		w.kind = false
		for range 40 {
			w.step()
		}
	})
}

// The same on the stored ledgers, which hold every kind of event.
func TestAgendaIsDueInGoldenLedgers(t *testing.T) {
	t.Parallel()
	for _, n := range goldenLedgers(t) {
		s, a := NewState(), agendaWatch{t: t, agenda: &Agenda{}}
		for _, e := range readGolden(t, n) {
			if err := Apply(s, e); err != nil {
				t.Fatal(err)
			}
			a.look(s, e.Time, 1+int(e.Seq%3), e.Task)
		}
	}
}

// A clock or a state that went back, and an event of the office, have the agenda look
// at everything again.
func TestAgendaLooksAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, knobs{Seed: 3, Tasks: 4, Active: 2, Gates: 1, Cap: 100_000, Calm: 60})
	before, then := w.s.View(), w.now
	w.shadow.View() // so that it shares as much
	w.live()
	var a Agenda
	check := func(what string, s *State, now time.Time, changed ...TaskID) {
		t.Helper()
		a.Update(s, now, changed...)
		if got, want := a.Due(2), Due(s, now, 2); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the agenda has %v, due is %v", what, keysOf(got), keysOf(want))
		}
	}
	if a.Due(2) != nil || a.Has(Effect{Task: "t1"}) || !a.Next().IsZero() {
		t.Error("an agenda that was never told anything has effects")
	}
	check("first", w.s, w.now)
	check("an older state", before, then)
	check("a newer one, after the clock went back", w.s, then.Add(-time.Hour))
	w.must(Company, StartOffice{Office: "k3fq", Workers: 3})
	check("another epoch", w.s, w.now, "")
	w.must(President, Stop{})
	check("stopped", w.s, w.now, "")
}
