package orchestrator

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/lib/clock"
	"company/internal/lib/clock/clocktest"
)

// queueHouse is an office whose only task has subtasks in the merge queue. The test says
// when the tests of merges end, and with what.
type queueHouse struct {
	*bundle
	decider *decidertest.Decider
	tests   *started // tests of merges
	ahead   *started // tests ahead
	ends    chan bool
	cut     chan error // why tests ahead ended
}

func sub(n int) company.SubtaskID { return company.NewSubtaskID("t1", n) }

// queueFor makes an office with as many slots for checks, and a plan of five subtasks,
// of which the first are in the queue. Two are merged at once.
func queueFor(t *testing.T, slots, queued int, ahead company.OutcomeFinder, change ...func(*Config)) *queueHouse {
	t.Helper()
	h := &queueHouse{bundle: setup(t, append(change, func(c *Config) { c.Checks = slots })...), ends: make(chan bool),
		cut: make(chan error, 10)}
	h.decider = decidertest.Over(t, h.orch)
	if err := h.orch.Start(h.ctx, 3); err != nil {
		t.Fatal(err)
	}
	h.decider.Must(
		company.Submit{Instruction: "do all", Project: company.Project{ID: "p", Path: "/p"},
			Settings: company.Settings{MergeStack: 2}})
	h.decider.Prepare("t1", oid(1), company.GateCommand{Name: "test", Command: "true"})
	h.decider.Plan("t1", company.Plan{Why: "they are apart", Waves: []company.Wave{planWave(5)}})
	for n := 1; n <= queued; n++ {
		h.decider.Work(sub(n), oid(10+n))
		h.decider.Gate(sub(n), oid(20+n))
		h.decider.Approve(sub(n))
	}
	for n := queued + 1; n <= 5; n++ {
		h.do(company.PauseSubtask{Subtask: sub(n)})
	}
	var do company.OutcomeFinder
	h.tests, do = record(h.test)
	h.register(company.EffectTestMerge, do)
	if ahead == nil {
		ahead = func(ctx context.Context, _ company.Effect) (company.Command, error) {
			<-ctx.Done()
			h.cut <- context.Cause(ctx)
			return nil, nil
		}
	}
	h.ahead, do = record(ahead)
	h.register(company.EffectTestAhead, do)
	h.register(company.EffectMerge, h.merge)
	for _, k := range []company.EffectKind{company.EffectEnqueue, company.EffectWork, company.EffectGate,
		company.EffectReview} {
		h.register(k, waits)
	}
	return h
}

// planWave plans so many subtasks that are apart.
func planWave(subtasks int) (w company.Wave) {
	for n := range subtasks {
		w.Subtasks = append(w.Subtasks, company.PlannedSubtask{Title: "part " + strconv.Itoa(n), Effort: company.EffortMedium,
			Description: "Do this part of the work as it is done beside it.", AcceptanceCriteria: []string{"it works"},
			WriteSet: []string{"p" + strconv.Itoa(n) + "/**"}})
	}
	return w
}

