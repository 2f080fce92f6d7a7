package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir/foldertest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const patience = 2 * time.Minute

// bundle is an office on a real ledger on a real bus, with doers of the test.
type bundle struct {
	t      *testing.T
	ctx    context.Context
	dir    string
	bus    bus.Bus
	ledger *ledger.Ledger
	orch   *Orchestrator
	cfg    Config

	running bool
	stop    context.CancelFunc
	ended   chan error

	mu     sync.Mutex
	events []company.Event

	finders map[company.EffectKind]company.OutcomeFinder
}

func setup(t *testing.T, change ...func(*Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, finders: map[company.EffectKind]company.OutcomeFinder{}, dir: t.TempDir(),
		ended: make(chan error, 1)}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	b.cfg = Config{Office: "k3fq", Projection: b}
	for _, c := range change {
		c(&b.cfg)
	}
	b.open()
	t.Cleanup(func() { b.close() })
	return b
}

// MarkChanged keeps the events.
func (b *bundle) MarkChanged(e company.Event, _ *company.Task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
}

// open opens the office, as a process does that starts.
func (b *bundle) open() {
	b.t.Helper()
	var err error
	if b.bus, err = nats.Open(b.ctx, nats.Options{Dir: filepath.Join(b.dir, "bus")}); err != nil {
		b.t.Fatal(err)
	}
	if b.ledger, err = ledger.Open(
		b.ctx, b.bus, ledger.Options{Folder: foldertest.Open(b.t, b.dir), Clock: b.now}); err != nil {
		b.t.Fatal(err)
	}
	b.cfg.Ledger = b.ledger
	if b.orch, err = Open(b.ctx, b.cfg); err != nil {
		b.t.Fatal(err)
	}
	for kind, find := range b.finders {
		b.register(kind, find)
	}
	b.register(company.EffectBaseline, greenBase)
}

// now is the office's time, where the test has given it a clock.
func (b *bundle) now() time.Time {
	if b.cfg.Clock != nil {
		return b.cfg.Clock.Now()
	}
	return time.Now()
}

// run starts an epoch and the loop.
func (b *bundle) run() {
	b.t.Helper()
	if err := b.orch.Start(b.ctx, 3); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.ctx)
	b.stop, b.running = cancel, true
	go func() { b.ended <- b.orch.Run(ctx) }()
}

// halt ends the loop and gives what Run returned.
func (b *bundle) halt() error {
	b.t.Helper()
	b.stop()
	b.running = false
	select {
	case err := <-b.ended:
		return err
	case <-time.After(patience):
		b.t.Fatal("Run does not return")
		return nil
	}
}

func (b *bundle) close() {
	if b.running {
		_ = b.halt() // the test has said what it had to say
	}
	if b.bus != nil {
		if err := b.bus.Close(); err != nil {
			b.t.Error(err)
		}
		b.bus = nil
	}
}

func (b *bundle) do(c company.Command) []company.Event {
	b.t.Helper()
	evs, err := b.orch.Do(b.ctx, company.President, c)
	if err != nil {
		b.t.Fatalf("%T: %v", c, err)
	}
	return evs
}

func (b *bundle) submit(n int) {
	b.t.Helper()
	b.do(company.Submit{Instruction: fmt.Sprintf("task %d", n), Project: company.Project{ID: "p", Path: "/p"}})
}

// happened waits for an event of a kind and gives its place.
func (b *bundle) happened(kind string) company.Event {
	b.t.Helper()
	var found company.Event
	b.until(kind, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, e := range b.events {
			if e.Kind == kind {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

func (b *bundle) count(kind string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, e := range b.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (b *bundle) until(what string, ok func() bool) {
	b.t.Helper()
	hosttest.Eventually(b.t, what, func() (any, bool) { return nil, ok() })
}

// register sets who finds out what an effect comes to, in this process and the
// next ones.
func (b *bundle) register(kind company.EffectKind, find company.OutcomeFinder) {
	b.finders[kind] = find
	b.orch.Register(kind, company.ReportOutcome(b.orch, find))
}

// started is a finder that tells of each beginning, and works as it is told.
type started struct {
	mu   sync.Mutex
	keys []string
	at   chan company.Effect
}

func record(do company.OutcomeFinder) (*started, company.OutcomeFinder) {
	s := &started{at: make(chan company.Effect, 1000)}
	return s, func(ctx context.Context, e company.Effect) (company.Command, error) {
		s.mu.Lock()
		s.keys = append(s.keys, e.Key)
		s.mu.Unlock()
		s.at <- e
		return do(ctx, e)
	}
}

func (s *started) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.keys...)
}

func (s *started) next(t *testing.T) company.Effect {
	t.Helper()
	select {
	case e := <-s.at:
		return e
	case <-time.After(patience):
		t.Fatal("nothing was started")
		return company.Effect{}
	}
}

// waits does nothing until it is no longer wanted, and gives the cause.
func waits(ctx context.Context, _ company.Effect) (company.Command, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func oid(n int) company.OID { return company.OID(fmt.Sprintf("%040x", n)) }

// prepares is what an intake brings in.
func prepares(_ context.Context, e company.Effect) (company.Command, error) {
	return company.RecordPreparation{Task: e.Task, TaskPrepared: company.TaskPrepared{
		Base:  company.Base{Branch: "main", OID: oid(1), PRBranch: "main"},
		Gates: []company.GateCommand{{Name: "test", Command: "true"}}, GateHash: company.Hash(strings.Repeat("a", 64)),
		Image: "sha256:x", Integration: "develop-" + string(e.Task) + "-k3fq",
	}}, nil
}

// greenBase is what the gates that prepares pins say of the base.
func greenBase(_ context.Context, e company.Effect) (company.Command, error) {
	return company.RecordBaseline{Task: e.Task,
		Result: company.GateResult{Tree: oid(1), GateHash: company.Hash(strings.Repeat("a", 64)),
			Image: "sha256:x", Passed: true, Checks: []company.GateCheck{{Name: "test", Command: "true", Passed: true}}}}, nil
}

var errTrouble = errors.New("the disk smells of smoke")
