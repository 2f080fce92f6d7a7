package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/lib/hosttest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const (
	patience = time.Minute
	first    = company.RunID("t1-01.1")
	second   = company.RunID("t1-02.1")
)

// bench is a task with two subtasks, and a pool of one worker on a real queue.
type bench struct {
	*decidertest.Decider
	t     *testing.T
	queue *toldQueue
	pool  *Pool
	began chan company.RunID // work has begun
}

func setup(t *testing.T) *bench {
	t.Helper()
	real, err := nats.Open(t.Context(), nats.Options{Dir: filepath.Join(t.TempDir(), "bus")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := real.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bench{Decider: decidertest.New(t), t: t, queue: &toldQueue{Queue: real.Queue(), told: make(chan string, 100)},
		began: make(chan company.RunID, 100)}
	id := b.Submit("do it", "/p")
	b.Prepare(id, company.OID(strings.Repeat("1", 40)), company.GateCommand{Name: "test", Command: "true"})
	part := func(name string) company.PlannedSubtask {
		return company.PlannedSubtask{
			Title: "Change " + name, Description: "Change what " + name +
				" does, so that everybody is content with it, and show that by a test.",
			AcceptanceCriteria: []string{"it is changed", "nothing else is"}, WriteSet: []string{name + ".go"},
			Effort: company.EffortMedium,
		}
	}
	b.Plan(id,
		company.Plan{Why: "they are apart",
			Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{part("a"), part("b")}}}})
	b.pool = b.newPool(b)
	return b
}

func (b *bench) newPool(d company.Decider) *Pool {
	b.t.Helper()
	return newPool(
		b.t, Config{Queue: b.queue, Coordinator: company.CoordinatorOf(d), Worker: patientWorker{b}, Workers: 1})
}

// newPool makes a pool that logs nothing.
func newPool(t *testing.T, c Config) *Pool {
	t.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	p, err := NewPool(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// patientWorker works until it is stopped, and lets go of the run.
type patientWorker struct{ b *bench }

func (w patientWorker) Do(ctx context.Context, a company.Assignment) error {
	r := a.Claimed
	w.b.began <- r.ID
	<-ctx.Done()
	_, err := w.b.Do(context.WithoutCancel(ctx), r.Worker, company.Release{Run: r.ID, Fence: r.Fence})
	if err != nil {
		return err
	}
	return context.Cause(ctx)
}

// toldQueue tells what is done with its leases.
type toldQueue struct {
	bus.Queue
	told chan string
	lose bool // every lease is lost at its first extension
}

func (q *toldQueue) Lease(ctx context.Context) (bus.Lease, error) {
	l, err := q.Queue.Lease(ctx)
	if err != nil {
		return nil, err
	}
	return toldLease{l, q}, nil
}

type toldLease struct {
	bus.Lease
	q *toldQueue
}

func (l toldLease) tell(what string) { l.q.told <- what + " " + l.Item().ID }

func (l toldLease) Ack(ctx context.Context) error {
	l.tell("ack")
	return l.Lease.Ack(ctx)
}

func (l toldLease) Nack(ctx context.Context, d time.Duration) error {
	l.tell("nack")
	return l.Lease.Nack(ctx, d)
}

func (l toldLease) Extend(ctx context.Context) error {
	if l.q.lose {
		return bus.ErrLeaseLost
	}
	return l.Lease.Extend(ctx)
}

// start runs a pool until the test ends.
func (b *bench) start(p *Pool) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := p.Run(ctx); err != nil {
			b.t.Error(err)
		}
	})
	b.t.Cleanup(func() { cancel(); wg.Wait() })
}

// enqueue has the effects of all that is on offer under way until the test ends.
func (b *bench) enqueue() { b.enqueueOnly("") }

// enqueueOnly is enqueue of one run; empty: of all.
func (b *bench) enqueueOnly(run company.RunID) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, e := range company.Due(b.View(), time.Now(), 9) {
		if e.Kind == company.EffectEnqueue && (run == "" || e.Run == run) {
			wg.Go(func() { _ = b.pool.KeepQueued(ctx, e) })
		}
	}
	b.t.Cleanup(func() { cancel(); wg.Wait() })
}

// put puts an item there that nothing in the ledger may stand for.
func (b *bench) put(id string, o company.OfferID) {
	b.t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.queue.Put(b.t.Context(), bus.Item{ID: id, Body: body}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) await(want string) {
	b.t.Helper()
	select {
	case got := <-b.queue.told:
		if got != want {
			b.t.Fatalf("it is %s, want %s", got, want)
		}
	case <-time.After(patience):
		b.t.Fatalf("no %s", want)
	}
}

func (b *bench) awaitHeld(run company.RunID) *company.Run {
	b.t.Helper()
	var r *company.Run
	hosttest.Eventually(b.t, fmt.Sprintf("somebody claims %s", run), func() (any, bool) {
		r = b.Task("t1").Runs[run]
		return r, r != nil && r.Held
	})
	return r
}

func (b *bench) isQuiet() {
	b.t.Helper()
	select {
	case got := <-b.queue.told:
		b.t.Errorf("and then %s", got)
	default:
	}
}