// test is the test of a merge: green or red, as the test says.
func (h *queueHouse) test(ctx context.Context, e company.Effect) (company.Command, error) {
	var green bool
	select {
	case green = <-h.ends:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	d := h.decider.Green("t1", oid(900+int(h.orch.View().Seq)))
	d.Passed, d.Checks[0].Passed = green, green
	if !green {
		d.Checks[0].ExitCode = 1
	}
	if len(e.Stack) == 1 {
		return company.RecordMergeGate{Task: "t1", Subtask: e.Subtask, Head: e.Stack[0].Head, Onto: e.Onto, Tree: d.Tree,
			Result: d, Message: "merge"}, nil
	}
	out := company.RecordStackGate{Task: "t1", Onto: e.Onto, Result: d}
	for _, s := range e.Stack {
		out.Members = append(out.Members,
			company.StackMember{Subtask: s.Subtask, Head: s.Head, Tree: d.Tree, Message: "merge"})
	}
	return out, nil
}

func (h *queueHouse) merge(context.Context, company.Effect) (company.Command, error) {
	s := h.orch.View()
	if in := s.Tasks["t1"].StackIntent; in != nil {
		c := company.RecordStackMerge{Task: "t1"}
		for i := range in.Members {
			c.Commits = append(c.Commits, oid(5000+10*int(s.Seq)+i))
		}
		return c, nil
	}
	return company.RecordMerge{Task: "t1", Commit: oid(5000 + 10*int(s.Seq))}, nil
}

// workOffered has a worker do a subtask once the loop has offered it.
func (h *queueHouse) workOffered(sub company.SubtaskID, head company.OID) {
	h.t.Helper()
	run := company.NewRunID(sub.Task(), sub, company.Worker, 1)
	h.until("an offer of "+string(sub), func() bool {
		r := h.orch.View().Tasks[sub.Task()].Runs[run]
		return r != nil && r.Offers > 0
	})
	fence := h.decider.Claim(run, "")
	h.decider.Must(
		company.EndRun{Run: run, Fence: fence,
			Outcome: company.RunEnded{Status: company.RunSuccess, Head: head, Branch: "agent/" + string(sub) + "-x"}})
}

// holdMerges has merges wait until the channel is closed.
func (h *queueHouse) holdMerges() chan struct{} {
	merging := make(chan struct{})
	h.register(company.EffectMerge, func(ctx context.Context, e company.Effect) (company.Command, error) {
		select {
		case <-merging:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		return h.merge(ctx, e)
	})
	return merging
}

// end ends the test of a merge that is under way.
func (h *queueHouse) end(green bool) {
	h.t.Helper()
	select {
	case h.ends <- green:
	case <-time.After(patience):
		h.t.Fatal("no test of a merge is under way")
	}
}

// takenUp asserts which subtasks an effect has taken up.
func takenUp(t *testing.T, e company.Effect, want ...int) {
	t.Helper()
	var got []int
	for _, q := range e.Stack {
		n, _ := strconv.Atoi(string(q.Subtask[len(q.Subtask)-2:]))
		got = append(got, n)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q has taken up %v, not %v", e.Key, got, want)
	}
}

// cutOff waits for a test ahead to be ended because it is of no use.
func (h *queueHouse) cutOff() {
	h.t.Helper()
	select {
	case err := <-h.cut:
		if !errors.Is(err, ErrNotDue) {
			h.t.Fatalf("ended by %v", err)
		}
	case <-time.After(patience):
		h.t.Fatal("the test ahead goes on")
	}
}

// logged is a log that a test waits on until a test ahead has its verdict.
type logged chan string

func (logged) Enabled(context.Context, slog.Level) bool { return true }
func (l logged) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l logged) WithGroup(string) slog.Handler          { return l }

func (l logged) Handle(_ context.Context, r slog.Record) error {
	if r.Message == msgAheadJudged {
		l <- r.Message
	}
	return nil
}

func (l logged) await(t *testing.T) {
	t.Helper()
	select {
	case <-l:
	case <-time.After(patience):
		t.Fatal("the test ahead has no verdict")
	}
}

func (h *queueHouse) goesOn() {
	h.t.Helper()
	select {
	case err := <-h.cut:
		h.t.Fatalf("the test ahead was ended: %v", err)
	default:
	}
}

// While a stack is tested those behind it are, too. The next test takes up just those,
// also when others have joined, and the test ahead ends with it; then the next one is
// tested ahead of that (REV-6).
func TestTestsAheadFollowOneAnother(t *testing.T) {
	t.Parallel()
	machine := clocktest.Running(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	h := queueFor(t, 3, 3, nil, func(c *Config) { c.Clock = clock.New(machine.Sources()) })
	h.run()
	takenUp(t, h.tests.next(t), 1, 2)
	takenUp(t, h.ahead.next(t), 3)
	machine.Pass(youngAhead)
	h.do(company.PauseSubtask{Subtask: sub(4), Off: true})
	h.decider.Work(sub(4), oid(14))
	h.decider.Gate(sub(4), oid(24))
	h.decider.Approve(sub(4))
	h.end(true)
	second := h.tests.next(t)
	takenUp(t, second, 3) // and not 4, which the test ahead knows nothing of
	takenUp(t, h.ahead.next(t), 4)
	h.goesOn()
	h.end(true)
	h.cutOff()
	takenUp(t, h.tests.next(t), 4)
	h.goesOn()
	h.end(true)
	h.cutOff()
	h.until("all are merged", func() bool { return h.count("merge.done") == 4 })
	if n := h.count("effect.failed"); n > 0 || len(h.ahead.all()) != 2 || len(h.tests.all()) != 3 {
		t.Errorf("%d failures; %q; %q", n, h.tests.all(), h.ahead.all())
	}
}

// Subtasks often come to the queue within moments: a test ahead that has just begun is given
// up for one that has all of them.
func TestYoungTestAheadGrows(t *testing.T) {
	t.Parallel()
	machine := clocktest.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	h := queueFor(t, 3, 3, nil, func(c *Config) { c.Clock = clock.New(machine.Sources()) })
	h.run()
	takenUp(t, h.tests.next(t), 1, 2)
	takenUp(t, h.ahead.next(t), 3)
	h.do(company.PauseSubtask{Subtask: sub(4), Off: true})
	h.decider.Work(sub(4), oid(14))
	h.decider.Gate(sub(4), oid(24))
	h.decider.Approve(sub(4))
	h.cutOff()
	takenUp(t, h.ahead.next(t), 3, 4)
	h.end(true)
	takenUp(t, h.tests.next(t), 3, 4)
	h.end(true)
	h.until("all are merged", func() bool { return h.count("merge.done") == 4 })
	if n := h.count("effect.failed"); n > 0 || len(h.ahead.all()) != 2 || len(h.tests.all()) != 2 {
		t.Errorf("%d failures; %q; %q", n, h.tests.all(), h.ahead.all())
	}
}

// A red stack ends what was tested on its tree.
func TestRedStackEndsTheTestAhead(t *testing.T) {
	t.Parallel()
	h := queueFor(t, 3, 4, nil)
	h.run()
	h.tests.next(t)
	takenUp(t, h.ahead.next(t), 3, 4)
	h.end(false)
	h.cutOff()
	takenUp(t, h.tests.next(t), 1)
	h.end(false) // the red one is found
	takenUp(t, h.tests.next(t), 2, 3)
	takenUp(t, h.ahead.next(t), 4)
}

// With one slot no test runs ahead. A check that is due takes the slot of a test ahead, which
// begins again when there is room.
func TestGuessesYield(t *testing.T) {
	t.Parallel()
	one := queueFor(t, 1, 4, nil)
	one.run()
	one.tests.next(t)
	one.end(true)
	takenUp(t, one.tests.next(t), 3, 4)
	one.end(true)
	one.until("all are merged", func() bool { return one.count("merge.done") == 4 })
	if got := one.ahead.all(); len(got) > 0 {
		t.Errorf("in the only slot: %q", got)
	}

	h := queueFor(t, 2, 4, nil)
	judged := make(chan struct{})
	gate, do := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		select {
		case <-judged:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		return company.RecordGateResult{Task: "t1", Subtask: e.Subtask,
			GateFinished: company.GateFinished{Head: oid(15), Onto: oid(1), Result: h.decider.Green("t1", oid(25))}}, nil
	})
	h.register(company.EffectGate, do)
	h.run()
	h.tests.next(t)
	h.ahead.next(t)
	h.do(company.PauseSubtask{Subtask: sub(5), Off: true})
	h.decider.Work(sub(5), oid(15))
	h.cutOff()
	gate.next(t)
	close(judged)
	takenUp(t, h.ahead.next(t), 3, 4)
}

// A test ahead whose assumption came true keeps its slot beside checks that are due, and the
// test that goes on with it needs no other.
func TestConfirmedTestsHaveTheirSlot(t *testing.T) {
	t.Parallel()
	h := queueFor(t, 2, 4, nil)
	gate, do := record(waits)
	h.register(company.EffectGate, do)
	merging := h.holdMerges()
	h.run()
	h.tests.next(t)
	h.ahead.next(t)
	h.end(true)
	h.happened("stack.intended")
	h.do(company.PauseSubtask{Subtask: sub(5), Off: true})
	h.decider.Work(sub(5), oid(15))
	gate.next(t) // in the slot of the first test
	h.goesOn()
	close(merging)
	takenUp(t, h.tests.next(t), 3, 4)
	h.goesOn()
	h.end(true)
	h.cutOff()
}

// A test ahead whose verdict is there leaves its slot to a check that is due, and the test
// that goes on with the verdict needs none.
func TestJudgedTestAheadLeavesItsSlot(t *testing.T) {
	t.Parallel()
	cut := make(chan error, 10)
	judged := make(logged, 10)
	h := queueFor(t, 2, 4, func(ctx context.Context, _ company.Effect) (company.Command, error) {
		context.AfterFunc(ctx, func() { cut <- context.Cause(ctx) })
		return nil, nil
	}, func(c *Config) { c.Logger = slog.New(judged) })
	h.cut = cut
	gate, do := record(waits)
	h.register(company.EffectGate, do)
	h.run()
	h.tests.next(t)
	takenUp(t, h.ahead.next(t), 3, 4)
	judged.await(t)
	h.do(company.PauseSubtask{Subtask: sub(5), Off: true})
	h.decider.Work(sub(5), oid(15))
	gate.next(t)
	h.goesOn()
	h.end(true)
	takenUp(t, h.tests.next(t), 3, 4) // beside the gate, which holds one slot
	h.goesOn()
	h.end(true)
	h.cutOff()
	h.until("all are merged", func() bool { return h.count("merge.done") == 4 })
	if got := h.ahead.all(); len(got) != 1 {
		t.Errorf("tested ahead: %q", got)
	}
}

// A test ahead that fails is not done again and counts as no failure; the test of the merge
// judges its tree itself.
func TestFailedTestAhead(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]company.OutcomeFinder{
		"fails":  func(context.Context, company.Effect) (company.Command, error) { return nil, errTrouble },
		"ends":   func(context.Context, company.Effect) (company.Command, error) { return nil, nil },
		"panics": func(context.Context, company.Effect) (company.Command, error) { panic("at the disco") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := queueFor(t, 2, 4, ahead)
			h.run()
			h.tests.next(t)
			h.ahead.next(t)
			h.end(true)
			takenUp(t, h.tests.next(t), 3, 4)
			h.end(true)
			h.until("all are merged", func() bool { return h.count("merge.done") == 4 })
			if n := h.count("effect.failed"); n > 0 || len(h.ahead.all()) != 1 {
				t.Errorf("%d failures; begun: %q", n, h.ahead.all())
			}
		})
	}
}

