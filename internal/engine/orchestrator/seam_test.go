package orchestrator

import (
	"context"
	"errors"
	"sync"
	"testing"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
)

// seamBus passes through to a real bus, but for what a test has its ledger do.
type seamBus struct {
	bus.Bus
	mu sync.Mutex
	// onAppend runs instead of an append to the ledger; nil: pass through.
	onAppend func(next func() (uint64, error)) (uint64, error)
	down     error // of whatever reads the ledger; nil: it is read
	appends  int   // that were stored
}

func (b *seamBus) Log() bus.Log { return &seamLog{b.Bus.Log(), b} }

func (b *seamBus) set(onAppend func(next func() (uint64, error)) (uint64, error), down error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.onAppend, b.down = onAppend, down
}

func (b *seamBus) stored() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.appends
}

// hold has every append wait: entered tells of each that has begun, and one
// is let through by each call of release.
func (b *seamBus) hold(t *testing.T) (entered <-chan struct{}, release func()) {
	in, free := make(chan struct{}, 100), make(chan struct{}, 100)
	b.set(func(next func() (uint64, error)) (uint64, error) {
		in <- struct{}{}
		<-free
		return next()
	}, nil)
	t.Cleanup(func() { b.set(nil, nil); close(free) })
	return in, func() { free <- struct{}{} }
}

type seamLog struct {
	bus.Log
	b *seamBus
}

func (l *seamLog) Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error) {
	next := func() (uint64, error) {
		seq, err := l.Log.Append(ctx, subject, data, expect, id)
		if err == nil {
			l.b.mu.Lock()
			l.b.appends++
			l.b.mu.Unlock()
		}
		return seq, err
	}
	l.b.mu.Lock()
	instead := l.b.onAppend
	l.b.mu.Unlock()
	if instead != nil && subject == "ledger" {
		return instead(next)
	}
	return next()
}

func (l *seamLog) Last(ctx context.Context, subject string) (bus.Message, error) {
	l.b.mu.Lock()
	down := l.b.down
	l.b.mu.Unlock()
	if down != nil {
		return bus.Message{}, down
	}
	return l.Log.Last(ctx, subject)
}

func (l *seamLog) Read(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	if _, err := l.Last(ctx, subject); err != nil && !errors.Is(err, bus.ErrNotFound) {
		return err
	}
	return l.Log.Read(ctx, subject, from, fn)
}

// setupSeam is an office whose ledger's bus has a seam; it has begun its epoch, and
// its loop does not run.
func setupSeam(t *testing.T, change ...func(*Config)) (*bundle, *seamBus) {
	t.Helper()
	b := setup(t, change...)
	seam := &seamBus{Bus: b.bus}
	var err error
	if b.ledger, err = ledger.Open(b.ctx, seam, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	b.cfg.Ledger = b.ledger
	if b.orch, err = Open(b.ctx, b.cfg); err != nil {
		t.Fatal(err)
	}
	for kind, find := range b.finders {
		b.register(kind, find)
	}
	if err := b.orch.Start(b.ctx, 3); err != nil {
		t.Fatal(err)
	}
	return b, seam
}

// sent is a command on its way.
type sent struct {
	b      *bundle
	answer chan answer
}

// send has a command decided beside the test.
func (b *bundle) send(ctx context.Context, id string, c company.Command) sent {
	s := sent{b, make(chan answer, 1)}
	go func() {
		evs, err := b.orch.DoID(ctx, id, company.President, c)
		s.answer <- answer{evs, err}
	}()
	return s
}

// committerRests waits until no commit is under way: the next command begins one.
func (b *bundle) committerRests() {
	b.t.Helper()
	b.until("a committer at rest", func() bool {
		b.orch.mu.Lock()
		defer b.orch.mu.Unlock()
		return !b.orch.committing
	})
}

// sendTaken sends a command to a committer at rest, and waits until it was taken up.
func (b *bundle) sendTaken(id string, c company.Command) sent {
	b.t.Helper()
	s := b.send(b.ctx, id, c)
	b.until("a commit", func() bool {
		b.orch.mu.Lock()
		defer b.orch.mu.Unlock()
		return b.orch.committing && len(b.orch.queue) == 0
	})
	return s
}

// sendQueued sends a command and waits until it lies in the queue, behind n others.
func (b *bundle) sendQueued(id string, c company.Command, n int) sent {
	b.t.Helper()
	s := b.send(b.ctx, id, c)
	b.queued(n + 1)
	return s
}

// queued waits until at least so many requests wait for the committer: what a command
// sets off may queue its own before anybody looks.
func (b *bundle) queued(n int) {
	b.t.Helper()
	b.until("a queue", func() bool {
		b.orch.mu.Lock()
		defer b.orch.mu.Unlock()
		return len(b.orch.queue) >= n
	})
}

// wait gives the answer.
func (s sent) wait() ([]company.Event, error) {
	s.b.t.Helper()
	select {
	case a := <-s.answer:
		return a.events, a.err
	case <-s.b.ctx.Done():
		s.b.t.Fatal("no answer")
		return nil, nil
	}
}

// must gives the events of a command that is not refused.
func (s sent) must() []company.Event {
	s.b.t.Helper()
	evs, err := s.wait()
	if err != nil || len(evs) == 0 {
		s.b.t.Fatalf("%d events, %v", len(evs), err)
	}
	return evs
}
