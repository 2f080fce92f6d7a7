package company_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
)

// fleet is an office of three workers with tasks of projects, each planned
// into n subtasks of one wave.
type fleet struct {
	*bench
	fence uint64
}

func (f *fleet) submit(project string, n int) TaskID {
	f.t.Helper()
	return f.submitAs(Submit{Project: Project{ID: project, Path: "/" + project}}, n)
}

// submitAs submits a task under a submission's project and urgency.
func (f *fleet) submitAs(c Submit, n int) TaskID {
	f.t.Helper()
	id := NewTaskID(f.s.LastTask + 1)
	c.Instruction = "do it"
	f.must(President, c)
	f.must(Company, RecordPreparation{Task: id, TaskPrepared: TaskPrepared{
		Base: Base{Branch: "main", OID: OID(strings.Repeat("1", 40)), PRBranch: "main"}, GateHash: "g", Image: "img",
		Integration: "develop-" + string(id),
		Gates:       []GateCommand{{Name: "test", Command: "go test"}},
	}})
	f.must(Company,
		RecordBaseline{Task: id,
			Result: GateResult{Tree: OID(strings.Repeat("3", 40)), GateHash: "g", Image: "img", Passed: true,
				Checks: []GateCheck{{Name: "test", Command: "go test", Passed: true}}}})
	plan := &Plan{Why: "many things", Waves: []Wave{{}}}
	for i := range n {
		plan.Waves[0].Subtasks = append(
			plan.Waves[0].Subtasks, okSubtask(fmt.Sprintf("part %d", i), fmt.Sprintf("d%d/**", i)))
	}
	run := NewRunID(id, "", Manager, 1)
	f.claim(run, "host")
	f.must(string(run), EndRun{Run: run, Fence: f.fence, Outcome: RunEnded{Status: RunSuccess}, Plan: plan})
	return id
}

func (f *fleet) claim(run RunID, who string) {
	f.t.Helper()
	f.fence = f.s.Seq + 1
	f.must(who, f.claimOf(run, who))
}

// offer puts all that is due on the queue, and says what that was.
func (f *fleet) offer() (runs []string) {
	f.t.Helper()
	for _, e := range f.due(9) {
		if offer, ok := e.Command.(Offer); ok {
			f.must(Company, offer)
			runs = append(runs, string(e.Run))
		}
	}
	return runs
}

func (f *fleet) is(got []string, want string) {
	f.t.Helper()
	if strings.Join(got, " ") != want {
		f.t.Fatalf("offered %v, want %s", got, want)
	}
}

// One project with many subtasks does not starve another: no more is put on
// the queue than there are workers, and whoever has least under way is next.
func TestProjectsShareWorkers(t *testing.T) {
	t.Parallel()
	f := &fleet{bench: newBench(t)}
	a := f.submit("a", 6)
	f.is(f.offer(), "t1-01.1 t1-02.1 t1-03.1")
	if n := f.s.Waiting(f.now); n != 6 {
		t.Errorf("%d runs wait for a worker, want 6", n)
	}
	for i := 1; i <= 3; i++ {
		f.claim(NewRunID(a, NewSubtaskID(a, i), Worker, 1), fmt.Sprintf("w%d", i))
	}
	last := f.fence
	b := f.submit("b", 2)
	f.is(f.offer(), "")
	if !f.s.AwaitsWorker(a, f.now) || !f.s.AwaitsWorker(b, f.now) {
		t.Error("nobody waits for a worker")
	}
	f.must("w3",
		EndRun{Run: "t1-03.1", Fence: last, Outcome: RunEnded{Status: RunSuccess, Head: OID(strings.Repeat("2", 40))}})
	f.is(f.offer(), "t2-01.1") // not the fourth of a, though it waits for longer
	f.must(President, ScaleWorkers{By: 3})
	f.is(f.offer(), "t1-04.1 t1-05.1 t2-02.1") // one to b, then two to a
}