// A stop, a pause and the end of the process end a guess; a process that comes after
// begins both again.
func TestTestsAheadEndWithTheOffice(t *testing.T) {
	t.Parallel()
	h := queueFor(t, 2, 4, nil)
	h.run()
	h.tests.next(t)
	h.ahead.next(t)
	h.do(company.Pause{Task: "t1"})
	h.cutOff()
	h.do(company.Pause{Task: "t1", Off: true})
	h.tests.next(t)
	h.ahead.next(t)
	h.do(company.Stop{Why: "enough"})
	if err := <-h.cut; !errors.Is(err, ErrStopped) {
		t.Errorf("ended by %v", err)
	}
	h.do(company.Resume{})
	h.tests.next(t)
	h.ahead.next(t)
	if err := h.halt(); err != nil {
		t.Fatal(err)
	}
	if err := <-h.cut; !errors.Is(err, ErrShutdown) {
		t.Errorf("ended by %v", err)
	}
	h.close()
	h.open()
	h.decider = decidertest.Over(t, h.orch)
	h.run()
	takenUp(t, h.tests.next(t), 1, 2)
	takenUp(t, h.ahead.next(t), 3, 4)
}

// A task that has to wait for others holds no slot by a test ahead, though its assumption
// came true: a check that is due takes the slot.
func TestTaskBeyondTheLimitHoldsNoSlot(t *testing.T) {
	t.Parallel()
	h := queueFor(t, 2, 4, nil, func(c *Config) { c.Active = 1 })
	gate, do := record(waits)
	h.register(company.EffectGate, do)
	for _, k := range []company.EffectKind{company.EffectPrepare, company.EffectBaseline, company.EffectManage} {
		h.register(k, waits)
	}
	merging := h.holdMerges()
	h.run()
	h.tests.next(t)
	h.ahead.next(t)
	h.end(true)
	h.happened("stack.intended")
	h.decider.Must(
		company.Submit{Instruction: "do this first", Project: company.Project{ID: "p", Path: "/p"},
			Priority: company.PriorityHigh})
	h.decider.Prepare("t2", oid(1), company.GateCommand{Name: "test", Command: "true"})
	h.decider.Plan("t2", company.Plan{Why: "they are apart", Waves: []company.Wave{planWave(2)}})
	for n := 1; n <= 2; n++ {
		h.workOffered(company.NewSubtaskID("t2", n), oid(30+n))
	}
	gate.next(t) // in the slot of the first test
	h.goesOn()
	close(merging)
	h.cutOff()
	gate.next(t)
	if got := h.tests.all(); len(got) != 1 {
		t.Errorf("begun: %q", got)
	}
}

// A test that goes on with what was tested ahead has one slot with that also when its task
// has lost its turn since.
func TestConfirmedTestBeyondTheLimit(t *testing.T) {
	t.Parallel()
	h := queueFor(t, 2, 4, nil, func(c *Config) { c.Active = 1 })
	gate, do := record(waits)
	h.register(company.EffectGate, do)
	for _, k := range []company.EffectKind{company.EffectPrepare, company.EffectBaseline, company.EffectManage} {
		h.register(k, waits)
	}
	h.run()
	h.tests.next(t)
	h.ahead.next(t)
	h.end(true)
	takenUp(t, h.tests.next(t), 3, 4)
	h.decider.Must(
		company.Submit{Instruction: "do this first", Project: company.Project{ID: "p", Path: "/p"},
			Priority: company.PriorityHigh})
	h.decider.Prepare("t2", oid(1), company.GateCommand{Name: "test", Command: "true"})
	h.decider.Plan("t2", company.Plan{Why: "it is one", Waves: []company.Wave{planWave(1)}})
	h.workOffered("t2-01", oid(31))
	gate.next(t)
	h.goesOn()
}
