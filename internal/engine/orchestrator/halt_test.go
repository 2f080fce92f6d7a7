package orchestrator

import (
	"context"
	"errors"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
)

// stuckBus is a bus whose next append to the log waits until it is let go.
type stuckBus struct {
	bus.Bus
	stuck chan struct{} // told when an append waits
	free  chan struct{} // closed: nothing waits any more
	armed chan struct{} // closed: appends wait
}

func (b *stuckBus) Log() bus.Log { return &stuckLog{b.Bus.Log(), b} }

type stuckLog struct {
	bus.Log
	b *stuckBus
}

func (l *stuckLog) Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error) {
	select {
	case <-l.b.armed:
		select {
		case l.b.stuck <- struct{}{}:
		default:
		}
		<-l.b.free
	default:
	}
	return l.Log.Append(ctx, subject, data, expect, id)
}

// A stop does not wait for the ledger: what is under way is cut while another
// command still waits for the disk, and nothing begins again before the stop
// is stored, nor after it.
func TestStopCutsFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	slow := &stuckBus{Bus: b.bus, stuck: make(chan struct{}, 1), free: make(chan struct{}), armed: make(chan struct{})}
	l, err := ledger.Open(b.ctx, slow, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.cfg.Ledger = l
	if b.orch, err = Open(b.ctx, b.cfg); err != nil {
		t.Fatal(err)
	}
	causes := make(chan error, 10)
	intake, prepare := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)

	close(slow.armed)
	others := make(chan error, 2)
	go func() {
		_, err := b.orch.Do(b.ctx, company.President, company.ScaleWorkers{By: 1})
		others <- err
	}()
	<-slow.stuck
	go func() {
		_, err := b.orch.Do(b.ctx, company.President, company.Stop{Why: "enough"})
		others <- err
	}()
	select {
	case cause := <-causes:
		if !errors.Is(cause, ErrStopped) {
			t.Errorf("cut with %v", cause)
		}
	case <-time.After(patience):
		t.Error("the stop waits for the ledger")
	}
	close(slow.free)
	for range 2 {
		if err := <-others; err != nil {
			t.Fatal(err)
		}
	}
	if got := intake.all(); len(got) != 1 || !b.orch.View().Office.Stopped {
		t.Fatalf("begun %v, stopped: %v", got, b.orch.View().Office.Stopped)
	}
	b.do(company.Resume{})
	if e := intake.next(t); e.Key != "prepare t1" {
		t.Errorf("after the resume: %s", e.Key)
	}
}