// With one worker, projects take turns: who was served last comes last.
func TestProjectsTakeTurns(t *testing.T) {
	t.Parallel()
	f := &fleet{bench: newBench(t)}
	f.must(President, ScaleWorkers{By: -2})
	f.submit("a", 4)
	f.submit("b", 2)
	for _, want := range []string{"t1-01.1", "t2-01.1", "t1-02.1", "t2-02.1", "t1-03.1", "t1-04.1"} {
		f.is(f.offer(), want)
		f.claim(RunID(want), "w1")
		f.must("w1",
			EndRun{Run: RunID(want), Fence: f.fence, Outcome: RunEnded{Status: RunSuccess, Head: OID(strings.Repeat("2", 40))}})
	}
}

// The limit on tasks at once is shared, too: the first task of a project comes
// before the second of another. A paused one takes nobody's place.
func TestProjectsShareTasks(t *testing.T) {
	t.Parallel()
	f := &fleet{bench: newBench(t)}
	for _, project := range []string{"a", "a", "a", "b"} {
		f.must(President, Submit{Instruction: "do it", Project: Project{ID: project, Path: "/" + project}})
	}
	tasks := func(want string) {
		t.Helper()
		var ids []string
		for _, e := range f.due(2) {
			ids = append(ids, string(e.Task))
		}
		f.is(ids, want)
	}
	tasks("t1 t4")
	f.must(President, Pause{Task: "t1"})
	tasks("t2 t4")
	f.must(President, Pause{Task: "t4"})
	tasks("t2 t3")
}

// A project has no more workers and mergers at a time than it may have (WRK-9). The
// workers that it leaves are another's, and a merger comes before its next worker.
func TestWritersOfAProject(t *testing.T) {
	t.Parallel()
	f := &fleet{bench: newBench(t)}
	f.must(Company, StartOffice{Office: "k3fq", Workers: 4, Writers: 2})
	a := f.submit("a", 4)
	f.is(f.offer(), "t1-01.1 t1-02.1")
	if !f.s.AwaitsWorker(a, f.now) {
		t.Error("the task waits for nothing")
	}
	b := f.submit("b", 3)
	f.is(f.offer(), "t2-01.1 t2-02.1")
	for i := 1; i <= 2; i++ {
		f.claim(NewRunID(a, NewSubtaskID(a, i), Worker, 1), fmt.Sprintf("w%d", i))
		f.claim(NewRunID(b, NewSubtaskID(b, i), Worker, 1), fmt.Sprintf("w%d", i+2))
	}
	f.is(f.offer(), "")
	f.must("w4",
		EndRun{Run: "t2-02.1", Fence: f.fence, Outcome: RunEnded{Status: RunSuccess, Head: OID(strings.Repeat("2", 40))}})
	f.is(f.offer(), "t2-03.1") // a has its two
	f.must(Company, StartOffice{Office: "k3fq", Workers: 4})
	if got := f.offer(); !slices.Contains(got, "t1-03.1") {
		t.Errorf("offered %v once there is no limit", got)
	}
}

// A merger that the limit on writers holds back waits for a worker as an offer does: its
// task is not at rest (WRK-9).
func TestMergerAwaitsAWriter(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2).queued(1)
	s.must(Company, StartOffice{Office: "k3fq", Workers: 4, Writers: 1})
	other, fence := s.offer(2)
	s.must(Company,
		ReportConflict{Task: s.id, Subtask: s.subID(1),
			ConflictReported: ConflictReported{Head: s.sub(1).Head, Onto: s.task().Head, Paths: []string{"a.go"}}})
	if s.isDue(EffectResolve) || !s.s.AwaitsWorker(s.id, s.now) || s.s.AtRest(s.task(), s.now) {
		t.Errorf("due: %t, awaits a worker: %t, at rest: %t", s.isDue(EffectResolve), s.s.AwaitsWorker(s.id, s.now),
			s.s.AtRest(s.task(), s.now))
	}
	s.must(string(other), EndRun{Run: other, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: s.oid()}})
	if !s.isDue(EffectResolve) || s.s.AwaitsWorker(s.id, s.now) {
		t.Error("the merger does not begin where there is room for it")
	}
}
