package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/folder/foldertest"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/session"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const (
	patience = time.Minute
	base     = company.OID("1111111111111111111111111111111111111111")
	run      = company.RunID("t1-01.1")
)

// bench is a task with one subtask, and a pool of one worker on a real queue.
type bench struct {
	*decidertest.Decider
	t    *testing.T
	bus  bus.Bus
	pool *Pool
	told chan string // what the pool did with its leases
	lose bool        // every lease is lost at its first extension
}

func setup(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	real, err := nats.Open(t.Context(), nats.Options{Dir: filepath.Join(dir, "bus")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := real.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := ledger.Open(t.Context(), real, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Decider: decidertest.New(t), t: t, bus: real, told: make(chan string, 100)}
	id := b.Submit("do it", "/p")
	b.Prepare(id, base, company.GateCommand{Name: "test", Command: "true"})
	b.Plan(id, company.Plan{Why: "one", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
		Title: "Change a", Description: "Change what a does, so that everybody is content with it, and show that by a test.",
		AcceptanceCriteria: []string{"a is changed", "nothing else is"}, WriteSet: []string{"a.go"}, Effort: company.EffortMedium,
	}}}}})
	silent := slog.New(slog.DiscardHandler)
	b.pool = NewPool(queue{real.Queue(), b}, b, &Worker{
		Sessions: &session.Service{Desk: b, Ledger: l, Runs: foldertest.Open(t, filepath.Join(dir, "runs")), Logger: silent},
		Mirrors:  untilStopped{},
	}, 1, silent)
	return b
}

// untilStopped has a worker at it until it is stopped.
type untilStopped struct{}

func (untilStopped) MirrorOf(ctx context.Context, _ *company.Task) (*gitops.Mirror, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// queue tells what is done with its leases.
type queue struct {
	bus.Queue
	b *bench
}

func (q queue) Lease(ctx context.Context, ttl time.Duration) (bus.Lease, error) {
	l, err := q.Queue.Lease(ctx, ttl)
	if err != nil {
		return nil, err
	}
	return lease{l, q.b}, nil
}

type lease struct {
	bus.Lease
	b *bench
}

func (l lease) Ack(ctx context.Context) error {
	l.b.told <- "ack"
	return l.Lease.Ack(ctx)
}

func (l lease) Nack(ctx context.Context, d time.Duration) error {
	l.b.told <- "nack"
	return l.Lease.Nack(ctx, d)
}

func (l lease) Extend(ctx context.Context) error {
	if l.b.lose {
		return bus.ErrLeaseLost
	}
	return l.Lease.Extend(ctx)
}

// start runs the pool until the test ends.
func (b *bench) start() {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := b.pool.Run(ctx); err != nil {
			b.t.Error(err)
		}
	})
	b.t.Cleanup(func() { cancel(); wg.Wait() })
}

func (b *bench) await(want string) {
	b.t.Helper()
	select {
	case got := <-b.told:
		if got != want {
			b.t.Fatalf("the item got %s, want %s", got, want)
		}
	case <-time.After(patience):
		b.t.Fatalf("no %s", want)
	}
}

func (b *bench) held() *company.Run {
	b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if r := b.Task("t1").Runs[run]; r != nil && r.Held {
			return r
		}
	}
	b.t.Fatal("nobody claims the run")
	return nil
}

func (b *bench) put(id string, epoch uint64) {
	b.t.Helper()
	body, err := json.Marshal(queueItem{Run: run, Epoch: epoch})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.bus.Queue().Put(b.t.Context(), bus.Item{ID: id, Body: body}); err != nil {
		b.t.Fatal(err)
	}
}

// The queue may know of a run long before the ledger says that it is on offer
// (a slow disk). The item is still there then: nobody would put it there again.
func TestItemBeforeItsOffer(t *testing.T) {
	b := setup(t)
	b.put("early", b.View().Office.Epoch)
	b.start()
	b.await("nack")
	b.Must(company.Offer{Run: run})
	b.held()
}

// An item of an older epoch is claimed by nobody and does not come back.
func TestItemOfAnOlderEpoch(t *testing.T) {
	b := setup(t)
	b.put("old", b.View().Office.Epoch)
	b.Must(company.StartOffice{Office: decidertest.Office})
	b.start()
	b.await("ack")
	if r := b.Task("t1").Runs[run]; r != nil {
		t.Fatalf("%+v", r)
	}
}

// A put that a new epoch overtakes is no offer: the run is put there again
// under the key that is due then.
func TestOfferOvertakenByANewEpoch(t *testing.T) {
	b := setup(t)
	var effect company.Effect
	for _, e := range company.Due(b.View(), time.Now(), 1) {
		if e.Kind == company.EffectOffer {
			effect = e
		}
	}
	cmd, err := b.pool.Offer(t.Context(), effect)
	if err != nil {
		t.Fatal(err)
	}
	b.Must(company.StartOffice{Office: decidertest.Office})
	if _, err := b.Do(t.Context(), company.Company, cmd); company.CodeOf(err) != company.EStale {
		t.Fatalf("the old put counts as an offer: %v", err)
	}
}

// A lost lease is no failed attempt: the claim is let go, the work ends, and
// the run is offered again under its own id.
func TestLostLease(t *testing.T) {
	b := setup(t)
	b.lose, b.pool.ttl = true, 300*time.Millisecond
	b.put("item", b.View().Office.Epoch)
	b.Must(company.Offer{Run: run})
	b.start()
	r := b.held()
	cmd, err := b.pool.Work(t.Context(), company.Effect{Task: "t1", Subtask: "t1-01", Run: run})
	if err != nil || cmd != nil {
		t.Fatalf("a lost lease counts as a failure: %v, %v", cmd, err)
	}
	task := b.Task("t1")
	if got := task.Runs[run]; got.Held && got.Fence == r.Fence || got.Ended || len(task.Failures) != 0 {
		t.Fatalf("%+v %+v", got, task.Failures)
	}
}
