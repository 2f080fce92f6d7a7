package company_test

import (
	"fmt"
	"testing"
	"time"

	. "company/internal/company"
)

// manyOpen is an office with n open tasks of three projects, of which one in ten has
// failed once and waits.
func manyOpen(b *testing.B, n int) (*State, func(Event) Event) {
	b.Helper()
	s := NewState()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	apply := func(e Event) Event {
		e.Seq = s.Seq + 1
		if err := Apply(s, e); err != nil {
			b.Fatal(err)
		}
		return e
	}
	do := func(c Command) {
		evs, err := Decide(s, Meta{ID: fmt.Sprint("c", s.Seq), Actor: President, Now: now}, c)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range evs {
			apply(e)
		}
	}
	do(StartOffice{Office: "k3fq", Workers: 3})
	for i := range n {
		now = now.Add(time.Millisecond)
		do(Submit{Instruction: "do it", Project: Project{ID: fmt.Sprint("p", i%3), Path: "/p"},
			Priority: Priorities[i%len(Priorities)]})
		if i%10 == 9 {
			do(ReportEffectFailure{Task: NewTaskID(i + 1), Key: "prepare",
				EffectFailed: EffectFailed{Code: EDocker, Error: "it does not answer"}})
		}
	}
	return s, apply
}

// BenchmarkEffect is what one effect's outcome costs the loop with 10,000 open tasks,
// from the event to what is due next: with an agenda, and with Due asked again as
// often as the loop did before there was one. The metric "ratio" is how many times
// dearer that is.
func BenchmarkEffect(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, apply := manyOpen(b, n)
			now := s.Time.Add(time.Second)
			var a Agenda
			a.Update(s, now)
			var with, without, view time.Duration
			for i := 0; b.Loop(); i++ {
				id := NewTaskID(1 + i%n)
				now = now.Add(time.Millisecond)
				evs, err := Decide(s, Meta{ID: "c", Actor: Company, Now: now},
					ReportEffectFailure{Task: id, Key: "prepare",
						EffectFailed: EffectFailed{Code: EDocker, Error: "it does not answer"}})
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				apply(evs[0])
				seen := s.View()
				viewed := time.Now()
				a.Update(seen, now, id)
				due := a.Due(4)
				IsDue(seen, Effect{Task: id, Key: "prepare " + string(id)}, now)
				next := a.Next()
				end := time.Now()
				old := Due(seen, now, 4)
				oldNext := NextDue(seen, now)
				Due(seen, now, len(seen.Open))
				without += time.Since(end)
				with, view = with+end.Sub(viewed), view+viewed.Sub(began)
				if len(due) != len(old) || !next.Equal(oldNext) {
					b.Fatalf("%v at %s, want %v at %s", keysOf(due), next, keysOf(old), oldNext)
				}
			}
			b.ReportMetric(float64(view.Microseconds())/float64(b.N), "apply+view-µs")
			b.ReportMetric(float64(with.Microseconds())/float64(b.N), "agenda-µs")
			b.ReportMetric(float64(without.Microseconds())/float64(b.N), "before-µs")
			b.ReportMetric(float64(without)/float64(with), "ratio")
		})
	}
}
