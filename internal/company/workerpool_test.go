package company_test

import (
	"testing"
	"time"

	. "company/internal/company"
)

// Who is hired or let go is an event; the numbers stay within bounds, whatever
// the config says later (SUB-15).
func TestScaleWorkers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	team := func(want, hired int) {
		t.Helper()
		if got := b.s.Office.WorkerCount(); got != want || b.s.Office.AddedWorkers != hired {
			t.Errorf("%d workers, %d hired; want %d, %d", got, b.s.Office.AddedWorkers, want, hired)
		}
	}
	refuse := func(code Code, c ScaleWorkers) {
		t.Helper()
		if _, err := b.do(President, c); CodeOf(err) != code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	team(3, 0)
	b.must(President, ScaleWorkers{By: 2})
	team(5, 2)
	b.must(President, ScaleWorkers{By: -4})
	team(1, -2)
	refuse(EConflict, ScaleWorkers{By: -1})
	refuse(EConflict, ScaleWorkers{Worker: "w1"})
	refuse(EConflict, ScaleWorkers{By: MaxWorkers})
	refuse(EInvalid, ScaleWorkers{})
	refuse(EInvalid, ScaleWorkers{By: 1 << 62})
	refuse(EConflict, ScaleWorkers{By: -1 << 63})
	b.must(President, ScaleWorkers{By: MaxWorkers - 1})
	team(MaxWorkers, MaxWorkers-3)
	// Another config: what was hired counts against it, within the bounds.
	b.must(Company, StartOffice{Office: "k3fq", Workers: 9})
	team(MaxWorkers, MaxWorkers-3)
	b.must(President, ScaleWorkers{By: 3 - MaxWorkers})
	team(3, -6)
	b.must(Company, StartOffice{Office: "k3fq", Workers: 2})
	team(1, -6)
	b.must(President, ScaleWorkers{By: 1}) // counts from what there is
	team(2, 0)
	for _, name := range []string{"w3", "w0", "w", "manager", "w1 ", "w01"} {
		refuse(ENotFound, ScaleWorkers{Worker: name})
	}

	var old State // of a version that did not note its workers
	old.Office.Epoch = 1
	if _, err := Decide(&old, Meta{}, ScaleWorkers{By: 1}); CodeOf(err) != EConflict {
		t.Errorf("staff where nobody works: %v", err)
	}
}

// A worker who is let go by name hands back its run and nothing else; one who
// has missed the deadline does not win a new one by that.
func TestRemovedWorkerReleasesRun(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		l := newLine(t, Settings{})
		l.plan()
		run := l.work()
		if late {
			l.now = l.now.Add(24 * time.Hour)
		}
		evs := l.must(President, ScaleWorkers{Worker: "w1"})
		r := l.task().Runs[run]
		switch {
		case len(evs) != 2 || r.Held:
			t.Errorf("late %v: %d events, held %v", late, len(evs), r.Held)
		case late && !r.Ended, !late && (r.Ended || l.task().Subtasks[0].Status != SubtaskAssigned):
			t.Errorf("late %v: ended %v, subtask %s", late, r.Ended, l.task().Subtasks[0].Status)
		}
	}
}
