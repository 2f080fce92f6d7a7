package company_test

import (
	"slices"
	"testing"
	"time"

	. "company/internal/company"
)

// checkHolds compares what FindDue holds back with a list, and returns the tasks with effects.
func (b *bench) checkHolds(active int, want ...Hold) []TaskID {
	b.t.Helper()
	effects, holds := FindDue(b.s, b.now, active)
	if len(holds) != len(want) {
		b.t.Fatalf("%d holds, want %d: %+v", len(holds), len(want), holds)
	}
	for i, h := range holds {
		h.Failure = Failure{}
		if w := want[i]; h.Task != w.Task || h.Subtask != w.Subtask || h.Kind != w.Kind || !slices.Equal(h.Tasks, w.Tasks) ||
			h.Attempt != w.Attempt || h.Attempts != w.Attempts || h.Manager != w.Manager {
			b.t.Fatalf("hold %d is %+v, want %+v", i, h, w)
		}
	}
	var tasks []TaskID
	for _, e := range effects {
		if !slices.Contains(tasks, e.Task) {
			tasks = append(tasks, e.Task)
		}
	}
	return tasks
}

// What does not begin is held for a reason: for a slot with the tasks that have them, for a worker, or for an earlier
// task.
func TestWhatWaitsHasAReason(t *testing.T) {
	t.Parallel()
	f := &fleet{bench: newBench(t)}
	f.submit("a", 4)
	f.must(President, Submit{Instruction: "do it", Project: Project{ID: "a", Path: "/a"}})
	worker := Hold{Task: "t1", Subtask: "t1-04", Kind: HoldWorker}
	if got := f.checkHolds(1, Hold{Task: "t2", Kind: HoldSlot, Tasks: []TaskID{"t1"}}, worker); !slices.Equal(got,
		[]TaskID{"t1"}) {
		t.Errorf("at work: %v", got)
	}
	if got := f.checkHolds(2, worker); !slices.Equal(got, []TaskID{"t1", "t2"}) {
		t.Errorf("at work: %v", got)
	}
	f.must(President, Submit{Instruction: "do it", Project: Project{ID: "a", Path: "/a"}, After: []TaskID{"t1", "t2"}})
	f.checkHolds(2, Hold{Task: "t3", Kind: HoldTasks, Tasks: []TaskID{"t1", "t2"}}, worker)
	f.must(President, Pause{Task: "t2"})
	f.must(President, Pause{Task: "t3"})
	f.checkHolds(1, worker)
	f.must(President, Stop{})
	f.checkHolds(1)
}

// A failed step is tried again so often, then the president is asked; a run that broke off goes to the manager.
func TestRetriesHaveANumber(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{EffectRetries: 2})
	fail := func(want Hold) {
		t.Helper()
		s.must(Company, ReportEffectFailure{Task: s.id, Key: "prepare", EffectFailed: EffectFailed{Code: EImage, Error: "no"}})
		s.now = s.s.Time
		if got := s.checkHolds(1, want); len(got) > 0 && want.Kind == HoldRetry {
			t.Errorf("at work after a failure: %v", got)
		}
		s.later(5 * time.Minute)
	}
	fail(Hold{Task: s.id, Kind: HoldRetry, Attempt: 2, Attempts: 3})
	s.checkHolds(1)
	fail(Hold{Task: s.id, Kind: HoldRetry, Attempt: 3, Attempts: 3})
	s.checkHolds(1)
	fail(Hold{Task: s.id, Kind: HoldAnswer})

	l := newLine(t, Settings{RunRetries: 1})
	l.plan()
	l.end(l.work(), RunEnded{Status: RunError, Code: EInternal, Error: "the model is away"}, nil)
	l.now = l.s.Time
	l.checkHolds(1, Hold{Task: "t1", Subtask: "t1-01", Kind: HoldRetry, Attempt: 2, Attempts: 2, Manager: true})
}
