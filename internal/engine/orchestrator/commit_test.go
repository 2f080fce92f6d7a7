package orchestrator

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

	"pgregory.net/rapid"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
)

// wish is a command of a writer, and what came of it.
type wish struct {
	id      string
	command company.Command
	answer  answer
}

// drawWish draws a command that may or may not be allowed.
func drawWish(t *rapid.T, n int) *wish {
	task := company.NewTaskID(rapid.IntRange(1, 12).Draw(t, "task"))
	c := rapid.SampledFrom([]company.Command{
		company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}},
		company.Cancel{Task: task}, company.Pause{Task: task}, company.Pause{Task: task, Off: true},
		company.Retry{Task: task},
		company.ScaleWorkers{By: 1}, company.ScaleWorkers{By: -1}, company.ScaleWorkers{By: 5},
	}).Draw(t, "command")
	// An id may be that of another wish, of this burst or of an earlier one.
	return &wish{id: fmt.Sprint("w", rapid.IntRange(max(0, n-8), n).Draw(t, "id")), command: c}
}

// Feature: orchestrator, Property 1: Batches Are as One by One
//
// Whatever is sent at once, in whatever order it is taken up and however it is
// batched: the ledger is that of the same commands decided one by one, each
// answer is the ledger's, and the view is the fold (STA-6, STA-11).
func TestCommitsAreAsIfOneByOne(t *testing.T) {
	t.Parallel()
	b, seam := setupSeam(t)
	wishes := map[string]company.Command{} // by id, of the first that left events
	alone := company.NewState()            // decided one by one
	sent := 0
	rapid.Check(t, func(rt *rapid.T) {
		var burst [][]*wish
		for range rapid.IntRange(1, 8).Draw(rt, "writers") {
			var mine []*wish
			for range rapid.IntRange(1, 6).Draw(rt, "commands") {
				sent++
				mine = append(mine, drawWish(rt, sent))
			}
			burst = append(burst, mine)
		}
		var writers sync.WaitGroup
		for _, mine := range burst {
			writers.Go(func() {
				for _, w := range mine {
					w.answer.events, w.answer.err = b.orch.DoID(b.ctx, w.id, company.President, w.command)
				}
			})
		}
		writers.Wait()

		stored := map[string][]company.Event{} // by the command that they answer
		var order []string
		if err := b.ledger.Read(b.ctx, alone.Seq+1, func(e company.Event) error {
			if len(stored[e.Cause]) == 0 {
				order = append(order, e.Cause)
			}
			stored[e.Cause] = append(stored[e.Cause], e)
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
		for _, w := range slices.Concat(burst...) {
			if w.answer.err == nil && len(w.answer.events) > 0 {
				id := company.CommandID(company.President, w.id)
				if evs := stored[id]; len(evs) > 0 && !reflect.DeepEqual(evs, w.answer.events) {
					rt.Fatalf("%s was answered with %v, the ledger has %v", id, w.answer.events, evs)
				}
				if w.answer.events[0].Cause != id {
					rt.Fatalf("%s was answered with the events of %s", id, w.answer.events[0].Cause)
				}
				wishes[id] = w.command
			}
		}
		for _, id := range order {
			c := wishes[id]
			if alone.Seq == 0 {
				c = company.StartOffice{Office: "k3fq", Workers: 3}
			}
			first := stored[id][0]
			drafts, err := company.Decide(alone, company.Meta{ID: id, Actor: first.Actor, Now: first.Time}, c)
			if err != nil || len(drafts) != len(stored[id]) {
				rt.Fatalf("%T (%s) is decided otherwise by itself: %d events, %v", c, id, len(drafts), err)
			}
			for i, e := range stored[id] {
				d := drafts[i]
				d.Seq, d.Prev, d.Time = e.Seq, e.Prev, e.Time
				if d.Hash() != e.Hash() {
					rt.Fatalf("%T by itself makes %+v, the ledger has %+v", c, d, e)
				}
				if err := company.Apply(alone, e); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if got, want := asText(rt, b.orch.View()), asText(rt, alone); got != want {
			rt.Fatalf("the view is\n%s\none by one\n%s", got, want)
		}
	})
	at := b.orch.current.Load()
	if at.at != b.ledger.Head() || at.at.Seq != at.state.Seq {
		t.Errorf("the view is of %+v, the ledger ends at %+v", at.at, b.ledger.Head())
	}
	if err := b.ledger.Verify(b.ctx); err != nil {
		t.Error(err)
	}
	if n := len(wishes); seam.stored() >= n {
		t.Errorf("%d commands took %d appends: none shared one", n, seam.stored())
	}
}

func asText(t interface{ Fatal(...any) }, s *company.State) string {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What came while an append was under way shares the next one. Nothing of it is seen
// or answered before that is stored, not even a refusal; a repeat within the
// batch gets the events of the first.
func TestBatch(t *testing.T) {
	t.Parallel()
	b, seam := setupSeam(t)
	entered, release := seam.hold(t)
	submit := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}
	first := b.send(b.ctx, "", company.ScaleWorkers{By: 1})
	<-entered
	batch := []sent{b.sendQueued("one", submit, 0), b.sendQueued("one", submit, 1),
		b.sendQueued("two", company.Cancel{Task: "t1"}, 2)}
	other := b.sendQueued("one", company.Cancel{Task: "t1"}, 3)
	again := b.sendQueued("three", company.Cancel{Task: "t1"}, 4)
	unknown := b.sendQueued("four", company.Cancel{Task: "t9"}, 5)
	release()
	first.must()
	<-entered
	if s := b.orch.View(); len(s.Tasks) != 0 || s.Office.AddedWorkers != 1 {
		t.Errorf("seen before it is stored: %d tasks", len(s.Tasks))
	}
	for i, s := range append(batch, other, again, unknown) {
		if len(s.answer) > 0 {
			t.Errorf("command %d is answered before its batch is stored", i)
		}
	}
	before := seam.stored()
	release()
	one, repeated, two := batch[0].must(), batch[1].must(), batch[2].must()
	if !reflect.DeepEqual(one, repeated) || two[0].Seq != one[0].Seq+1 || seam.stored() != before+1 {
		t.Errorf("%v, repeated %v, then %v in %d appends", one, repeated, two, seam.stored()-before)
	}
	if _, err := other.wait(); company.CodeOf(err) != company.EConflict {
		t.Errorf("another command under an id of the batch: %v", err)
	}
	if evs, err := again.wait(); err != nil || len(evs) > 0 {
		t.Errorf("a cancel of what the batch has cancelled: %v, %v", evs, err)
	}
	if _, err := unknown.wait(); company.CodeOf(err) != company.ENotFound {
		t.Errorf("a task that is not there: %v", err)
	}
	if got := b.orch.View().Tasks["t1"]; got == nil || got.Status != company.StatusCancelled {
		t.Errorf("%+v", got)
	}
}

// A batch holds so many bytes; what has no room goes into the next one. A command
// that no record can hold is refused, and no other one with it.
func TestFullBatch(t *testing.T) {
	t.Parallel()
	b, seam := setupSeam(t)
	for n := range 4 {
		b.submit(n)
	}
	entered, release := seam.hold(t)
	first := b.send(b.ctx, "", company.ScaleWorkers{By: 1})
	<-entered
	var large []sent
	for n := range 4 {
		c := company.Cancel{Task: company.NewTaskID(n + 1), Why: strings.Repeat("x", ledger.MaxBatch*2/5)}
		large = append(large, b.sendQueued("", c, n))
	}
	huge := b.sendQueued("", company.Stop{Why: strings.Repeat("x", bus.MaxRecord)}, 4)
	before := seam.stored()
	for range 4 {
		release()
	}
	first.must()
	for _, s := range large {
		s.must()
	}
	if _, err := huge.wait(); company.CodeOf(err) != company.EInvalid {
		t.Errorf("more than a record holds: %v", err)
	}
	if n := seam.stored() - before; n != 3 { // the first, and two in each of the others
		t.Errorf("%d appends", n)
	}
	if s := b.orch.View(); len(s.Open) != 0 || s.Office.Stopped {
		t.Errorf("%v are open, stopped: %v", s.Open, s.Office.Stopped)
	}
}

// A process that ends between the append and the answers has acknowledged nothing
// and shown nothing. The next one has all of it, and answers a repeat with it.
func TestEndBetweenAppendAndAnswer(t *testing.T) {
	t.Parallel()
	b, seam := setupSeam(t)
	killed := errors.New("killed")
	entered, free := make(chan struct{}, 1), make(chan struct{})
	seam.set(func(next func() (uint64, error)) (uint64, error) {
		entered <- struct{}{}
		<-free
		if _, err := next(); err != nil {
			return 0, err
		}
		return 0, killed
	}, nil)
	submit := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}
	lost := []sent{b.send(b.ctx, "one", submit)}
	<-entered
	waiting := b.sendQueued("two", submit, 0)
	was := b.orch.View()
	close(free)
	for _, s := range append(lost, waiting) {
		if evs, err := s.wait(); !errors.Is(err, killed) || evs != nil {
			t.Errorf("answered with %v, %v", evs, err)
		}
	}
	if now := b.orch.View(); now != was {
		t.Error("what was not acknowledged is seen")
	}
	b.close()
	b.open()
	b.until("the end of the first process", func() bool { return b.orch.View().LastTask == 1 })
	evs, err := b.orch.DoID(b.ctx, "one", company.President, submit)
	if err != nil || len(evs) != 1 || evs[0].Task != "t1" || evs[0].Cause != company.CommandID(company.President, "one") {
		t.Errorf("the repeat: %v, %v", evs, err)
	}
	if evs, err := b.orch.DoID(b.ctx, "two", company.President, submit); err != nil || len(evs) != 1 ||
		evs[0].Task != "t2" {
		t.Errorf("what was never taken up: %v, %v", evs, err)
	}
}

// A caller that goes away takes a queued command back, at once; one that was taken
// up is seen to its end.
func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	b, seam := setupSeam(t)
	entered, release := seam.hold(t)
	ctx, cancel := context.WithCancel(b.ctx)
	taken := b.send(ctx, "taken", company.ScaleWorkers{By: 1})
	<-entered
	queued := b.send(ctx, "queued", company.ScaleWorkers{By: 5})
	b.queued(1)
	cancel()
	if _, err := queued.wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("the queued one: %v", err)
	}
	release()
	taken.must()
	if got := b.orch.View().Office.AddedWorkers; got != 1 {
		t.Errorf("%d workers were added", got)
	}
}

// A command that breaks while it is decided, or whose events the state cannot follow,
// is refused by itself. The ledger holds nothing of it, and the office goes on.
func TestBrokenCommand(t *testing.T) {
	t.Parallel()
	b, seam := setupSeam(t)
	entered, release := seam.hold(t)
	first := b.send(b.ctx, "", company.ScaleWorkers{By: 1})
	<-entered
	before := b.sendQueued("", company.ScaleWorkers{By: 1}, 0)
	broken := b.sendQueued("", struct{ company.Command }{}, 1)
	after := b.sendQueued("", company.ScaleWorkers{By: 1}, 2)
	release()
	release()
	first.must()
	before.must()
	after.must()
	if _, err := broken.wait(); company.CodeOf(err) != company.EInternal {
		t.Errorf("a command that breaks: %v", err)
	}

	seam.set(nil, nil)
	b.orch.ahead.Seq++ // the events will not fit
	if _, err := b.orch.Do(b.ctx, company.President, company.ScaleWorkers{By: 1}); !errors.Is(err, errNotApplied) ||
		company.CodeOf(err) != company.EInternal {
		t.Errorf("events that cannot be applied: %v", err)
	}
	b.do(company.ScaleWorkers{By: 1})
	if got := b.orch.View(); got.Office.AddedWorkers != 4 || got.Seq != b.ledger.Head().Seq {
		t.Errorf("%d workers were added, at event %d of %d", got.Office.AddedWorkers, got.Seq, b.ledger.Head().Seq)
	}
}

var errSilence = fmt.Errorf("%w: no responders", bus.ErrUnknown)

// goSilent has the bus give no answer to the ledger, though it may do what it was
// asked; the function has it answer again.
func (b *seamBus) goSilent() (speak func()) {
	tries := 0
	b.set(func(next func() (uint64, error)) (uint64, error) {
		if tries++; tries%2 == 0 {
			_, _ = next() // it is stored, and nobody hears of it
		}
		return 0, errSilence
	}, errSilence)
	return func() { b.set(nil, nil) }
}

// A short outage of the bus is waited out: what was sent meanwhile is stored once, in
// order, and the office goes on. Nothing is seen before; a stop cuts at once.
func TestOutageIsWaitedOut(t *testing.T) {
	t.Parallel()
	outage := 5 * time.Second
	if testing.Short() {
		outage = 300 * time.Millisecond
	}
	b, seam := setupSeam(t)
	causes := make(chan error, 10)
	intake, prepare := record(func(ctx context.Context, _ company.Effect) (company.Command, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)

	b.committerRests()
	speak := seam.goSilent()
	hire := b.sendTaken("hire", company.ScaleWorkers{By: 1})
	stop := b.sendQueued("stop", company.Stop{Why: "enough"}, 0)
	select {
	case cause := <-causes:
		if !errors.Is(cause, ErrStopped) || len(hire.answer) > 0 || b.orch.View().Office.AddedWorkers > 0 {
			t.Errorf("cut with %v, answered: %v", cause, len(hire.answer) > 0)
		}
	case <-time.After(patience):
		t.Fatal("the stop waits for the bus")
	}
	over := time.AfterFunc(outage, speak) // not before the stop has cut, however long a busy machine takes
	defer over.Stop()
	hired, stopped := hire.must(), stop.must()
	b.do(company.Resume{})
	if e := intake.next(t); e.Key != "prepare t1" {
		t.Errorf("after the outage: %s", e.Key)
	}
	if stopped[0].Seq != hired[0].Seq+1 || b.count(hired[0].Kind) != 1 {
		t.Errorf("hired at %d, stopped at %d", hired[0].Seq, stopped[0].Seq)
	}
	if err := b.ledger.Verify(b.ctx); err != nil {
		t.Error(err)
	}
	n := 0
	if err := b.ledger.Read(b.ctx, 1, func(e company.Event) error {
		if e.Cause == hired[0].Cause {
			n++
		}
		return nil
	}); err != nil || n != 1 {
		t.Errorf("%d events of one command, %v", n, err)
	}
}

// An outage that lasts ends the office, with a code and what to do.
func TestLongOutageEndsTheOffice(t *testing.T) {
	t.Parallel()
	b, seam := setupSeam(t, func(c *Config) { c.BusPatience = 200 * time.Millisecond })
	causes := make(chan error, 1)
	intake, prepare := record(func(ctx context.Context, _ company.Effect) (company.Command, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, nil
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)
	defer seam.goSilent()()
	refused(t, b, company.EBus, causes)
}

// The end of the process does not wait for a bus that gives no answer.
func TestShutdownInAnOutage(t *testing.T) {
	t.Parallel()
	b, seam := setupSeam(t, func(c *Config) { c.BusPatience = time.Hour })
	b.run()
	b.committerRests()
	defer seam.goSilent()()
	hire := b.sendTaken("", company.ScaleWorkers{By: 1})
	if err := b.halt(); err != nil && company.CodeOf(err) != company.EBus {
		t.Error(err)
	}
	if _, err := hire.wait(); company.CodeOf(err) != company.EBus {
		t.Errorf("the last command: %v", err)
	}
}
